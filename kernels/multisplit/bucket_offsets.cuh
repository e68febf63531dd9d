// Bucket offsets in an array of keys that is already ordered by bucket.
#pragma once

#include "../common/warp.cuh"
#include "inputs.cuh"

// offsets[b] = the first position whose key has a bucket ≥ b, among n keys ordered by bucket. One warp per b ≤
// m probes 32 positions at a time.
LAB void seek_offset(const u32* keys, u64 n, u32* offsets, const BucketFunction& f) {
    const u32 b = (u32)(((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32u);
    if (b > f.buckets) return;
    u64 low = 0, size = b == f.buckets ? 0 : n;  // the offset lies in [low, low + size]
    if (b == f.buckets) low = n;
    while (size > 0) {
        const u64 step = (size + 31u) / 32u, at = low + (lane_of() + 1u) * step - 1u;
        const bool below = at < low + size && bucket_of(f, keys[at]) < b;
        const u32 steps = __popc(__ballot_sync(EVERYONE, below));
        const u64 end = low + size;
        low += steps * step;
        size = low + step - 1u < end ? step - 1u : end - low;
    }
    if (lane_of() == 0) offsets[b] = (u32)low;
}

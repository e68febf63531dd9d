// Fills the inputs of a multisplit and certifies its output; the same for all timed methods.
//
// The certificate restates the definition: each warp counts the buckets in its part of the keys, exclusive sums over
// (bucket, warp) give the position of each warp's first key of each bucket, and every key and value is compared at its
// position. Keys and values are recomputed from their indices.
#pragma once

#include "../common/certify.cuh"
#include "../common/warp.cuh"
#include "inputs.cuh"

static_assert(sizeof(BucketFunction) == 32, "the layout of the host");
static_assert(sizeof(KeySource) == 64, "the layout of the host");

LAB u32 warp_number() { return (u32)(thread_index() / 32u); }

LAB void store_value(u32* __restrict__ values, u32 words, u64 at, const KeySource& s) {
    if (words == 1u) values[at] = value32_at(s, at);
    if (words == 2u) ((u64*)values)[at] = value64_at(s, at);
}

// Keys and values [0, n]. Element n lies past the arrays; only a deliberate mistake reads it. `behind`: key n.
extern "C" __global__ void multisplit_fill(u32* __restrict__ keys, u32* __restrict__ values, u32 words, KeySource s,
                                           u64 n, u32 behind) {
    for (u64 i = thread_index(); i <= n; i += thread_count()) {
        keys[i] = i < n ? key_at(s, i) : behind;
        store_value(values, words, i, s);
    }
}

// Warp w has keys [w · size, (w + 1) · size) below n; `size` is a multiple of 32.
struct Parts {
    u64 n;
    u64 size;
    u64 warps;
};

LAB u64 part_end(const Parts& p, u64 warp) { return (warp + 1u) * p.size < p.n ? (warp + 1u) * p.size : p.n; }

// counts[b · warps + w] += keys of bucket b in warp w's part.
extern "C" __global__ void multisplit_count(KeySource s, BucketFunction f, Parts p, u32* counts) {
    const u64 w = warp_number();
    if (w >= p.warps) return;
    for (u64 i = w * p.size + lane_of(); i < part_end(p, w); i += 32u) {
        atomicAdd(&counts[bucket_of(f, key_at(s, i)) * p.warps + w], 1u);
    }
}

// Exclusive scan in place, by one block.
extern "C" __global__ void __launch_bounds__(1024) multisplit_sum(u32* data, u64 n) {
    __shared__ u32 warps[32];
    const u32 lane = lane_of(), warp = threadIdx.x / 32u;
    u32 carry = 0;
    for (u64 base = 0; base < n; base += blockDim.x) {
        const u64 at = base + threadIdx.x;
        const u32 item = at < n ? data[at] : 0u;
        u32 sum = item;
        for (u32 step = 1; step < 32u; step *= 2) {
            const u32 other = __shfl_up_sync(0xFFFFFFFFu, sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == 31u) warps[warp] = sum;
        __syncthreads();
        u32 before = carry;
        for (u32 v = 0; v < blockDim.x / 32u; ++v) {
            if (v < warp) before += warps[v];
            carry += warps[v];
        }
        if (at < n) data[at] = before + sum - item;
        __syncthreads();  // the next round overwrites warps[]
    }
}

// Checks the bucket offsets: offsets[b] = position of warp 0's first key of bucket b; offsets[m] = n.
extern "C" __global__ void multisplit_offsets(const u32* __restrict__ starts, Parts p, u32 buckets,
                                              const u32* __restrict__ offsets, Finding* finding) {
    for (u64 b = thread_index(); b <= buckets; b += thread_count()) {
        const u32 expected = b < buckets && p.n > 0 ? starts[b * p.warps] : (u32)p.n;
        if (offsets[b] != expected) mistake(finding, p.n + b, WRONG_OFFSET, b, expected, offsets[b]);
    }
}

LAB void check_value(const u32* __restrict__ values, u32 words, u64 at, const KeySource& s, u64 i, Finding* finding) {
    if (words == 0u) return;
    const u64 expected = words == 1u ? value32_at(s, i) : value64_at(s, i);
    const u64 found = words == 1u ? values[at] : ((const u64*)values)[at];
    if (found != expected) mistake(finding, i, WRONG_PAIR, at, expected, found);
}

// Checks each key and its value at the position that the definition requires. next[b · warps + w]: position of warp
// w's next key of bucket b.
extern "C" __global__ void multisplit_certify(KeySource s, BucketFunction f, Parts p, u32* next,
                                              const u32* __restrict__ keys, const u32* __restrict__ values, u32 words,
                                              Finding* finding) {
    const u64 w = warp_number();
    const u64 first = w < p.warps ? w * p.size : p.n, end = w < p.warps ? part_end(p, w) : p.n;
    u32 checked = 0;
    for (u64 base = first; base < end; base += 32u) {
        const u64 i = base + lane_of();
        const u32 key = i < end ? key_at(s, i) : 0u;
        const u32 bucket = i < end ? bucket_of(f, key) : 0xFFFFFFFFu;
        const u32 peers = __match_any_sync(0xFFFFFFFFu, bucket);
        const u32 before = (u32)__popc(peers & ((1u << lane_of()) - 1u));
        u32* place = &next[(i < end ? bucket : 0u) * p.warps + w];
        if (i < end) {
            const u64 at = *place + before;
            if (keys[at] != key) mistake(finding, i, WRONG_VALUE, at, key, keys[at]);
            else check_value(values, words, at, s, i, finding);
            checked += 1;
        }
        __syncwarp();
        if (i < end && before == 0) *place += (u32)__popc(peers);
        __syncwarp();
    }
    add_count(&finding->checked, checked);
}

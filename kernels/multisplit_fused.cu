// multisplit in a single pass over counted keys: the counts and their sums. The passes are in modules of their
// own (multisplit_fused_0.cu, with values multisplit_fused_4.cu and multisplit_fused_8.cu), for the driver
// compiles all kernels of a module. A reduced-bit sort (ashkiani2017 §3.3) is the same passes on labels.
#include "bucket_offsets.cuh"
#include "multisplit_counts.cuh"
#include "multisplit_labels.cuh"

// ---- counts ------------------------------------------------------------------------------------

#define COUNTS(by)                                                                                      \
    COUNT(by, 1) COUNT(by, 2) COUNT(by, 3) COUNT(by, 4) COUNT(by, 5) COUNT(by, 6) COUNT(by, 7) COUNT(by, 8)

COUNTS(field)
COUNTS(any)

// ---- sums over groups ----------------------------------------------------------------------------

#define SCAN_THREADS 256u
#define SCAN_ITEMS 8u

// What a thread's values have before them in the block, and in `sum` the block's own.
LAB u32 sum_block(u32 mine, u32* warps, u32& sum) {
    const u32 warp = threadIdx.x / 32u, end = sum_lanes(mine);
    if (lane_of() == 31u) warps[warp] = end;
    __syncthreads();
    u32 before = end - mine;
    sum = 0;
    for (u32 w = 0; w < SCAN_THREADS / 32u; ++w) {
        before += w < warp ? warps[w] : 0u;
        sum += warps[w];
    }
    __syncthreads();
    return before;
}

// Of bucket blockIdx.x: before each group, and all. The tickets begin behind the tiles that the blocks
// of the pass have by their numbers.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) fused_scan(Fused s) {
    __shared__ u32 warps[SCAN_THREADS / 32u];
    const u32* counts = s.groups + (u64)blockIdx.x * s.all;
    u32 carry = 0;
    for (u32 at = 0; at < s.all; at += SCAN_THREADS * SCAN_ITEMS) {
        const u32 first = at + threadIdx.x * SCAN_ITEMS;
        u32 v[SCAN_ITEMS], mine = 0, sum;
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            v[k] = first + k < s.all ? counts[first + k] : 0u;
            mine += v[k];
        }
        u32 before = carry + sum_block(mine, warps, sum);
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            if (first + k < s.all) s.before[(u64)(first + k) * gridDim.x + blockIdx.x] = before;
            before += v[k];
        }
        carry += sum;
    }
    if (threadIdx.x == 0) s.totals[blockIdx.x] = carry;
    if (threadIdx.x == 0 && blockIdx.x == 0) *s.ticket = s.blocks;
}

// ---- what a reduced-bit sort does besides ------------------------------------------------------

// The label of each key, and what goes with it: the key, the key with its value, or its number.
#define WITH_KEY 0u
#define WITH_PAIR 1u
#define WITH_NUMBER 2u

extern "C" __global__ void rb_label(const u32* __restrict__ keys, const u32* __restrict__ values, u32 n, BucketFunction f,
                                    u32 with, u32* __restrict__ labels, void* __restrict__ packed) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 key = __ldcs(keys + i);
        __stcs(labels + i, bucket_of(f, key));
        if (with == WITH_PAIR) __stcs((u64*)packed + i, (u64)key << 32 | __ldcs(values + i));
        if (with == WITH_NUMBER) __stcs((u32*)packed + i, (u32)i);
    }
}

extern "C" __global__ void rb_unpack(const u64* __restrict__ packed, u32 n, u32* __restrict__ keys, u32* __restrict__ values) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u64 pair = __ldcs(packed + i);
        __stcs(keys + i, (u32)(pair >> 32));
        __stcs(values + i, (u32)pair);
    }
}

// Keys and values of `words` words from where the sorted numbers say.
extern "C" __global__ void rb_permute(const u32* __restrict__ numbers, u32 n, const u32* __restrict__ keys, const u32* __restrict__ values,
                                      u32 words, u32* __restrict__ keys_out, u32* __restrict__ values_out) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 from = __ldcs(numbers + i);
        __stcs(keys_out + i, __ldg(keys + from));
        if (words == 1u) __stcs(values_out + i, __ldg(values + from));
        else __stcs((u64*)values_out + i, __ldg((const u64*)values + from));
    }
}

// Where each of m buckets begins among sorted labels: the label's own place tells that of all since the one before.
extern "C" __global__ void rb_offsets(const u32* __restrict__ labels, u32 n, u32 m, u32* __restrict__ offsets) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) {
        const u32 from = i == 0 ? 0u : labels[i - 1u] + 1u, to = i == n ? m : labels[i];
        for (u32 b = from; b <= to; ++b) offsets[b] = (u32)i;
    }
}

// ---- what rounds do besides ----------------------------------------------------------------------

extern "C" __global__ void
    fused_offsets(const u32* __restrict__ keys, u64 n, u32* __restrict__ offsets, const BucketFunction f) {
    seek_offset(keys, n, offsets, f);
}

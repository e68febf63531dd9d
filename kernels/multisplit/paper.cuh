// ashkiani2017's multisplit methods dms, wms and bms, which differ in their subproblems and in the unit within which
// keys are reordered (subproblems.cuh), and scan-based splits (§3.2). The scans between these kernels are those of
// scan/scan.cu.
#pragma once

#include "reordering.cuh"

// ---- dms ---------------------------------------------------------------------------------------

// Moves the values of a batch of windows to the destinations of their keys.
template <typename V, u32 N> LAB void move_values(const Split& s, const Reach& part, const u32 (&to)[N]) {
    const V* in = (const V*)s.values + part.first;
    V value[N];
#pragma unroll
    for (u32 w = 0; w < N; ++w) {
        if (part.at(w) < part.keys) value[w] = in[part.at(w)];
    }
#pragma unroll
    for (u32 w = 0; w < N; ++w) {
        if (part.at(w) < part.keys) ((V*)s.values_out)[to[w]] = value[w];
    }
}

// dms: the post-scan of Algorithm 1, one subproblem per warp. A key's destination = the warp's base of its bucket +
// keys of earlier windows + lower lanes with the same bucket. TOGETHER windows are in flight at once.
template <u32 BITS, u32 TOGETHER> LAB void dms(const Split& s, const BucketFunction& given) {
    const BucketFunction f = placed(given);
    const u32 warp = threadIdx.x / 32u, subproblem = blockIdx.x * (blockDim.x / 32u) + warp;
    if (subproblem >= s.subproblems) return;
    u32* const next = (u32*)dense + warp * Ballot<BITS>::NUMBERS;
    u32 mine = 0;
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = r * 32u + lane_of(), base = b < f.buckets ? s.counts[(u64)b * s.subproblems + subproblem] : 0u;
        if (BITS > 5) next[b] = base;
        else mine = base;
    }
    __syncwarp();
    const u64 size = keys_of_warp(s), first = subproblem * size, last = end_of(s, first + size);
    for (u64 at = first; at < last; at += 32u * TOGETHER) {
        const Reach part = reach_of(at, last, 32u * TOGETHER);
        u32 key[TOGETHER], bucket[TOGETHER], to[TOGETHER];
        load_keys(s, part, key);
        buckets_of(f, key, bucket);
#pragma unroll
        for (u32 w = 0; w < TOGETHER; ++w) {
            if (w * 32u >= part.keys) break;
            const u32 valid = part.lanes(w);
            const bool there = (valid >> lane_of() & 1u) != 0;
            const Votes<BITS> votes = voted<BITS>(bucket[w], valid);
            const u32 same = voters<BITS>(votes, bucket[w]);
            if (BITS > 5) {
                to[w] = take_shared(next, bucket[w], there, same);
            } else {
                u32 counts[Ballot<BITS>::WORDS];
                tally<BITS>(votes, counts);
                to[w] = __shfl_sync(EVERYONE, mine, (int)bucket[w]) + __popc(same & lanes_below());
                mine += counts[0];
            }
            if (there) s.keys_out[to[w]] = key[w];
        }
        if (s.value == 4u) move_values<u32>(s, part, to);
        else if (s.value == 8u) move_values<u64>(s, part, to);
    }
}

// ---- the kernels of the three --------------------------------------------------------------------

// Threads per block, and resident blocks per multiprocessor: 64 registers per thread.
#define LOCALISED_THREADS 256
#define LOCALISED_BLOCKS 4

// offsets[b] = start of bucket b; offsets[m] = n. Written by block 0.
LAB void store_offsets(const Split& s, u32 m) {
    if (blockIdx.x != 0) return;
    for (u32 b = threadIdx.x; b <= m; b += blockDim.x) {
        s.offsets[b] = b == m || s.n == 0 ? (u32)s.n : s.counts[(u64)b * s.subproblems];
    }
}

#define PRESCAN(name, BITS, ...)                                                                    \
    extern "C" __global__ void __launch_bounds__(LOCALISED_THREADS, LOCALISED_BLOCKS) name##_##BITS(const Split s, const BucketFunction f) { \
        name<__VA_ARGS__>(s, f);                                                                    \
    }

#define POSTSCAN(name, BITS, ...)                                                                   \
    extern "C" __global__ void __launch_bounds__(LOCALISED_THREADS, LOCALISED_BLOCKS) name##_##BITS(const Split s, const BucketFunction f) { \
        store_offsets(s, f.buckets);                                                                \
        name<__VA_ARGS__>(s, f);                                                                    \
    }

// dms's kernels for subproblems of one window, as in the paper: with one key per lane they need few registers.
#define WINDOW_OF(BITS)                                                                             \
    extern "C" __global__ void __launch_bounds__(LOCALISED_THREADS) prescan_window_##BITS(const Split s, const BucketFunction f) { \
        prescan_warps<BITS, 1>(s, f);                                                               \
    }                                                                                               \
    extern "C" __global__ void __launch_bounds__(LOCALISED_THREADS) dms_window_##BITS(const Split s, const BucketFunction f) { \
        store_offsets(s, f.buckets);                                                                \
        dms<BITS, 1>(s, f);                                                                         \
    }

#define LOCALISED(BITS)                                                                             \
    PRESCAN(prescan_warps, BITS, BITS, WINDOWS)                                                     \
    PRESCAN(prescan_blocks, BITS, BITS)                                                             \
    POSTSCAN(dms, BITS, BITS, WINDOWS)                                                              \
    POSTSCAN(wms, BITS, BITS)                                                                       \
    POSTSCAN(bms, BITS, BITS)                                                                       \
    WINDOW_OF(BITS)

LOCALISED(1)
LOCALISED(2)
LOCALISED(3)
LOCALISED(4)
LOCALISED(5)
LOCALISED(6)
LOCALISED(7)
LOCALISED(8)

// ---- bucket offsets in keys that are ordered by bucket -----------------------------------------

// offsets[b] = first position whose key has a bucket ≥ b, among n keys in bucket order. One warp per b ≤ m; a 32-ary
// search.
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

// ---- scan-split ----------------------------------------------------------------------------------

// Keys per thread.
#define EACH 4u

// A split in two by one bit of the bucket number.
struct Halves {
    const u32* keys;
    u32* keys_out;
    const void* values;
    void* values_out;
    const u32* ones;  // [i]: ones before key i
    u64 n;
    u32 bit;
    u32 value;  // bytes of a value, 0 without values
};

static_assert(sizeof(Halves) == 56, "the layout of the host");

// Loads the thread's keys, coalesced over the block, and the bit of each key's bucket; returns the first key's index.
LAB u64 load_halves(const u32* keys, u64 n, const BucketFunction& f, u32 bit, u32 (&key)[EACH], u32 (&one)[EACH]) {
    const u64 first = (u64)blockIdx.x * blockDim.x * EACH + threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) key[k] = first + k * blockDim.x < n ? keys[first + k * blockDim.x] : 0u;
    buckets_of(f, key, one);
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) one[k] = one[k] >> bit & 1u;
    return first;
}

extern "C" __global__ void __launch_bounds__(256)
    scan_split_flags(const Halves s, u32* __restrict__ flags, const BucketFunction f) {
    u32 key[EACH], one[EACH];
    const u64 first = load_halves(s.keys, s.n, f, s.bit, key, one);
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        if (first + k * blockDim.x < s.n) flags[first + k * blockDim.x] = one[k];
    }
}

template <typename V> LAB void move_values(const Halves& s, u64 first, const u32 (&to)[EACH]) {
    V value[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        if (first + k * blockDim.x < s.n) value[k] = ((const V*)s.values)[first + k * blockDim.x];
    }
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        if (first + k * blockDim.x < s.n) ((V*)s.values_out)[to[k]] = value[k];
    }
}

// Stable split by one scan (§3.2): a zero goes to i - ones before it, a one to zeros + ones before it.
extern "C" __global__ void __launch_bounds__(256) scan_split_move(const Halves s, const BucketFunction f) {
    u32 key[EACH], one[EACH], to[EACH];
    const u64 first = load_halves(s.keys, s.n, f, s.bit, key, one);
    const u32 last = bucket_of(f, s.keys[s.n - 1]) >> s.bit & 1u, zeros = (u32)s.n - s.ones[s.n - 1] - last;
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        const u64 i = first + k * blockDim.x;
        if (i >= s.n) continue;
        const u32 before = s.ones[i];
        to[k] = one[k] != 0 ? zeros + before : (u32)i - before;
        s.keys_out[to[k]] = key[k];
    }
    if (s.value == 4u) move_values<u32>(s, first, to);
    else if (s.value == 8u) move_values<u64>(s, first, to);
}

extern "C" __global__ void
    scan_split_offsets(const u32* __restrict__ keys, u64 n, u32* __restrict__ offsets, const BucketFunction f) {
    seek_offset(keys, n, offsets, f);
}

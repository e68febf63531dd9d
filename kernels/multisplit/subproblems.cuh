// Multisplit as in ashkiani2017: a pre-scan counts the buckets of each subproblem, a scan covers all counts, and a
// post-scan computes the destination of each key and moves it (§4.6, Algorithm 1). The methods differ in the
// subproblem, and in the unit within which keys are reordered before they are moved (§5.3, Table 1):
//
//   dms  a warp's window of 32 keys, or several; nothing is reordered
//   wms  a warp's tiles of some windows; a tile is reordered by the warp
//   bms  a block's tiles, some windows of each of its warps; a tile is reordered by the block
//
// Buckets are numbers below 2^BITS. Up to 32 buckets: lane b counts bucket b, and lanes query each other by shuffles.
// More: ⌈m / 32⌉ registers count in the pre-scan (§5.7), and the post-scan uses m words of shared memory per warp
// (§6.3), since a shuffle reads only one register.
#pragma once

#include "../common/warp.cuh"
#include "inputs.cuh"

// Windows that a warp has in flight, the maximum per tile.
#define WINDOWS 8u

extern __shared__ ulonglong2 dense[];

struct Split {
    const u32* keys;
    u32* keys_out;
    const void* values;
    void* values_out;
    u32* counts;      // [bucket][subproblem]: H in the pre-scan, G in the post-scan
    u32* offsets;     // m + 1 offsets
    u64 n;            // below 2^32
    u32 subproblems;  // L
    u32 windows;      // per warp and tile; dms: per subproblem
    u32 tiles;        // per subproblem
    u32 value;        // bytes of a value, 0 without values
};

static_assert(sizeof(Split) == 72, "the layout of the host");

// Mask of a window's lanes that have a key; `keys` counts from the window's first key on.
LAB u32 lanes_of(u32 keys) { return keys >= 32u ? EVERYONE : (1u << keys) - 1u; }

// A warp's part of a tile: its first key and its number of keys.
struct Reach {
    u64 first;
    u32 keys;
    // The lane's key in window w; the lanes that have a key in window w.
    LAB_MEMBER u32 at(u32 w) const { return w * 32u + lane_of(); }
    LAB_MEMBER u32 lanes(u32 w) const { return lanes_of(keys > w * 32u ? keys - w * 32u : 0u); }
};

LAB Reach reach_of(u64 first, u64 last, u32 most) {
    const u64 rest = first < last ? last - first : 0;
    return {first, rest < most ? (u32)rest : most};
}

// Loads the lane's keys; missing ones are 0.
template <u32 N> LAB void load_keys(const Split& s, const Reach& part, u32 (&key)[N]) {
    const u32* in = s.keys + part.first;
#pragma unroll
    for (u32 w = 0; w < N; ++w) key[w] = part.at(w) < part.keys ? in[part.at(w)] : 0u;
}

// ---- buckets -----------------------------------------------------------------------------------

// Up to 2^PLACED_BITS - 1 splitters are searched in shared memory.
#define PLACED_BITS 8u

// Copies a range function's splitters to shared memory. All threads of the block must call this.
LAB BucketFunction placed(const BucketFunction& given) {
    __shared__ u32 splitters[1u << PLACED_BITS];
    BucketFunction f = given;
    if (f.by == BY_RANGE) {
        for (u32 j = threadIdx.x; j + 1u < f.buckets; j += blockDim.x) splitters[j] = given.splitters[j];
        __syncthreads();
        f.splitters = splitters;
    }
    return f;
}

template <u32 N, typename F> LAB void each_bucket(const u32 (&key)[N], u32 (&bucket)[N], F of) {
#pragma unroll
    for (u32 k = 0; k < N; ++k) bucket[k] = of(key[k]);
}

// Evaluates N keys with one dispatch on the function.
template <u32 N> LAB void buckets_of(const BucketFunction& f, const u32 (&key)[N], u32 (&bucket)[N]) {
    if (f.by == BY_DELTA) each_bucket(key, bucket, [&](u32 u) { return bucket_delta(f, u); });
    else if (f.by == BY_IDENTITY) each_bucket(key, bucket, [&](u32 u) { return bucket_identity(f, u); });
    else if (f.by == BY_QUOTIENT) each_bucket(key, bucket, [&](u32 u) { return bucket_quotient(f, u); });
    else if (f.by == BY_HASH) each_bucket(key, bucket, [&](u32 u) { return bucket_hash(f, u); });
    else if (f.by == BY_RANGE) each_bucket(key, bucket, [&](u32 u) { return bucket_range(f, u); });
    else {
        // A rolled loop, because is_prime is long; indexing forces the keys into local memory, which does not matter
        // beside it.
        u32 keys[N], buckets[N];
#pragma unroll
        for (u32 k = 0; k < N; ++k) keys[k] = key[k];
#pragma unroll 1
        for (u32 k = 0; k < N; ++k) buckets[k] = bucket_prime(f, keys[k]);
#pragma unroll
        for (u32 k = 0; k < N; ++k) bucket[k] = buckets[k];
    }
}

// ---- counts ------------------------------------------------------------------------------------

// Adds the warp's keys [first, last) to the counts, TOGETHER windows at a time: mine[r] is that of bucket lane + 32·r.
template <u32 BITS, u32 TOGETHER>
LAB void count_windows(const Split& s, const BucketFunction& f, u64 first, u64 last, u32 (&mine)[Ballot<BITS>::WORDS]) {
    for (u64 at = first; at < last; at += 32u * TOGETHER) {
        const Reach part = reach_of(at, last, 32u * TOGETHER);
        u32 key[TOGETHER], bucket[TOGETHER];
        load_keys(s, part, key);
        buckets_of(f, key, bucket);
#pragma unroll
        for (u32 w = 0; w < TOGETHER; ++w) {
            if (w * 32u >= part.keys) break;
            u32 counts[Ballot<BITS>::WORDS];
            tally<BITS>(voted<BITS>(bucket[w], part.lanes(w)), counts);
#pragma unroll
            for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) mine[r] += counts[r];
        }
    }
}

// Keys per warp in a subproblem.
LAB u64 keys_of_warp(const Split& s) { return (u64)s.tiles * s.windows * 32u; }

LAB u64 end_of(const Split& s, u64 end) { return end < s.n ? end : s.n; }

// Pre-scan of dms and wms: one warp per subproblem, i.e. column of H.
template <u32 BITS, u32 TOGETHER> LAB void prescan_warps(const Split& s, const BucketFunction& given) {
    const BucketFunction f = placed(given);
    const u32 subproblem = blockIdx.x * (blockDim.x / 32u) + threadIdx.x / 32u;
    if (subproblem >= s.subproblems) return;
    u32 mine[Ballot<BITS>::WORDS] = {};
    const u64 size = keys_of_warp(s), first = subproblem * size;
    count_windows<BITS, TOGETHER>(s, f, first, end_of(s, first + size), mine);
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = r * 32u + lane_of();
        if (b < f.buckets) s.counts[(u64)b * s.subproblems + subproblem] = mine[r];
    }
}

// ---- the counts of a block's warps ---------------------------------------------------------------

// Layout of counts in shared memory: [bucket][warp] (§5.5.3), with a gap after every 32, so that lanes that each read
// their own bucket access different banks.
LAB u32 spaced(u32 at) { return at + at / 32u; }

// Index of the count of `bucket` in warp w of `warps`, a power of two.
LAB u32 cell(u32 bucket, u32 warps, u32 w) { return spaced(bucket * warps + w); }

// Words that these counts occupy.
template <u32 BITS> LAB u32 cells_of(u32 warps) { return spaced(Ballot<BITS>::NUMBERS * warps) + 1u; }

// Calls each(cell, exists) for all cells, 32 at a time per warp. All lanes take part.
template <u32 BITS, typename F> LAB void each_cell(u32 warps, F each) {
    const u32 all = Ballot<BITS>::NUMBERS * warps;
    for (u32 at = threadIdx.x & ~31u; at < all; at += warps * 32u) each(at + lane_of(), at + lane_of() < all);
}

// Pre-scan of bms: one block per subproblem (§5.5.3); shuffles sum its warps' counts.
template <u32 BITS> LAB void prescan_blocks(const Split& s, const BucketFunction& given) {
    const BucketFunction f = placed(given);
    u32* const cells = (u32*)dense;
    const u32 warps = blockDim.x / 32u, warp = threadIdx.x / 32u;
    u32 mine[Ballot<BITS>::WORDS] = {};
    const u64 share = keys_of_warp(s), block = blockIdx.x * share * warps, first = block + warp * share;
    count_windows<BITS, WINDOWS>(s, f, first, end_of(s, first + share), mine);
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = r * 32u + lane_of();
        if (b < Ballot<BITS>::NUMBERS) cells[cell(b, warps, warp)] = mine[r];
    }
    __syncthreads();
    each_cell<BITS>(warps, [&](u32 at, bool there) {
        u32 sum = there ? cells[spaced(at)] : 0u;
        for (u32 by = 1; by < warps; by *= 2) sum += __shfl_xor_sync(EVERYONE, sum, by);
        const u32 b = at / warps;
        if (there && at % warps == 0 && b < f.buckets) s.counts[(u64)b * s.subproblems + blockIdx.x] = sum;
    });
}

// ---- places above 32 buckets ------------------------------------------------------------------------

// The place of the lane's key, given next[at], the place of its bucket's next key, in shared memory. `same`: mask of
// the lanes with this bucket, the highest of which advances next[at].
LAB u32 take_shared(u32* next, u32 at, bool valid, u32 same) {
    const u32 before = valid ? next[at] : 0u;
    __syncwarp();
    if (valid && same >> lane_of() == 1u) next[at] = before + __popc(same);
    __syncwarp();
    return before + __popc(same & lanes_below());
}

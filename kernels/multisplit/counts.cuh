// Counts for the multisplit in a single pass (fused.cuh), two kernels that run before it: fused_count counts the
// buckets of each tile and of each group of tiles, fused_scan sums over groups.
#pragma once

#include "fused.cuh"

#define COUNT_THREADS 512u
#define BATCH 4u  // 16-byte vectors that each lane has in flight

// Each lane counts in copy lane % COPIES of a tile's counters: one copy per bank if buckets are few.
template <int BITS> struct Copies {
    static const u32 M = 1u << BITS, COPIES = BITS <= 4 ? 32u : 512u >> BITS;
};

// One warp counts keys [first, first + keys). Its loads are evict-first, so that they do not displace the pass's
// output from the cache.
template <int BITS, typename B> LAB void count_part(const Fused& s, const B& bucket, u64 first, u32 keys, u32* counters) {
    const u32 COPIES = Copies<BITS>::COPIES;
    u32* own = counters + lane_of() % COPIES;
    const u32* in = s.keys + first;
    auto add = [&](u32 key) { atomicAdd(&at4(own, bucket(key) * COPIES), 1u); };
    const u32 whole = ((u64)in & 15u) == 0 ? keys / (128u * BATCH) : 0u;
    for (u32 round = 0; round < whole; ++round) {
        uint4 v[BATCH];
#pragma unroll
        for (u32 j = 0; j < BATCH; ++j) v[j] = __ldcs((const uint4*)in + (round * BATCH + j) * 32u + lane_of());
#pragma unroll
        for (u32 j = 0; j < BATCH; ++j) {
            add(v[j].x);
            add(v[j].y);
            add(v[j].z);
            add(v[j].w);
        }
    }
    for (u32 i = whole * 128u * BATCH + lane_of(); i < keys; i += 32u) add(in[i]);
}

// One block counts a group of tiles, two warps per tile: in_group = exclusive scan over the group's tiles, groups =
// the counts of the whole group.
template <int BITS, typename B> LAB void count(const Fused& s) {
    const u32 M = Copies<BITS>::M, COPIES = Copies<BITS>::COPIES;
    __shared__ u32 counters[GROUP][M * COPIES];
    for (u32 w = threadIdx.x; w < GROUP * M * COPIES; w += COUNT_THREADS) (&counters[0][0])[w] = 0;
    after_earlier_launches();
    __syncthreads();
    const u32 part = threadIdx.x / 32u, half = s.tile / 2u;
    const u64 first = ((u64)blockIdx.x * GROUP * 2u + part) * half;
    const u32 keys = first >= s.n ? 0u : s.n - first < half ? (u32)(s.n - first) : half;
    count_part<BITS, B>(s, B(s.f), first, keys, counters[part / 2u]);
    __syncthreads();
    for (u32 b = threadIdx.x; b < M; b += COUNT_THREADS) {
        u32 sum = 0;
        for (u32 k = 0; k < GROUP; ++k) {
            const u32 tile = blockIdx.x * GROUP + k;
            if (tile < s.tiles) s.in_group[(u64)tile * M + b] = sum;
#pragma unroll
            for (u32 c = 0; c < COPIES; ++c) sum += counters[k][b * COPIES + ((c + b) & (COPIES - 1u))];
        }
        s.groups[(u64)b * s.all + blockIdx.x] = sum;
    }
}

#define COUNT(by, BITS)                                                                                 \
    extern "C" __global__ void __launch_bounds__(COUNT_THREADS) fused_count_##by##_##BITS(Fused s) {     \
        count<BITS, NUMBER_##by>(s);                                                                      \
    }

// ---- sums over groups --------------------------------------------------------------------------

#define SCAN_THREADS 256u
#define SCAN_ITEMS 8u

// Returns the block's exclusive scan; `sum` is the block's total.
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

// Block b: `before` = exclusive scan of bucket b's counts over groups, totals[b] = their sum. Tickets start past the
// first tiles, which the pass's blocks take by block number.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) fused_scan(Fused s) {
    __shared__ u32 warps[SCAN_THREADS / 32u];
    after_earlier_launches();
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

// The counting kernel of a multisplit in a single pass over counted keys.
#pragma once

#include "fused.cuh"

#define COUNT_THREADS 512u
#define BATCH 4u  // vectors that each lane has in flight

// Each lane counts in copy lane mod COPIES of a tile's counters: one copy per bank if buckets are few.
template <int BITS> struct Copies {
    static const u32 M = 1u << BITS, COPIES = BITS <= 4 ? 32u : 512u >> BITS;
};

// Counts `keys` keys from `first` on, with one warp. The loads do not keep their lines in the cache, so that
// they do not displace the output of the pass.
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

// Counts of a group of tiles, two warps per tile: for each tile the counts of the group's tiles before it, and
// the counts of the whole group.
template <int BITS, typename B> LAB void count(const Fused& s) {
    const u32 M = Copies<BITS>::M, COPIES = Copies<BITS>::COPIES;
    __shared__ u32 counters[GROUP][M * COPIES];
    for (u32 w = threadIdx.x; w < GROUP * M * COPIES; w += COUNT_THREADS) (&counters[0][0])[w] = 0;
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

// The inverse of a multisplit: results computed in bucket order return to the order that the keys had before the split
// (fused.cuh).
//
// The counts that the split has left locate the runs of each tile. A block loads a tile's keys and ranks them again,
// reads the tile's runs of results into shared memory, and each thread picks the results of its keys. That moves 12
// bytes per key; keeping each key's place through the split would move 16, in random order.
#pragma once

#include "fused.cuh"

// Fused::keys are the keys before the split, Fused::values the results in bucket order, and Fused::values_out the
// results in the order of the keys.
template <int BITS, typename B> struct Back {
    typedef Pass<BITS, 0, B, false> P;

    LAB_MEMBER static void positions(P& mine, const typename P::Room& r) {
        static_assert(!P::PACKED && !P::CHEAP, "numbers hold the rank and the bucket");
#pragma unroll
        for (int i = 0; i < P::ITEMS; ++i) {
            const u32 n = mine.number[i];
            mine.number.replace(i, *(const u32*)((const char*)r.counters[threadIdx.x / 32u] + (n >> 16)) + (n & 0xFFFFu));
        }
    }

    // Reads the tile's runs of results, one warp per run.
    LAB_MEMBER static void load_runs(const u32* results, typename P::Room& r) {
        for (u32 b = threadIdx.x / 32u; b < (u32)P::M; b += P::WARPS) {
            const u32 outer = r.runs.outer[b], from = r.runs.to[b];
            for (u32 slot = (outer & 0xFFFFu) + lane_of(); slot < outer >> 16; slot += 32u)
                r.keys[slot] = __ldcs(results + (u32)(from + slot));
        }
    }

    LAB_MEMBER static void store(const P& mine, const Fused& s, const typename P::Room& r, u32 tile) {
        const u32 at = tile * P::T + P::first_item();
        u32* out = (u32*)s.values_out + at;
#pragma unroll
        for (int i = 0; i < P::ITEMS; ++i) {
            if (at + i * 32 < s.n) __stcs(out + i * 32, r.keys[mine.number[i]]);
        }
    }

    LAB_MEMBER static void run(const Fused& s) {
        typename P::Room& r = *(typename P::Room*)dense;
        const B bucket(s.f);
        const u32 b = threadIdx.x, start = P::start_of_bucket(s, r), last = P::bucket_behind(s, bucket);
        for (u32 tile = blockIdx.x; tile < s.tiles; tile += gridDim.x) {
            const u32 here = s.n - tile * P::T;
            P mine;
            mine.load(s, tile);
            u32 from = start;
            if (b < (u32)P::M) from += s.in_group[(u64)tile * P::M + b] + s.before[(u64)(tile / GROUP) * P::M + b];
            if (BITS == 1) mine.rank_two(s, bucket, tile, r.counters[b / 32u]);
            else mine.rank_many(s, bucket, tile, r.counters[b / 32u]);
            __syncthreads();  // all warps have counted
            P::place_warps(r, from, b == last && here < (u32)P::T ? P::T - here : 0u);
            __syncthreads();
            positions(mine, r);
            load_runs((const u32*)s.values, r);
            __syncthreads();
            store(mine, s, r, tile);
            __syncthreads();  // the next tile overwrites the runs
        }
    }
};

#define BACK(BITS)                                                                                  \
    extern "C" __global__ void __launch_bounds__(Shape<BITS, 0>::THREADS, Shape<BITS, 0>::BLOCKS)           \
        fused_back_hash_##BITS(Fused s) {                                                               \
        Back<BITS, Hash>::run(s);                                                             \
    }

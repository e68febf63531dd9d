// The roof that ranking sets to onesweep.cuh: the on-chip part of its pass, repeated on a tile that stays in shared
// memory, with the same functions and shapes.
//
//   a block reads its tile once
//   for each turn, on the next digit, from the lowest to the highest and again:
//     count, rank, place the warps, reorder keys and values, as in a pass
//   the tile is written once
//
// A turn takes its keys from shared memory, draws no tile, publishes nothing and waits for no spine. After each round
// of all digits the tile is in order, which the certificate of a sort checks tile by tile. Runs adjoin, without slots
// for aligned copies. Values take one barrier more than in a pass, because they move within one array.
#pragma once

#include "onesweep.cuh"

template <typename K, int VALUE> struct RankedTile : DigitPass<K, VALUE, false, LARGE> {
    typedef DigitPass<K, VALUE, false, LARGE> Pass;
    typedef typename Pass::V V;
    typedef typename Pass::Room Room;
    static const int ITEMS = Pass::ITEMS;

    // Copies a tile between shared and global memory.
    template <typename E> LAB_MEMBER static void copy(E* to, const E* from) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) to[i * 32] = from[i * 32];
    }

    // Moves the values to the slots of their keys. All threads must call this.
    LAB_MEMBER void follow(V* values, u32 at) const {
        V value[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) value[i] = values[at + i * 32];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) values[this->number[i]] = value[i];
    }

    // Sorts the block's tile turn by turn. Adds to `tickets` the number of digits whose count and ranks disagree in
    // the last turn.
    LAB_MEMBER static void run(const Onesweep& s, u32 turns) {
        Room& r = *(Room*)dense;
        const u32 b = threadIdx.x, at = Pass::first_item(), first = blockIdx.x * Pass::T + at;
        RankedTile mine;
        copy(r.keys + at, (const K*)s.keys_in + first);
        if (VALUE > 0) copy(r.values + at, (const V*)s.values_in + first);
        if (b < DIGITS) r.keys_of[b] = 0;
        __syncthreads();
        u32 d = 0;
#pragma unroll 1
        for (u32 turn = 0; turn < turns; ++turn) {
            const Digit<K> digit(s, d);
            d = d + 1u < s.digits ? d + 1u : 0u;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) mine.key[i] = r.keys[at + i * 32];
            mine.count(r, digit);
            mine.rank_many(s, digit, blockIdx.x, r.counters[b / 32u]);
            __syncthreads();  // all warps have counted, and have taken their keys
            u32 counted = 0;
            if (b < DIGITS) {
                counted = r.keys_of[b];
                r.keys_of[b] = 0;
            }
            Pass::place_warps(r, counted, 0);
            __syncthreads();
            mine.reorder(r, digit);
            if (VALUE > 0) mine.follow(r.values, at);
            __syncthreads();
        }
        copy((K*)s.keys_out + first, r.keys + at);
        if (VALUE > 0) copy((V*)s.values_out + first, r.values + at);
        if (b >= DIGITS) return;
        // place_warps took the count as the run's start, to + slot; the run's length is what was ranked.
        const u32 slot = r.runs.outer[b] & 0xFFFFu, ranked = (r.runs.outer[b] >> 16) - slot;
        if (r.runs.to[b] + slot != ranked) atomicAdd(s.tickets, 1u);
    }
};

#define RANKING(KEY, VALUE)                                                                                     \
    extern "C" __global__ void __launch_bounds__(SortShape<KEY / 8, VALUE, LARGE>::THREADS,                     \
                                                 SortShape<KEY / 8, VALUE, LARGE>::BLOCKS)                      \
        sort_ranking_u##KEY##_##VALUE(Onesweep s, u32 turns) {                                                  \
        RankedTile<u##KEY, VALUE>::run(s, turns);                                                               \
    }

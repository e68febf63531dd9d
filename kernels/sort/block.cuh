// Sort of as few keys as one block holds: an LSD radix sort on chip, in one launch that reads and writes the keys once.
//
//   the block loads the keys, and finds the bits in which they differ
//   for each digit of 8 bits in which they do, the lowest first:
//     warps rank their keys, the block places the warps, keys and values move to their places (common/split_tile.cuh)
//   the block stores the keys
//
// Positions past the last key hold the greatest key. Ranks are stable, so they stay behind all keys.
#pragma once

#include "onesweep.cuh"

// As in src/core/primitives/sort/methods/block.rs.
template <int OF_BLOCK, int OF_THREAD> struct BlockShape {
    static const int THREADS = OF_BLOCK, ITEMS = OF_THREAD;
    static const bool OVERLAPS = true;
    static const u32 ALIGN = 1, STEP = 1;
};

template <typename K, int VALUE, typename S> struct BlockSort : SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, false, S> {
    typedef SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, false, S> Base;
    typedef typename Base::V V;
    typedef typename Base::Room Room;
    static const int ITEMS = S::ITEMS;

    // The arrays as the tile of a pass takes them.
    struct Ends {
        const void* keys;
        const void* values;
        u32 n;
    };

    LAB_MEMBER static void copy(V* to, const V* from, u32 n) {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < n; i += S::THREADS) to[i] = from[i];
    }

    // The bits in which any key differs from the first one. All threads must call this.
    LAB_MEMBER K differing(const Onesweep& s, u32 at) const {
        __shared__ u32 halves[2];
        const K first = *(const K*)s.keys_in;
        K mine = 0;
        if (threadIdx.x < 2u) halves[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) mine |= at + i * 32 < s.n ? this->key[i] ^ first : K(0);
#pragma unroll
        for (u32 by = 16; by > 0; by /= 2) mine |= __shfl_xor_sync(EVERYONE, mine, by);
        if (lane_of() == 0) atomicOr(&halves[0], (u32)mine);
        if (sizeof(K) > 4 && lane_of() == 0) atomicOr(&halves[1], (u32)((u64)mine >> 32));
        __syncthreads();
        return (K)((u64)halves[1] << 32 | halves[0]);
    }

    // Turns the warps' counts into first places: an exclusive scan over digits, then over warps. All threads must call this.
    LAB_MEMBER static void place(Room& r) {
        const u32 b = threadIdx.x;
        u32 total = 0;
#pragma unroll
        for (int w = 0; b < DIGITS && w < Base::WARPS; ++w) total += r.counters[w][b];
        u32 end = sum_lanes(total);
        if (b < DIGITS && lane_of() == 31u) r.sums[b / 32u] = end;
        __syncthreads();
        if (b >= DIGITS) return;
#pragma unroll
        for (u32 w = 0; w < DIGITS / 32u - 1u; ++w) end += w < b / 32u ? r.sums[w] : 0u;
        u32 at = end - total;
#pragma unroll
        for (int w = 0; w < Base::WARPS; ++w) {
            const u32 count = r.counters[w][b];
            r.counters[w][b] = at;
            at += count;
        }
    }

    // Splits the block's keys by a digit, and its values, which stay in shared memory.
    LAB_MEMBER void turn(const Ends& ends, Room& r, const Digit<K>& digit, u32 at) {
        V value[ITEMS];
        this->rank_many(ends, digit, 0, r.counters[threadIdx.x / 32u]);
#pragma unroll
        for (int i = 0; VALUE > 0 && i < ITEMS; ++i) value[i] = r.values[at + i * 32];
        __syncthreads();  // all warps have counted, and have taken their keys and values
        place(r);
        __syncthreads();
        this->reorder(r, digit);
#pragma unroll
        for (int i = 0; VALUE > 0 && i < ITEMS; ++i) r.values[this->number[i]] = value[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) this->key[i] = r.keys[at + i * 32];
    }

    LAB_MEMBER static void run(const Onesweep& s) {
        Room& r = *(Room*)dense;
        const u32 at = Base::first_item();
        after_earlier_launches();
        const Ends ends = {s.keys_in, s.values_in, s.n};
        BlockSort mine;
        if (VALUE > 0) copy(r.values, (const V*)s.values_in, s.n);
        mine.load(ends, 0);
        const K differing = mine.differing(s, at);
#pragma unroll 1
        for (u32 d = 0; d < s.digits; ++d) {
            const u32 bits = (u32)(differing >> (s.begin + d * DIGIT_BITS));
            if ((bits & ((1u << bits_of(s, d)) - 1u)) != 0) mine.turn(ends, r, Digit<K>(s, d), at);
        }
        K* const out = (K*)s.keys_out + at;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            if (at + i * 32 < s.n) out[i * 32] = mine.key[i];
        if (VALUE > 0) copy((V*)s.values_out, r.values, s.n);
    }
};

#define BLOCK_SORT(THREADS, ITEMS, KEY, VALUE)                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) sort_block_##THREADS##x##ITEMS##_u##KEY##_##VALUE(Onesweep s) { \
        BlockSort<u##KEY, VALUE, BlockShape<THREADS, ITEMS>>::run(s);                                             \
    }
#define BLOCK_SORTS(THREADS, ITEMS)                                                                               \
    BLOCK_SORT(THREADS, ITEMS, 32, 0) BLOCK_SORT(THREADS, ITEMS, 32, 4) BLOCK_SORT(THREADS, ITEMS, 32, 8)         \
    BLOCK_SORT(THREADS, ITEMS, 64, 0) BLOCK_SORT(THREADS, ITEMS, 64, 4) BLOCK_SORT(THREADS, ITEMS, 64, 8)

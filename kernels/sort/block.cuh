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

// Threads and keys per thread, as in src/core/primitives/sort/methods/block.rs.
template <int SIZE> struct BlockShape {
    static const int THREADS = SIZE == SMALL ? 512 : 1024;
    static const int ITEMS = SIZE == LARGE ? 16 : 8;
    static const u32 ALIGN = 1, STEP = 1;
};

template <typename K, int VALUE, int SIZE>
struct BlockSort : SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, false, BlockShape<SIZE>> {
    typedef SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, false, BlockShape<SIZE>> Base;
    typedef typename Base::V V;
    typedef typename Base::Room Room;
    static const int ITEMS = Base::ITEMS;

    // The arrays as the tile of a pass takes them.
    struct Ends {
        const void* keys;
        const void* values;
        u32 n;
    };

    template <typename E> LAB_MEMBER static void copy(E* to, const E* from, u32 n) {
#pragma unroll 4
        for (u32 i = threadIdx.x; i < n; i += Base::THREADS) to[i] = from[i];
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
        if ((u32)mine != 0) atomicOr(&halves[0], (u32)mine);
        if (sizeof(K) > 4 && (u32)((u64)mine >> 32) != 0) atomicOr(&halves[1], (u32)((u64)mine >> 32));
        __syncthreads();
        return (K)((u64)halves[1] << 32 | halves[0]);
    }

    // Splits the keys in shared memory by a digit.
    LAB_MEMBER void turn(const Ends& ends, Room& r, const Digit<K>& digit, u32 at) {
        V value[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) this->key[i] = r.keys[at + i * 32];
        this->rank_many(ends, digit, 0, r.counters[threadIdx.x / 32u]);
#pragma unroll
        for (int i = 0; VALUE > 0 && i < ITEMS; ++i) value[i] = r.values[at + i * 32];
        __syncthreads();  // all warps have counted, and have taken their keys
        Base::place_warps(r, 0, 0);
        __syncthreads();
        this->reorder(r, digit);
#pragma unroll
        for (int i = 0; VALUE > 0 && i < ITEMS; ++i) r.values[this->number[i]] = value[i];
        __syncthreads();
    }

    LAB_MEMBER static void run(const Onesweep& s) {
        Room& r = *(Room*)dense;
        const u32 at = Base::first_item();
        const Ends ends = {s.keys_in, s.values_in, s.n};
        BlockSort mine;
        mine.load(ends, 0);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) r.keys[at + i * 32] = mine.key[i];
        if (VALUE > 0) copy(r.values, (const V*)s.values_in, s.n);
        const K differing = mine.differing(s, at);
#pragma unroll 1
        for (u32 d = 0; d < s.digits; ++d) {
            const u32 bits = (u32)(differing >> (s.begin + d * DIGIT_BITS));
            if ((bits & ((1u << bits_of(s, d)) - 1u)) != 0) mine.turn(ends, r, Digit<K>(s, d), at);
        }
        copy((K*)s.keys_out, r.keys, s.n);
        if (VALUE > 0) copy((V*)s.values_out, r.values, s.n);
    }
};

#define BLOCK_SORT(size, KEY, VALUE)                                                                              \
    extern "C" __global__ void __launch_bounds__(BlockShape<SIZE_##size>::THREADS, 1) sort_block_##size##_u##KEY##_##VALUE(Onesweep s) { \
        BlockSort<u##KEY, VALUE, SIZE_##size>::run(s);                                                            \
    }
#define BLOCK_SORTS(size)                                                                                         \
    BLOCK_SORT(size, 32, 0) BLOCK_SORT(size, 32, 4) BLOCK_SORT(size, 32, 8)                                       \
    BLOCK_SORT(size, 64, 0) BLOCK_SORT(size, 64, 4) BLOCK_SORT(size, 64, 8)

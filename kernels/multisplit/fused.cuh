// Multisplit in a single pass over keys whose counts are known (counts.cuh). A block ranks the keys of a tile with one
// ballot per bit of the bucket, reorders the tile in shared memory, and writes one run per bucket
// (common/split_tile.cuh). A run's start in the output follows from the counts of earlier tiles, so no tile waits for
// another.
//
// Blocks draw tiles by ticket: neighboring tiles are written at the same time, and the sectors that their runs share
// are merged in the cache. Tickets start with the last tile, most of which the counting pass has left in the cache.
// While bulk copies write a tile's runs, the block loads the next tile and ranks its keys.
#pragma once

#include "../common/overlap.cuh"
#include "../common/split_tile.cuh"
#include "inputs.cuh"

// Tiles per group, which one block of fused_count counts.
#define GROUP 8u

struct Fused {
    const u32* keys;
    const void* values;
    u32* keys_out;
    void* values_out;
    u32* offsets;    // m + 1 offsets, or null
    u32* in_group;   // [tile][M]: keys in earlier tiles of its group
    u32* groups;     // [M][group]: keys in the group
    u32* before;     // [group][M]: keys in earlier groups
    u32* totals;     // [M]: keys
    u32* ticket;     // the next tile to draw
    BucketFunction f;
    u32 n, tile;     // keys in all; keys per tile
    u32 tiles, all;  // number of tiles; number of groups
    u32 blocks;      // blocks of the pass
    u32 behind;      // digits: a key with the highest digit, for positions past the last key
};

static_assert(sizeof(Fused) == 136, "the layout of the host");

// Threads per block, keys per thread, blocks per multiprocessor, as in src/core/primitives/multisplit/tiles.rs. More
// buckets need larger tiles: memory takes almost twice as long for runs of a few sectors as for long ones. A few
// threads with many keys each need fewer counters and have more loads in flight.
template <int BITS, int VALUE> struct Shape {
    static const bool LARGE = BITS >= (VALUE == 4 ? 7 : 6);
    static const int THREADS = LARGE && VALUE > 0 ? 512 : 256;
    static const int ITEMS = VALUE == 4 ? 32 : VALUE == 8 ? (LARGE ? 24 : 28) : LARGE ? 48 : 16;
    static const int BLOCKS = VALUE == 0 && !LARGE ? 4 : 512 / THREADS;
    // Not if two large blocks fit on a multiprocessor: those of an early launch go where the launch before it ends first, two
    // beside each other, while other multiprocessors have none. On an H200, 2^20 keys took 7 % longer.
    static const bool OVERLAPS = !LARGE || BLOCKS == 1;
    static const u32 ALIGN = RUN_ALIGN, STEP = RUN_ALIGN;
};

// The output position where bucket threadIdx.x of M, which has `total` keys, begins: an exclusive scan over the lanes and,
// if WARPS, over the warps. Block 0 also stores the offsets.
template <int M, bool WARPS, typename Room> LAB u32 bucket_start(const Fused& s, Room& r, u32 total) {
    const u32 b = threadIdx.x;
    u32 end = sum_lanes(total);
    if (WARPS) {
        if (lane_of() == 31u && b < 256u) r.sums[b / 32u] = end;
        __syncthreads();
        for (u32 w = 0; w < b / 32u && w < 8u; ++w) end += r.sums[w];
        __syncthreads();
    }
    if (blockIdx.x == 0 && s.offsets != nullptr) {
        if (b < (u32)M && b < s.f.buckets) s.offsets[b] = end - total;
        if (b == 0) s.offsets[s.f.buckets] = s.n;
    }
    return end - total;
}

template <int BITS, int VALUE, typename B, bool BULK>
struct Pass : SplitTile<u32, BITS, VALUE, B, BULK, Shape<BITS, VALUE>> {
    typedef SplitTile<u32, BITS, VALUE, B, BULK, Shape<BITS, VALUE>> Base;
    typedef typename Base::V V;
    typedef typename Base::Room Room;
    typedef typename Base::Store Store;
    static const int M = Base::M, T = Base::T;

    LAB_MEMBER static u32 start_of_bucket(const Fused& s, Room& r) {
        return bucket_start<M, true>(s, r, threadIdx.x < (u32)M ? s.totals[threadIdx.x] : 0u);
    }

    LAB_MEMBER static void run(const Fused& s) {
        if (Shape<BITS, VALUE>::OVERLAPS) after_earlier_launches();
        Room& r = *(Room*)dense;
        const B bucket(s.f);
        const u32 b = threadIdx.x, start = start_of_bucket(s, r), last = Base::bucket_behind(s, bucket);
        const Store leaving(s.keys_out, s.values_out);
        const Arrays<V> arrays = {s.keys_out, (V*)s.values_out, r.keys, r.values};
        Pass mine;
        u32 drawn = blockIdx.x;
        if (drawn < s.tiles) mine.load(s, s.tiles - 1u - drawn);
        while (drawn < s.tiles) {
            const u32 tile = s.tiles - 1u - drawn, here = s.n - tile * T;
            u32 next = 0, to = start;
            if (b == 0) next = atomicAdd(s.ticket, 1u);
            if (b < (u32)M) to += s.in_group[(u64)tile * M + b] + s.before[(u64)(tile / GROUP) * M + b];
            if (BITS == 1) mine.rank_two(s, bucket, tile, r.counters[b / 32u]);
            else mine.rank_many(s, bucket, tile, r.counters[b / 32u]);
            if (b == 0) r.next = next;
            leaving.wait();
            __syncthreads();  // all warps have counted, and the previous tile has been written
            drawn = r.next;
            Base::place_warps(r, to, b == last && here < (u32)T ? T - here : 0u);
            __syncthreads();
            mine.reorder(r, bucket);
            if (VALUE > 0) mine.reorder_values(s, r, tile);
            if (drawn < s.tiles) mine.load(s, s.tiles - 1u - drawn);
            leaving.written();
            __syncthreads();
            leaving.store(r.runs, arrays);
        }
        leaving.wait();
    }
};

// ---- the number by which a pass splits: the bucket of a key, or a digit of the bucket's number -

// The bucket is a field of the key's bits.
struct Field {
    static const bool CHEAP = true;
    u32 turn, mask;
    LAB_MEMBER Field(const BucketFunction& f) : turn((f.shift - 2u) & 31u), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return __funnelshift_r(key, key, turn) & mask; }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// Not inlined: the code is long and would be repeated for each of a thread's keys.
static __noinline__ __device__ u32 label_of(const BucketFunction& f, u32 key) { return bucket_of(f, key); }

// Any bucket function.
struct Any {
    static const bool CHEAP = false;
    const BucketFunction& f;
    LAB_MEMBER Any(const BucketFunction& f) : f(f) {}
    LAB_MEMBER u32 operator()(u32 key) const { return 4u * label_of(f, key); }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// ⌊h(u) · m / 2^32⌋: bucket_hash, inlined.
struct Hash {
    static const bool CHEAP = false;
    u32 buckets;
    LAB_MEMBER Hash(const BucketFunction& f) : buckets(f.buckets) {}
    LAB_MEMBER u32 operator()(u32 key) const { return 4u * (u32)((u64)mix32(key) * buckets >> 32); }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// A digit of ⌊u / Δ⌋. There are at most 2^16 buckets, so Δ ≥ 2^16, and four times the reciprocal fits in 64
// bits.
struct DeltaDigit {
    static const bool CHEAP = true;
    u64 reciprocal;
    u32 shift, mask;
    LAB_MEMBER DeltaDigit(const BucketFunction& f) : reciprocal(4u * f.reciprocal), shift(f.shift), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return (u32)scale(reciprocal, key) >> shift & mask; }
    // The greatest key may have a lower digit than other keys.
    LAB_MEMBER static u32 behind(const Fused& s) { return s.behind; }
};

#define NUMBER_field Field
#define NUMBER_any Any
#define NUMBER_hash Hash
#define NUMBER_delta DeltaDigit

// ---- kernels -----------------------------------------------------------------------------------

// `pass` stores runs with the block's threads, `bulk` with asynchronous copies.
#define BULK_pass false
#define BULK_bulk true

#define PASS(store, by, BITS, VALUE)                                                                   \
    extern "C" __global__ void __launch_bounds__(Shape<BITS, VALUE>::THREADS, Shape<BITS, VALUE>::BLOCKS)   \
        fused_##store##_##by##_##BITS##_##VALUE(Fused s) {                                              \
        Pass<BITS, VALUE, NUMBER_##by, BULK_##store>::run(s);                                           \
    }
#define PASSES(store, by, VALUE)                                                                       \
    PASS(store, by, 1, VALUE) PASS(store, by, 2, VALUE) PASS(store, by, 3, VALUE) PASS(store, by, 4, VALUE) \
    PASS(store, by, 5, VALUE) PASS(store, by, 6, VALUE) PASS(store, by, 7, VALUE) PASS(store, by, 8, VALUE)
#define PASSES_OF_DIGITS(store, BITS)                                                                  \
    PASS(store, delta, BITS, 0) PASS(store, delta, BITS, 4) PASS(store, delta, BITS, 8)

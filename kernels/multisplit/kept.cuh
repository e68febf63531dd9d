// Multisplit of few keys in one launch. Blocks count their tiles and keep them on chip while they wait for each other's
// counts, from which the places of all runs follow. All blocks must be resident at once, so launch no more than the
// device holds. A block that has more than one tile, as on a GPU with few multiprocessors, places the one first that it
// counted last, and loads and ranks the others again.
//
// A count is published with the number of the launch in one word of 64 bits: a reader that sees the number sees the
// count, without a fence, and nothing needs clearing. The block of a group's first tile publishes the sums of the group,
// so that a block reads its own group's counts and one row for each group.
#pragma once

#include "../common/published.cuh"
#include "fused.cuh"

// Tiles per group, as in src/core/primitives/multisplit/tiles.rs.
#define KEPT_GROUP 16u

// Members of Fused in such a launch: in_group = [tile][M] and groups = [group][M], words of keys in the upper half and the
// launch's number in the lower half; `behind` is that number, and `before`, `totals` and `ticket` are unused.

// As in tiles.rs. Runs are too short for bulk copies.
struct KeptShape {
    static const int THREADS = 256, ITEMS = 16, BLOCKS = 2;
    static const bool OVERLAPS = true;
    static const u32 ALIGN = 1, STEP = 1;
};

// The steps of a launch.
#define COUNT_TILES 0u
#define SUM_GROUPS 1u
#define PLACE_TILES 2u

// Fields, delta-buckets and hashes, computed in place. Their numbers are kept: a block ranks and places the same keys.
struct Mixed {
    static const bool CHEAP = false;
    u64 reciprocal;
    u32 turn, mask, buckets;
    bool delta, hash;
    LAB_MEMBER Mixed(const BucketFunction& f)
        : reciprocal(4u * f.reciprocal), turn(f.by == BY_DELTA ? f.shift : (f.shift - 2u) & 31u),
          mask(f.by == BY_HASH ? ~3u : 4u * f.mask), buckets(f.buckets), delta(f.by == BY_DELTA), hash(f.by == BY_HASH) {}
    LAB_MEMBER u32 operator()(u32 key) const {
        u32 field = key;
        if (delta) field = (u32)scale(reciprocal, key);
        else if (hash) field = (u32)((u64)mix32(key) * buckets >> 32);
        return __funnelshift_r(field, field, turn) & mask;
    }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

template <int BITS, int VALUE> struct Kept : SplitTile<u32, BITS, VALUE, Mixed, false, KeptShape> {
    typedef SplitTile<u32, BITS, VALUE, Mixed, false, KeptShape> Base;
    typedef typename Base::V V;
    static const int M = Base::M, T = Base::T, ITEMS = Base::ITEMS, THREADS = Base::THREADS;

    struct Room : Base::Room {
        u32 totals[M];   // keys of each bucket
        u32 earlier[M];  // those in earlier tiles
    };

    // Values are loaded together with the keys and wait in registers.
    V value[VALUE > 0 ? ITEMS : 1];

    LAB_MEMBER void take(const Fused& s, const Mixed& bucket, Room& r, u32 tile) {
        this->load(s, tile);
        if (VALUE > 0) {
            const u32 at = tile * T + Base::first_item();
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) value[i] = at + i * 32 < s.n ? ((const V*)s.values)[at + i * 32] : V(0);
        }
        this->rank_many(s, bucket, tile, r.counters[threadIdx.x / 32u]);
        __syncthreads();
    }

    // Keys of bucket threadIdx.x in the tile, without the positions past the last key, which are in the last bucket.
    LAB_MEMBER static u32 counted(const Room& r, u32 past) {
        const u32 b = threadIdx.x;
        u32 count = 0;
        if (b < (u32)M) {
#pragma unroll
            for (int w = 0; w < Base::WARPS; ++w) count += r.counters[w][b];
        }
        return count - (b == (u32)M - 1u ? past : 0u);
    }

    // Waits for `count` rows of M counts, spread over the block's threads, and adds them to the totals in shared memory if
    // `all`, and those before row `split` to the earlier ones.
    LAB_MEMBER static void gather(Room& r, const u64* rows, u32 count, u32 split, bool all, u32 launch) {
        const u32 SLICES = THREADS / M, ROWS = KEPT_GROUP > SLICES ? KEPT_GROUP / SLICES : 1u;
        const u32 AT_ONCE = ROWS > 8u ? 8u : ROWS;  // as the registers allow
        const u32 b = threadIdx.x % M, slice = threadIdx.x / M;
        u32 total = 0, earlier = 0;
#pragma unroll 1
        for (u32 first = slice; first < count; first += AT_ONCE * SLICES) {
            u64 word[AT_ONCE];
            for (bool waits = true; waits;) {
#pragma unroll
                for (u32 k = 0; k < AT_ONCE; ++k) {
                    const u32 row = first + k * SLICES;
                    word[k] = published(rows + (row < count ? row : count - 1u) * M + b);
                }
                u32 others = 0;
#pragma unroll
                for (u32 k = 0; k < AT_ONCE; ++k) others |= (u32)word[k] ^ launch;
                waits = others != 0;
                if (waits) __nanosleep(PATIENCE);
            }
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; ++k) {
                const u32 row = first + k * SLICES, found = (u32)(word[k] >> 32);
                total += row < count ? found : 0u;
                earlier += row < split ? found : 0u;
            }
        }
        if (all && total > 0) atomicAdd(&r.totals[b], total);
        if (earlier > 0) atomicAdd(&r.earlier[b], earlier);
    }

    // Sets the sums of bucket threadIdx.x before others are added.
    LAB_MEMBER static void begin(Room& r, u32 total) {
        if (threadIdx.x < (u32)M) {
            r.totals[threadIdx.x] = total;
            r.earlier[threadIdx.x] = 0;
        }
        __syncthreads();
    }

    LAB_MEMBER static void put(u64* row, u32 count, u32 launch) {
        if (threadIdx.x < (u32)M) publish(row + threadIdx.x, (u64)count << 32 | launch);
    }

    // Neighboring threads store neighboring slots, most of which go to neighboring places.
    LAB_MEMBER static void store(const Fused& s, const Mixed& bucket, const Room& r, u32 here) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const u32 slot = i * THREADS + threadIdx.x;
            if (slot >= here) continue;
            const u32 key = r.keys[slot], to = at4((u32*)r.runs.to, bucket(key)) + slot;
            s.keys_out[to] = key;
            if (VALUE > 0) ((V*)s.values_out)[to] = r.values[slot];
        }
    }

    // Places a tile of `here` keys.
    LAB_MEMBER void place(const Fused& s, const Mixed& bucket, Room& r, u32 tile, u32 here) {
        const u32 b = threadIdx.x, start = bucket_start<M, (M > 32)>(s, r, b < (u32)M ? r.totals[b] : 0u);
        Base::place_warps(r, b < (u32)M ? start + r.earlier[b] : 0u, b == (u32)M - 1u ? T - here : 0u);
        __syncthreads();
        this->reorder(r, bucket);
        if (VALUE > 0) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) r.values[this->number[i]] = value[i];
        }
        __syncthreads();
        store(s, bucket, r, here);
    }

    LAB_MEMBER static void run(const Fused& s) {
        after_earlier_launches();
        Room& r = *(Room*)dense;
        const Mixed bucket(s.f);
        u64 *const counts = (u64*)s.in_group, *const sums = (u64*)s.groups;
        const u32 b = threadIdx.x, launch = s.behind;
        Kept mine;
        u32 ranked = ~0u, count = 0;  // the tile that the block holds, and its keys of bucket b
#pragma unroll 1
        for (u32 step = COUNT_TILES; step <= PLACE_TILES; ++step) {
            // Placing begins with the tile that was counted last, and ends where a step down wraps around.
#pragma unroll 1
            for (u32 tile = step == PLACE_TILES ? ranked : blockIdx.x; tile < s.tiles;
                 tile += step == PLACE_TILES ? 0u - gridDim.x : gridDim.x) {
                const u32 group = tile / KEPT_GROUP, first = group * KEPT_GROUP, keys = s.n - tile * T;
                const u32 here = keys < (u32)T ? keys : (u32)T;
                if (step == SUM_GROUPS) {
                    if (tile != first || s.all == 1u) continue;
                } else if (tile != ranked) {
                    mine.take(s, bucket, r, tile);
                    ranked = tile;
                }
                if (step == COUNT_TILES) {
                    count = counted(r, T - here);
                    put(counts + tile * M, count, launch);
                    __syncthreads();
                    continue;
                }
                // All tiles of the group are counted for its sums, or if there is no other group.
                const bool whole = step == SUM_GROUPS || s.all == 1u;
                const u32 members = s.tiles - first < KEPT_GROUP ? s.tiles - first : KEPT_GROUP;
                begin(r, s.tiles == 1u ? count : 0u);
                if (s.tiles > 1u) {
                    gather(r, counts + first * M, whole ? members : tile - first, tile - first, whole, launch);
                    if (!whole) gather(r, sums, s.all, group, true, launch);
                    __syncthreads();
                }
                if (step == SUM_GROUPS) put(sums + group * M, b < (u32)M ? r.totals[b] : 0u, launch);
                else mine.place(s, bucket, r, tile, here);
                __syncthreads();  // the next tile uses the same room
            }
        }
    }
};

#define KEPT(BITS, VALUE)                                                                                      \
    extern "C" __global__ void __launch_bounds__(KeptShape::THREADS, KeptShape::BLOCKS)                          \
        fused_kept_##BITS##_##VALUE(Fused s) {                                                                    \
        Kept<BITS, VALUE>::run(s);                                                                                 \
    }

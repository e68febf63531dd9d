// A tile sorted by quicksort in segmented scans (sengupta2007 §4.1). A pass works on all segments at once:
//
//   distribute          the first key of each segment, its pivot, to all its keys
//   compare             key > pivot in even passes, key ≥ pivot in odd ones: with one comparison alone, a segment whose
//                       pivot is its greatest or its least key would never change
//   split and segment   falses first, then trues; the first true of a segment heads a new one
//
// until the tile is in order. Splits are stable, and keys equal to each other compare alike, so the sort is stable.
// Scans are over bits: 32 elements are a row, with a word of heads and a word of flags, and a warp walks its rows.
// Adversarial keys take as many passes as the tile has keys, so after `passes` passes the tile is sorted by its bits.
#pragma once

#include "tile.cuh"

#define SORT_ROWS (SORT_TILE / 32u)

LAB u32 highest_bit(u32 word) { return 31u - (u32)__clz((int)word); }
LAB u32 lowest_bit(u32 word) { return (u32)__ffs((int)word) - 1u; }
LAB u32 bits_below(u32 bit) { return (1u << bit) - 1u; }

// Number of trues since the last head, at the end of a row: `trues` is this number at its start.
LAB u32 trues_past(u32 trues, u32 flags, u32 heads) {
    return (u32)__popc(heads == 0 ? flags : flags >> highest_bit(heads)) + (heads == 0 ? trues : 0u);
}

// Number of trues up to the next head, from the start of a row on: `trues` is this number at its end.
LAB u32 trues_ahead(u32 trues, u32 flags, u32 heads) {
    return (u32)__popc(heads == 0 ? flags : flags & bits_below(lowest_bit(heads))) + (heads == 0 ? trues : 0u);
}

template <typename K, int VALUE> struct QuickTile : SortTile<K, VALUE> {
    typedef SortTile<K, VALUE> Base;

    struct Room : Base::Room {
        u32 heads[SORT_ROWS];
        // Per warp: the places of its first and last head (SORT_TILE and 0 if none), the trues before its first head
        // (ahead), and those from its last head on (past); both are all its trues if it has no head.
        u32 first[SORT_WARPS], last[SORT_WARPS], ahead[SORT_WARPS], past[SORT_WARPS];
        u32 disorder[2];  // [pass % 2]: 1 if the tile is out of order
    };

    u32 heads[SORT_ITEMS], flags[SORT_ITEMS];

    LAB_MEMBER static u32 row_of(u32 i) { return (warp_of() * SORT_ITEMS + i) * 32u; }

    // Loads keys and heads; returns true if the tile is out of order.
    LAB_MEMBER bool begin(const ScanSort& s, Room& r, u32 pass) {
        this->take(r);
        bool falls = false;
        u32 first = SORT_TILE, last = 0;
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 at = place_of(i);
            falls |= at + 1u < SORT_TILE && (r.keys[at + 1u] & s.mask) < (this->key[i] & s.mask);
            heads[i] = r.heads[at / 32u];
            if (heads[i] == 0) continue;
            if (first == SORT_TILE) first = row_of(i) + lowest_bit(heads[i]);
            last = row_of(i) + highest_bit(heads[i]);
        }
        const u32 any = __ballot_sync(EVERYONE, falls);
        if (lane_of() == 0) {
            r.first[warp_of()] = first;
            r.last[warp_of()] = last;
            if (any != 0) atomicOr(&r.disorder[pass % 2u], 1u);
        }
        __syncthreads();
        if (threadIdx.x == 0) r.disorder[(pass + 1u) % 2u] = 0;
        return r.disorder[pass % 2u] != 0;
    }

    // Compares every key with its pivot, and counts the warp's trues before its first head and from its last head on.
    LAB_MEMBER void compare(const ScanSort& s, Room& r, bool greater) {
        const u32 upto = EVERYONE >> (31u - lane_of());
        u32 open = 0, ahead = 0, past = 0;
#pragma unroll
        for (u32 w = 0; w < SORT_WARPS; ++w) open = w < warp_of() && r.last[w] > open ? r.last[w] : open;
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 mine = heads[i] & upto;
            const K pivot = r.keys[mine == 0 ? open : row_of(i) + highest_bit(mine)] & s.mask, key = this->key[i] & s.mask;
            flags[i] = __ballot_sync(EVERYONE, greater ? key > pivot : key >= pivot);
            if (heads[i] != 0) open = row_of(i) + highest_bit(heads[i]);
            past = trues_past(past, flags[i], heads[i]);
        }
#pragma unroll
        for (u32 i = SORT_ITEMS; i-- > 0u;) ahead = trues_ahead(ahead, flags[i], heads[i]);
        if (lane_of() == 0) {
            r.ahead[warp_of()] = ahead;
            r.past[warp_of()] = past;
        }
        __syncthreads();
    }

    // Places within a segment: a false goes to its place - the trues before it, a true to the end - the trues from it
    // on.
    LAB_MEMBER void split_and_segment(Room& r) {
        const u32 lane = lane_of(), below = lanes_below(), upto = EVERYONE >> (31u - lane);
        u32 past = 0, ahead = 0, end = SORT_TILE, firsts = 0, to[SORT_ITEMS];
#pragma unroll
        for (u32 w = 0; w < SORT_WARPS; ++w) {
            if (w < warp_of()) past = r.first[w] == SORT_TILE ? past + r.past[w] : r.past[w];
        }
#pragma unroll
        for (u32 w = SORT_WARPS; w-- > 0u;) {
            if (w <= warp_of()) continue;
            ahead = r.first[w] == SORT_TILE ? ahead + r.ahead[w] : r.ahead[w];
            end = r.first[w] == SORT_TILE ? end : r.first[w];
        }
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 trues = trues_past(past, flags[i] & below, heads[i] & upto);
            to[i] = row_of(i) + lane - trues;
            if (trues == 0) firsts |= 1u << i;
            past = trues_past(past, flags[i], heads[i]);
        }
#pragma unroll
        for (u32 i = SORT_ITEMS; i-- > 0u;) {
            const u32 next = heads[i] & ~upto, trues = trues_ahead(ahead, flags[i] & ~below, next);
            if ((flags[i] >> lane & 1u) != 0) {
                to[i] = (next == 0 ? end : row_of(i) + lowest_bit(next)) - trues;
                if ((firsts >> i & 1u) != 0) atomicOr(&r.heads[to[i] / 32u], 1u << to[i] % 32u);
            }
            ahead = trues_ahead(ahead, flags[i], heads[i]);
            if (heads[i] != 0) end = row_of(i) + lowest_bit(heads[i]);
        }
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) this->put(r, i, to[i]);
        __syncthreads();
    }

    // Runs the passes; returns true if they put the tile in order.
    LAB_MEMBER bool sort_by_pivots(const ScanSort& s, Room& r) {
        for (u32 i = threadIdx.x; i < SORT_ROWS; i += SORT_THREADS) r.heads[i] = i == 0 ? 1u : 0u;
        if (threadIdx.x == 0) r.disorder[0] = 0;
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) this->put(r, i, place_of(i));
        __syncthreads();
#pragma unroll 1
        for (u32 pass = 0; pass < s.passes; ++pass) {
            if (!begin(s, r, pass)) return true;
            compare(s, r, pass % 2u == 0);
            split_and_segment(r);
        }
        this->take(r);
        return false;
    }

    LAB_MEMBER static void sort(const ScanSort& s) {
        __shared__ Room room;
        QuickTile mine;
        mine.load(s, blockIdx.x);
        if (!mine.sort_by_pivots(s, room)) mine.sort_by_bits(s, room);
        mine.store_tile(s, blockIdx.x);
    }
};

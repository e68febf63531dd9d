// One round of a parallel merge sort: every two neighboring sorted runs become one, stably. The paper (sengupta2007)
// merges bitonically. Here each block finds by merge path (Odeh, Green, Mwassi, Shmueli, Birk: Merge Path, 2012) which
// keys of the two runs make up its tile of the output, so that all blocks do equal work and each key moves once a
// round.
#pragma once

#include "tile.cuh"

// Two sorted runs a and b. take(m) = how many of the first m keys of their merge come from a: a binary search on
// diagonal m of the merge path.
template <typename K> struct TwoRuns {
    const K* a;
    const K* b;
    u32 a_count, b_count;
    u64 mask;

    LAB_MEMBER u32 least(u32 so_many) const { return so_many > b_count ? so_many - b_count : 0u; }
    LAB_MEMBER u32 most(u32 so_many) const { return so_many < a_count ? so_many : a_count; }

    // True if a[i] is among the first so_many keys of the merge. Of equal keys, those of a come first.
    LAB_MEMBER bool among(u32 so_many, u32 i) const { return (a[i] & mask) <= (b[so_many - 1u - i] & mask); }

    LAB_MEMBER u32 take(u32 so_many) const {
        u32 low = least(so_many), high = most(so_many);
        while (low < high) {
            const u32 middle = (low + high) / 2u;
            if (among(so_many, middle)) low = middle + 1u;
            else high = middle;
        }
        return low;
    }

    // take() by all lanes of a warp: 32 probes per round, because a probe of global memory takes long.
    LAB_MEMBER u32 take_by_warp(u32 so_many) const {
        u32 low = least(so_many), high = most(so_many);
        while (low < high) {
            const u32 step = (high - low + 31u) / 32u, probe = low + lane_of() * step;
            const u32 taken = (u32)__popc(__ballot_sync(EVERYONE, probe < high && among(so_many, probe)));
            const u32 above = low + taken * step;
            if (taken > 0) low = above - step + 1u;
            high = above < high ? above : high;
        }
        return low;
    }
};

template <typename K, int VALUE> struct MergeTile : SortTile<K, VALUE> {
    typedef SortTile<K, VALUE> Base;
    typedef typename Base::V V;
    typedef typename Base::Room Room;

    LAB_MEMBER static u32 least(u32 a, u32 b) { return a < b ? a : b; }

    // Merges the thread's SORT_ITEMS keys of the tile, where run a is keys [0, a_count) and run b [a_count, count).
    LAB_MEMBER void merge(const Room& r, u32 a_count, u32 count, u64 mask) {
        const u32 first = least(threadIdx.x * SORT_ITEMS, count);
        const TwoRuns<K> runs = {r.keys, r.keys + a_count, a_count, count - a_count, mask};
        u32 a = runs.take(first), b = a_count + first - a;
        K left = a < a_count ? r.keys[a] : K(0), right = b < count ? r.keys[b] : K(0);
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const bool from_a = a < a_count && (b >= count || (left & mask) <= (right & mask));
            this->key[i] = from_a ? left : right;
            if (VALUE > 0) this->from[i] = (unsigned short)(from_a ? a : b);
            if (from_a) left = ++a < a_count ? r.keys[a] : left;
            else right = ++b < count ? r.keys[b] : right;
        }
        __syncthreads();
    }

    LAB_MEMBER static void run(const ScanSort& s) {
        __shared__ Room room;
        __shared__ u32 taken[2];  // keys of run a before the tile, and before its end
        const u32 tile = blockIdx.x * SORT_TILE, start = tile - tile % (2u * s.width);
        const u32 middle = least(start + s.width, s.n), end = least(start + 2u * s.width, s.n);
        const u32 before = tile - start, count = least(SORT_TILE, end - least(tile, end));
        const K* const keys = (const K*)s.keys_in;
        const TwoRuns<K> runs = {keys + start, keys + middle, middle - least(start, middle), end - middle, s.mask};
        if (warp_of() < 2u) taken[warp_of()] = runs.take_by_warp(before + warp_of() * count);
        __syncthreads();
        const u32 a = start + taken[0], b = middle + before - taken[0], a_count = taken[1] - taken[0];
        auto source = [&](u32 at) { return at < a_count ? a + at : b + (at - a_count); };
        for (u32 at = threadIdx.x; at < count; at += SORT_THREADS) room.keys[at] = __ldg(keys + source(at));
        __syncthreads();
        MergeTile mine;
        mine.merge(room, a_count, count, s.mask);
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) mine.put(room, i, threadIdx.x * SORT_ITEMS + i);
        __syncthreads();
        for (u32 at = threadIdx.x; at < count; at += SORT_THREADS) {
            ((K*)s.keys_out)[tile + at] = room.keys[at];
            if (VALUE > 0) ((V*)s.values_out)[tile + at] = __ldg((const V*)s.values_in + source(room.from[at]));
        }
    }
};

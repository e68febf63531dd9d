// Scan by decoupled look-back (Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016).
//
// A block publishes the sum of its tile, then looks back over the sums of earlier tiles, nearest first and 32 at a
// time, until it meets a tile that has published its inclusive sum (of everything up to its end). Then it publishes
// its own inclusive sum. In a segmented scan, a tile with a head publishes its inclusive sum at once: nothing before
// the head counts, so look-backs of later tiles stop at it.
#pragma once

#include "tile.cuh"

// State of a descriptor: 2 · epoch with the sum of its tile alone; 2 · epoch + 1 with the inclusive sum, which counts
// from the last head if there is one.
struct LookBack {
    // The sum of all tiles before this one, back to the last head.
    template <class O> static LAB_MEMBER typename O::T look(O op, const Scan& s, u32 tile) {
        typedef typename O::T T;
        const u32 lane = threadIdx.x & 31u;
        T sum = op.identity();
        for (long long nearest = (long long)tile - 1;; nearest -= 32) {
            const long long mine = nearest - (long long)lane;
            T seen;
            u32 ends, missing;
            do {
                // Lanes before tile 0 see the identity, marked as an inclusive sum.
                seen = op.identity();
                u32 state = 2 * s.epoch + 1;
                if (mine >= 0) state = Descriptor<T, sizeof(T)>::get(s.descriptors, (u32)mine, seen);
                ends = __ballot_sync(EVERYONE, state == 2 * s.epoch + 1);
                missing = __ballot_sync(EVERYONE, state >> 1 != s.epoch);
            } while ((missing & (ends == 0 ? EVERYONE : (ends & -ends) - 1u)) != 0);
            if (ends != 0 && lane >= (u32)__ffs((int)ends)) seen = op.identity();
#pragma unroll
            for (u32 by = 1; by < 32u; by *= 2) {
                const T farther = lane_above(seen, by);
                if (lane + by < 32u) seen = op(farther, seen);
            }
            sum = op(of_lane(seen, 0u), sum);
            if (ends != 0) return sum;
        }
    }

    // Publishes this tile's sum; returns the sum before the tile. All lanes of a warp must call this.
    template <class O> static LAB_MEMBER typename O::T before(O op, const Scan& s, u32 tile, typename O::T total, bool headed) {
        typedef typename O::T T;
        const bool first = (threadIdx.x & 31u) == 0, known = tile == 0 || headed;
        if (first) Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + known, total);
        if (tile == 0) return op.identity();
        const T sum = look(op, s, tile);
        if (first && !known) Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + 1, op(sum, total));
        return sum;
    }
};

template <class O, bool SEGMENTED, int THREADS, int VECTORS> LAB void scan_by_look_back(O op, const Scan& s) {
    scan_tile<O, LookBack, SEGMENTED, THREADS, VECTORS>(op, s, place_of_block(s));
}

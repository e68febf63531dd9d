// Scan with a spine: one dedicated block scans the sums of all tiles.
//
// The block of a tile publishes the tile's sum, then polls one descriptor until the spine has written the sum before
// the tile into it. With look-back, by contrast, every block repeatedly reads the sums that earlier blocks have
// published, and tiles wait for each other in a chain.
//
// The spine draws the first ticket. It serves a tile as soon as all earlier tiles have published their sums, which
// they do without waiting; so a launch terminates if at least two blocks are resident at once.
#pragma once

#include "tile.cuh"

// State of a tile's sum: 2 · epoch, plus 1 if the tile contains a head. State of the sum before a tile: 2 · epoch.
struct Spine {
    // Publishes this tile's sum to the spine; returns the sum before the tile, valid in the warp's first lane.
    template <class O> static LAB_MEMBER typename O::T before(O op, const Scan& s, u32 tile, typename O::T total, bool headed) {
        typedef typename O::T T;
        T sum = op.identity();
        if ((threadIdx.x & 31u) != 0) return sum;
        if (tile + 1 < s.tiles) Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + headed, total);
        if (tile == 0) return sum;
        while (Descriptor<T, sizeof(T)>::get(s.descriptors, s.tiles + tile, sum) != 2 * s.epoch) __nanosleep(PATIENCE);
        return sum;
    }
};

// Serves tiles first, first + 1, … from one row of 32 descriptors, up to the first whose sum is missing; returns how
// many. `sum` and `state` belong to the lane's tile. `carry` is the sum before these tiles on entry, after them on
// return.
template <class O, bool SEGMENTED> LAB u32 serve_row(O op, const Scan& s, u32 first, typename O::T sum, u32 state, typename O::T& carry) {
    typedef typename O::T T;
    const u32 lane = threadIdx.x & 31u;
    const u32 missing = __ballot_sync(EVERYONE, state >> 1 != s.epoch);
    const u32 count = missing == 0 ? 32u : (u32)__ffs((int)missing) - 1u;
    if (count == 0) return 0;
    const u32 row = SEGMENTED ? __ballot_sync(EVERYONE, (state & 1u) != 0) : 0u;
    T behind = sum_lanes(op, sum, row);
    if ((row & (EVERYONE >> (31u - lane))) == 0) behind = op(carry, behind);
    if (lane < count) Descriptor<T, sizeof(T)>::put(s.descriptors, s.tiles + first + lane + 1, 2 * s.epoch, behind);
    carry = of_lane(behind, count - 1u);
    return count;
}

// Serves all tiles with one warp. Nobody needs the sum of the last tile.
template <class O, bool SEGMENTED> LAB void serve(O op, const Scan& s) {
    typedef typename O::T T;
    const int ROWS = sizeof(T) > 4 ? 4 : 8;  // rows of 32 tiles that are polled together
    const u32 lane = threadIdx.x & 31u, tiles = s.tiles - 1;
    T carry = op.identity();
    for (u32 first = 0; first < tiles;) {
        T sum[ROWS];
        u32 state[ROWS], served = 0;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const u32 tile = first + r * 32 + lane;
            sum[r] = op.identity();
            state[r] = tile < tiles ? Descriptor<T, sizeof(T)>::get(s.descriptors, tile, sum[r]) : 0u;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (served == r * 32u) served += serve_row<O, SEGMENTED>(op, s, first + served, sum[r], state[r], carry);
        }
        if (served == 0) __nanosleep(PATIENCE);
        first += served;
    }
}

template <class O, bool SEGMENTED, int THREADS, int VECTORS> LAB void scan_with_spine(O op, const Scan& s) {
    const u32 place = place_of_block(s);
    if (place == 0) {
        if (threadIdx.x < 32u) serve<O, SEGMENTED>(op, s);
    } else {
        scan_tile<O, Spine, SEGMENTED, THREADS, VECTORS>(op, s, place - 1);
    }
}

// Sums over the rows of a tile, whose entries a block has in shared memory (src/core/primitives/spmv/tiles.rs). The
// ends of rows and the entries, merged in order, are cut into tiles (Merrill and Garland: Merge-based parallel sparse
// matrix-vector multiplication, SC 2016). Tile t has the ends of rows [firsts[t], firsts[t + 1]); the sum of its
// entries of a row that ends in a later tile goes to carries[t].
#pragma once

#include "rows.cuh"

// Rows + entries per tile, and threads per block, in most kernels.
#define TILE 2048u
#define THREADS 256u

// A row with more than LONG entries per lane is summed by a whole warp.
#define LONG 32u

template <typename T> LAB void put(T* y, const T* __restrict__ z, u64 row, T sum) {
    y[row] = z == nullptr ? sum : sum + z[row];
}

// The extent of a tile.
struct Tile {
    u32 row0;    // first row that ends in it
    u32 mine;    // rows with entries in it; the last of them ends in a later tile
    u32 entry0;  // first entry
    u32 count;   // number of entries

    LAB_MEMBER Tile(const u32* __restrict__ firsts, u32 tile, u64 total, u32 size = TILE) {
        const u64 from = (u64)tile * size, to = from + size < total ? from + size : total;
        const u32 row1 = firsts[tile + 1];
        row0 = firsts[tile];
        mine = row1 - row0 + 1u;
        entry0 = (u32)(from - row0);
        count = (u32)(to - row1) - entry0;
    }
};

// Writes the sums of a tile's rows. `starts` begins at its first row; entries.sum(begin, end, step) adds entries of
// the tile. Adjacent lanes share a row if there are more threads than rows.
template <typename T, typename Entries>
LAB void sum_rows(const Tile& tile, const u32* __restrict__ starts, const Entries& entries, const T* __restrict__ z, T* y,
                  T* carry, u32 rows) {
    const u32 mine = tile.mine, entry0 = tile.entry0;
    u32 lanes = 1;
    while (lanes < 32u && mine * lanes * 2u <= blockDim.x) lanes *= 2u;
    const u32 lane = threadIdx.x % lanes, in_warp = threadIdx.x % 32u;
    for (u32 first = 0; first < mine; first += blockDim.x / lanes) {
        const u32 at = first + threadIdx.x / lanes;
        u32 begin = 0, end = 0;
        if (at < mine) {
            const u32 start = starts[at];
            begin = start > entry0 ? start - entry0 : 0u;
            end = at + 1u < mine ? starts[at + 1u] - entry0 : tile.count;
        }
        const bool by_warp = end - begin > LONG * lanes;
        T sum = lanes_sum(by_warp ? T(0) : entries.sum(begin + lane, end, lanes), lanes);
        for (u32 left = __ballot_sync(ALL_LANES, by_warp && lane == 0); left != 0; left &= left - 1u) {
            const int owner = __ffs((int)left) - 1;
            const u32 long_begin = __shfl_sync(ALL_LANES, begin, owner), long_end = __shfl_sync(ALL_LANES, end, owner);
            const T all = lanes_sum(entries.sum(long_begin + in_warp, long_end, 32u), 32u);
            if ((int)in_warp == owner) sum = all;
        }
        if (at >= mine || lane != 0) continue;
        if (at + 1u == mine) *carry = sum;
        else if (tile.row0 + at < rows) put(y, z, tile.row0 + at, sum);
    }
}

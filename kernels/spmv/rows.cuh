// Sparse matrices in compressed rows, and sums over their rows (src/core/primitives/spmv/mod.rs):
//
//   Csr<T>            the arrays of a matrix
//   entries_sum       a lane's share of the products of some entries
//   lanes_sum         the sum over a group of lanes, valid in each of them
//   row_sum<T, G>     the sum of a row by a group of G lanes of a warp, valid in each of them
//
// Values and columns that adjacent lanes read are used once, and take no place in L1, which x needs. A thread with a
// row of its own reads parts of sectors that its neighbors need too, so these go through L1.
#pragma once

#include "../common/certify.cuh"
#include "../common/hints.cuh"

#define ALL_LANES 0xFFFFFFFFu

// Row i has entries [starts[i], starts[i + 1]).
template <typename T> struct Csr {
    const u32* __restrict__ starts;
    const u32* __restrict__ columns;
    const T* __restrict__ values;
};

LAB u32 once(const u32* at) { return load_no_l1(at); }
LAB float once(const float* at) {
    const u32 bits = load_no_l1((const u32*)at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
LAB double once(const double* at) {
    const u64 bits = load_no_l1((const u64*)at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <bool SIDE_BY_SIDE, typename T> LAB T entry(const T* at) {
    if constexpr (SIDE_BY_SIDE) return once(at);
    return __ldg(at);
}

// The sum of the products of entries from, from + step, … below `end`, with IN_FLIGHT_ROW gathers in flight.
#define IN_FLIGHT_ROW 4u
template <typename T, bool SIDE_BY_SIDE = true> LAB T entries_sum(const Csr<T>& a, const T* __restrict__ x, u32 from, u32 end, u32 step) {
    T sum = 0;
    // 64 bits: the last step may end past 2^32.
    for (u64 at = from; at < end; at += (u64)IN_FLIGHT_ROW * step) {
        u32 columns[IN_FLIGHT_ROW];
        T values[IN_FLIGHT_ROW];
#pragma unroll
        for (u32 k = 0; k < IN_FLIGHT_ROW; ++k) {
            const u64 place = at + (u64)k * step;
            columns[k] = place < end ? entry<SIDE_BY_SIDE>(a.columns + place) : 0u;
            values[k] = place < end ? entry<SIDE_BY_SIDE>(a.values + place) : T(0);
        }
#pragma unroll
        for (u32 k = 0; k < IN_FLIGHT_ROW; ++k) {
            if (at + (u64)k * step < end) sum += values[k] * __ldg(x + columns[k]);
        }
    }
    return sum;
}

// The sum over groups of `lanes` lanes, a power of two, valid in each lane. All lanes of the warp must call this.
template <typename T> LAB T lanes_sum(T mine, u32 lanes) {
    for (u32 step = lanes / 2u; step > 0; step /= 2u) mine += __shfl_xor_sync(ALL_LANES, mine, (int)step);
    return mine;
}

// The sum of row [begin, end) by LANES adjacent lanes; this one is number `lane`. All lanes of the warp must call
// this; groups without a row pass an empty one.
template <typename T, u32 LANES>
LAB T row_sum(const Csr<T>& a, const T* __restrict__ x, u32 begin, u32 end, u32 lane) {
    return lanes_sum(begin < end ? entries_sum<T, LANES != 1u>(a, x, begin + lane, end, LANES) : T(0), LANES);
}

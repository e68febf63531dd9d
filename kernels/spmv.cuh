// Sparse matrices in compressed rows, and sums over their rows (src/primitives/spmv/mod.rs). What solvers share:
//
//   Csr<T>            the arrays of a matrix
//   entries_sum       a lane's share of the products of some entries
//   lanes_sum         the sum over a group of lanes, in each of them
//   row_sum<T, G>     the sum of a row by a group of G lanes of a warp, in each of them
//
// Values and columns that lanes read side by side take no place in L1, which x needs. A thread that has a row of its own
// reads parts of sectors that its neighbours need, too, so they do.
#pragma once

#include "certify.cuh"
#include "hints.cuh"

#define ALL_LANES 0xFFFFFFFFu

// Entries starts[i] to starts[i + 1] belong to row i.
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

// The products of entries from, from + step … below end. Four gathers are in flight.
template <typename T, bool SIDE_BY_SIDE = true> LAB T entries_sum(const Csr<T>& a, const T* __restrict__ x, u32 from, u32 end, u32 step) {
    T sum = 0;
    u64 at = from;  // 64 bits, because the last step may end beyond 2^32
    for (; at + 3ull * step < end; at += 4ull * step) {
        u32 columns[4];
        T values[4];
#pragma unroll
        for (u32 k = 0; k < 4u; ++k) columns[k] = entry<SIDE_BY_SIDE>(a.columns + at + k * step);
#pragma unroll
        for (u32 k = 0; k < 4u; ++k) values[k] = entry<SIDE_BY_SIDE>(a.values + at + k * step);
#pragma unroll
        for (u32 k = 0; k < 4u; ++k) sum += values[k] * __ldg(x + columns[k]);
    }
    for (; at < end; at += step) sum += entry<SIDE_BY_SIDE>(a.values + at) * __ldg(x + entry<SIDE_BY_SIDE>(a.columns + at));
    return sum;
}

// The sum over groups of `lanes` lanes, a power of two. All lanes of the warp must call this.
template <typename T> LAB T lanes_sum(T mine, u32 lanes) {
    for (u32 step = lanes / 2u; step > 0; step /= 2u) mine += __shfl_xor_sync(ALL_LANES, mine, (int)step);
    return mine;
}

// The sum of a row by LANES lanes next to each other, of which this one is number `lane`. All lanes of the warp must call
// this; those of a group without a row pass an empty one.
template <typename T, u32 LANES>
LAB T row_sum(const Csr<T>& a, const T* __restrict__ x, u32 begin, u32 end, u32 lane) {
    return lanes_sum(begin < end ? entries_sum<T, LANES != 1u>(a, x, begin + lane, end, LANES) : T(0), LANES);
}

// Sums over the rows of a matrix in blocks of columns, each in slices of 32 rows (src/core/primitives/spmv/slices.rs).
// A thread block keeps the part of the vector that a block of columns needs in shared memory; a lane has a row of a
// slice.
#pragma once

#include "../common/hints.cuh"

// Groups of a slice that a lane has in flight.
#define GROUPS 4u

// The part of the vector that a thread block gathers from.
extern __shared__ uint4 dense[];

struct Slices {
    const u32* starts;   // [slice]: its first group; then the number of groups
    const void* places;  // u16: the column within the block of columns; u32 if there is one block
    const void* values;
    const u32* rows;     // [slice][lane]: the lane's row
};

// The word type of BYTES bytes: a lane's places of a group.
template <u32 BYTES> struct Load;
template <> struct Load<4> {
    typedef u32 Word;
};
template <> struct Load<8> {
    typedef u64 Word;
};
template <> struct Load<16> {
    typedef uint4 Word;
};

// The sum of the lane's row of a slice. Of a group, a lane has 16 bytes of values, and as many places of type P.
template <typename T, typename P> LAB T slice_sum(const Slices& s, const T* __restrict__ vector, u32 slice) {
    const u32 SIZE = 16u / sizeof(T);
    typedef typename Load<SIZE * sizeof(P)>::Word Places;
    const u32 end = s.starts[slice + 1u];
    T sum = T(0);
    for (u32 group = s.starts[slice]; group < end; group += GROUPS) {
        uint4 bits[GROUPS];
        Places packed[GROUPS];
#pragma unroll
        for (u32 k = 0; k < GROUPS; ++k) {
            const u64 at = (u64)(group + k) * 32u + (threadIdx.x & 31u);
            const bool inside = group + k < end;
            bits[k] = inside ? load_no_l1((const uint4*)s.values + at) : uint4{0, 0, 0, 0};
            packed[k] = inside ? load_no_l1((const Places*)s.places + at) : Places{};
        }
#pragma unroll
        for (u32 k = 0; k < GROUPS; ++k) {
            T values[SIZE];
            P places[SIZE];
            memcpy(values, &bits[k], sizeof values);
            memcpy(places, &packed[k], sizeof places);
#pragma unroll
            for (u32 e = 0; e < SIZE; ++e) sum += values[e] * vector[places[e]];
        }
    }
    return sum;
}

// Calls each(layer, row, sum) with the sum of each row of slices [begin, end); `layer` is the slice's block of `width`
// columns, and vector(at) element `at` of the vector. All threads of the block must call this.
template <typename T, typename Vector, typename Each>
LAB void sum_slices(const Slices& s, u32 begin, u32 end, u64 rows, u64 columns, u64 width, Vector vector, Each each) {
    T* near = (T*)dense;
    const u32 per_layer = (u32)((rows + 31u) / 32u);
    while (begin < end) {
        const u64 layer = begin / per_layer, first = layer * width;
        const u32 behind = (u32)(layer + 1u) * per_layer, stop = behind < end ? behind : end;
        __syncthreads();
        for (u64 i = threadIdx.x; i < width && first + i < columns; i += blockDim.x) near[i] = vector(first + i);
        __syncthreads();
        for (u32 slice = begin + threadIdx.x / 32u; slice < stop; slice += blockDim.x / 32u) {
            const u32 row = s.rows[slice * 32u + (threadIdx.x & 31u)];
            each((u32)layer, row, slice_sum<T, u16>(s, near, slice));
        }
        begin = stop;
    }
}

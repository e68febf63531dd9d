// spmv by tiles that bulk copies bring into shared memory, which need compute capability 9.0. While a block sums the rows
// of a tile, its next one is on its way. Threads next to each other sum rows next to each other, so that the columns of a
// stencil are gathered side by side.
#include "bulk_loads.cuh"
#include "spmv_tile.cuh"

extern __shared__ uint4 dense[];

// Words of a tile's columns and row starts with what lies between multiples of 16 bytes.
#define WORDS (TILE + 16u)

// Gathers of x that a thread has in flight; a row of a 5-point stencil has as many at most, and more cost f64 registers.
#define GATHERS (sizeof(T) == 4u ? 8u : 5u)

// Words from a multiple of 16 bytes on: those that are wanted, and up to three on either side.
struct Span {
    u32 begin, end;

    LAB_MEMBER Span(u32 first, u32 behind) : begin(first & ~3u), end((behind + 3u) & ~3u) {}
    LAB_MEMBER u32 bytes() const { return (end - begin) * 4u; }
};

template <typename T> struct Stage {
    T values[TILE + 16u / sizeof(T)];
    u32 words[WORDS];
    LoadBarrier barrier;
    u64 unused;
};

// A tile in shared memory.
template <typename T> struct Loaded {
    const u32* columns;
    const T* values;
    const T* __restrict__ x;

    LAB_MEMBER T sum(u32 from, u32 end, u32 step) const {
        T sum = 0;
        for (u32 at = from; at < end; at += GATHERS * step) {
            T gathered[GATHERS];
#pragma unroll
            for (u32 k = 0; k < GATHERS; ++k) {
                const u32 place = at + k * step;
                gathered[k] = place < end ? __ldg(x + columns[place]) : T(0);
            }
#pragma unroll
            for (u32 k = 0; k < GATHERS; ++k) {
                const u32 place = at + k * step;
                if (place < end) sum += values[place] * gathered[k];
            }
        }
        return sum;
    }
};

// Where the columns, row starts and values of a tile lie in memory.
template <typename T> struct Spans {
    Span columns, starts, values;

    LAB_MEMBER explicit Spans(const Tile& t)
        : columns(t.entry0, t.entry0 + t.count), starts(t.row0, t.row0 + t.mine),
          values(t.entry0 * PER_VALUE, (t.entry0 + t.count) * PER_VALUE) {}

    static constexpr u32 PER_VALUE = sizeof(T) / 4u;
};

template <typename T> LAB void fetch(const u32* firsts, const Csr<T>& a, u64 total, u32 tile, Stage<T>* to) {
    const Spans<T> spans(Tile(firsts, tile, total));
    const u32 columns = spans.columns.bytes(), starts = spans.starts.bytes(), values = spans.values.bytes();
    expect(&to->barrier, columns + starts + values);
    load(&to->barrier, to->words, a.columns + spans.columns.begin, columns);
    load(&to->barrier, to->words + columns / 4u, a.starts + spans.starts.begin, starts);
    load(&to->barrier, to->values, (const u32*)a.values + spans.values.begin, values);
}

template <typename T>
LAB void bulk(const u32* __restrict__ firsts, Csr<T> a, u64 total, const T* __restrict__ x, const T* __restrict__ z, T* y,
              T* carries, u32 tiles, u32 rows) {
    Stage<T>* const stages = (Stage<T>*)dense;
    if (threadIdx.x == 0) {
        init(&stages[0].barrier);
        init(&stages[1].barrier);
        fetch(firsts, a, total, blockIdx.x, &stages[0]);
    }
    __syncthreads();
    u32 round = 0;
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++round) {
        Stage<T>* const stage = &stages[round % 2u];
        if (threadIdx.x == 0 && tile + gridDim.x < tiles) {
            fetch(firsts, a, total, tile + gridDim.x, &stages[(round + 1u) % 2u]);
        }
        const Tile t(firsts, tile, total);
        const Spans<T> spans(t);
        const u32* const columns = stage->words + (t.entry0 - spans.columns.begin);
        const u32* const starts = stage->words + spans.columns.bytes() / 4u + (t.row0 - spans.starts.begin);
        const T* const values = stage->values + (t.entry0 - spans.values.begin / Spans<T>::PER_VALUE);
        await(&stage->barrier, round / 2u % 2u);
        sum_rows(t, starts, Loaded<T>{columns, values, x}, z, y, &carries[tile], rows);
        __syncthreads();
    }
}

#define KERNELS(type, T)                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, 4)                                                          \
        spmv_bulk_##type(const u32* firsts, Csr<T> a, u64 total, const T* x, const T* z, T* y, T* carries, u32 tiles, \
                         u32 rows) {                                                                                  \
        bulk(firsts, a, total, x, z, y, carries, tiles, rows);                                                        \
    }
KERNELS(f32, float)
KERNELS(f64, double)

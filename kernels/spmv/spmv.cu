// spmv: y = A·x, or y = A·x + z if z is not null, of a sparse matrix in compressed rows
// (src/core/primitives/spmv/mod.rs).
//
//   thread, warp, block   a row for each (rows.cuh)
//   balanced, sorted      equal shares of rows and entries (tile.cuh), with entries in the order of rows or of columns
//   blocks, slices        slices of rows, with or without blocks of columns (slices.cuh)
//   products              in passes over chunks of x; then `sums` by tiles, or a segmented scan (`heads`, `first`)
//
// Rows from `rows` on are not computed; there are such rows only for a deliberate mistake.
#include "slices.cuh"
#include "tile.cuh"

// ---- a row for each group of lanes, or for each block --------------------------------------

template <typename T, u32 LANES>
LAB void by_rows(Csr<T> a, const T* __restrict__ x, const T* __restrict__ z, T* y, u32 rows) {
    const u32 lane = threadIdx.x % LANES, groups = blockDim.x / LANES;
    const u64 all = (u64)gridDim.x * groups;
    // All lanes of a warp make the same number of rounds.
    for (u64 first = (u64)blockIdx.x * groups; first < rows; first += all) {
        const u64 row = first + threadIdx.x / LANES;
        const u32 begin = row < rows ? a.starts[row] : 0u, end = row < rows ? a.starts[row + 1] : 0u;
        const T sum = row_sum<T, LANES>(a, x, begin, end, lane);
        if (row < rows && lane == 0) put(y, z, row, sum);
    }
}

template <typename T> LAB void by_blocks(Csr<T> a, const T* __restrict__ x, const T* __restrict__ z, T* y, u32 rows) {
    __shared__ T warps[32];
    for (u64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const u32 begin = a.starts[row], end = a.starts[row + 1];
        T sum = (u64)begin + threadIdx.x < end ? entries_sum(a, x, begin + threadIdx.x, end, blockDim.x) : T(0);
        sum = lanes_sum(sum, 32u);
        __syncthreads();
        if (threadIdx.x % 32u == 0) warps[threadIdx.x / 32u] = sum;
        __syncthreads();
        if (threadIdx.x >= 32u) continue;
        sum = lanes_sum(threadIdx.x < blockDim.x / 32u ? warps[threadIdx.x] : T(0), 32u);
        if (threadIdx.x == 0) put(y, z, row, sum);
    }
}

// ---- equal shares of rows and entries ------------------------------------------------------

#define ITEMS (TILE / THREADS)

// The place of a product in shared memory: one place after every 128 bytes stays empty, so that rows of 8, 16, …
// entries, which adjacent threads sum, begin in different banks.
template <typename T> LAB u32 place(u32 at) { return at + at / (u32)(128u / sizeof(T)); }

template <typename T> struct Products {
    const T* staged;

    LAB_MEMBER T sum(u32 begin, u32 end, u32 step) const {
        T sum = 0;
        for (u32 k = begin; k < end; k += step) sum += staged[place<T>(k)];
        return sum;
    }
};

// GATHERED: multiplies the values by x. Else they are products already.
template <typename T, bool GATHERED>
LAB void balanced(const u32* __restrict__ firsts, Csr<T> a, u64 total, const T* __restrict__ x, const T* __restrict__ z,
                  T* y, T* carries, u32 rows) {
    __shared__ T products[TILE + TILE / (128u / sizeof(T))];
    const Tile tile(firsts, blockIdx.x, total);
    {
        u32 columns[ITEMS];
        T values[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 at = threadIdx.x + k * THREADS;
            columns[k] = GATHERED && at < tile.count ? __ldcs(a.columns + tile.entry0 + at) : 0u;
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 at = threadIdx.x + k * THREADS;
            values[k] = at < tile.count ? __ldcs(a.values + tile.entry0 + at) : T(0);
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 at = threadIdx.x + k * THREADS;
            if (at < tile.count) products[place<T>(at)] = GATHERED ? values[k] * __ldg(x + columns[k]) : values[k];
        }
    }
    __syncthreads();
    sum_rows(tile, a.starts + tile.row0, Products<T>{products}, z, y, &carries[blockIdx.x], rows);
}

// ---- such shares, with the entries of a tile in the order of their columns --------------------

// Rows + entries per tile, threads per block, and entries that a thread has in flight.
#define SORTED_TILE 8192u
#define SORTED_THREADS 1024u
#define SORTED_ITEMS 4u

// A warp gathers columns near each other, so that it takes fewer sectors; each product goes to its entry's place in
// row order.
template <typename T>
LAB void sorted(const u32* __restrict__ firsts, Csr<T> a, const u16* __restrict__ places, u64 total, const T* __restrict__ x,
                const T* __restrict__ z, T* y, T* carries, u32 rows) {
    T* const products = (T*)dense;
    const Tile tile(firsts, blockIdx.x, total, SORTED_TILE);
    for (u32 base = threadIdx.x; base < tile.count; base += SORTED_ITEMS * SORTED_THREADS) {
        u32 columns[SORTED_ITEMS], to[SORTED_ITEMS];
        T values[SORTED_ITEMS];
#pragma unroll
        for (u32 k = 0; k < SORTED_ITEMS; ++k) {
            const u32 at = base + k * SORTED_THREADS;
            columns[k] = at < tile.count ? __ldcs(a.columns + tile.entry0 + at) : 0u;
        }
#pragma unroll
        for (u32 k = 0; k < SORTED_ITEMS; ++k) {
            const u32 at = base + k * SORTED_THREADS;
            values[k] = at < tile.count ? __ldcs(a.values + tile.entry0 + at) : T(0);
            to[k] = at < tile.count ? __ldcs(places + tile.entry0 + at) : 0u;
        }
#pragma unroll
        for (u32 k = 0; k < SORTED_ITEMS; ++k) {
            const u32 at = base + k * SORTED_THREADS;
            if (at < tile.count) products[place<T>(to[k])] = values[k] * __ldg(x + columns[k]);
        }
    }
    __syncthreads();
    sum_rows(tile, a.starts + tile.row0, Products<T>{products}, z, y, &carries[blockIdx.x], rows);
}

// Adds the carries of tiles to the rows that end in later tiles. A warp sums the carries of 32 tiles row by row first;
// only a row that spans more tiles has its parts added in no particular order.
template <typename T> LAB void carry(const u32* __restrict__ firsts, const T* __restrict__ carries, u32 tiles, u32 rows, T* y) {
    const u32 tile = (u32)thread_index(), lane = threadIdx.x % 32u;
    const u32 row = tile < tiles ? firsts[tile + 1] : ~0u;
    T sum = tile < tiles ? carries[tile] : T(0);
    for (u32 step = 1; step < 32u; step *= 2u) {
        const u32 other = __shfl_down_sync(ALL_LANES, row, (int)step);
        const T further = __shfl_down_sync(ALL_LANES, sum, (int)step);
        if (lane + step < 32u && other == row) sum += further;
    }
    const u32 before = __shfl_up_sync(ALL_LANES, row, 1);
    if (row < rows && (lane == 0 || before != row)) atomicAdd(&y[row], sum);
}

// ---- blocks of columns whose part of x is in shared memory -----------------------------------

// layers[layer · n + row] = the row's sum over one block of columns. Each thread block has a share of the slices.
template <typename T>
LAB void in_blocks(const Slices& s, const u32* __restrict__ shares, const T* __restrict__ x, T* layers, u32 n, u32 columns,
                   u32 width, u32 rows) {
    const u32 begin = shares[blockIdx.x], end = shares[blockIdx.x + 1u];
    const auto near = [&](u64 at) { return __ldg(x + at); };
    sum_slices<T>(s, begin, end, n, columns, width, near, [&](u32 layer, u32 row, T sum) {
        if (row < rows) layers[(u64)layer * n + row] = sum;
    });
}

template <typename T> LAB void add_layers(const T* __restrict__ layers, const T* __restrict__ z, T* y, u32 count, u32 n, u32 rows) {
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
        T sum = 0;
#pragma unroll 4
        for (u32 layer = 0; layer < count; ++layer) sum += layers[(u64)layer * n + row];
        put(y, z, row, sum);
    }
}

// ---- slices of rows ---------------------------------------------------------------------------

template <typename T> LAB void by_slices(const Slices& s, const T* __restrict__ x, const T* __restrict__ z, T* y, u32 slices, u32 rows) {
    const u64 slice = thread_index() / 32u;
    if (slice >= slices) return;
    const u32 row = s.rows[thread_index()];
    const T sum = slice_sum<T, u32>(s, x, (u32)slice);
    if (row < rows) put(y, z, row, sum);
}

// ---- products in passes over chunks of x (he2007 §4.3) --------------------------------------

// Entries that each thread has in flight.
#define IN_PASS 4u

// products[at] = value · x[column] for the entries with columns in [low, low + width). Clears `heads`, a bit per
// entry, if not null.
template <typename T>
LAB void one_pass(Csr<T> a, const T* __restrict__ x, T* products, u32* heads, u32 entries, u32 low, u32 width) {
    for (u64 first = thread_index(); first < entries; first += IN_PASS * thread_count()) {
        u32 columns[IN_PASS];
#pragma unroll
        for (u32 k = 0; k < IN_PASS; ++k) {
            const u64 at = first + k * thread_count();
            columns[k] = at < entries ? load_no_l1(a.columns + at) : ~0u;
            if (heads != nullptr && at < entries && at % 32u == 0) heads[at / 32u] = 0;
        }
#pragma unroll
        for (u32 k = 0; k < IN_PASS; ++k) {
            const u64 at = first + k * thread_count();
            if (at < entries && columns[k] - low < width) products[at] = once(a.values + at) * __ldg(x + columns[k]);
        }
    }
}

// ---- sums by a segmented scan (sengupta2007 §4.2) --------------------------------------------

// Sets the head of each segment, i.e. of each row with entries. A row without entries has none: it would share the
// next row's head, or have one past the last entry.
template <typename T> LAB void set_heads(Csr<T> a, u32* heads, u32 rows) {
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
        const u32 start = a.starts[row];
        if (start < a.starts[row + 1]) atomicOr(&heads[start / 32u], 1u << (start % 32u));
    }
}

// y[row] = the row's sum, which a backward scan has left at its first entry.
template <typename T> LAB void from_heads(Csr<T> a, const T* __restrict__ z, T* y, u32 rows) {
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
        const u32 start = a.starts[row];
        put(y, z, row, start < a.starts[row + 1] ? a.values[start] : T(0));
    }
}

// ---- the certificate -----------------------------------------------------------------------

// Recomputes each row in f64: y must be exact if all numbers are integers whose sums the type represents, and
// otherwise within the bound of a sum of rounded products in any order, γ·Σ|a||x| (Higham 2002, §3.1).
template <typename T>
LAB void certify(Csr<T> a, const T* __restrict__ x, const T* __restrict__ z, const T* y, u64 rows, u32 exact, u64* report) {
    Finding* finding = (Finding*)report;
    const u32 lane = threadIdx.x % 32u;
    const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    u32 checked = 0;
    for (u64 row = thread_index() / 32u; row < rows; row += thread_count() / 32u) {
        double sum = 0, size = 0;
        for (u64 at = (u64)a.starts[row] + lane; at < a.starts[row + 1]; at += 32u) {
            const double product = (double)a.values[at] * (double)x[a.columns[at]];
            sum += product;
            size += product < 0 ? -product : product;
        }
        sum = lanes_sum(sum, 32u);
        size = lanes_sum(size, 32u);
        if (lane != 0) continue;
        if (z != nullptr) {
            sum += (double)z[row];
            size += z[row] < 0 ? -(double)z[row] : (double)z[row];
        }
        // Twice the bound: the f64 that y is compared with has errors, too.
        const double terms = (double)(a.starts[row + 1] - a.starts[row]) + 2.0;
        const bool whole = exact != 0 && size * unit <= 1.0;
        const double bound = whole ? 0.0 : 2.0 * terms * unit * size, apart = (double)y[row] - sum;
        ++checked;
        if (!(apart <= bound && -apart <= bound)) {
            u64 wanted, found;
            const double is = (double)y[row];
            memcpy(&wanted, &sum, sizeof wanted);
            memcpy(&found, &is, sizeof found);
            mistake(finding, row, WRONG_VALUE, row, wanted, found);
        }
    }
    add_count(&finding->checked, checked);
}

#define KERNELS(type, T)                                                                                              \
    extern "C" __global__ void spmv_thread_##type(Csr<T> a, const T* x, const T* z, T* y, u32 rows) {                 \
        by_rows<T, 1>(a, x, z, y, rows);                                                                              \
    }                                                                                                                 \
    extern "C" __global__ void spmv_warp_##type(Csr<T> a, const T* x, const T* z, T* y, u32 rows) {                   \
        by_rows<T, 32>(a, x, z, y, rows);                                                                             \
    }                                                                                                                 \
    extern "C" __global__ void spmv_block_##type(Csr<T> a, const T* x, const T* z, T* y, u32 rows) {                  \
        by_blocks(a, x, z, y, rows);                                                                                  \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS, 5)                                                          \
        spmv_balanced_##type(const u32* firsts, Csr<T> a, u64 total, const T* x, const T* z, T* y, T* carries,        \
                             u32 rows) {                                                                              \
        balanced<T, true>(firsts, a, total, x, z, y, carries, rows);                                                  \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS, 5)                                                          \
        spmv_sums_##type(const u32* firsts, Csr<T> a, u64 total, const T* x, const T* z, T* y, T* carries, u32 rows) { \
        balanced<T, false>(firsts, a, total, x, z, y, carries, rows);                                                 \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(1024, 1)                                                             \
        spmv_blocks_##type(Slices s, const u32* shares, const T* x, T* layers, u32 n, u32 columns, u32 width,         \
                           u32 rows) {                                                                                \
        in_blocks(s, shares, x, layers, n, columns, width, rows);                                                     \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                             \
        spmv_slices_##type(Slices s, const T* x, const T* z, T* y, u32 slices, u32 rows) {                            \
        by_slices(s, x, z, y, slices, rows);                                                                          \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(SORTED_THREADS, 2)                                                   \
        spmv_sorted_##type(const u32* firsts, Csr<T> a, const u16* places, u64 total, const T* x, const T* z, T* y,   \
                           T* carries, u32 rows) {                                                                    \
        sorted(firsts, a, places, total, x, z, y, carries, rows);                                                     \
    }                                                                                                                 \
    extern "C" __global__ void spmv_layers_##type(const T* layers, const T* z, T* y, u32 count, u32 n, u32 rows) {    \
        add_layers(layers, z, y, count, n, rows);                                                                     \
    }                                                                                                                 \
    extern "C" __global__ void IN_FLIGHT(IN_PASS)                                                                     \
        spmv_products_##type(Csr<T> a, const T* x, T* products, u32* heads, u32 entries, u32 low, u32 width) {        \
        one_pass(a, x, products, heads, entries, low, width);                                                         \
    }                                                                                                                 \
    extern "C" __global__ void spmv_heads_##type(Csr<T> a, u32* heads, u32 rows) { set_heads(a, heads, rows); }       \
    extern "C" __global__ void spmv_first_##type(Csr<T> a, const T* z, T* y, u32 rows) { from_heads(a, z, y, rows); } \
    extern "C" __global__ void spmv_carry_##type(const u32* firsts, const T* carries, u32 tiles, u32 rows, T* y) {    \
        carry(firsts, carries, tiles, rows, y);                                                                       \
    }                                                                                                                 \
    extern "C" __global__ void spmv_certify_##type(Csr<T> a, const T* x, const T* z, const T* y, u64 rows, u32 exact, \
                                                   u64* report) {                                                     \
        certify(a, x, z, y, rows, exact, report);                                                                     \
    }
KERNELS(f32, float)
KERNELS(f64, double)

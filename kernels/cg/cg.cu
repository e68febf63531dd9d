// cg: the NAS benchmark CG (src/core/primitives/cg/mod.rs). One launch computes all solutions: its grid has as many
// blocks as are resident at once, which meet at a barrier after each phase of a step.
//
// Products by rows: a warp multiplies a row, 32 entries at a time and ITEMS such groups in flight; entries bypass L1,
// so that it keeps the gathered vector. Products in passes (he2007 §4.3): all blocks gather from one chunk of the vector
// after another, with a barrier between, and store the products of the entries; then a warp sums those of a row. Products
// in blocks of columns (src/core/primitives/spmv/slices.rs): a thread
// block keeps its part of the vector in shared memory, a lane multiplies a row of a slice, and the sums of a row over
// the blocks of columns, its layers, are added where they are used. Dot products: each block sums its share of the
// rows, then, after a barrier, every block sums all blocks' sums in the same order: all have the same scalars without
// a second barrier, and equal grids give equal results.
#include "../common/certify.cuh"
#include "../common/grid_barrier.cuh"
#include "../spmv/slices.cuh"

// Entries of a row that a lane has in flight.
#define ITEMS 8u
#define BLOCK 1024u
#define STEPS 25u

// How A is multiplied.
#define ROWS 0u
#define BLOCKS 1u
#define PASSES 2u

// Dot products. Each has its own part of System::sums, because one is read while the next is written.
#define PQ 0u
#define RR 1u
#define RESIDUAL 2u
#define XZ 3u
#define ZZ 4u

struct System {
    const u32* starts;    // [row]: its first entry; or [slice]: its first group
    const void* columns;  // u32; or u16, within the block of columns
    const void* values;
    const u32* rows;      // [slice][lane]: the lane's row
    const u32* shares;    // [thread block]: its first slice; then the number of slices
    void* products;       // [entry], in passes
    void* x;     // x of solutions 0, 2, …
    void* next;  // x of solutions 1, 3, …
    void* z;
    void* r;
    void* p;
    void* q;
    double* sums;    // [dot product][thread block]
    double* report;  // [solution]: zeta; then |x - A z|; then |z|
    u32* barrier;
    u64 n;
    u64 first, count;  // rows to multiply
    u64 solutions;
    u64 width;   // columns per block of columns
    u64 layers;  // blocks of columns, i.e. sums per row
    u64 entries;
    u64 passes;
    double diagonal;  // times the identity is added to the stored matrix
    double shift;
};

static_assert(sizeof(System) == 200, "the layout of the host");

LAB double quotient(double a, double b) { return b == 0.0 ? 0.0 : a / b; }

// ---- sums ---------------------------------------------------------------------------------------

// The sum over the block, valid in all threads. All threads must call this.
LAB double block_sum(double mine) {
    __shared__ double warps[BLOCK / 32u];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, step);
    __syncthreads();
    if ((threadIdx.x & 31u) == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    const u32 lane = threadIdx.x & 31u;
    mine = lane < blockDim.x / 32u ? warps[lane] : 0.0;
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, step);
    return mine;
}

// Stores this block's part of a dot product.
LAB void publish(const System& s, u32 dot, double mine) {
    const double sum = block_sum(mine);
    if (threadIdx.x == 0) s.sums[dot * gridDim.x + blockIdx.x] = sum;
}

// A dot product from the parts of all blocks, which have met at a barrier since they stored them.
LAB double total(const System& s, u32 dot) {
    double mine = 0.0;
    for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) mine += __ldcg(&s.sums[dot * gridDim.x + b]);
    return block_sum(mine);
}

// ---- products -----------------------------------------------------------------------------------

LAB double value_at(const double* values, u64 at) {
    const u64 bits = load_no_l1((const u64*)values + at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
LAB float value_at(const float* values, u64 at) {
    const u32 bits = load_no_l1((const u32*)values + at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The product of a row with a vector, valid in all lanes of the warp.
template <typename T> LAB T row_product(const System& s, const T* vector, u64 row) {
    const T* values = (const T*)s.values;
    const u32* columns = (const u32*)s.columns;
    const u32 end = s.starts[row + 1];
    u32 at = s.starts[row] + (threadIdx.x & 31u);
    T sums[2] = {T(0), T(0)};
    // Positions differ among lanes, but a group is whole for all of them or for none.
    for (; at - (threadIdx.x & 31u) + 32u * ITEMS <= end; at += 32u * ITEMS) {
        u32 column[ITEMS];
        T value[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) column[k] = load_no_l1(&columns[at + 32u * k]);
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) value[k] = value_at(values, at + 32u * k);
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) sums[k % 2u] += value[k] * vector[column[k]];
    }
    // The rest, likewise in flight together; entries past the row's end are left out.
    if (at - (threadIdx.x & 31u) < end) {
        u32 column[ITEMS];
        T value[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const bool mine = at + 32u * k < end;
            column[k] = mine ? load_no_l1(&columns[at + 32u * k]) : 0u;
            value[k] = mine ? value_at(values, at + 32u * k) : T(0);
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            if (at + 32u * k < end) sums[k % 2u] += value[k] * vector[column[k]];
        }
    }
    T sum = sums[0] + sums[1];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
    return sum;
}

// Stores the product of a row, with the diagonal that is not stored. Returns its part of the dot product with the vector.
template <typename T> LAB double store_sum(const System& s, const T* vector, u64 row, T sum) {
    const T at_row = vector[row], all = sum + T(s.diagonal) * at_row;
    ((T*)s.q)[row] = all;
    return (double)at_row * (double)all;
}

// Multiplies the rows, one warp per row. Returns the thread's part of the dot product with the vector.
template <typename T> LAB double product_by_rows(const System& s, const T* vector) {
    const u64 warps = thread_count() / 32u;
    double dot = 0.0;
    for (u64 i = thread_index() / 32u; i < s.count; i += warps) {
        const u64 row = s.first + i;
        const T sum = row_product<T>(s, vector, row);
        if ((threadIdx.x & 31u) == 0) dot += store_sum<T>(s, vector, row, sum);
    }
    return dot;
}

// The same, by products of all entries.
template <typename T> LAB double product_in_passes(const System& s, const T* vector, GridBarrier& barrier) {
    T* products = (T*)s.products;
    const u32* columns = (const u32*)s.columns;
    for (u64 pass = 0; pass < s.passes; ++pass) {
        const u32 low = (u32)(s.n * pass / s.passes), width = (u32)(s.n * (pass + 1u) / s.passes) - low;
        for (u64 at = thread_index(); at < s.entries; at += thread_count()) {
            const u32 column = load_no_l1(&columns[at]);
            if (column - low < width) products[at] = value_at((const T*)s.values, at) * vector[column];
        }
        barrier.meet();
    }
    const u64 warps = thread_count() / 32u;
    const u32 lane = threadIdx.x & 31u;
    double dot = 0.0;
    for (u64 i = thread_index() / 32u; i < s.count; i += warps) {
        const u64 row = s.first + i;
        T sum = T(0);
        for (u32 at = s.starts[row] + lane; at < s.starts[row + 1]; at += 32u) sum += __ldcg(&products[at]);
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
        if (lane == 0) dot += store_sum<T>(s, vector, row, sum);
    }
    return dot;
}

// The same, by the slices of the block's share.
template <typename T> LAB double product_by_slices(const System& s, const T* vector) {
    const Slices slices = {s.starts, s.columns, s.values, s.rows};
    double dot = 0.0;
    const auto near = [&](u64 at) { return vector[at]; };
    sum_slices<T>(slices, s.shares[blockIdx.x], s.shares[blockIdx.x + 1u], s.n, s.n, s.width, near,
                  [&](u32 layer, u64 row, T sum) {
                      if (row - s.first >= s.count) return;
                      // The diagonal that is not stored belongs to the first of a row's sums.
                      if (layer == 0) sum += T(s.diagonal) * vector[row];
                      ((T*)s.q)[layer * s.n + row] = sum;
                      dot += (double)vector[row] * (double)sum;
                  });
    return dot;
}

template <typename T, u32 METHOD> LAB double product(const System& s, const T* vector, GridBarrier& barrier) {
    if (METHOD == BLOCKS) return product_by_slices<T>(s, vector);
    return METHOD == PASSES ? product_in_passes<T>(s, vector, barrier) : product_by_rows<T>(s, vector);
}

// Element i of the last product: the sum of its layers.
template <typename T, u32 METHOD> LAB T sum_at(const System& s, u64 i) {
    const T* q = (const T*)s.q;
    if (METHOD != BLOCKS) return q[i];
    T sum = T(0);
#pragma unroll 4
    for (u64 layer = 0; layer < s.layers; ++layer) sum += q[layer * s.n + i];
    return sum;
}

// ---- a solution ---------------------------------------------------------------------------------

// z = A^-1 x by STEPS steps of conjugate gradients from z = 0.
template <typename T, u32 METHOD> LAB void conjugate_gradients(const System& s, GridBarrier& barrier, T* x, bool first) {
    T *z = (T*)s.z, *r = (T*)s.r, *p = (T*)s.p;
    double sum = 0.0;
    for (u64 i = thread_index(); i < s.n; i += thread_count()) {
        if (first) x[i] = T(1);
        const T xi = x[i];
        z[i] = T(0);
        r[i] = xi;
        p[i] = xi;
        sum += (double)xi * (double)xi;
    }
    publish(s, RR, sum);
    barrier.meet();
    double rho = total(s, RR);
    for (u32 step = 0; step < STEPS; ++step) {
        publish(s, PQ, product<T, METHOD>(s, p, barrier));
        barrier.meet();
        const T alpha = T(quotient(rho, total(s, PQ)));
        sum = 0.0;
        for (u64 i = thread_index(); i < s.n; i += thread_count()) {
            z[i] += alpha * p[i];
            const T ri = r[i] - alpha * sum_at<T, METHOD>(s, i);
            r[i] = ri;
            sum += (double)ri * (double)ri;
        }
        publish(s, RR, sum);
        barrier.meet();
        const double before = rho;
        rho = total(s, RR);
        const T beta = T(quotient(rho, before));
        for (u64 i = thread_index(); i < s.n; i += thread_count()) p[i] = r[i] + beta * p[i];
        barrier.meet();
    }
}

template <typename T, u32 METHOD> LAB void solve(const System& s, GridBarrier& barrier, u64 solution) {
    T *x = (T*)(solution % 2u == 0 ? s.x : s.next), *next = (T*)(solution % 2u == 0 ? s.next : s.x);
    const T* z = (const T*)s.z;
    conjugate_gradients<T, METHOD>(s, barrier, x, solution == 0);
    product<T, METHOD>(s, z, barrier);
    barrier.meet();
    double sums[3] = {0.0, 0.0, 0.0};
    for (u64 i = thread_index(); i < s.n; i += thread_count()) {
        const double left = (double)x[i] - (double)sum_at<T, METHOD>(s, i);
        sums[0] += left * left;
        sums[1] += (double)x[i] * (double)z[i];
        sums[2] += (double)z[i] * (double)z[i];
    }
#pragma unroll
    for (u32 k = 0; k < 3u; ++k) publish(s, RESIDUAL + k, sums[k]);
    barrier.meet();
    const double norm = sqrt(total(s, ZZ)), scale = quotient(1.0, norm);
    for (u64 i = thread_index(); i < s.n; i += thread_count()) next[i] = T((double)z[i] * scale);
    // Only the report needs these.
    if (blockIdx.x == 0) {
        const double residual = sqrt(total(s, RESIDUAL)), zeta = s.shift + quotient(1.0, total(s, XZ));
        if (threadIdx.x == 0) {
            s.report[solution] = zeta;
            s.report[s.solutions + solution] = residual;
            s.report[2u * s.solutions + solution] = norm;
        }
    }
    barrier.meet();
}

template <typename T, u32 METHOD> LAB void cg(const System& s) {
    GridBarrier barrier(s.barrier);
    for (u64 solution = 0; solution < s.solutions; ++solution) solve<T, METHOD>(s, barrier, solution);
}

#define TIMED(name, T, METHOD) \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1) name(System s) { cg<T, METHOD>(s); }

TIMED(cg_rows_f64, double, ROWS)
TIMED(cg_rows_f32, float, ROWS)
TIMED(cg_he2007_f64, double, PASSES)
TIMED(cg_he2007_f32, float, PASSES)
TIMED(cg_blocks_f64, double, BLOCKS)
TIMED(cg_blocks_f32, float, BLOCKS)

// ---- the certificate ----------------------------------------------------------------------------

// words[thread] = the five sums of `Sums` (src/core/primitives/cg/certificate.rs) over the thread's rows, in f64 and
// in the order of the rows.
template <typename T> LAB void certify(const System& s, double scale, double* words) {
    const T *x = (const T*)s.x, *next = (const T*)s.next, *z = (const T*)s.z, *values = (const T*)s.values;
    const u32* columns = (const u32*)s.columns;
    double sums[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (u64 i = thread_index(); i < s.n; i += thread_count()) {
        const double xi = (double)x[i], zi = (double)z[i], own = s.diagonal * zi;
        double left = xi - own, size = fabs(xi) + fabs(own);
        for (u32 at = s.starts[i]; at < s.starts[i + 1]; ++at) {
            const double term = (double)values[at] * (double)z[columns[at]];
            left -= term;
            size += fabs(term);
        }
        const double off = (double)next[i] - zi * scale;
        sums[0] += left * left;
        sums[1] += size * size;
        sums[2] += xi * zi;
        sums[3] += zi * zi;
        sums[4] += off * off;
    }
    for (u32 k = 0; k < 5u; ++k) words[thread_index() * 5u + k] = sums[k];
}

extern "C" __global__ void cg_certify_f64(System s, double scale, double* words) { certify<double>(s, scale, words); }
extern "C" __global__ void cg_certify_f32(System s, double scale, double* words) { certify<float>(s, scale, words); }

// stream: read, write, copy, scale, add and triad of f64 arrays (lavin2020 §4.1 takes
// the ceilings of its charts from such kernels).
#include "certify.cuh"

#define BLOCK 256u

// 16-byte vectors that a thread has in flight. A block handles one tile of BLOCK·UNROLL of
// them, and the grid has a block for each: blocks start in the order of their addresses, so
// that those in flight lie close together and memory finds its rows open. On an H200 a grid
// of as many blocks as fit at once reached 4.56 TB/s reading, 4.45 writing and 4.01 copying,
// one block a tile 4.62, 4.70 and 4.32. What writes is best with the smallest tile.
#define MAP_UNROLL 1u
#define READ_UNROLL 8u

#define WRITE 1
#define COPY 2
#define SCALE 3
#define ADD 4
#define TRIAD 5

template <int OP> LAB double combine(double x, double y, double q) {
    if (OP == WRITE) return q;
    if (OP == COPY) return x;
    if (OP == SCALE) return q * x;
    if (OP == ADD) return x + y;
    return __dadd_rn(x, __dmul_rn(q, y));  // exact either way: integers
}

template <int OP> LAB double2 combine2(double2 x, double2 y, double q) {
    return make_double2(combine<OP>(x.x, y.x, q), combine<OP>(x.y, y.y, q));
}

LAB bool on_vectors(const void* pointer) { return ((u64)pointer & 15u) == 0; }

// dst[i] = combine(x[i], y[i]). Blocks must have BLOCK threads. Arrays that OP does not
// read may be null. Full tiles go as 16-byte vectors where all arrays allow it; the
// rest, and everything where one is misplaced, element by element.
template <int OP>
LAB void map(double* __restrict__ dst, const double* __restrict__ x, const double* __restrict__ y,
             u64 n, double q) {
    u64 done = 0;
    if (on_vectors(dst) && on_vectors(x) && on_vectors(y)) {
        const u64 tiles = n / (2 * BLOCK * MAP_UNROLL);
        for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const u64 at = tile * (BLOCK * MAP_UNROLL) + threadIdx.x;
            double2 a[MAP_UNROLL], b[MAP_UNROLL];
#pragma unroll
            for (u32 u = 0; u < MAP_UNROLL; ++u) {
                a[u] = b[u] = make_double2(0.0, 0.0);
                if (OP >= COPY) a[u] = ((const double2*)x)[at + u * BLOCK];
                if (OP >= ADD) b[u] = ((const double2*)y)[at + u * BLOCK];
            }
#pragma unroll
            for (u32 u = 0; u < MAP_UNROLL; ++u) ((double2*)dst)[at + u * BLOCK] = combine2<OP>(a[u], b[u], q);
        }
        done = tiles * (2 * BLOCK * MAP_UNROLL);
    }
    for (u64 i = done + thread_index(); i < n; i += thread_count()) {
        dst[i] = combine<OP>(OP >= COPY ? x[i] : 0.0, OP >= ADD ? y[i] : 0.0, q);
    }
}

#define MAP(name, OP)                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        name(double* __restrict__ dst, const double* __restrict__ x, const double* __restrict__ y, \
             u64 n, double q) {                                                                    \
        map<OP>(dst, x, y, n, q);                                                                  \
    }

MAP(stream_write, WRITE)
MAP(stream_copy, COPY)
MAP(stream_scale, SCALE)
MAP(stream_add, ADD)
MAP(stream_triad, TRIAD)

// The sum over the block, in thread 0. Blocks must have BLOCK threads.
LAB double block_sum(double mine) {
    __shared__ double warps[BLOCK / 32u];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    __syncthreads();  // the caller may have used `warps` before
    if ((threadIdx.x & 31u) == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 w = 1; w < BLOCK / 32u; ++w) mine += warps[w];
    }
    return mine;
}

// The thread's share of the sum of x[0..n).
LAB double thread_sum(const double* __restrict__ x, u64 n) {
    double sum[2 * READ_UNROLL];
#pragma unroll
    for (u32 u = 0; u < 2 * READ_UNROLL; ++u) sum[u] = 0.0;
    u64 done = 0;
    if (on_vectors(x)) {
        const u64 tiles = n / (2 * BLOCK * READ_UNROLL);
        for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const u64 at = tile * (BLOCK * READ_UNROLL) + threadIdx.x;
            double2 v[READ_UNROLL];
#pragma unroll
            for (u32 u = 0; u < READ_UNROLL; ++u) v[u] = ((const double2*)x)[at + u * BLOCK];
#pragma unroll
            for (u32 u = 0; u < READ_UNROLL; ++u) {
                sum[2 * u] += v[u].x;
                sum[2 * u + 1] += v[u].y;
            }
        }
        done = tiles * (2 * BLOCK * READ_UNROLL);
    }
    for (u64 i = done + thread_index(); i < n; i += thread_count()) sum[0] += x[i];
#pragma unroll
    for (u32 u = 1; u < 2 * READ_UNROLL; ++u) sum[0] += sum[u];
    return sum[0];
}

// Sums that the blocks of a read share, so that the adds of many blocks to one place do not
// hold each other up.
#define PARTIALS 1024u

// *total = the sum of x[0..n). `partials` has PARTIALS sums; they and *ticket are 0 before
// and after. The block that takes the last ticket adds the partial sums, so one launch does
// it all. Values are integers and sums below 2^53: exact in any order and as either type.
extern "C" __global__ void __launch_bounds__(BLOCK)
    stream_read(const double* __restrict__ x, u64 n, u64* partials, u32* ticket, double* total) {
    __shared__ bool last;
    const double mine = block_sum(thread_sum(x, n));
    if (threadIdx.x == 0) {
        atomicAdd(&partials[blockIdx.x % PARTIALS], (u64)mine);
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1u) == gridDim.x - 1u;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    double sum = 0.0;
    for (u32 b = threadIdx.x; b < PARTIALS; b += BLOCK) {
        sum += (double)__ldcg(&partials[b]);
        partials[b] = 0;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) *total = sum;
}

// ---- inputs and certificates --------------------------------------------------------

// out[i] = element i of the stream of this seed: an integer below 2^20.
extern "C" __global__ void stream_fill(double* __restrict__ out, u64 key, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = stream_value(key, i);
}

// Adds the sum of elements 0..n, as an integer, to finding->sum, and n to ->checked.
extern "C" __global__ void stream_expected_sum(u64 key, u64 n, Finding* finding) {
    u64 sum = 0;
    u32 checked = 0;
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        sum += word64(key, i) >> 44;
        checked += 1;
    }
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// Checks dst[0..n) against the definition; x and y are the operands' keys, op one of the
// codes above.
extern "C" __global__ void stream_certify(const double* __restrict__ dst, u32 op, u64 x, u64 y,
                                          double q, u64 n, Finding* finding) {
    u32 checked = 0;
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        const double a = stream_value(x, i), b = stream_value(y, i);
        const double expected = op == WRITE ? q
                                : op == COPY ? a
                                : op == SCALE ? q * a
                                : op == ADD ? a + b
                                            : a + q * b;
        const u64 wanted = (u64)__double_as_longlong(expected);
        const u64 found = (u64)__double_as_longlong(dst[i]);
        if (found != wanted) mistake(finding, i, found == POISON ? NOT_WRITTEN : WRONG_VALUE, i, wanted, found);
        checked += 1;
    }
    add_count(&finding->checked, checked);
}

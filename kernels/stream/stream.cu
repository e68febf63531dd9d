// stream: read, write, copy, scale, add and triad of f64 arrays (lavin2020 §4.1 takes the ceilings of its charts from
// such kernels).
//
// A block handles tiles of blockDim.x · ITEMS vectors, with ITEMS in flight per thread. With one block per tile,
// blocks start in address order, so that the blocks in flight lie close together and memory finds its rows open. On an
// H200 a grid of as many blocks as are resident at once reached 4.62 TB/s reading, 4.45 writing and 4.01 copying, one
// block per tile 4.69, 4.70 and 4.29. Kernels that write are fastest with the smallest tile. The host passes the
// number of full tiles and of their elements: a division by blockDim.x costs more than everything else in a short
// block.
#include "../common/certify.cuh"
#include "../common/hints.cuh"

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
    return __dadd_rn(x, __dmul_rn(q, y));  // exact with or without fma: integers
}

template <int OP> LAB double2 combine(double2 x, double2 y, double q) {
    return make_double2(combine<OP>(x.x, y.x, q), combine<OP>(x.y, y.y, q));
}

// The thread's first vector of a tile. There are fewer than 2^31 tiles, so tile + gridDim.x fits in 32 bits.
template <u32 ITEMS> LAB u64 vector_of(u32 tile) {
    return (u64)tile * (blockDim.x * ITEMS) + threadIdx.x;
}

// dst[i] = combine(x[i], y[i], q) for i in [0, n): `tiles` tiles by vectors, `tiled` elements in all, for which all
// arrays must be aligned; the rest element by element. Arrays that OP does not read may be null.
template <int OP, typename V, u32 ITEMS, int HINT>
LAB void map(double* __restrict__ dst, const double* __restrict__ x, const double* __restrict__ y,
             u32 tiles, u64 tiled, u64 n, double q) {
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 at = vector_of<ITEMS>(tile);
        V a[ITEMS], b[ITEMS];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            a[u] = b[u] = V();
            if (OP >= COPY) a[u] = load<HINT>((const V*)x + at + u * blockDim.x);
            if (OP >= ADD) b[u] = load<HINT>((const V*)y + at + u * blockDim.x);
        }
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) store<HINT>((V*)dst + at + u * blockDim.x, combine<OP>(a[u], b[u], q));
    }
    if (tiled == n) return;
    for (u64 i = tiled + thread_index(); i < n; i += thread_count()) {
        dst[i] = combine<OP>(OP >= COPY ? x[i] : 0.0, OP >= ADD ? y[i] : 0.0, q);
    }
}

LAB double both(double v) { return v; }
LAB double both(double2 v) { return v.x + v.y; }

// The thread's share of the sum of x[0..n), divided as in map.
template <typename V, u32 ITEMS, int HINT>
LAB double thread_sum(const double* __restrict__ x, u32 tiles, u64 tiled, u64 n) {
    double sum = 0.0;
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 at = vector_of<ITEMS>(tile);
        V v[ITEMS];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) v[u] = load<HINT>((const V*)x + at + u * blockDim.x);
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) sum += both(v[u]);
    }
    if (tiled == n) return sum;
    for (u64 i = tiled + thread_index(); i < n; i += thread_count()) sum += x[i];
    return sum;
}

// Number of partial sums, so that the adds of many blocks do not serialize on one address. The host adds them up: on
// an H200, a fence and a ticket per block, by which the last block would know to add them up, cost 12 % of the
// bandwidth, and a separate launch a few microseconds.
#define PARTIALS 1024u

// Adds the sum of x[0..n) to `partials`. Values are integers and sums are below 2^53, so they are exact in any order,
// in f64 and in u64.
template <typename V, u32 ITEMS, int HINT>
LAB void read(const double* __restrict__ x, u32 tiles, u64 tiled, u64 n, u64* partials) {
    __shared__ u64 warps[32];
    u64 mine = (u64)thread_sum<V, ITEMS, HINT>(x, tiles, tiled, n);
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
#pragma unroll 1  // if unrolled, its registers would count for every thread
    for (u32 w = 1; w < blockDim.x / 32u; ++w) mine += warps[w];
    atomicAdd(&partials[blockIdx.x % PARTIALS], mine);
}

// ---- the timed kernels: stream_OP_vWIDTH_nITEMS, with _cs for the streaming hint ---------

#define READ(name, V, ITEMS, HINT)                                                            \
    extern "C" __global__ void IN_FLIGHT(ITEMS)                                               \
        name(const double* __restrict__ x, u32 tiles, u64 tiled, u64 n, u64* partials) {      \
        read<V, ITEMS, HINT>(x, tiles, tiled, n, partials);                                   \
    }

#define MAP(name, OP, V, ITEMS, HINT)                                                         \
    extern "C" __global__ void IN_FLIGHT(ITEMS)                                               \
        name(double* __restrict__ dst, const double* __restrict__ x,                          \
             const double* __restrict__ y, u32 tiles, u64 tiled, u64 n, double q) {           \
        map<OP, V, ITEMS, HINT>(dst, x, y, tiles, tiled, n, q);                               \
    }

#define KERNELS(V, WIDTH, ITEMS, HINT, SUFFIX)                                                \
    READ(stream_read_v##WIDTH##_n##ITEMS##SUFFIX, V, ITEMS, HINT)                             \
    MAP(stream_write_v##WIDTH##_n##ITEMS##SUFFIX, WRITE, V, ITEMS, HINT)                      \
    MAP(stream_copy_v##WIDTH##_n##ITEMS##SUFFIX, COPY, V, ITEMS, HINT)                        \
    MAP(stream_scale_v##WIDTH##_n##ITEMS##SUFFIX, SCALE, V, ITEMS, HINT)                      \
    MAP(stream_add_v##WIDTH##_n##ITEMS##SUFFIX, ADD, V, ITEMS, HINT)                          \
    MAP(stream_triad_v##WIDTH##_n##ITEMS##SUFFIX, TRIAD, V, ITEMS, HINT)

#define HINTS(V, WIDTH, ITEMS)                 \
    KERNELS(V, WIDTH, ITEMS, NO_HINT, )        \
    KERNELS(V, WIDTH, ITEMS, STREAMING, _cs)

#define WIDTHS(ITEMS)          \
    HINTS(double, 8, ITEMS)    \
    HINTS(double2, 16, ITEMS)

WIDTHS(1)
WIDTHS(2)
WIDTHS(4)
WIDTHS(8)

// ---- inputs and certificates --------------------------------------------------------

// out[i] = element i of this seed's stream, an integer below 2^bits. If elements are only summed, `bits` is as large
// as exact sums allow.
extern "C" __global__ void stream_fill(double* __restrict__ out, u64 key, u64 n, u32 bits) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = (double)(word64(key, i) >> (64u - bits));
}

// Adds the sum of elements [0, n), as an integer, to finding->sum, and n to ->checked.
extern "C" __global__ void stream_expected_sum(u64 key, u64 n, u32 bits, Finding* finding) {
    u64 sum = 0;
    u32 checked = 0;
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        sum += word64(key, i) >> (64u - bits);
        checked += 1;
    }
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// Checks dst[0..n) against the definition; x and y are the operands' keys, op is one of the codes above.
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

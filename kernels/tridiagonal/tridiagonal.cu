// tridiagonal: batches of tridiagonal systems (src/core/primitives/tridiagonal/mod.rs), by
//
//   partition   threads with 8 or 16 rows each, then parallel cyclic reduction of one row per thread (rows.cuh). If a
//               system is longer than a tile, one launch stores the edges of all tiles, whose rows form a smaller
//               system; a later launch solves the tiles from its solution
//   cyclic      cyclic reduction: each step halves the rows, in shared memory or across launches
//   parallel    parallel cyclic reduction, in shared memory or across launches
//   thomas      Gaussian elimination without pivoting, one system per thread
#include "rows.cuh"
#include "certify.cuh"

// Systems of `rows` rows; row i of system s lies at i·row + s·system.
template <typename T> struct Batch {
    const T *a, *b, *c, *d;
    T* x;
    u64 rows, systems, row, system;

    LAB_MEMBER u64 at(u64 s, u64 i) const { return i * row + s * system; }

    // at() in a batch with half as many rows, in the same layout.
    LAB_MEMBER u64 at_half(u64 s, u64 i) const { return i * row + s * (row == 1 ? rows / 2 : 1); }
};

extern __shared__ ulonglong2 dense[];

#define SHARED(T) T* const shared = (T*)dense

// ---- partition: rows into registers, x out of them -----------------------------------------

// The division of the systems among a launch's blocks and threads.
struct Tiles {
    u32 team;   // threads per tile
    u32 tiles;  // tiles per system
    u32 group;  // systems per block
};

// The rows of a thread: R of them from `first` on.
struct Share {
    Team team;
    u64 system, first;  // its system, and its first row in it
    u64 begin;          // first row of the tile
    u32 tile;
};

// Rows of a system are adjacent in memory, and so are the threads of a system.
template <u32 R> LAB Share strided_share(Tiles of) {
    const u32 group = threadIdx.x / of.team, at = threadIdx.x % of.team;
    const u64 begin = (u64)(blockIdx.x % of.tiles) * of.team * R;
    return {{at, of.team, threadIdx.x, 1u, of.team <= 32u},
            (u64)(blockIdx.x / of.tiles) * of.group + group,
            begin + at * R,
            begin,
            blockIdx.x % of.tiles};
}

// Equal rows of adjacent systems are adjacent in memory, and so are their threads.
template <u32 R> LAB Share interleaved_share(Tiles of) {
    const u32 at = threadIdx.x / of.group;
    const u64 begin = (u64)(blockIdx.x % of.tiles) * of.team * R;
    return {{at, of.team, threadIdx.x, of.group, of.team == 1u},
            (u64)(blockIdx.x / of.tiles) * of.group + threadIdx.x % of.group,
            begin + at * R,
            begin,
            blockIdx.x % of.tiles};
}

// The place of the lane's vector k in memory, and the number of its elements that exist.
template <typename T, u32 R> struct Moves {
    u64 at;
    u32 count;

    LAB_MEMBER Moves(const Batch<T>& of, Tiles tiles, const Share& share, u32 k) {
        const u32 V = 16u / sizeof(T), row = (k * 32u + (threadIdx.x & 31u)) * V;
        const u32 thread = (threadIdx.x & ~31u) + row / R;
        const u64 system = share.system - threadIdx.x / tiles.team + thread / tiles.team;
        const u64 i = share.begin + (thread % tiles.team) * R + row % R;
        at = system * of.rows + i;
        count = system >= of.systems || i >= of.rows ? 0u : of.rows - i < V ? (u32)(of.rows - i) : V;
    }
};

template <typename T> LAB bool in_vectors(const Batch<T>& of) {
    const u64 all = (u64)of.a | (u64)of.b | (u64)of.c | (u64)of.d | (u64)of.x;
    return of.rows % (16u / sizeof(T)) == 0 && all % 16u == 0;
}

template <typename T, u32 R>
LAB void load_strided(Rows<T, R>& to, const Batch<T>& of, Tiles tiles, const Share& share) {
    const u32 V = 16u / sizeof(T), EACH = R / V;
    const T* const arrays[4] = {of.a, of.b, of.c, of.d};
    T* const rows[4] = {to.a, to.b, to.c, to.d};
    const bool vectors = in_vectors(of);
    Vector<T> moved[4][EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        const Moves<T, R> from(of, tiles, share, k);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            if (vectors && from.count > 0) {
                moved[j][k] = *(const Vector<T>*)(arrays[j] + from.at);
            } else {
#pragma unroll
                for (u32 e = 0; e < V; ++e) moved[j][k].of[e] = e < from.count ? arrays[j][from.at + e] : T(j == 1);
            }
        }
    }
    Exchange<T, R> exchange(dense);
#pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < EACH; ++k) exchange.moved(k) = moved[j][k];
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < EACH; ++k) {
            const Vector<T> own = exchange.owned(k);
#pragma unroll
            for (u32 e = 0; e < V; ++e) rows[j][k * V + e] = own.of[e];
        }
    }
    __syncthreads();
}

template <typename T, u32 R>
LAB void store_strided(const T (&x)[R], const Batch<T>& to, Tiles tiles, const Share& share) {
    const u32 V = 16u / sizeof(T), EACH = R / V;
    const bool vectors = in_vectors(to);
    Exchange<T, R> exchange(dense);
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        Vector<T>& own = exchange.owned(k);
#pragma unroll
        for (u32 e = 0; e < V; ++e) own.of[e] = x[k * V + e];
    }
    __syncwarp();
#pragma unroll
    for (u32 k = 0; k < EACH; ++k) {
        const Moves<T, R> place(to, tiles, share, k);
        const Vector<T> all = exchange.moved(k);
        if (vectors && place.count > 0) {
            *(Vector<T>*)(to.x + place.at) = all;
        } else {
#pragma unroll
            for (u32 e = 0; e < V; ++e) {
                if (e < place.count) to.x[place.at + e] = all.of[e];
            }
        }
    }
}

template <typename T, u32 R> LAB void load_interleaved(Rows<T, R>& to, const Batch<T>& of, const Share& share) {
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        const u64 at = of.at(share.system, share.first + i);
        const bool there = share.first + i < of.rows && share.system < of.systems;
        to.a[i] = there ? of.a[at] : T(0);
        to.b[i] = there ? of.b[at] : T(1);
        to.c[i] = there ? of.c[at] : T(0);
        to.d[i] = there ? of.d[at] : T(0);
    }
}

template <typename T, u32 R> LAB void store_interleaved(const T (&x)[R], const Batch<T>& to, const Share& share) {
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        if (share.first + i < to.rows && share.system < to.systems) {
            to.x[to.at(share.system, share.first + i)] = x[i];
        }
    }
}

// Loads the rows of the thread. The first row of a system has no left neighbor and the last no right one, whatever the
// arrays hold.
template <typename T, u32 R, bool INTERLEAVED> LAB Share load(Rows<T, R>& rows, const Batch<T>& of, Tiles tiles) {
    const Share share = INTERLEAVED ? interleaved_share<R>(tiles) : strided_share<R>(tiles);
    if (INTERLEAVED) load_interleaved<T, R>(rows, of, share);
    else load_strided<T, R>(rows, of, tiles, share);
    if (share.first == 0) rows.a[0] = T(0);
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        if (share.first + i + 1u == of.rows) rows.c[i] = T(0);
    }
    return share;
}

// `ends`: null, or if systems have several tiles, [system][tile]: x of the tile's last row.
template <typename T, u32 R, bool INTERLEAVED> LAB void partition(const Batch<T>& of, Tiles tiles, const T* ends) {
    SHARED(T);
    Rows<T, R> rows;
    const Share share = load<T, R, INTERLEAVED>(rows, of, tiles);
    if (ends != nullptr && share.system < of.systems) {
        const T* const end = ends + share.system * tiles.tiles + share.tile;
        if (share.team.at == 0) {
            if (share.tile > 0) rows.d[0] -= rows.a[0] * end[-1];
            rows.a[0] = T(0);
        }
        if (share.team.at + 1u == share.team.count) {
            rows.a[R - 1] = rows.c[R - 1] = T(0);
            rows.b[R - 1] = T(1);
            rows.d[R - 1] = end[0];
        }
    }
    solve(rows, share.team, shared);
    if (INTERLEAVED) store_interleaved<T, R>(rows.d, of, share);
    else store_strided<T, R>(rows.d, of, tiles, share);
}

// Stores the edges of all tiles: seven arrays of systems · tiles elements (`leave`).
template <typename T, u32 R, bool INTERLEAVED> LAB void edges(const Batch<T>& of, Tiles tiles, T* out) {
    SHARED(T);
    Rows<T, R> rows;
    const Share share = load<T, R, INTERLEAVED>(rows, of, tiles);
    const Edges<T> tile = edges_of(rows, share.team, shared);
    if (share.system >= of.systems) return;
    leave(tile, share.team, out + share.system * tiles.tiles + share.tile, of.systems * tiles.tiles);
}

// Replaces the tiles' last rows by rows whose unknowns are the last x of three tiles (`joined`).
template <typename T> LAB void join(T* edges, u64 tiles, u64 count) {
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        T* const of = edges + k;
        if (k % tiles + 1u == tiles) continue;
        const Edges<T> row = joined<T>(of, 1u, count);
        of[count] = row.b;
        of[2u * count] = row.c;
        of[3u * count] = row.d;
    }
}

// ---- cyclic reduction ------------------------------------------------------------------------

// One system per block, in shared memory: four arrays of n elements, n ≤ 2·blockDim.x.
template <typename T> LAB void cyclic_shared(const Batch<T>& of) {
    SHARED(T);
    const u32 n = (u32)of.rows;
    T *const a = shared, *const b = a + n, *const c = b + n, *const d = c + n;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
        const u64 at = of.at(blockIdx.x, i);
        a[i] = i == 0 ? T(0) : of.a[at];
        b[i] = of.b[at];
        c[i] = i + 1u == n ? T(0) : of.c[at];
        d[i] = of.d[at];
    }
    u32 by = 1;
    for (; 2u * by <= n; by *= 2) {  // eliminates neighbors at distance `by` from rows 2·by − 1, 4·by − 1, …
        __syncthreads();
        const u32 i = 2u * by * (threadIdx.x + 1u) - 1u;
        if (i < n) {
            const u32 l = i - by, r = i + by;
            const T left = a[i] * reciprocal(b[l]);
            a[i] = -a[l] * left;
            b[i] -= c[l] * left;
            d[i] -= d[l] * left;
            if (r < n) {
                const T right = c[i] * reciprocal(b[r]);
                c[i] = -c[r] * right;
                b[i] -= a[r] * right;
                d[i] -= d[r] * right;
            } else {
                c[i] = T(0);
            }
        }
    }
    for (; by > 0; by /= 2) {  // x of rows by − 1, 3·by − 1, … from the solved ones; x replaces d
        __syncthreads();
        const u32 i = by * (2u * threadIdx.x + 1u) - 1u;
        if (i < n) {
            T v = d[i];
            if (i >= by) v -= a[i] * d[i - by];
            if (i + by < n) v -= c[i] * d[i + by];
            d[i] = v * reciprocal(b[i]);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) of.x[of.at(blockIdx.x, i)] = d[i];
}

// System and row of element k of [0, rows · systems), in memory order.
template <typename T> struct Spot {
    u64 s, i;

    LAB_MEMBER Spot(const Batch<T>& of, u64 rows, u64 k) {
        if (of.row == 1) {
            s = k / rows;
            i = k - s * rows;
        } else {
            i = k / of.systems;
            s = k - i * of.systems;
        }
    }
};

// Eliminates the even rows from the odd ones, which form a batch of half as many rows: four arrays of `size` elements,
// in the same layout.
template <typename T> LAB void halve(const Batch<T>& of, T* out, u64 size) {
    const u64 half = of.rows / 2, count = half * of.systems;
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        const Spot<T> to(of, half, k);
        const u64 i = 2u * to.i + 1u, m = of.at(to.s, i), l = of.at(to.s, i - 1u), r = of.at(to.s, i + 1u);
        const T left = of.a[m] * reciprocal(of.b[l]);
        T a = i > 1 ? -of.a[l] * left : T(0), b = of.b[m] - of.c[l] * left, c = T(0), d = of.d[m] - of.d[l] * left;
        if (i + 1u < of.rows) {
            const T right = of.c[m] * reciprocal(of.b[r]);
            if (i + 2u < of.rows) c = -of.c[r] * right;
            b -= of.a[r] * right;
            d -= of.d[r] * right;
        }
        T* const row = out + of.at_half(to.s, to.i);
        row[0] = a;
        row[size] = b;
        row[2u * size] = c;
        row[3u * size] = d;
    }
}

// x of all rows, from x of the odd rows.
template <typename T> LAB void unhalve(const Batch<T>& of, const T* odd) {
    const u64 count = of.rows * of.systems;
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        const Spot<T> spot(of, of.rows, k);
        const u64 at = of.at(spot.s, spot.i);
        const T* const own = odd + of.at_half(spot.s, spot.i / 2u);
        if (spot.i % 2u == 1) {
            of.x[at] = *own;
            continue;
        }
        T v = of.d[at];
        if (spot.i > 0) v -= of.a[at] * *(own - of.row);
        if (spot.i + 1u < of.rows) v -= of.c[at] * *own;
        of.x[at] = v * reciprocal(of.b[at]);
    }
}

// ---- parallel cyclic reduction ----------------------------------------------------------------

// One step for the row at `at`: eliminates its neighbors at a distance of `far`. For arrays in shared or global
// memory.
template <typename T> struct Four {
    T a, b, c, d;
};

template <typename T> LAB Four<T> step(const T* a, const T* b, const T* c, const T* d, u64 at, u64 far, bool left, bool right) {
    Four<T> row = {a[at], b[at], c[at], d[at]};
    Four<T> to = {T(0), row.b, T(0), row.d};
    if (left) {
        const u64 l = at - far;
        const T by = row.a * reciprocal(b[l]);
        to.a = -a[l] * by;
        to.b -= c[l] * by;
        to.d -= d[l] * by;
    }
    if (right) {
        const u64 r = at + far;
        const T by = row.c * reciprocal(b[r]);
        to.c = -c[r] * by;
        to.b -= a[r] * by;
        to.d -= d[r] * by;
    }
    return to;
}

// One system per block, one row per thread: two sets of four arrays of n elements, which steps read and write in turn.
template <typename T> LAB void parallel_shared(const Batch<T>& of) {
    SHARED(T);
    const u32 n = (u32)of.rows, i = threadIdx.x;
    T *from = shared, *to = shared + 4u * n;
    const u64 at = of.at(blockIdx.x, i);
    if (i < n) {
        from[i] = i == 0 ? T(0) : of.a[at];
        from[n + i] = of.b[at];
        from[2u * n + i] = i + 1u == n ? T(0) : of.c[at];
        from[3u * n + i] = of.d[at];
    }
    for (u32 by = 1; by < n; by *= 2) {
        __syncthreads();
        if (i < n) {
            const Four<T> row = step(from, from + n, from + 2u * n, from + 3u * n, i, by, i >= by, i + by < n);
            to[i] = row.a;
            to[n + i] = row.b;
            to[2u * n + i] = row.c;
            to[3u * n + i] = row.d;
        }
        T* const other = from;
        from = to;
        to = other;
    }
    if (i < n) of.x[at] = from[3u * n + i] * reciprocal(from[n + i]);
}

// One step in global memory, into four arrays of `size` elements; the last step, without `out`, computes x.
template <typename T> LAB void parallel_step(const Batch<T>& of, u64 by, T* out, u64 size) {
    const u64 count = of.rows * of.systems;
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        const Spot<T> spot(of, of.rows, k);
        const u64 at = of.at(spot.s, spot.i);
        const bool left = spot.i >= by, right = spot.i + by < of.rows;
        const T *a = of.a, *b = of.b, *c = of.c, *d = of.d;
        const Four<T> row = step(a, b, c, d, at, by * of.row, left, right);
        if (out == nullptr) {
            of.x[at] = row.d * reciprocal(row.b);
            continue;
        }
        T* const to = out + at;
        to[0] = row.a;
        to[size] = row.b;
        to[2u * size] = row.c;
        to[3u * size] = row.d;
    }
}

// ---- Thomas ------------------------------------------------------------------------------------

// One system per thread; upper = c' of all rows.
template <typename T> LAB void thomas(const Batch<T>& of, T* upper) {
    const u64 s = thread_index();
    if (s >= of.systems) return;
    T c = T(0), d = T(0);
    for (u64 i = 0; i < of.rows; ++i) {
        const u64 at = of.at(s, i);
        const T a = i == 0 ? T(0) : of.a[at], r = reciprocal(of.b[at] - a * c);
        c = i + 1u == of.rows ? T(0) : of.c[at] * r;
        d = (of.d[at] - a * d) * r;
        upper[at] = c;
        of.x[at] = d;
    }
    for (u64 i = of.rows; i-- > 1;) {
        const u64 at = of.at(s, i - 1u);
        d = of.x[at] - upper[at] * d;
        of.x[at] = d;
    }
}

#define PARTITION(type, T, layout, INTERLEAVED, R)                                                                        \
    extern "C" __global__ void __launch_bounds__(512, 1)                                                                  \
        tridiagonal_partition_##type##_##layout##_##R(Batch<T> of, Tiles tiles, const T* ends) {                          \
        partition<T, R, INTERLEAVED>(of, tiles, ends);                                                                    \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(512, 1)                                                                  \
        tridiagonal_edges_##type##_##layout##_##R(Batch<T> of, Tiles tiles, T* out) {                                     \
        edges<T, R, INTERLEAVED>(of, tiles, out);                                                                         \
    }

PARTITION(f32, float, strided, false, 8)
PARTITION(f32, float, strided, false, 16)
PARTITION(f32, float, interleaved, true, 8)
PARTITION(f32, float, interleaved, true, 16)
PARTITION(f64, double, strided, false, 8)
PARTITION(f64, double, interleaved, true, 8)

#define OF_TYPE(type, T)                                                                                                  \
    extern "C" __global__ void tridiagonal_join_##type(T* edges, u64 tiles, u64 count) { join<T>(edges, tiles, count); }  \
    extern "C" __global__ void tridiagonal_cyclic_##type(Batch<T> of) { cyclic_shared<T>(of); }                           \
    extern "C" __global__ void tridiagonal_halve_##type(Batch<T> of, T* out, u64 size) { halve<T>(of, out, size); }       \
    extern "C" __global__ void tridiagonal_unhalve_##type(Batch<T> of, const T* odd) { unhalve<T>(of, odd); }             \
    extern "C" __global__ void tridiagonal_parallel_##type(Batch<T> of) { parallel_shared<T>(of); }                       \
    extern "C" __global__ void tridiagonal_step_##type(Batch<T> of, u64 by, T* out, u64 size) {                           \
        parallel_step<T>(of, by, out, size);                                                                              \
    }                                                                                                                     \
    extern "C" __global__ void tridiagonal_thomas_##type(Batch<T> of, T* upper) { thomas<T>(of, upper); }                 \
    extern "C" __global__ void tridiagonal_fill_##type(Contents of, T* a, T* b, T* c, T* d) { fill<T>(of, a, b, c, d); }  \
    extern "C" __global__ void tridiagonal_measure_##type(Contents of, const T* a, const T* b, const T* c, const T* d,    \
                                                          const T* x, u64* sizes) {                                       \
        measure<T>(of, a, b, c, d, x, sizes);                                                                             \
    }                                                                                                                     \
    extern "C" __global__ void tridiagonal_certify_##type(Contents of, const T* a, const T* b, const T* c, const T* d,    \
                                                          const T* x, const double* sizes, double bound, u64* most,       \
                                                          Finding* finding) {                                             \
        certify<T>(of, a, b, c, d, x, sizes, bound, most, finding);                                                       \
    }

OF_TYPE(f32, float)
OF_TYPE(f64, double)

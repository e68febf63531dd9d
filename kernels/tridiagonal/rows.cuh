// Tridiagonal rows a·x[i−1] + b·x[i] + c·x[i+1] = d, solved by a team of threads with R rows each in registers:
//
//   eliminate    x[i] = d' − a'·left − c'·x[i+1] for a thread's rows but the last, where `left` is the last x of the
//                thread before it; and its first x as a function of `left` and its own last x
//   last_row     then the last row has the last x of three adjacent threads as its only unknowns
//   reduce_last  parallel cyclic reduction of these rows: each step doubles the distance between the unknowns of a row
//   substitute   x of all rows, from the last x of the thread and of the one before it
//
// (After sengupta2007 §4.3 and Zhang, Cohen, Owens: Fast tridiagonal solvers on the GPU, PPoPP 2010.) There is no
// pivoting: a pivot of 0 leaves infinities and NaN.
#pragma once

#include "../common/inputs.cuh"

LAB float reciprocal(float v) { return __fdividef(1.0f, v); }
LAB double reciprocal(double v) { return 1.0 / v; }

// A thread's place in the team that solves a system, or a tile of one; `at` ascends with the rows.
struct Team {
    u32 at, count;
    u32 slot, step;  // the thread's word in shared memory; distance to the next thread's
    bool one_warp;

    LAB_MEMBER void meet() const {
        if (one_warp) __syncwarp();
        else __syncthreads();
    }
};

// Words of shared memory per thread: twice the three numbers of a row. Each number has an array of blockDim.x words,
// so that teams never share a word.
#define TEAM_WORDS 6u

template <typename T, u32 R> struct Rows {
    T a[R], b[R], c[R], d[R];
};

// A row as x[i] = d − a·left − c·right.
template <typename T> struct Reduced {
    T a, c, d;
};

// Leaves a', c' and d' in all rows but the last. Returns the first row: x[0] from the last x of the thread before and
// its own last x.
template <typename T, u32 R> LAB Reduced<T> eliminate(Rows<T, R>& of) {
    T r = reciprocal(of.b[0]);
    of.a[0] *= r;
    of.c[0] *= r;
    of.d[0] *= r;
#pragma unroll
    for (u32 i = 1; i + 1u < R; ++i) {
        r = reciprocal(of.b[i] - of.a[i] * of.c[i - 1]);
        of.d[i] = (of.d[i] - of.a[i] * of.d[i - 1]) * r;
        of.a[i] = -of.a[i] * of.a[i - 1] * r;
        of.c[i] *= r;
    }
    Reduced<T> first = {of.a[R - 2], of.c[R - 2], of.d[R - 2]};
#pragma unroll
    for (u32 i = R - 2; i-- > 0;) {
        first.d = of.d[i] - of.c[i] * first.d;
        first.a = of.a[i] - of.c[i] * first.a;
        first.c = -of.c[i] * first.c;
    }
    return first;
}

// Rewrites the last row: its unknowns become the last x of three threads, by the first row of the next thread. In the
// team's last thread, the right unknown stays the x after the row.
template <typename T, u32 R> LAB void last_row(Rows<T, R>& of, Reduced<T> first, const Team& team, T* shared) {
    const u32 i = R - 1, size = blockDim.x;
    T* const words = shared + team.slot;
    words[0] = first.a;
    words[size] = first.c;
    words[2u * size] = first.d;
    team.meet();
    of.d[i] -= of.a[i] * of.d[i - 1];
    of.b[i] -= of.a[i] * of.c[i - 1];
    of.a[i] = -of.a[i] * of.a[i - 1];
    if (team.at + 1u < team.count) {
        const T* const next = words + team.step;
        of.b[i] -= of.c[i] * next[0];
        of.d[i] -= of.c[i] * next[2u * size];
        of.c[i] = -of.c[i] * next[size];
    }
    team.meet();
}

// Parallel cyclic reduction of the rows x + a·x[−1] + c·x[+1] = d of the team's first `members` threads. Unknowns
// outside of them remain: afterwards x = d − a·(x before the first) − c·(x after the last).
template <typename T> LAB void reduce_last(Reduced<T>& row, const Team& team, u32 members, T* shared) {
    T* words = shared;
    for (u32 by = 1; by < members; by *= 2) {
        T* const own = words + team.slot;
        const u32 size = blockDim.x, far = by * team.step;
        own[0] = row.a;
        own[size] = row.c;
        own[2u * size] = row.d;
        team.meet();
        if (team.at < members) {
            const bool left = team.at >= by, right = team.at + by < members;
            T pivot = T(1), a = row.a, c = row.c;
            if (left) {
                const T* const from = own - far;
                pivot -= row.a * from[size];
                row.d -= row.a * from[2u * size];
                a = -row.a * from[0];
            }
            if (right) {
                const T* const from = own + far;
                pivot -= row.c * from[0];
                row.d -= row.c * from[2u * size];
                c = -row.c * from[size];
            }
            const T r = reciprocal(pivot);
            row = {a * r, c * r, row.d * r};
        }
        // The next step writes the other half, so that one barrier per step is enough.
        words = words == shared ? shared + 3u * size : shared;
    }
    team.meet();
}

// The last x of the thread before this one; 0 in the first.
template <typename T> LAB T from_left(T last, const Team& team, T* shared) {
    shared[team.slot] = last;
    team.meet();
    const T left = team.at > 0 ? shared[team.slot - team.step] : T(0);
    team.meet();
    return left;
}

// Replaces d by x in all rows.
template <typename T, u32 R> LAB void substitute(Rows<T, R>& of, T left, T last) {
    of.d[R - 1] = last;
#pragma unroll
    for (u32 i = R - 1; i-- > 0;) of.d[i] -= of.a[i] * left + of.c[i] * of.d[i + 1];
}

// Solves the rows of a team without unknowns outside of it: replaces d by x.
template <typename T, u32 R> LAB void solve(Rows<T, R>& of, const Team& team, T* shared) {
    last_row(of, eliminate(of), team, shared);
    const T r = reciprocal(of.b[R - 1]);
    Reduced<T> row = {of.a[R - 1] * r, of.c[R - 1] * r, of.d[R - 1] * r};
    reduce_last(row, team, team.count, shared);
    substitute(of, from_left(row.d, team, shared), row.d);
}

// The edges of a tile of a longer system: its last row, a·(last x of the tile before) + b·x + c·(first x of the next
// tile) = d, and its first x as a function of the last x of the tile before and its own last x.
template <typename T> struct Edges {
    T a, b, c, d;
    Reduced<T> first;
};

// The edges of a team's rows. The last row is valid in the team's last thread, the first row in its first.
template <typename T, u32 R> LAB Edges<T> edges_of(Rows<T, R>& of, const Team& team, T* shared) {
    const u32 i = R - 1, inner = team.count - 1u, size = blockDim.x;
    Reduced<T> first = eliminate(of);
    last_row(of, first, team, shared);
    const T r = reciprocal(of.b[i]);
    Reduced<T> row = {of.a[i] * r, of.c[i] * r, of.d[i] * r};
    reduce_last(row, team, inner, shared);
    T* const words = shared + team.slot;
    words[0] = row.a;
    words[size] = row.c;
    words[2u * size] = row.d;
    team.meet();
    Edges<T> edges = {of.a[i], of.b[i], of.c[i], of.d[i], first};
    if (inner > 0) {
        // Eliminates x of the thread before from the last thread's row, and the own last x from the first thread's.
        const T* const before = words - team.step;
        if (team.at == inner) {
            edges.b -= edges.a * before[size];
            edges.d -= edges.a * before[2u * size];
            edges.a = -edges.a * before[0];
        }
        edges.first = {first.a - first.c * row.a, -first.c * row.c, first.d - first.c * row.d};
    }
    team.meet();
    return edges;
}

// Stores the edges of a tile in seven arrays of `count` elements.
template <typename T> LAB void leave(const Edges<T>& tile, const Team& team, T* to, u64 count) {
    if (team.at + 1u == team.count) {
        to[0] = tile.a;
        to[count] = tile.b;
        to[2u * count] = tile.c;
        to[3u * count] = tile.d;
    }
    if (team.at == 0) {
        to[4u * count] = tile.first.a;
        to[5u * count] = tile.first.c;
        to[6u * count] = tile.first.d;
    }
}

// The last row of the tile at `at`, with the last x of three tiles as unknowns; the next tile is `far` elements on.
template <typename T> LAB Edges<T> joined(const T* at, u64 far, u64 count) {
    const T* const next = at + far;
    const T c = at[2u * count];
    return {at[0], at[count] - c * next[4u * count], -c * next[5u * count], at[3u * count] - c * next[6u * count], {}};
}

template <typename T> struct alignas(16) Vector {
    T of[16 / sizeof(T)];
};

// Transposes a warp's rows in shared memory, between coalesced vectors (moved) and R adjacent rows per thread (owned).
// The XOR in place() avoids bank conflicts on both sides.
template <typename T, u32 R> struct Exchange {
    static const u32 V = 16u / sizeof(T), EACH = R / V;
    Vector<T>* words;

    LAB_MEMBER explicit Exchange(void* in_shared) : words((Vector<T>*)in_shared + (threadIdx.x / 32u) * (32u * EACH)) {}

    LAB_MEMBER static u32 place(u32 v) { return v ^ ((v >> 3) & 7u & (EACH * 2u - 1u)); }

    // The lane's vector k, when it is moved and when it is computed with.
    LAB_MEMBER Vector<T>& moved(u32 k) { return words[place(k * 32u + (threadIdx.x & 31u))]; }
    LAB_MEMBER Vector<T>& owned(u32 k) { return words[place((threadIdx.x & 31u) * EACH + k)]; }
};

// shallow-water: waves by Kass and Miller's implicit scheme, direction by direction
// (src/core/primitives/shallow_water/mod.rs). η is the height above rest, w its change by a step. A sweep along the
// rows, then one along the columns, each
//
//   solves     y[i] − F[i + ½] + F[i − ½] = η[i] + w[i] (rows) or η[i] (columns)
//              F[i + ½] = k·(d + (η[i] + η[i + 1])/2)·(y[i + 1] − y[i])
//   and adds   δ = F[i + ½] − F[i − ½]:   w += δ,   η += w (rows) or δ (columns)
//
// Both cells at a face compute its flow F with the same bits, so that water is lost only by the rounding of the sums.
#include "../common/certify.cuh"
#include "../tridiagonal/rows.cuh"

extern __shared__ ulonglong2 dense[];

// The state before and after a sweep, row by row. Arrays have one more element, which only a deliberate mistake reads.
struct Water {
    const float *eta, *w;
    float *eta_to, *w_to;
    u64 columns, rows;
    float half;  // k/2
    float rest;  // k·d
    u32* dry;    // set to 1 if a cell has no water left
};

static_assert(sizeof(Water) == 64, "the layout of the host");

// A line of cells: a row or a column.
struct Line {
    u64 begin, step, count;

    LAB_MEMBER u64 at(u64 i) const { return begin + i * step; }
};

template <bool ALONG_ROWS> LAB Line line_of(const Water& of, u64 k) {
    return ALONG_ROWS ? Line{k * of.columns, 1u, of.columns} : Line{k, of.columns, of.rows};
}

// k times the depth between two cells.
LAB float conductance(const Water& of, float eta, float next) { return __fmaf_rn(of.half, eta + next, of.rest); }

// Rounded on its own: never fused with the sums that the flow enters.
LAB float flow(float conductance, float y, float next) { return __fmul_rn(conductance, next - y); }

// Lines per block; of a line: threads per tile (`team`), and tiles.
struct Tiles {
    u32 team, tiles, lines;
};

struct Share {
    Team team;
    u64 line, first;  // its line, and its first cell on the line
    u32 tile;
};

// Along rows, adjacent threads share a line; along columns, they have the same cells of adjacent lines.
template <u32 R, bool ALONG_ROWS> LAB Share share_of(Tiles of) {
    const u32 tile = blockIdx.x % of.tiles;
    const u64 begin = (u64)tile * of.team * R, group = (u64)(blockIdx.x / of.tiles) * of.lines;
    if (ALONG_ROWS) {
        const u32 at = threadIdx.x % of.team;
        return {{at, of.team, threadIdx.x, 1u, of.team <= 32u}, group + threadIdx.x / of.team, begin + at * R, tile};
    }
    const u32 at = threadIdx.x / of.lines;
    return {{at, of.team, threadIdx.x, of.lines, of.team == 1u}, group + threadIdx.x % of.lines, begin + at * R, tile};
}

// The cells of a thread. Cells past the line are 0, and nothing flows to them.
template <u32 R> struct Cells {
    float eta[R], w[R];
    float before, behind;  // η of the cells next to them

    // k times the depth at the left face of cell i, and at its right face; 0 at the ends of the line.
    LAB_MEMBER float left(const Water& of, u64 first, u64 count, u32 i) const {
        return first + i == 0 || first + i >= count ? 0.0f : conductance(of, i == 0 ? before : eta[i - 1], eta[i]);
    }
    LAB_MEMBER float right(const Water& of, u64 first, u64 count, u32 i) const {
        return first + i + 1u >= count ? 0.0f : conductance(of, eta[i], i + 1u == R ? behind : eta[i + 1]);
    }
};

// Moves a warp's cells along rows between memory and registers, as coalesced vectors, through shared memory.
template <u32 R> struct Moves {
    typedef Vector<float> Four;
    Exchange<float, R> exchange;

    LAB_MEMBER Moves() : exchange(dense) {}

    // at = the place in memory of the lane's vector k; true if the vector exists.
    LAB_MEMBER static bool spot(const Water& of, Tiles tiles, const Share& share, u32 k, u64& at) {
        const u32 cell = (k * 32u + (threadIdx.x & 31u)) * 4u, thread = (threadIdx.x & ~31u) + cell / R;
        const u64 line = share.line - threadIdx.x / tiles.team + thread / tiles.team;
        const u64 i = (u64)share.tile * tiles.team * R + (thread % tiles.team) * R + cell % R;
        at = line * of.columns + i;
        return line < of.rows && i < of.columns;
    }

    LAB_MEMBER void load(const Water& of, Tiles tiles, const Share& share, const float* from, float (&to)[R]) {
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < R / 4u; ++k) {
            u64 at;
            const bool there = spot(of, tiles, share, k, at);
            exchange.moved(k) = there ? *(const Four*)(from + at) : Four{};
        }
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < R / 4u; ++k) {
            const Four own = exchange.owned(k);
#pragma unroll
            for (u32 e = 0; e < 4u; ++e) to[4u * k + e] = own.of[e];
        }
    }

    LAB_MEMBER void store(const Water& of, Tiles tiles, const Share& share, const float (&from)[R], float* to) {
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < R / 4u; ++k) {
            Four& own = exchange.owned(k);
#pragma unroll
            for (u32 e = 0; e < 4u; ++e) own.of[e] = from[4u * k + e];
        }
        __syncwarp();
#pragma unroll
        for (u32 k = 0; k < R / 4u; ++k) {
            u64 at;
            const bool there = spot(of, tiles, share, k, at);
            const Four all = exchange.moved(k);
            if (there) *(Four*)(to + at) = all;
        }
    }
};

template <bool ALONG_ROWS> LAB bool in_vectors(const Water& of) {
    const u64 all = (u64)of.eta | (u64)of.w | (u64)of.eta_to | (u64)of.w_to;
    return ALONG_ROWS && of.columns % 4u == 0 && all % 16u == 0;
}

template <u32 R, bool ALONG_ROWS>
LAB void load_cells(Cells<R>& cells, const Water& of, Tiles tiles, const Share& share, bool with_w) {
    const Line line = line_of<ALONG_ROWS>(of, share.line);
    const bool there = share.line < (ALONG_ROWS ? of.rows : of.columns);
    if (in_vectors<ALONG_ROWS>(of)) {
        Moves<R> moves;
        moves.load(of, tiles, share, of.eta, cells.eta);
        if (with_w) moves.load(of, tiles, share, of.w, cells.w);
        __syncthreads();
    } else {
#pragma unroll
        for (u32 i = 0; i < R; ++i) {
            const bool here = there && share.first + i < line.count;
            cells.eta[i] = here ? of.eta[line.at(share.first + i)] : 0.0f;
            cells.w[i] = here && with_w ? of.w[line.at(share.first + i)] : 0.0f;
        }
    }
    cells.before = there && share.first > 0 && share.first <= line.count ? of.eta[line.at(share.first - 1u)] : 0.0f;
    cells.behind = there && share.first + R < line.count ? of.eta[line.at(share.first + R)] : 0.0f;
}

// The rows of the system; right sides are η + w along rows, η along columns.
template <u32 R, bool ALONG_ROWS>
LAB void rows_of(Rows<float, R>& rows, const Cells<R>& cells, const Water& of, u64 first, u64 count) {
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        rows.a[i] = -cells.left(of, first, count, i);
        rows.c[i] = -cells.right(of, first, count, i);
        rows.b[i] = 1.0f - rows.a[i] - rows.c[i];
        rows.d[i] = ALONG_ROWS ? cells.eta[i] + cells.w[i] : cells.eta[i];
    }
}

// Ends of the tiles of long lines: eight arrays of `count` numbers, seven of them from `leave`, the last from
// shallow_water_ends: y of each tile's last cell.
struct Ends {
    const float* edges;
    u64 lines, count;

    LAB_MEMBER Ends(const float* of, u64 lines, u32 tiles) : edges(of), lines(lines), count(lines * tiles) {}

    LAB_MEMBER float last(u64 k) const { return edges[7u * count + k]; }

    // y of a tile's first cell from the last y of the tile before and of its own, computed alike in both tiles.
    LAB_MEMBER float first(u64 k) const {
        const float d = edges[6u * count + k], a = edges[4u * count + k], c = edges[5u * count + k];
        return __fmaf_rn(-a, last(k - lines), __fmaf_rn(-c, last(k), d));
    }
};

template <u32 R, bool ALONG_ROWS> LAB void sweep(const Water& of, Tiles tiles, const float* edges) {
    float* const shared = (float*)dense;
    const u64 lines = ALONG_ROWS ? of.rows : of.columns;
    const Ends ends(edges, lines, tiles.tiles);
    const Share share = share_of<R, ALONG_ROWS>(tiles);
    const Line line = line_of<ALONG_ROWS>(of, share.line);
    const Team& team = share.team;
    Cells<R> cells;
    load_cells<R, ALONG_ROWS>(cells, of, tiles, share, true);
    Rows<float, R> rows;
    rows_of<R, ALONG_ROWS>(rows, cells, of, share.first, line.count);
    const bool there = share.line < lines, several = tiles.tiles > 1u;
    const u64 k = share.tile * lines + share.line;
    if (several && there) {
        if (team.at == 0) {
            if (share.tile > 0) rows.d[0] -= rows.a[0] * ends.last(k - lines);
            rows.a[0] = 0.0f;
        }
        if (team.at + 1u == team.count) {
            rows.a[R - 1] = rows.c[R - 1] = 0.0f;
            rows.b[R - 1] = 1.0f;
            rows.d[R - 1] = ends.last(k);
        }
    }
    solve(rows, team, shared);
    // y of the cells next to the thread's own.
    shared[team.slot] = rows.d[R - 1];
    shared[blockDim.x + team.slot] = rows.d[0];
    team.meet();
    float before = team.at > 0 ? shared[team.slot - team.step] : 0.0f;
    float behind = team.at + 1u < team.count ? shared[blockDim.x + team.slot + team.step] : 0.0f;
    float own_first = rows.d[0];
    if (several && there) {
        if (team.at == 0 && share.tile > 0) {
            before = ends.last(k - lines);
            own_first = ends.first(k);
        }
        if (team.at + 1u == team.count && share.tile + 1u < tiles.tiles) behind = ends.first(k + lines);
    }
    float from_left = flow(cells.left(of, share.first, line.count, 0), before, own_first);
    bool dry = false;
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        const float next = i + 1u < R ? rows.d[i + 1] : behind;
        const float to_right = flow(cells.right(of, share.first, line.count, i), rows.d[i], next);
        const float change = to_right - from_left;
        from_left = to_right;
        cells.w[i] += change;
        cells.eta[i] += ALONG_ROWS ? cells.w[i] : change;
        // Negated, to be true also if the height is not a number.
        dry |= !(1.0f + cells.eta[i] > 0.0f);
    }
    if (dry) *of.dry = 1u;
    if (in_vectors<ALONG_ROWS>(of)) {
        Moves<R> moves;
        __syncthreads();
        moves.store(of, tiles, share, cells.eta, of.eta_to);
        moves.store(of, tiles, share, cells.w, of.w_to);
        return;
    }
#pragma unroll
    for (u32 i = 0; i < R; ++i) {
        if (there && share.first + i < line.count) {
            of.eta_to[line.at(share.first + i)] = cells.eta[i];
            of.w_to[line.at(share.first + i)] = cells.w[i];
        }
    }
}

template <u32 R, bool ALONG_ROWS> LAB void edges(const Water& of, Tiles tiles, float* out) {
    const u64 lines = ALONG_ROWS ? of.rows : of.columns;
    const Share share = share_of<R, ALONG_ROWS>(tiles);
    const Line line = line_of<ALONG_ROWS>(of, share.line);
    Cells<R> cells;
    load_cells<R, ALONG_ROWS>(cells, of, tiles, share, ALONG_ROWS);
    Rows<float, R> rows;
    rows_of<R, ALONG_ROWS>(rows, cells, of, share.first, line.count);
    const Edges<float> tile = edges_of(rows, share.team, (float*)dense);
    if (share.line < lines) leave(tile, share.team, out + share.tile * lines + share.line, lines * tiles.tiles);
}

// At most 512 threads per block, with registers for BLOCKS resident blocks.
#define SWEEP(name, ALONG_ROWS, R, BLOCKS)                                                                                  \
    extern "C" __global__ void __launch_bounds__(512, BLOCKS)                                                               \
        shallow_water_##name##_##R(Water of, Tiles tiles, const float* edges) {                                             \
        sweep<R, ALONG_ROWS>(of, tiles, edges);                                                                             \
    }
#define EDGES(name, ALONG_ROWS, R)                                                                                          \
    extern "C" __global__ void __launch_bounds__(512, 1)                                                                    \
        shallow_water_edges_##name##_##R(Water of, Tiles tiles, float* out) {                                               \
        edges<R, ALONG_ROWS>(of, tiles, out);                                                                               \
    }

SWEEP(rows, true, 8, 1)
SWEEP(rows, true, 16, 1)
SWEEP(columns, false, 8, 2)
SWEEP(columns, false, 16, 1)
EDGES(rows, true, 16)
EDGES(columns, false, 8)

// y of the last cell of each tile, one thread per line: Gaussian elimination of the tiles' rows (`joined`); c' goes to
// array 2 of `edges`, d' and then y to array 7. SOME tiles are loaded at a time, so that loads do not wait for stores.
extern "C" __global__ void shallow_water_ends(float* edges, u32 tiles, u64 lines) {
    const u32 SOME = 8u;
    const u64 line = thread_index(), count = lines * tiles;
    if (line >= lines) return;
    float c = 0.0f, d = 0.0f;
    for (u32 first = 0; first < tiles; first += SOME) {
        Edges<float> rows[SOME];
#pragma unroll
        for (u32 k = 0; k < SOME; ++k) {
            const float* const at = edges + (first + k) * lines + line;
            if (first + k + 1u < tiles) rows[k] = joined<float>(at, lines, count);
            else if (first + k < tiles) rows[k] = {at[0], at[count], 0.0f, at[3u * count], {}};
        }
#pragma unroll
        for (u32 k = 0; k < SOME; ++k) {
            if (first + k >= tiles) break;
            float* const at = edges + (first + k) * lines + line;
            const float a = first + k == 0 ? 0.0f : rows[k].a, r = reciprocal(rows[k].b - a * c);
            c = rows[k].c * r;
            d = (rows[k].d - a * d) * r;
            at[2u * count] = c;
            at[7u * count] = d;
        }
    }
    for (u32 tile = tiles - 1u; tile-- > 0;) {
        float* const at = edges + tile * lines + line;
        d = at[7u * count] - at[2u * count] * d;
        at[7u * count] = d;
    }
}

// ---- the reference: the same step in f64, one thread per line -------------------------------------------

struct Reference {
    double *eta, *w, *upper, *y;
    u64 columns, rows;
    double k;  // conductance for depths in units of the depth at rest
};

static_assert(sizeof(Reference) == 56, "the layout of the host");

extern "C" __global__ void shallow_water_widen(const float* eta, const float* w, Reference to) {
    for (u64 i = thread_index(); i < to.columns * to.rows; i += thread_count()) {
        to.eta[i] = eta[i];
        to.w[i] = w[i];
    }
}

// One sweep. In either direction, adjacent threads have adjacent lines.
extern "C" __global__ void shallow_water_reference(Reference of, u32 along_rows) {
    const u64 k = thread_index();
    if (k >= (along_rows ? of.rows : of.columns)) return;
    const Line line = along_rows ? Line{k * of.columns, 1u, of.columns} : Line{k, of.columns, of.rows};
    double c = 0.0, d = 0.0, left = 0.0;
    for (u64 i = 0; i < line.count; ++i) {
        const u64 at = line.at(i);
        const double eta = of.eta[at];
        const double right = i + 1u == line.count ? 0.0 : of.k * (1.0 + 0.5 * (eta + of.eta[line.at(i + 1u)]));
        const double r = 1.0 / (1.0 + left + right + left * c);
        c = -right * r;
        d = (eta + (along_rows ? of.w[at] : 0.0) + left * d) * r;
        of.upper[at] = c;
        of.y[at] = d;
        left = right;
    }
    double behind = 0.0, from_right = 0.0, eta_behind = 0.0;
    for (u64 i = line.count; i-- > 0;) {
        const u64 at = line.at(i);
        const double y = i + 1u == line.count ? of.y[at] : of.y[at] - of.upper[at] * behind, eta = of.eta[at];
        const double flow = i + 1u == line.count ? 0.0 : of.k * (1.0 + 0.5 * (eta + eta_behind)) * (behind - y);
        if (i + 1u < line.count) {
            const u64 next = line.at(i + 1u);
            of.w[next] += from_right - flow;
            of.eta[next] = eta_behind + (along_rows ? of.w[next] : from_right - flow);
        }
        if (i == 0) {
            of.w[at] += flow;
            of.eta[at] = eta + (along_rows ? of.w[at] : flow);
        }
        from_right = flow;
        behind = y;
        eta_behind = eta;
    }
}

// Checks that η and w are numbers, and within `bound` of the reference; *most = the largest difference.
extern "C" __global__ void shallow_water_certify(const float* eta, const float* w, Reference of, double bound, u64* most,
                                                 Finding* finding) {
    u32 checked = 0;
    double largest = 0.0;
    for (u64 i = thread_index(); i < of.columns * of.rows; i += thread_count()) {
        const double off = fmax(fabs((double)eta[i] - of.eta[i]), fabs((double)w[i] - of.w[i]));
        const bool is_number = (eta[i] - eta[i] == 0.0f) && (w[i] - w[i] == 0.0f);
        ++checked;
        if (!is_number || !(off <= bound)) {
            mistake(finding, i, WRONG_HEIGHT, i, __double_as_longlong(of.eta[i]), __double_as_longlong((double)eta[i]));
        } else if (off > largest) {
            largest = off;
        }
    }
    add_count(&finding->checked, checked);
    atomicMax(most, (u64)__double_as_longlong(largest));
}

// sums[t] = the sum of η over the cells of thread t, in f64.
extern "C" __global__ void shallow_water_mass(const float* eta, u64 cells, double* sums) {
    double sum = 0.0;
    for (u64 i = thread_index(); i < cells; i += thread_count()) sum += (double)eta[i];
    sums[thread_index()] = sum;
}

// ---- pictures --------------------------------------------------------------------------------------------

// out[k] = the mean height of part k of the plane, of across · down parts.
extern "C" __global__ void shallow_water_picture(const float* eta, u64 columns, u64 rows, u32 across, u32 down, float* out) {
    const u64 k = thread_index();
    if (k >= (u64)across * down) return;
    const u64 x = k % across, y = k / across;
    const u64 left = x * columns / across, right = (x + 1u) * columns / across;
    const u64 top = y * rows / down, bottom = (y + 1u) * rows / down;
    double sum = 0.0;
    for (u64 j = top; j < bottom; ++j) {
        for (u64 i = left; i < right; ++i) sum += (double)eta[j * columns + i];
    }
    out[k] = (float)(sum / (double)((right - left) * (bottom - top)));
}

// Adds a drop at (x, y): η += size · (1 − r²)² where r < 1, r = distance / radius, in cells.
extern "C" __global__ void shallow_water_drop(float* eta, u64 columns, u64 rows, double x, double y, double radius, double size) {
    for (u64 i = thread_index(); i < columns * rows; i += thread_count()) {
        const double dx = ((double)(i % columns) + 0.5 - x) / radius, dy = ((double)(i / columns) + 0.5 - y) / radius;
        const double rest = 1.0 - dx * dx - dy * dy;
        if (rest > 0.0) eta[i] = (float)((double)eta[i] + size * rest * rest);
    }
}

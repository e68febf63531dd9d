// histogram: the number of values in each bin (ashkiani2017 §7.3). Values are f32 in [0, 1024).
//
// histogram_shared counts by atomics in shared memory; at the end each block adds its m counts to the global ones. The
// copies of a count lie side by side, so that lanes with the same bin access different banks. On an H200 this read
// 2^28 values at 4.3 to 4.5 TB/s with 2 to 4096 even bins, uniform and skewed, and was no slower than counts in
// registers with 2 bins. A 16-bit count per lane and bin, without atomics, was slower from 64 bins on. Random
// splitters: a table over the domain, which each block builds, narrows the search to one comparison, except in cells
// with several splitters.
//
// histogram_ballot counts as in the paper, by ballots (common/warp.cuh).
#include "../common/fill.cuh"
#include "../common/overlap.cuh"
#include "../common/warp.cuh"

#define BLOCK 256u
#define WARPS (BLOCK / 32u)

// 16-byte vectors that each thread has in flight.
#define ITEMS 4u

extern __shared__ u64 dense[];

// ---- the timed kernels: values -------------------------------------------------------------

// Number of values before the first aligned vector.
LAB u64 head_of(const float* x, u64 n) {
    const u64 head = (16u - ((u64)x & 15u)) % 16u / 4u;
    return head < n ? head : n;
}

// Calls `count` for every value, using all threads of the grid.
template <typename F> LAB void each_value(const float* x, u64 n, F count) {
    const u64 head = head_of(x, n), tile = (u64)blockDim.x * ITEMS, vectors = (n - head) / 4u;
    const u64 tiles = vectors / tile;
    const float4* body = (const float4*)(x + head);
    for (u64 t = blockIdx.x; t < tiles; t += gridDim.x) {
        float4 v[ITEMS];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) v[u] = __ldcs(body + t * tile + threadIdx.x + u * blockDim.x);
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            count(v[u].x);
            count(v[u].y);
            count(v[u].z);
            count(v[u].w);
        }
    }
    if (thread_index() < head) count(x[thread_index()]);
    for (u64 i = head + tiles * tile * 4u + thread_index(); i < n; i += thread_count()) count(x[i]);
}

// ---- the timed kernels: bins in shared memory ------------------------------------------------

// Layout of a block's shared memory: the counts, the table's cells, the bounds.
struct Layout {
    u32 bins;
    u32 copies;  // log2 of the copies of each count
    u32 cells;   // cells of the table, a power of two; 0 for even bins
    u32 spread;  // log2 of the copies of each cell
};

static_assert(sizeof(Layout) == 16, "the layout of the host");

// Rounding toward zero: the integer part is that of the exact product.
LAB u32 floor_of(float x, float scale) { return (u32)__fmul_rz(x, scale); }

struct Even {
    float scale;

    LAB_MEMBER void build(const float*, const Layout& l, void*) { scale = (float)l.bins / 1024.0f; }
    LAB_MEMBER u32 bin(float x) const { return floor_of(x, scale); }
};

// A cell of the table: an interval of the domain.
struct alignas(8) Cell {
    float next;  // the least bound in or above the cell, infinite if there is none
    u32 below;   // number of bounds below the cell | SEVERAL
};

#define SEVERAL 0x80000000u  // the cell contains several bounds

struct Range {
    const float* bounds;
    const Cell* cells;
    float scale;
    u32 spread;

    // Copies the bounds and builds the table in `room`. All threads of the block must call this; it ends with a
    // barrier.
    LAB_MEMBER void build(const float* given, const Layout& l, void* room) {
        Cell* table = (Cell*)room;
        float* all = (float*)(table + ((u64)l.cells << l.spread));
        for (u32 j = threadIdx.x; j < l.bins; j += blockDim.x) {
            all[j] = j + 1 < l.bins ? given[j] : __int_as_float(0x7F800000);
        }
        scale = (float)l.cells / 1024.0f;
        bounds = all;
        __syncthreads();
        for (u32 c = threadIdx.x; c < l.cells; c += blockDim.x) {
            const Cell cell = cell_of(c, l.bins);
            for (u32 copy = 0; copy < 1u << l.spread; ++copy) table[(c << l.spread) + copy] = cell;
        }
        spread = l.spread;
        cells = table + (threadIdx.x & ((1u << spread) - 1u));
        __syncthreads();
    }

    LAB_MEMBER Cell cell_of(u32 c, u32 bins) const {
        u32 below = 0;
        for (u32 step = 2048; step > 0; step /= 2) {
            if (below + step < bins && floor_of(bounds[below + step - 1], scale) < c) below += step;
        }
        const bool several = below + 2 < bins && floor_of(bounds[below + 1], scale) == c;
        return Cell{bounds[below], several ? below | SEVERAL : below};
    }

    LAB_MEMBER u32 bin(float x) const {
        const Cell cell = cells[floor_of(x, scale) << spread];
        u32 b = cell.below + (x >= cell.next ? 1u : 0u);
        if (b & SEVERAL) {
            b &= ~SEVERAL;
            while (x >= bounds[b]) ++b;
        }
        return b;
    }
};

// Adds the block's counts to the global ones. The sum over a bin's copies begins at a different bank in each thread.
LAB void add_copies(const u32* mine, const Layout& l, u64* counts) {
    const u32 copies = 1u << l.copies;
    for (u32 b = threadIdx.x; b < l.bins; b += blockDim.x) {
        u32 sum = 0;
        for (u32 c = 0; c < copies; ++c) sum += mine[(b << l.copies) + ((c + b) & (copies - 1u))];
        if (sum > 0) atomicAdd(&counts[b], (u64)sum);
    }
}

// Each lane counts in copy lane % 2^copies of a bin.
template <typename B>
LAB void count_shared(const float* x, u64 n, const float* bounds, const Layout& l, u64* counts) {
    u32* mine = (u32*)dense;
    const u32 words = l.bins << l.copies, even_words = words + (words & 1u);
    after_earlier_launches();
    for (u32 w = threadIdx.x; w < words; w += blockDim.x) mine[w] = 0;
    B bins;
    bins.build(bounds, l, mine + even_words);
    __syncthreads();
    u32* own = mine + (threadIdx.x & ((1u << l.copies) - 1u));
    const u32 copies = l.copies;
    each_value(x, n, [&](float value) { atomicAdd(&own[bins.bin(value) << copies], 1u); });
    __syncthreads();
    add_copies(mine, l, counts);
}

// Counts that launches add to start at zero.
extern "C" __global__ void histogram_clear(u64* counts, u32 bins) {
    after_earlier_launches();
    if (thread_index() < bins) counts[thread_index()] = 0;
}

#define SHARED(name, B)                                                                            \
    extern "C" __global__ void __launch_bounds__(1024) histogram_shared_##name(                    \
        const float* x, u64 n, const float* bounds, Layout l, u64* counts) {                        \
        count_shared<B>(x, n, bounds, l, counts);                                                  \
    }

SHARED(even, Even)
SHARED(range, Range)

// ---- the timed kernels: ballots ----------------------------------------------------------------

// Windows of 32 values that each warp has in flight.
#define WINDOWS 4u

// The subproblem that each block counts, and where its counts go (ashkiani2017 §7.3).
struct Subproblems {
    u64 size;    // values of each subproblem but the last
    u64 column;  // column of subproblem 0's counts among all stored counts
    u64 all;     // columns of stored counts, [bin][subproblem]; 0: add to the result instead
    u32 bins;
    u32 unused;
};

static_assert(sizeof(Subproblems) == 32, "the layout of the host");

// The number of bounds ≤ x, of fewer than 2^BITS bounds.
template <u32 BITS> LAB u32 search(const float* bounds, float x) {
    u32 b = 0;
#pragma unroll
    for (u32 step = 1u << (BITS - 1); step > 0; step /= 2) b += x >= bounds[b + step - 1] ? step : 0u;
    return b;
}

template <u32 BITS, bool RANGE>
LAB void count_ballots(const float* x, u64 n, const float* given, const Subproblems& s, u64* counts, u32* stored) {
    const u32 M = Ballot<BITS>::NUMBERS, R = Ballot<BITS>::WORDS;
    __shared__ float bounds[M];
    __shared__ u32 all[WARPS][M];
    after_earlier_launches();
    for (u32 j = threadIdx.x; RANGE && j < M; j += BLOCK) {
        bounds[j] = j + 1 < s.bins ? given[j] : __int_as_float(0x7F800000);
    }
    __syncthreads();
    const float scale = (float)s.bins / 1024.0f;
    const u32 warp = threadIdx.x / 32u;
    const u64 first = blockIdx.x * s.size, last = first + s.size < n ? first + s.size : n;
    u32 mine[R] = {};
    for (u64 window = first + warp * 32u; window < last; window += BLOCK * WINDOWS) {
        float v[WINDOWS];
#pragma unroll
        for (u32 u = 0; u < WINDOWS; ++u) {
            const u64 i = window + u * BLOCK + lane_of();
            v[u] = i < last ? __ldcs(x + i) : 0.0f;
        }
#pragma unroll
        for (u32 u = 0; u < WINDOWS; ++u) {
            const u32 bin = RANGE ? search<BITS>(bounds, v[u]) : floor_of(v[u], scale);
            u32 counts[R];
            tally<BITS>(voted<BITS>(bin, __ballot_sync(EVERYONE, window + u * BLOCK + lane_of() < last)), counts);
#pragma unroll
            for (u32 r = 0; r < R; ++r) mine[r] += counts[r];
        }
    }
#pragma unroll
    for (u32 r = 0; r < R; ++r) {
        if (r * 32u + lane_of() < M) all[warp][r * 32u + lane_of()] = mine[r];
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < s.bins; b += BLOCK) {
        u32 sum = 0;
        for (u32 w = 0; w < WARPS; ++w) sum += all[w][b];
        if (s.all > 0) stored[b * s.all + s.column + blockIdx.x] = sum;
        else if (sum > 0) atomicAdd(&counts[b], (u64)sum);
    }
}

#define BALLOT(name, BITS, RANGE)                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK) histogram_ballot_##name##_##BITS(          \
        const float* x, u64 n, const float* bounds, Subproblems s, u64* counts, u32* stored) {     \
        count_ballots<BITS, RANGE>(x, n, bounds, s, counts, stored);                               \
    }

#define BALLOTS(BITS) BALLOT(even, BITS, false) BALLOT(range, BITS, true)

BALLOTS(1)
BALLOTS(2)
BALLOTS(3)
BALLOTS(4)
BALLOTS(5)
BALLOTS(6)
BALLOTS(7)
BALLOTS(8)

// counts[b] = sum of bin b's stored counts over all subproblems; one block per bin.
extern "C" __global__ void __launch_bounds__(BLOCK)
    histogram_reduce(const u32* stored, u64 all, u64* counts) {
    __shared__ u64 total;
    after_earlier_launches();
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    u64 sum = 0;
    for (u64 k = threadIdx.x; k < all; k += BLOCK) sum += stored[blockIdx.x * all + k];
    __syncwarp();
    add_sum(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// ---- inputs and certificates ----------------------------------------------------------

#define UNIFORM 0u
#define SKEWED 1u
#define ZIPF 2u

// The values (src/core/primitives/histogram/values.rs).
struct Values {
    u32 kind;
    u32 hot;
    u64 key;
    u64 draws;              // key of the Zipf draws
    const u64* cumulative;  // the Zipf table, null for other kinds
    const u64* start;
    const u32* guide;
    Permutation spread;
};

static_assert(sizeof(Values) == 88, "the layout of the host");

// Value i in units of 2^-14, below 2^24.
LAB u32 value_of(const Values& v, u64 i) {
    const u64 u = word64(v.key, i);
    if (v.kind == ZIPF) {
        const u64 cell = zipf_draw(v.draws, v.cumulative, v.start, v.guide, v.spread, i);
        return (u32)((cell << 12) + (u >> 52));
    }
    return v.kind == SKEWED && (u & 15u) != 0 ? v.hot + (u32)(u >> 52) : (u32)(u >> 40);
}

// Values [0, n). Element n lies past the array; only a deliberate mistake reads it. `behind`: x[n].
extern "C" __global__ void histogram_fill(float* __restrict__ x, Values v, u64 n, float behind) {
    for (u64 i = thread_index(); i < n; i += thread_count()) x[i] = (float)value_of(v, i) / 16384.0f;
    if (thread_index() == 0) x[n] = behind;
}

// The bin of value k by the definition, in integers: bounds are in units of 2^-14; even bins need none.
LAB u32 bin_of(u32 k, const u32* __restrict__ bounds, bool range, u32 m) {
    if (!range) return (u32)((u64)k * m >> 24);
    u32 low = 0, high = m - 1;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (bounds[middle] <= k) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Recounts the values from the integers that they were made from.
extern "C" __global__ void histogram_recount(Values v, u64 n, const u32* __restrict__ bounds,
                                             u32 range, u32 m, u64* expected, Finding* finding) {
    __shared__ u32 counts[4096];
    for (u32 b = threadIdx.x; b < m; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    u32 checked = 0;
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        atomicAdd(&counts[bin_of(value_of(v, i), bounds, range != 0, m)], 1u);
        checked += 1;
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < m; b += blockDim.x) {
        if (counts[b] > 0) atomicAdd(&expected[b], (u64)counts[b]);
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Compares the counts with `expected`; finding->sum = their total.
extern "C" __global__ void histogram_certify(const u64* __restrict__ counts, const u64* __restrict__ expected, u32 m, Finding* finding) {
    u64 sum = 0;
    for (u32 b = (u32)thread_index(); b < m; b += (u32)thread_count()) {
        if (counts[b] != expected[b]) mistake(finding, b, counts[b] == POISON ? NOT_WRITTEN : WRONG_VALUE, b, expected[b], counts[b]);
        sum += counts[b];
    }
    __syncwarp();
    add_sum(&finding->sum, sum);
}

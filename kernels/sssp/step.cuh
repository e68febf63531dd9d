// A step of sssp: the window of distances (src/core/primitives/sssp/methods.rs), the frontier, and the piles of
// deferred vertices. A block lays out the arcs of its vertices one vertex after another, and its threads take arcs in
// turn, no matter to which vertex they belong.
#pragma once

#include "../common/certify.cuh"
#include "../common/warp.cuh"

#define THREADS 512
#define ITEMS 4          // arcs that a thread has in flight
#define NEVER 0xFFFFFFFFu
#define PILES 64         // upper bound; buckets and piles are numbers of PILE_BITS bits
#define PILE_BITS 6
#define HEAVY 64u        // a vertex with more arcs is for a whole block
#define RECORD 4096u     // steps whose frontier size is kept; a power of two

// Ways to append vertices to piles: with one atomic operation per vertex; per warp, if there is only one pile; or per
// block and pile, after a multisplit of the block's vertices. Without piles all join one list, which is sorted
// (sorting.cuh).
#define ONE_BY_ONE 0
#define BY_WARPS 1
#define BY_BLOCKS 2
#define BY_SORT 3

// Counters that the blocks share; zero before the launch.
struct State {
    u64 relaxed;       // number of relaxed arcs, stored at the end
    u32 steps;
    u32 barrier[2];    // words of GridBarrier
    u32 counts[3];     // [phase % 3]: lengths of the frontiers
    u32 least[2];      // [turn]: no distance in this last pile is below it
    u32 piled[PILES];  // [pile]: its length
};

struct Search {
    const u32* starts;
    const u64* arcs;    // weight << 32 | target
    u32* distances;
    u64* even;          // frontiers of even and odd phases: distance << 32 | vertex
    u64* odd;
    u32* piles;         // [pile - 1][room]; the last two piles hold the farthest vertices in turn; for a sort its counts
    u32* in_piles;      // [vertex]: a bit per bucket whose pile holds it
    State* state;
    u32* record;        // sizes of the frontier, by slot_of
    u64* ell;           // fusion: first arcs of each vertex, in 1 << ell_bits slots (fill_ell); or null
    u32* relaxed;       // fusion: [vertex]: least distance at which its many arcs were relaxed; or null
    u32 vertices;       // number of vertices; arcs to others do not count
    u32 room;
    u32 source;
    u32 delta;
    u32 buckets;
    u32 ell_bits;
    u32 rounds;         // fusion: rounds of a step
    u32 digits;         // bucketing by a sort: digits of its keys
};

// Bucket b has the distances base + delta · [b, b + 1), the last one also all greater ones. `bucket` is being relaxed.
struct Window {
    u32 base, bucket;
    u32 turn;  // which of two piles is the last bucket's

    LAB_MEMBER u32 end_of(const Search& s, u32 bucket) const {
        const u64 end = base + (u64)s.delta * (bucket + 1);
        return s.buckets == 1 || end > NEVER ? NEVER : (u32)end;
    }
    LAB_MEMBER u32 limit(const Search& s) const { return end_of(s, bucket); }
    LAB_MEMBER u32 last(const Search& s) const { return s.buckets - 1; }
    LAB_MEMBER u32 bucket_of(const Search& s, u32 distance) const {
        const u32 place = (distance - base) / s.delta;
        return place < last(s) ? place : last(s);
    }
    LAB_MEMBER u32 pile_of(const Search& s, u32 bucket) const { return bucket == last(s) ? bucket + turn : bucket; }
};

// Index in the record of the frontier's size in a step; RECORD if it is not kept (src/core/primitives/sssp/record.rs).
LAB u32 slot_of(u32 step) {
    u32 level = 0;
    while (step >> level >= RECORD) ++level;
    if ((step & ((1u << level) - 1u)) != 0) return RECORD;
    while (step >= RECORD) {
        while (step >> (level - 1u) < RECORD) --level;
        step = step - (RECORD / 2 << level) + (1u << (level - 1u));
    }
    return step;
}

// Reserves a place in a list for each lane that `has` something, with one atomic operation per warp. Returns the
// place. All lanes must call this.
LAB u32 placed_by_warp(u32* length, bool has) {
    const u32 those = __ballot_sync(EVERYONE, has);
    if (those == 0) return 0;
    const u32 first = (u32)__ffs((int)those) - 1u;
    u32 begin = 0;
    if (lane_of() == first) begin = atomicAdd(length, (u32)__popc(those));
    return __shfl_sync(EVERYONE, begin, (int)first) + __popc(those & lanes_below());
}

// The next frontier, to which near vertices are appended.
struct Near {
    u64* next;
    u32* length;

    // All lanes must call this.
    LAB_MEMBER void put(bool has, u64 entry) const {
        const u32 at = placed_by_warp(length, has);
        if (has) next[at] = entry;
    }
};

// Vertices that a thread has found: for the next frontier, for piles, or for none of them (NONE).
#define NONE 0xFFFFFFFFu
template <int N> struct Found {
    u32 vertex[N], distance[N];
    u32 pile[N];  // 0: the frontier
};

// Finds each vertex's slot in its pile. Warps rank vertices of the same pile with ballots, and one atomic operation
// per pile reserves the block's slots.
template <int N> LAB void place_by_block(const Search& s, const Found<N>& found, u32 (&place)[N]) {
    __shared__ u32 lengths[PILES];
    if (threadIdx.x < PILES) lengths[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const bool waits = found.pile[k] != 0 && found.pile[k] != NONE;
        const u32 number = waits ? found.pile[k] : 0u;
        const u32 same = voters(voted<PILE_BITS>(number, __ballot_sync(EVERYONE, waits)), number);
        const u32 rank = __popc(same & lanes_below());
        u32 begin = 0;
        if (waits && rank == 0) begin = atomicAdd(&lengths[number], (u32)__popc(same));
        place[k] = __shfl_sync(EVERYONE, begin, __ffs((int)same) - 1) + rank;
    }
    __syncthreads();
    if (threadIdx.x < PILES && lengths[threadIdx.x] > 0) {
        lengths[threadIdx.x] = atomicAdd(&s.state->piled[threadIdx.x], lengths[threadIdx.x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; ++k) {
        if (found.pile[k] != NONE) place[k] += lengths[found.pile[k]];
    }
    __syncthreads();
}

// Appends what the threads have found. All threads of the block must call this.
template <int WAY, int N> LAB void append(const Search& s, const Window& w, const Found<N>& found, const Near& to) {
    const u32 last = w.last(s) + w.turn;
    u32 place[N];
    if constexpr (WAY == BY_BLOCKS) place_by_block<N>(s, found, place);
    u32 least = NEVER;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const bool near = found.pile[k] == 0;
        to.put(near, (u64)found.distance[k] << 32 | found.vertex[k]);
        if constexpr (WAY == BY_SORT) continue;
        const bool waits = !near && found.pile[k] != NONE;
        if constexpr (WAY == BY_WARPS) place[k] = placed_by_warp(&s.state->piled[last], waits);
        if (!waits) continue;
        if constexpr (WAY == ONE_BY_ONE) place[k] = atomicAdd(&s.state->piled[found.pile[k]], 1u);
        s.piles[(u64)(found.pile[k] - 1) * s.room + place[k]] = found.vertex[k];
        if (found.pile[k] == last && found.distance[k] < least) least = found.distance[k];
    }
    if (__ballot_sync(EVERYONE, least != NEVER) == 0) return;
#pragma unroll
    for (int by = 16; by > 0; by /= 2) {
        const u32 other = __shfl_xor_sync(EVERYONE, least, by);
        if (other < least) least = other;
    }
    if (lane_of() == 0 && least < __ldcg(&s.state->least[w.turn])) atomicMin(&s.state->least[w.turn], least);
}

// Inclusive scan over the block's threads; `total` = the sum over all.
LAB u32 sum_block(u32 v, u32& total) {
    __shared__ u32 sums[THREADS / 32];
    const u32 upto = sum_lanes(v), warp = threadIdx.x / 32;
    if (lane_of() == 31) sums[warp] = upto;
    __syncthreads();
    u32 before = 0;
    total = 0;
    for (u32 k = 0; k < blockDim.x / 32; ++k) {
        if (k < warp) before += sums[k];
        total += sums[k];
    }
    return before + upto;
}

// The first k < held with sums[k] > i; sums ascend.
LAB u32 first_above(const u32* sums, u32 held, u64 i) {
    u32 low = 0, high = held - 1;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (sums[middle] > i) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The arcs of one vertex per thread, laid out one vertex after another.
struct Rows {
    u32 ends[THREADS];     // [thread]: inclusive scan of the degrees
    u32 shifts[THREADS];   // [thread]: index in `arcs` - number in this order
    u32 reached[THREADS];  // [thread]: the vertex's distance
};

// The arcs of a vertex: [begin, begin + degree).
struct Row {
    u32 begin, degree;
};

// The row of an entry's vertex. Empty if the vertex has come nearer since; also if it has many arcs and another entry
// with the same or a lower distance came first (fusion).
LAB Row row_of(const Search& s, u64 entry) {
    const u32 vertex = (u32)entry, distance = (u32)(entry >> 32);
    const u32 begin = __ldg(&s.starts[vertex]), degree = __ldg(&s.starts[vertex + 1]) - begin;
    bool counts = __ldcg(&s.distances[vertex]) >= distance;
    if (counts && degree > HEAVY && s.relaxed != nullptr) counts = atomicMin(&s.relaxed[vertex], distance) > distance;
    return {begin, counts ? degree : 0u};
}

// Lays out the rows of the block's threads; returns the number of arcs.
LAB u32 lay_out(Rows& rows, const Row& row, u32 distance) {
    u32 total;
    const u32 end = sum_block(row.degree, total);
    rows.ends[threadIdx.x] = end;
    rows.shifts[threadIdx.x] = row.begin - (end - row.degree);
    rows.reached[threadIdx.x] = distance;
    __syncthreads();
    return total;
}

// Relaxes the arcs that the first `held` threads have laid out. The block's threads take them in turn.
template <int WAY> LAB void relax_rows(const Search& s, const Window& w, const Rows& rows, u32 held, u32 total, const Near& to) {
    const u32 limit = w.limit(s);
    for (u64 from = 0; from < total; from += (u64)blockDim.x * ITEMS) {
        Found<ITEMS> found;
        u64 arc[ITEMS];
        u32 seen[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const u64 i = from + (u64)k * blockDim.x + threadIdx.x;
            found.vertex[k] = found.distance[k] = NEVER;
            arc[k] = (u64)NEVER << 32 | NEVER;
            if (i >= total) continue;
            const u32 owner = first_above(rows.ends, held, i);
            found.distance[k] = rows.reached[owner];
            arc[k] = __ldg(&s.arcs[rows.shifts[owner] + (u32)i]);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            // A sum of 2^32 or more is no distance.
            const u32 weight = (u32)(arc[k] >> 32), through = found.distance[k] + weight;
            found.vertex[k] = (u32)arc[k];
            found.distance[k] = through < weight ? NEVER : through;
            seen[k] = 0;
            if (found.vertex[k] < s.vertices) seen[k] = __ldcg(&s.distances[found.vertex[k]]);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const u32 vertex = found.vertex[k], through = found.distance[k];
            found.pile[k] = NONE;
            if (through >= seen[k] || atomicMin(&s.distances[vertex], through) <= through) continue;
            found.pile[k] = 0;
            if (WAY == BY_SORT || through < limit) continue;
            const u32 bucket = w.bucket_of(s, through), bit = 1u << bucket;
            const bool new_there = (atomicOr(&s.in_piles[vertex], bit) & bit) == 0;
            found.pile[k] = new_there ? w.pile_of(s, bucket) : NONE;
            // A vertex that the last pile holds already may have come nearer than its least.
            if (!new_there && bucket == w.last(s) && through < __ldcg(&s.state->least[w.turn])) {
                atomicMin(&s.state->least[w.turn], through);
            }
        }
        append<WAY, ITEMS>(s, w, found, to);
    }
}

// Relaxes the arcs of the block's share of the frontier. Thread 0 returns their number, the others 0.
template <int WAY> LAB u64 relax(const Search& s, const Window& w, Rows& rows, const u64* frontier, u32 count, const Near& to) {
    const u32 share = (u32)(((u64)count + gridDim.x - 1) / gridDim.x), per = share < blockDim.x ? share : blockDim.x;
    u64 relaxed = 0;
    for (u64 first = (u64)blockIdx.x * per; first < count; first += (u64)gridDim.x * per) {
        const bool has = threadIdx.x < per && first + threadIdx.x < count;
        const u64 entry = has ? __ldcg(&frontier[first + threadIdx.x]) : 0ull;
        const u32 total = lay_out(rows, has ? row_of(s, entry) : Row{0, 0}, (u32)(entry >> 32));
        relax_rows<WAY>(s, w, rows, per, total, to);
        relaxed += threadIdx.x == 0 ? total : 0u;
        __syncthreads();
    }
    return relaxed;
}

// The loop of sssp: the window of distances (src/primitives/sssp/window.rs), the frontier, and the piles behind it.
#pragma once

#include "ballot.cuh"
#include "grid_barrier.cuh"

#define THREADS 512
#define ITEMS 4          // arcs that a thread has in flight
#define NEVER 0xFFFFFFFFu
#define PILES 64         // more than there are
#define PILE_BITS 6
#define ALONE 2048u      // vertices that a block keeps to itself; a power of two
#define RECORD 4096u     // steps of which the size of the frontier is kept; a power of two

// How vertices are appended to piles: each by an atomic operation of its own, by one of its warp for all of the only
// pile, or by one of its block for each pile, after a multisplit of the block's vertices.
#define ONE_BY_ONE 0
#define BY_WARPS 1
#define BY_BLOCKS 2

// What the blocks share; zero at the beginning.
struct State {
    u64 relaxed;       // arcs, at the end
    u32 steps;
    u32 barrier[2];    // of GridBarrier
    u32 counts[3];     // lengths of the frontiers of this step, the next, and the one after it
    u32 least[2];      // no distance in the last pile is below it; for each of the two that are the last in turn
    u32 piled[PILES];  // lengths of the piles
};

struct Search {
    const u32* starts;
    const u64* arcs;    // target, and weight in the upper half
    u32* distances;
    u64* even;          // the frontiers of steps with even and odd numbers: vertex, and distance in the upper half
    u64* odd;
    u32* piles;         // `buckets` of them, of a length of `room` each; the last two hold what is farthest, in turn
    u32* in_piles;      // a bit for each bucket
    State* state;
    u32* record;        // sizes of the frontier (slot_of)
    u32 vertices;       // those that count
    u32 room;
    u32 source;
    u32 delta;
    u32 buckets;
    u32 rounds;         // in which a block goes on alone
};

// The distances that are relaxed at present, and those of the buckets behind.
struct Window {
    u32 base, bucket;
    u32 turn;  // which of two piles is the last

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

// Where the record keeps the size of a step's frontier; RECORD if it does not (src/primitives/sssp/record.rs).
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

// The place of each lane that has something in a list of this length, which grows by as many. All lanes must call this.
LAB u32 placed_by_warp(u32* length, bool has) {
    const u32 those = __ballot_sync(EVERYONE, has);
    if (those == 0) return 0;
    const u32 first = (u32)__ffs((int)those) - 1u;
    u32 begin = 0;
    if (lane_of() == first) begin = atomicAdd(length, (u32)__popc(those));
    return __shfl_sync(EVERYONE, begin, (int)first) + __popc(those & lanes_below());
}

// What a block has found near and relaxes itself: a ring of as many entries as it has room for.
struct Own {
    u64 entries[ALONE];
    u32 tail;  // counted on, and beyond the room for those that went to the next frontier
};

// Where entries go that are near: to the block's own, if it has a ring and there is room, or else to the next frontier.
struct Near {
    u64* next;
    u32* length;
    Own* own;
    u32 head;  // of the ring

    // All lanes must call this.
    LAB_MEMBER void put(bool has, u64 entry) const {
        if (own != nullptr) {
            const u32 at = placed_by_warp(&own->tail, has);
            const bool fits = has && at - head < ALONE;
            if (fits) own->entries[at % ALONE] = entry;
            has = has && !fits;
        }
        const u32 at = placed_by_warp(length, has);
        if (has) next[at] = entry;
    }
};

// Vertices of a thread that go to the next frontier or to piles. NONE for those that go nowhere.
#define NONE 0xFFFFFFFFu
template <int N> struct Found {
    u32 vertex[N], distance[N];
    u32 pile[N];  // 0 for the frontier
};

// The places of vertices in their piles, of which the block's warps rank those of each pile by voting.
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

// Appends what a thread has found. All threads of the block must call this.
template <int WAY, int N> LAB void append(const Search& s, const Window& w, const Found<N>& found, const Near& to) {
    const u32 last = w.last(s) + w.turn;
    u32 place[N];
    if constexpr (WAY == BY_BLOCKS) place_by_block<N>(s, found, place);
    u32 least = NEVER;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const bool near = found.pile[k] == 0;
        to.put(near, (u64)found.distance[k] << 32 | found.vertex[k]);
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

// The sum over the block's threads up to this one, and over all.
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

// The first of `held` sums that is above i.
LAB u32 first_above(const u32* sums, u32 held, u64 i) {
    u32 low = 0, high = held - 1;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (sums[middle] > i) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The arcs of as many vertices as a block has threads, one behind another.
struct Rows {
    u32 ends[THREADS];     // sums of the numbers of arcs
    u32 shifts[THREADS];   // from a number in this order to the place of the arc
    u32 reached[THREADS];  // the distances of the vertices
};

// Lays out the arcs of the entries of the first `held` threads, of as many as have no more than `most` together. Returns
// how many entries those are; `total` is the number of their arcs.
LAB u32 lay_out(const Search& s, Rows& rows, u64 entry, u32 held, u32 most, u32& total) {
    u32 degree = 0, begin = 0;
    const u32 distance = (u32)(entry >> 32);
    if (threadIdx.x < held) {
        const u32 vertex = (u32)entry;
        begin = __ldg(&s.starts[vertex]);
        const u32 end = __ldg(&s.starts[vertex + 1]);
        if (__ldcg(&s.distances[vertex]) == distance) degree = end - begin;
    }
    const u32 end = sum_block(degree, total);
    rows.ends[threadIdx.x] = end;
    rows.shifts[threadIdx.x] = begin - (end - degree);
    rows.reached[threadIdx.x] = distance;
    __syncthreads();
    if (total <= most) return held;
    const u32 fit = first_above(rows.ends, held, most);
    total = fit == 0 ? 0u : rows.ends[fit - 1u];
    return fit;
}

// Relaxes arcs that were laid out. The block's threads take them in turn, whoever's they are.
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
            // A sum beyond 32 bits is no distance.
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
            if (through < limit) continue;
            const u32 bucket = w.bucket_of(s, through), bit = 1u << bucket;
            const bool new_there = (atomicOr(&s.in_piles[vertex], bit) & bit) == 0;
            found.pile[k] = new_there ? w.pile_of(s, bucket) : NONE;
            // One that is there already may have come closer to the least.
            if (!new_there && bucket == w.last(s) && through < __ldcg(&s.state->least[w.turn])) {
                atomicMin(&s.state->least[w.turn], through);
            }
        }
        append<WAY, ITEMS>(s, w, found, to);
    }
}

// Relaxes the arcs of the block's share of the frontier. Returns how many.
template <int WAY> LAB u64 relax(const Search& s, const Window& w, Rows& rows, const u64* frontier, u32 count, const Near& to) {
    const u32 share = (u32)(((u64)count + gridDim.x - 1) / gridDim.x), per = share < blockDim.x ? share : blockDim.x;
    u64 relaxed = 0;
    for (u64 first = (u64)blockIdx.x * per; first < count; first += (u64)gridDim.x * per) {
        const u32 held = count - first < per ? (u32)(count - first) : per;
        u32 total;
        lay_out(s, rows, threadIdx.x < held ? __ldcg(&frontier[first + threadIdx.x]) : 0ull, held, NEVER, total);
        relax_rows<WAY>(s, w, rows, held, total, to);
        relaxed += total;
        __syncthreads();
    }
    return relaxed;
}

// Relaxes the block's share of the frontier and then, for some rounds without meeting others, the vertices that it finds
// near. In each round it takes as many as surely leave room in its ring for all that they lead to; it stops where none
// does, at one with many arcs or where there was more than the ring holds: then other blocks have enough to do, too. What is
// left goes to the next frontier, at most ALONE entries. Returns the number of arcs.
template <int WAY> LAB u64 relax_alone(const Search& s, const Window& w, Rows& rows, const u64* frontier, u32 count, Near to) {
    __shared__ Own own;
    if (threadIdx.x == 0) own.tail = 0;
    __syncthreads();
    to.own = &own;
    to.head = 0;
    u64 relaxed = relax<WAY>(s, w, rows, frontier, count, to);
    u32 tail = own.tail;
    const u32 rounds = tail > ALONE ? 0u : s.rounds;
    if (tail > ALONE) tail = ALONE;
    for (u32 round = 0; round < rounds && to.head != tail; ++round) {
        const u32 waiting = tail - to.head, held = waiting < blockDim.x ? waiting : blockDim.x;
        const u64 entry = threadIdx.x < held ? own.entries[(to.head + threadIdx.x) % ALONE] : 0ull;
        u32 total;
        const u32 taken = lay_out(s, rows, entry, held, ALONE - waiting, total);
        if (taken == 0) break;
        relax_rows<WAY>(s, w, rows, taken, total, to);
        to.head += taken;
        relaxed += total;
        __syncthreads();
        tail = own.tail;
    }
    for (u32 first = to.head; first != tail;) {
        const u32 waiting = tail - first, held = waiting < blockDim.x ? waiting : blockDim.x;
        const bool has = threadIdx.x < held;
        const u32 at = placed_by_warp(to.length, has);
        if (has) to.next[at] = own.entries[(first + threadIdx.x) % ALONE];
        first += held;
    }
    return relaxed;
}

// Distributes what a bucket's pile held: whatever is settled by now is dropped. `low` is the least distance of the bucket.
template <int WAY> LAB void distribute(const Search& s, const Window& w, u32 from, u32 count, u32 low, const Near& to) {
    const u32* pile = s.piles + (u64)(from - 1) * s.room;
    const u32 limit = w.limit(s);
    const u32 bit = 1u << (from < w.last(s) ? from : w.last(s));
    for (u64 first = (u64)blockIdx.x * blockDim.x; first < count; first += (u64)gridDim.x * blockDim.x) {
        Found<1> found = {{0}, {0}, {NONE}};
        const u64 i = first + threadIdx.x;
        if (i < count) {
            const u32 vertex = __ldcg(&pile[i]), distance = __ldcg(&s.distances[vertex]);
            u32 others = __ldcg(&s.in_piles[vertex]) & ~bit;
            found.vertex[0] = vertex;
            found.distance[0] = distance;
            if (distance >= low) {
                const u32 bucket = distance < limit ? 0u : w.bucket_of(s, distance);
                found.pile[0] = bucket == 0 ? 0u : w.pile_of(s, bucket);
                if (bucket != 0) others |= 1u << bucket;
            }
            s.in_piles[vertex] = others;
        }
        append<WAY, 1>(s, w, found, to);
    }
}

// Goes on to the next pile that holds anything; false if there is none.
template <int WAY> LAB bool go_on(const Search& s, Window& w, GridBarrier& barrier, const Near& to) {
    State* const state = s.state;
    u32 pile = w.bucket + 1;
    while (pile < w.last(s) && __ldcg(&state->piled[pile]) == 0) ++pile;
    const bool far = pile >= w.last(s);
    if (far) pile = w.last(s) + w.turn;
    const u32 count = w.last(s) == 0 ? 0u : __ldcg(&state->piled[pile]), least = __ldcg(&state->least[w.turn]);
    if (count == 0) return false;
    barrier.meet();  // all have read it
    if (thread_index() == 0) {
        state->piled[pile] = 0;
        if (far) state->least[w.turn] = NEVER;
    }
    const u32 low = w.end_of(s, (far ? w.last(s) : pile) - 1);
    if (far) w = {least / s.delta * s.delta, 0, w.turn ^ 1u};
    else w.bucket = pile;
    distribute<WAY>(s, w, pile, count, low, to);
    return true;
}

template <int WAY, bool FUSED> LAB void search(const Search& s) {
    __shared__ Rows rows;
    State* const state = s.state;
    GridBarrier barrier(state->barrier);
    u32 steps = 0;
    u64 relaxed = 0;
    for (u64 v = thread_index(); v < s.vertices; v += thread_count()) s.distances[v] = v == s.source ? 0u : NEVER;
    if (thread_index() == 0) {
        state->least[0] = state->least[1] = NEVER;
        s.even[0] = s.source;
        state->counts[0] = s.source < s.vertices ? 1u : 0u;
    }
    barrier.meet();
    Window w = {0, 0, 0};
    for (u32 phase = 0;; ++phase) {
        const u32 count = __ldcg(&state->counts[phase % 3]);
        if (thread_index() == 0) state->counts[(phase + 2) % 3] = 0;
        const u64* const frontier = phase % 2 == 0 ? s.even : s.odd;
        const Near to = {phase % 2 == 0 ? s.odd : s.even, &state->counts[(phase + 1) % 3], nullptr, 0};
        if (count > 0) {
            const u32 slot = thread_index() == 0 ? slot_of(steps) : RECORD;
            if (slot < RECORD) s.record[slot] = count;
            if constexpr (FUSED) relaxed += relax_alone<WAY>(s, w, rows, frontier, count, to);
            else relaxed += relax<WAY>(s, w, rows, frontier, count, to);
            ++steps;
        } else if (!go_on<WAY>(s, w, barrier, to)) {
            break;
        }
        barrier.meet();
    }
    if (threadIdx.x == 0 && relaxed > 0) atomicAdd(&state->relaxed, relaxed);
    if (thread_index() == 0) state->steps = steps;
}

// A step of sssp whose warps go on alone (method fusion).
//
// Each warp takes its share of the frontier into a ring in shared memory. In a round it relaxes the arcs of a few vertices
// of the ring; what it finds near goes into the ring, what is far into a list. After some rounds, or when its ring is empty,
// it hands over what is left.
//
// A round waits for two accesses to memory: that to its arcs, beside which it looks whether a vertex has come nearer since;
// and that to the distances of their targets, beside which it looks where the targets' arcs lie, for the next round. It does
// not wait until distances are lowered: of two warps that lower one at the same time both go on, and what the one with the
// longer way leaves is dropped at its turn. Where both ways are equally long, some arcs are relaxed twice, but not those of
// vertices with many (row_of).
#pragma once

#include "sssp_step.cuh"

#define RING 128u   // vertices of a warp's ring; a power of two
#define FAR 64u     // vertices of its list, to which lanes may add before it is emptied

// A vertex whose arcs are to be relaxed.
struct alignas(16) Open {
    u32 vertex, distance;
    Row row;
};

// Vertices that a warp has found.
struct Own {
    Open ring[RING];
    u64 far[FAR];
};

// The warps of a block, and what they hand over.
struct Alone {
    Own warps[THREADS / 32];
    u32 near[THREADS / 32], far[THREADS / 32];  // how many each hands over, and those of the warps before it
    u32 near_begin, far_begin;                  // where the block's begin
    u32 least;                                  // of the far distances
};

// The search of one warp.
struct WarpSearch {
    const Search& s;
    const Window& w;
    const Near& to;
    Own& own;
    u32 lanes;       // that share the arcs of a vertex; a power of two
    u32 head, tail;  // of the ring, counted on
    u32 far;
    u32 least;
    u64 relaxed;

    LAB_MEMBER u32 pile() const { return w.last(s) + w.turn; }

    LAB_MEMBER u32 waiting() const { return tail - head; }

    // Puts vertices into the ring, which has room. All lanes must call this.
    LAB_MEMBER void put(bool has, const Open& open) {
        const u32 those = __ballot_sync(EVERYONE, has);
        if (has) own.ring[(tail + __popc(those & lanes_below())) % RING] = open;
        tail += __popc(those);
    }

    // Drops what already lies in the pile of the farthest.
    LAB_MEMBER void settle() {
        __syncwarp();
        u32 kept = 0;
        for (u32 first = 0; first < far; first += 32) {
            u64 entry = 0;
            bool waits = false;
            if (first + lane_of() < far) {
                const u32 bit = 1u << w.last(s);
                entry = own.far[first + lane_of()];
                waits = (atomicOr(&s.in_piles[(u32)entry], bit) & bit) == 0;
                if ((u32)(entry >> 32) < least) least = (u32)(entry >> 32);
            }
            const u32 those = __ballot_sync(EVERYONE, waits);
            if (waits) own.far[kept + __popc(those & lanes_below())] = entry;
            kept += __popc(those);
            __syncwarp();
        }
        far = kept;
    }

    // Writes the list to a place of the pile.
    LAB_MEMBER void write_far(u32 begin) {
        u32* const there = s.piles + (u64)(pile() - 1) * s.room + begin;
        for (u32 i = lane_of(); i < far; i += 32) there[i] = (u32)own.far[i];
    }

    // Adds to the list, which is emptied before it is full. All lanes must call this.
    LAB_MEMBER void defer(bool has, u64 entry) {
        const u32 those = __ballot_sync(EVERYONE, has);
        if (has) own.far[far + __popc(those & lanes_below())] = entry;
        far += __popc(those);
        if (far <= FAR - 32u) return;
        settle();
        u32 begin = 0;
        if (lane_of() == 0) begin = atomicAdd(&s.state->piled[pile()], far);
        write_far(__shfl_sync(EVERYONE, begin, 0));
        far = 0;
        __syncwarp();
    }

    // The number of vertices, of the first `most` of the ring, that surely leave room for all that they lead to.
    LAB_MEMBER u32 that_fit(u32 most) const {
        const bool has = lane_of() < most;
        const u32 degree = has ? own.ring[(head + lane_of()) % RING].row.degree : 0u;
        const u32 arcs = sum_lanes(degree < RING ? degree : RING);
        return __popc(__ballot_sync(EVERYONE, has && arcs <= RING - waiting()));
    }

    // Relaxes the arcs of the first vertices of the ring, of which the same lanes have BATCH in flight. False if the first one
    // has too many.
    template <u32 BATCH> LAB_MEMBER bool round() {
        const u32 limit = w.limit(s), together = 32u / lanes;
        u32 taken = waiting() < together * BATCH ? waiting() : together * BATCH;
        Open open[BATCH];
        bool long_rows = false;
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            const u32 i = b * together + lane_of() / lanes;
            open[b] = Open{0, 0, {0, 0}};
            if (i < taken) open[b] = own.ring[(head + i) % RING];
            long_rows = long_rows || open[b].row.degree > lanes;
        }
        if (__ballot_sync(EVERYONE, long_rows) != 0) {
            taken = that_fit(taken);
            if (taken == 0) return false;
#pragma unroll
            for (u32 b = 0; b < BATCH; ++b) {
                if (b * together + lane_of() / lanes >= taken) open[b].row.degree = 0;
            }
        }
        head += taken;
        __syncwarp();
        bool more = true;
        for (u32 k = lane_of() % lanes; more; k += lanes) {
            u64 arc[BATCH];
            u32 now[BATCH], seen[BATCH];
            Open next[BATCH];
            more = false;
#pragma unroll
            for (u32 b = 0; b < BATCH; ++b) {
                arc[b] = now[b] = 0;
                if (k < open[b].row.degree) {
                    arc[b] = __ldg(&s.arcs[open[b].row.begin + k]);
                    now[b] = __ldcg(&s.distances[open[b].vertex]);
                }
                more = more || k + lanes < open[b].row.degree;
            }
            more = __ballot_sync(EVERYONE, more) != 0;
#pragma unroll
            for (u32 b = 0; b < BATCH; ++b) {
                // A sum beyond 32 bits is no distance, and a vertex that has come nearer has another entry.
                const u32 weight = (u32)(arc[b] >> 32), target = (u32)arc[b], through = open[b].distance + weight;
                const bool counts = k < open[b].row.degree && now[b] >= open[b].distance && through >= weight;
                next[b] = Open{target, through, {0, 0}};
                seen[b] = 0;
                if (counts && target < s.vertices) {
                    const u32 begin = __ldg(&s.starts[target]);
                    seen[b] = __ldcg(&s.distances[target]);
                    next[b].row = Row{begin, __ldg(&s.starts[target + 1]) - begin};
                }
                relaxed += counts;
            }
#pragma unroll
            for (u32 b = 0; b < BATCH; ++b) {
                const bool nearer = next[b].distance < seen[b], near = next[b].distance < limit;
                if (nearer) atomicMin(&s.distances[next[b].vertex], next[b].distance);
                put(nearer && near, next[b]);
                defer(nearer && !near, (u64)next[b].distance << 32 | next[b].vertex);
            }
        }
        __syncwarp();
        return true;
    }
};

// Sums up what the warps before each one hand over. Returns the sum of all.
LAB u32 sum_before(u32* counts) {
    u32 sum = 0;
    for (u32 k = 0; k < blockDim.x / 32; ++k) {
        const u32 own = counts[k];
        counts[k] = sum;
        sum += own;
    }
    return sum;
}

// Appends to the next frontier and to the pile what the warps of the block have left.
LAB void hand_over(Alone& alone, WarpSearch& warp) {
    const u32 number = threadIdx.x / 32, waiting = warp.waiting();
    warp.settle();
    if (threadIdx.x == 0) alone.least = NEVER;
    if (lane_of() == 0) {
        alone.near[number] = waiting;
        alone.far[number] = warp.far;
    }
    __syncthreads();
    if (warp.least != NEVER) atomicMin(&alone.least, warp.least);
    u32* const piled = &warp.s.state->piled[warp.pile()];
    if (threadIdx.x == 0) alone.near_begin = atomicAdd(warp.to.length, sum_before(alone.near));
    if (threadIdx.x == blockDim.x - 1) alone.far_begin = atomicAdd(piled, sum_before(alone.far));
    __syncthreads();
    u32* const least = &warp.s.state->least[warp.w.turn];
    if (threadIdx.x == 0 && alone.least < __ldcg(least)) atomicMin(least, alone.least);
    u64* const next = warp.to.next + alone.near_begin + alone.near[number];
    for (u32 i = lane_of(); i < waiting; i += 32) {
        const Open open = warp.own.ring[(warp.head + i) % RING];
        next[i] = (u64)open.distance << 32 | open.vertex;
    }
    warp.write_far(alone.far_begin + alone.far[number]);
}

// As many lanes as a vertex has arcs on average, rounded up to a power of two; at least 2, so that a warp takes no more
// vertices at a time than it has lanes.
LAB u32 lanes_of_vertex(const Search& s) {
    const u64 arcs = __ldg(&s.starts[s.room]);
    u32 lanes = 2;
    while (lanes < 32 && (u64)lanes * s.room < arcs) lanes *= 2;
    return lanes;
}

// True if there is no more than a vertex for each thread.
LAB bool is_narrow(u32 count) { return count <= gridDim.x * blockDim.x; }

// Relaxes the block's share of a narrow frontier, and what its warps find near. A share with a vertex of many arcs is for all
// threads of the block, and they do not go on. Returns the number of arcs, to each thread its own.
template <int WAY> LAB u64 relax_alone(const Search& s, const Window& w, Rows& rows, u32 lanes, const u64* frontier, u32 count, const Near& to) {
    __shared__ Alone alone;
    const u32 share = (count + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
    // Neighbours in the frontier go to different warps.
    const u32 i = threadIdx.x / 32 + lane_of() * (blockDim.x / 32);
    const bool has = i < share && first + i < count;
    const u64 entry = has ? __ldcg(&frontier[first + i]) : 0ull;
    const Row row = has ? row_of(s, entry) : Row{0, 0};
    const u32 distance = (u32)(entry >> 32);
    if (__syncthreads_or(row.degree > HEAVY)) {
        const u32 total = lay_out(rows, row, distance);
        relax_rows<WAY>(s, w, rows, blockDim.x, total, to);
        return threadIdx.x == 0 ? total : 0u;
    }
    WarpSearch warp = {s, w, to, alone.warps[threadIdx.x / 32], lanes, 0, 0, 0, NEVER, 0};
    warp.put(row.degree > 0, Open{(u32)entry, distance, row});
    __syncwarp();
    bool goes_on = true;
    for (u32 k = 0; k < s.rounds && goes_on && warp.waiting() > 0; ++k) {
        // Others should have a share of what is more.
        if (warp.waiting() > RING - HEAVY) break;
        goes_on = warp.waiting() <= 32u / lanes ? warp.round<1>() : warp.round<2>();
    }
    hand_over(alone, warp);
    return warp.relaxed;
}

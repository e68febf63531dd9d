// Method fusion of sssp: a step in which each warp goes on alone for some rounds before the grid meets.
//
// A warp takes its share of the frontier into a ring in shared memory. In a round it relaxes the arcs of a few
// vertices of the ring; near targets go into the ring, far ones into a list. After some rounds, or when the ring is
// empty, it hands over what is left. Latency counts, since rounds depend on each other: a round waits for memory once,
// unless a row is long. The first arcs of each vertex are copied into an ELLPACK array of 2^ell_bits slots per vertex,
// which need no look at where the row begins: a round fetches a target's arcs into L1, for the next round, while it
// reads the target's distance. It also reads whether the vertices that it relaxes have come nearer.
//
// Nobody waits for atomicMin: if two warps lower a distance at once, both go on, and the longer way's entry is dropped
// at its turn. If both ways are equally long, some arcs are relaxed twice, but of a vertex with many arcs only those
// in its slots (row_of).
#pragma once

#include "../common/hints.cuh"
#include "step.cuh"

#define RING 128u   // vertices of a warp's ring; a power of two
#define FAR 64u     // vertices of a warp's list, emptied when fewer than 32 places are left

// NO_ARC fills a vertex's unused slots. MORE_ARCS is the last slot of a vertex with more arcs than slots.
#define NO_ARC ((u64)NEVER << 32 | NEVER)
#define MORE_ARCS ((u64)NEVER << 32 | (NEVER - 1u))

// Copies the first arcs of each vertex into its slots.
LAB void fill_ell(const Search& s) {
    const u32 width = 1u << s.ell_bits;
    for (u64 v = thread_index(); v < s.room; v += thread_count()) {
        const u32 begin = __ldg(&s.starts[v]), degree = __ldg(&s.starts[v + 1]) - begin;
        ulonglong2* const slots = (ulonglong2*)(s.ell + (v << s.ell_bits));
        for (u32 k = 0; k < width; k += 4) {
            u64 arcs[4];
#pragma unroll
            for (u32 j = 0; j < 4; ++j) arcs[j] = k + j < degree ? __ldg(&s.arcs[begin + k + j]) : NO_ARC;
            if (k + 4 == width && degree > width) arcs[3] = MORE_ARCS;
            slots[k / 2] = ulonglong2{arcs[0], arcs[1]};
            slots[k / 2 + 1] = ulonglong2{arcs[2], arcs[3]};
        }
    }
}

// The vertices that a warp has found.
struct Own {
    u64 ring[RING];  // entries, like those of the frontier
    u64 far[FAR];
};

// The warps of a block, and how many vertices they hand over.
struct Alone {
    Own warps[THREADS / 32];
    u32 near[THREADS / 32], far[THREADS / 32];  // [warp]: number, then exclusive scan
    u32 near_begin, far_begin;                  // where the block's vertices begin
    u32 least;                                  // least of the far distances
};

// The search of one warp.
struct WarpSearch {
    const Search& s;
    const Window& w;
    const Near& to;
    Own& own;
    u32 head, tail;  // positions in the ring, modulo RING
    u32 far;
    u32 least;
    u32 relaxed;
    u32 fetched[4];  // words of arcs that the last round has fetched into L1

    LAB_MEMBER u32 pile() const { return w.last(s) + w.turn; }

    LAB_MEMBER u32 waiting() const { return tail - head; }

    // Drops the far vertices that the last pile holds already, and updates `least`.
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
            __syncwarp();
            if (waits) own.far[kept + __popc(those & lanes_below())] = entry;
            kept += __popc(those);
            __syncwarp();
        }
        far = kept;
    }

    // Writes the list to the last pile, from place `begin` on.
    LAB_MEMBER void write_far(u32 begin) {
        u32* const there = s.piles + (u64)(pile() - 1) * s.room + begin;
        for (u32 i = lane_of(); i < far; i += 32) there[i] = (u32)own.far[i];
    }

    // Empties the list into the last pile.
    LAB_MEMBER void flush_far() {
        settle();
        u32 begin = 0;
        if (lane_of() == 0) begin = atomicAdd(&s.state->piled[pile()], far);
        write_far(__shfl_sync(EVERYONE, begin, 0));
        far = 0;
        __syncwarp();
    }

    // Adds vertices to the ring, which must have room, or to the list, which is emptied in time. All lanes must call
    // this.
    LAB_MEMBER void add(bool to_ring, bool to_list, u64 entry) {
        const u32 near_ones = __ballot_sync(EVERYONE, to_ring), far_ones = __ballot_sync(EVERYONE, to_list);
        const u32 in_ring = tail + __popc(near_ones & lanes_below()), in_list = far + __popc(far_ones & lanes_below());
        tail += __popc(near_ones);
        far += __popc(far_ones);
        if (to_ring) own.ring[in_ring % RING] = entry;
        if (to_list) own.far[in_list] = entry;
        if (far > FAR - 32u) flush_far();
    }

    // Relaxes the arcs of an entry's vertex past those in its slots. If they are many, or the ring has no room for all
    // their targets, puts the entry into the next frontier instead and returns false.
    LAB_MEMBER bool relax_rest(u64 entry) {
        const u32 vertex = (u32)entry, distance = (u32)(entry >> 32), limit = w.limit(s);
        const u32 begin = __ldg(&s.starts[vertex]), degree = __ldg(&s.starts[vertex + 1]) - begin;
        if (degree > HEAVY || waiting() + degree > RING) {
            to.put(lane_of() == 0, entry);
            return false;
        }
        for (u32 first = (1u << s.ell_bits) - 1u; first < degree; first += 32) {
            const u32 k = first + lane_of();
            const u64 arc = k < degree ? __ldg(&s.arcs[begin + k]) : NO_ARC;
            // A sum of 2^32 or more is no distance.
            const u32 target = (u32)arc, through = distance + (u32)(arc >> 32);
            const bool counts = target < s.vertices && through >= distance;
            const bool nearer = counts && through < __ldcg(&s.distances[target]), near = through < limit;
            if (nearer) atomicMin(&s.distances[target], through);
            add(nearer && near, nearer && !near, (u64)through << 32 | target);
            relaxed += counts;
        }
        return true;
    }

    // Relaxes the arcs of the first vertices of the ring, with BATCH arcs per lane in flight. Returns false if some
    // are left to the next step.
    template <u32 BATCH> LAB_MEMBER bool round() {
        const u32 limit = w.limit(s), together = (32u * BATCH) >> s.ell_bits;
        const u32 taken = waiting() < together ? waiting() : together, slot = lane_of() & ((1u << s.ell_bits) - 1u);
        u64 entry[BATCH], arc[BATCH];
        u32 now[BATCH], seen[BATCH], target[BATCH], through[BATCH];
        bool has[BATCH], counts[BATCH], more = false;
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            const u32 i = (b * 32u + lane_of()) >> s.ell_bits;
            has[b] = i < taken;
            entry[b] = own.ring[(head + (has[b] ? i : 0u)) % RING];
            arc[b] = s.ell[((u64)(u32)entry[b] << s.ell_bits) + slot];
        }
        head += taken;
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            // A sum of 2^32 or more is no distance.
            const u32 weight = (u32)(arc[b] >> 32);
            target[b] = (u32)arc[b];
            through[b] = (u32)(entry[b] >> 32) + weight;
            // Waits for the rows that the last round fetched: this round or a later one reads them.
            if (b == 0) wait_for(fetched[0] & fetched[1] & fetched[2] & fetched[3], s.ell);
            counts[b] = has[b] && target[b] < s.vertices && through[b] >= weight;
            const u32 at = counts[b] ? target[b] : 0u;
            seen[b] = load_cg_l2_128b(&s.distances[at]);
            // A sector holds four arcs; the first two sectors are fetched.
            const u32* const slots = (const u32*)(s.ell + ((u64)at << s.ell_bits));
            if (counts[b] && through[b] < limit) fetched[2 * b] = load_l2_128b(slots);
            if (counts[b] && through[b] < limit && s.ell_bits > 2) fetched[2 * b + 1] = load_l2_128b(slots + 8);
            now[b] = __ldcg(&s.distances[(u32)entry[b]]);
            more = more || arc[b] == MORE_ARCS;
        }
        __syncwarp();
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            // A vertex that has come nearer since has another entry.
            counts[b] = counts[b] && now[b] >= (u32)(entry[b] >> 32);
            const bool nearer = counts[b] && through[b] < seen[b], near = through[b] < limit;
            if (nearer) atomicMin(&s.distances[target[b]], through[b]);
            add(nearer && near, nearer && !near, (u64)through[b] << 32 | target[b]);
            relaxed += counts[b];
        }
        __syncwarp();
        if (__ballot_sync(EVERYONE, more) == 0) return true;
        bool all = true;
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            const bool goes_on = has[b] && arc[b] == MORE_ARCS && now[b] >= (u32)(entry[b] >> 32);
            for (u32 those = __ballot_sync(EVERYONE, goes_on); those != 0; those &= those - 1u) {
                all = relax_rest(__shfl_sync(EVERYONE, entry[b], __ffs((int)those) - 1)) && all;
            }
        }
        __syncwarp();
        return all;
    }
};

// Exclusive scan of the warps' counts, in place; returns the sum of all.
LAB u32 sum_before(u32* counts) {
    u32 sum = 0;
    for (u32 k = 0; k < blockDim.x / 32; ++k) {
        const u32 own = counts[k];
        counts[k] = sum;
        sum += own;
    }
    return sum;
}

// Appends what the block's warps have left to the next frontier and to the last pile.
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
    for (u32 i = lane_of(); i < waiting; i += 32) next[i] = warp.own.ring[(warp.head + i) % RING];
    warp.write_far(alone.far_begin + alone.far[number]);
}

// True if there is at most one vertex per thread.
LAB bool is_narrow(u32 count) { return count <= gridDim.x * blockDim.x; }

// Relaxes the block's share of a narrow frontier, and what its warps find near. If a vertex of the share has many
// arcs, all threads of the block relax the share together, and do not go on. The results of all threads add up to the
// number of arcs.
template <int WAY> LAB u64 relax_alone(const Search& s, const Window& w, Rows& rows, const u64* frontier, u32 count, const Near& to) {
    __shared__ Alone alone;
    const u32 share = (count + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
    // Neighbors in the frontier go to different warps.
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
    WarpSearch warp = {s, w, to, alone.warps[threadIdx.x / 32], 0, 0, 0, NEVER, 0, {NEVER, NEVER, NEVER, NEVER}};
    warp.add(row.degree > 0, false, entry);
    __syncwarp();
    bool goes_on = true;
    for (u32 k = 0; k < s.rounds && goes_on && warp.waiting() > 0; ++k) {
        // With more vertices waiting, other warps should get a share; and a round of two batches adds up to 64.
        if (warp.waiting() > RING - 64u) break;
        goes_on = warp.waiting() <= 32u >> s.ell_bits ? warp.round<1>() : warp.round<2>();
    }
    hand_over(alone, warp);
    return warp.relaxed;
}

// The loop of sssp: steps while the frontier has vertices; when it is empty, the next pile is distributed into it.
#pragma once

#include "../common/grid_barrier.cuh"
#include "alone.cuh"

// Distributes a bucket's pile: vertices nearer than `low`, the bucket's least distance, are settled and dropped; the
// others go to the next frontier or to another pile.
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

// Moves the window to the next pile that is not empty, and distributes it; false if there is none.
template <int WAY> LAB bool go_on(const Search& s, Window& w, GridBarrier& barrier, const Near& to) {
    State* const state = s.state;
    u32 pile = w.bucket + 1;
    while (pile < w.last(s) && __ldcg(&state->piled[pile]) == 0) ++pile;
    const bool far = pile >= w.last(s);
    if (far) pile = w.last(s) + w.turn;
    const u32 count = w.last(s) == 0 ? 0u : __ldcg(&state->piled[pile]), least = __ldcg(&state->least[w.turn]);
    if (count == 0) return false;
    barrier.meet();  // all blocks have read the counters
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
    if (FUSED) fill_ell(s);
    for (u64 v = thread_index(); v < s.vertices; v += thread_count()) {
        s.distances[v] = v == s.source ? 0u : NEVER;
        if (FUSED) s.relaxed[v] = NEVER;
    }
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
        const Near to = {phase % 2 == 0 ? s.odd : s.even, &state->counts[(phase + 1) % 3]};
        if (count > 0) {
            const u32 slot = thread_index() == 0 ? slot_of(steps) : RECORD;
            if (slot < RECORD) s.record[slot] = count;
            if (FUSED && is_narrow(count)) relaxed += relax_alone<WAY>(s, w, rows, frontier, count, to);
            else relaxed += relax<WAY>(s, w, rows, frontier, count, to);
            ++steps;
        } else if (!go_on<WAY>(s, w, barrier, to)) {
            break;
        }
        barrier.meet();
    }
    add_sum(&state->relaxed, relaxed);
    if (thread_index() == 0) state->steps = steps;
}

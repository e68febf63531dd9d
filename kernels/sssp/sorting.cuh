// Bucketing by a radix sort (Davidson et al. 2014; ashkiani2017 §7.2.1): after each step all vertices that wait, with those
// that the step has found, are sorted by bucket, and the nearest bucket is the next frontier.
//
// One launch runs the whole search, whose blocks do not know beforehand how many vertices a sort has, so the sort is one
// of the resident grid: LSD with digits of 8 bits, and for each digit
//
//   count     each block counts the digits of its share of the entries, and stores its column of counts
//   barrier
//   scan      the counts of each digit, over blocks; their sums are the digit's total
//   barrier
//   move      each block moves its share, tile by tile: warps rank entries of the same digit with ballots (warp.cuh)
//   barrier
//
// An entry is a pair of a distance and a vertex, as in the frontier; its key is the bucket of the distance. A regular sort
// takes all 32 bits of the keys, although only the lowest digit differs: s.digits says how many digits are sorted by. The
// first pass leaves out entries whose vertices have come nearer since.
#pragma once

#include "../common/grid_barrier.cuh"
#include "step.cuh"

#define DIGIT_BITS 8u
#define DIGITS 256u          // values of a digit
#define OUTDATED 255u        // an entry that the first pass leaves out; no bucket has this number
#define SORTED_TOGETHER 8u   // entries of a thread in a tile

// What a block knows of a pass: where its next entry of each digit goes; and of a tile, how many each warp has, then where
// these go.
struct Sorting {
    u32 places[DIGITS];
    u32 of_warps[THREADS / 32][DIGITS];
};

// A pass over entries [0, count) of `from`, by one digit of their buckets.
struct DigitOfBucket {
    const Search& s;
    const Window& w;
    const u64* from;
    u32 count;
    u32 shift;  // 0 in the first pass

    // The block's share of the entries.
    LAB_MEMBER u32 share() const { return (count + gridDim.x - 1u) / gridDim.x; }
    LAB_MEMBER u32 begin() const { const u64 at = (u64)share() * blockIdx.x; return at < count ? (u32)at : count; }
    LAB_MEMBER u32 end() const { return count - begin() < share() ? count : begin() + share(); }

    // The digit of an entry; `bucket` is its bucket.
    LAB_MEMBER u32 of(u64 entry, u32& bucket) const {
        const u32 distance = (u32)(entry >> 32);
        bucket = w.bucket_of(s, distance);
        if (shift == 0 && __ldcg(&s.distances[(u32)entry]) < distance) return OUTDATED;
        return bucket >> shift & (DIGITS - 1u);
    }

    LAB_MEMBER u32* counts(u32 digit) const { return s.piles + digit * gridDim.x; }
    LAB_MEMBER u32* totals() const { return s.piles + DIGITS * gridDim.x; }

    // Stores the block's counts. The first pass finds the least distance of the last bucket.
    LAB_MEMBER void count_digits(Sorting& r, u32* least) const {
        for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) r.places[d] = 0;
        __syncthreads();
        u32 nearest = NEVER;
        for (u32 first = begin(); first < end(); first += blockDim.x) {
            const u32 i = first + threadIdx.x;
            const bool has = i < end();
            const u64 entry = has ? __ldcg(&from[i]) : 0ull;
            u32 bucket = 0;
            const u32 digit = has ? of(entry, bucket) : 0u;
            if (has && digit == w.last(s) && (u32)(entry >> 32) < nearest) nearest = (u32)(entry >> 32);
            const u32 same = voters(voted<DIGIT_BITS>(digit, __ballot_sync(EVERYONE, has)), digit);
            if (has && (same & lanes_below()) == 0) atomicAdd(&r.places[digit], (u32)__popc(same));
        }
        if (shift == 0 && nearest < __ldcg(least)) atomicMin(least, nearest);
        __syncthreads();
        for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) counts(d)[blockIdx.x] = r.places[d];
    }

    // Turns the counts of some digits into those of the blocks before.
    LAB_MEMBER void scan_blocks() const {
        for (u32 d = blockIdx.x; d < DIGITS; d += gridDim.x) {
            u32 before = 0;
            for (u32 first = 0; first < gridDim.x; first += blockDim.x) {
                const u32 b = first + threadIdx.x, own = b < gridDim.x ? __ldcg(&counts(d)[b]) : 0u;
                u32 total;
                const u32 upto = sum_block(own, total);
                if (b < gridDim.x) counts(d)[b] = before + upto - own;
                before += total;
                __syncthreads();
            }
            if (threadIdx.x == 0) totals()[d] = before;
        }
    }

    // Where the block's first entry of each digit goes.
    LAB_MEMBER void place(Sorting& r) const {
        u32 before = 0;
        for (u32 first = 0; first < DIGITS; first += blockDim.x) {
            const u32 d = first + threadIdx.x, own = d < DIGITS ? __ldcg(&totals()[d]) : 0u;
            u32 total;
            const u32 upto = sum_block(own, total);
            if (d < DIGITS) r.places[d] = before + upto - own + __ldcg(&counts(d)[blockIdx.x]);
            before += total;
            __syncthreads();
        }
    }

    // Moves the block's share; entries of the same digit stay in order.
    LAB_MEMBER void move(Sorting& r, u64* to) const {
        const u32 warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
        for (u32 first = begin(); first < end(); first += blockDim.x * SORTED_TOGETHER) {
            for (u32 d = threadIdx.x; d < warps * DIGITS; d += blockDim.x) r.of_warps[d / DIGITS][d % DIGITS] = 0;
            __syncthreads();
            u64 entry[SORTED_TOGETHER];
            u32 digit[SORTED_TOGETHER], rank[SORTED_TOGETHER];
            const u32 at = first + warp * 32u * SORTED_TOGETHER + lane_of();
#pragma unroll
            for (u32 k = 0; k < SORTED_TOGETHER; ++k) entry[k] = at + k * 32u < end() ? __ldcg(&from[at + k * 32u]) : 0ull;
#pragma unroll
            for (u32 k = 0; k < SORTED_TOGETHER; ++k) {
                const bool has = at + k * 32u < end();
                u32 bucket = 0;
                digit[k] = has ? of(entry[k], bucket) : OUTDATED;
                const u32 same = voters(voted<DIGIT_BITS>(digit[k], __ballot_sync(EVERYONE, has)), digit[k]);
                u32* const counted = &r.of_warps[warp][digit[k]];
                rank[k] = *counted + __popc(same & lanes_below());
                __syncwarp();
                if (has && same >> lane_of() == 1u) *counted = rank[k] + 1u;
                __syncwarp();
                if (!has) digit[k] = NONE;
            }
            __syncthreads();
            for (u32 d = threadIdx.x; d < DIGITS; d += blockDim.x) {
                u32 next = r.places[d];
                for (u32 k = 0; k < warps; ++k) {
                    const u32 own = r.of_warps[k][d];
                    r.of_warps[k][d] = next;
                    next += own;
                }
                r.places[d] = next;
            }
            __syncthreads();
#pragma unroll
            for (u32 k = 0; k < SORTED_TOGETHER; ++k) {
                if (digit[k] == NONE || (shift == 0 && digit[k] == OUTDATED)) continue;
                to[r.of_warps[warp][digit[k]] + rank[k]] = entry[k];
            }
            __syncthreads();
        }
    }
};

// The entries that wait, sorted by bucket.
struct Queue {
    u64* entries;
    u32 count;
    u32 bucket, nearest;  // the nearest bucket that has any, and how many
    u32 least;            // least distance of the last bucket; NEVER if that has none
};

// Sorts `count` entries of `from`, which is part of the array that `other` is not; `least` is NEVER before.
LAB Queue sort_by_bucket(const Search& s, const Window& w, GridBarrier& barrier, Sorting& r, u64* from, u32 count, u64* array, u64* other, u32* least) {
    Queue queue = {from, count, 0, 0, NEVER};
    for (u32 digit = 0; digit < s.digits; ++digit) {
        const DigitOfBucket pass = {s, w, queue.entries, queue.count, digit * DIGIT_BITS};
        u64* const to = digit % 2u == 0 ? other : array;
        pass.count_digits(r, least);
        barrier.meet();
        pass.scan_blocks();
        barrier.meet();
        pass.place(r);
        pass.move(r, to);
        if (digit == 0) {
            queue.count -= __ldcg(&pass.totals()[OUTDATED]);
            while (queue.bucket < w.last(s) && (queue.nearest = __ldcg(&pass.totals()[queue.bucket])) == 0) ++queue.bucket;
            if (queue.bucket == w.last(s)) queue.nearest = queue.count;
            queue.least = __ldcg(least);
        }
        barrier.meet();
        queue.entries = to;
    }
    return queue;
}

LAB void search_sorted(const Search& s) {
    __shared__ Rows rows;
    __shared__ Sorting sorting;
    State* const state = s.state;
    GridBarrier barrier(state->barrier);
    u32 steps = 0, sorts = 0;
    u64 relaxed = 0;
    for (u64 v = thread_index(); v < s.vertices; v += thread_count()) s.distances[v] = v == s.source ? 0u : NEVER;
    if (thread_index() == 0) {
        state->least[0] = state->least[1] = NEVER;
        s.even[0] = s.source;
    }
    barrier.meet();
    Window w = {0, 0, 0};
    const u32 sources = s.source < s.vertices ? 1u : 0u;
    Queue queue = {s.even, sources, 0, sources, NEVER};
    for (u32 phase = 0; queue.nearest > 0; ++phase) {
        const u32 slot = thread_index() == 0 ? slot_of(steps) : RECORD;
        if (slot < RECORD) s.record[slot] = queue.nearest;
        ++steps;
        // What is found goes behind what waits.
        u32* const length = &state->counts[phase % 3];
        if (thread_index() == 0) state->counts[(phase + 2) % 3] = 0;
        relaxed += relax<BY_SORT>(s, w, rows, queue.entries, queue.nearest, {queue.entries + queue.count, length});
        barrier.meet();
        queue.count += __ldcg(length) - queue.nearest;
        u64* from = queue.entries + queue.nearest;
        for (bool moved = true; moved;) {
            u64 *const array = queue.entries == s.even ? s.even : s.odd, *const other = array == s.even ? s.odd : s.even;
            u32* const least = &state->least[sorts % 2u];
            queue = sort_by_bucket(s, w, barrier, sorting, from, queue.count, array, other, least);
            if (thread_index() == 0) *least = NEVER;
            ++sorts;
            moved = queue.bucket == w.last(s) && queue.count > 0;
            if (moved) w.base = queue.least / s.delta * s.delta;
            from = queue.entries;
        }
        w.bucket = queue.bucket;
    }
    add_sum(&state->relaxed, relaxed);
    if (thread_index() == 0) state->steps = steps;
}

// How a tile that lies in shared memory bucket by bucket goes out: a run of each bucket, to where its keys belong.
#pragma once

#include "warp.cuh"

// Elements that a run's slot in shared memory and its place in the output have in common: runs begin as far behind a
// multiple of it here as there, so that all but their ends can leave in whole sectors of 32 bytes.
#define RUN_ALIGN 8u

// Of each of M buckets of a tile.
template <int M> struct Runs {
    u32 at[M];     // its first slot
    u32 to[M];     // what a slot is short of its place in the output, modulo 2^32
    u32 count[M];  // elements

    // Slots of a tile of so many keys, at most.
    static constexpr int slots(int keys) { return keys + M * 2 * (int)RUN_ALIGN; }

    // Slots of a run of `count` that goes to `start`.
    LAB_MEMBER static u32 slots_of(u32 start, u32 count) {
        return (start % RUN_ALIGN + count + RUN_ALIGN - 1u) / RUN_ALIGN * RUN_ALIGN;
    }

    // Notes the run of a bucket, whose slots begin at `slot`; where its first element is.
    LAB_MEMBER u32 put(u32 bucket, u32 slot, u32 start, u32 elements) {
        const u32 first = slot + start % RUN_ALIGN;
        at[bucket] = first;
        to[bucket] = start - first;
        count[bucket] = elements;
        return first;
    }
};

// ---- copies that go on without the threads, from compute capability 9.0 on -----------------------

#if defined(__CUDACC__)
// Of whole sectors, from shared memory. Both addresses are multiples of 16.
LAB void bulk_copy(void* to, const void* from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"((u32)__cvta_generic_to_shared(from)), "r"(bytes) : "memory");
}

LAB void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until shared memory was read by all copies of this thread.
LAB void bulk_wait() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// What this thread wrote to shared memory may be copied after the next barrier.
LAB void bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#else
LAB void bulk_copy(void* to, const void* from, u32 bytes) { memcpy(to, from, bytes); }
LAB void bulk_commit() {}
LAB void bulk_wait() {}
LAB void bulk_fence() {}
#endif

// Runs on their way out of a block of THREADS threads: by bulk copies of their whole sectors, where the device has them
// and both arrays begin at one; else by warps.
template <int M, int THREADS, bool BULK> struct Leaving {
    static const u32 WARPS = THREADS / 32, PARTS = (u32)M < WARPS ? WARPS / M : 1u;
    bool bulk;

    LAB_MEMBER Leaving(const void* keys, const void* values) : bulk(BULK && (((u64)keys | (u64)values) & 15u) == 0) {}

    // Before shared memory is written again, and a barrier.
    LAB_MEMBER void wait() const {
        if constexpr (BULK) {
            if (threadIdx.x < (u32)M) bulk_wait();
        }
    }

    // After it was written, before a barrier.
    LAB_MEMBER void written() const {
        if constexpr (BULK) bulk_fence();
    }

    // Stores all runs. All threads call it.
    template <typename E> LAB_MEMBER void runs(const Runs<M>& runs, E* out, const E* in) const {
        if constexpr (BULK) {
            if (bulk) {
                sectors(runs, out, in);
                ends(runs, out, in);
                return;
            }
        }
        by_warps(runs, out, in);
    }

    // Elements of a run before its first whole sector, at most all.
    LAB_MEMBER static u32 head(const Runs<M>& runs, u32 b) {
        const u32 count = runs.count[b], short_of = (0u - runs.at[b]) % RUN_ALIGN;
        return count < short_of ? count : short_of;
    }

    // A thread for each bucket.
    template <typename E> LAB_MEMBER static void sectors(const Runs<M>& runs, E* out, const E* in) {
        const u32 b = threadIdx.x;
        if (b >= (u32)M) return;
        const u32 skipped = head(runs, b), whole = (runs.count[b] - skipped) / RUN_ALIGN * RUN_ALIGN;
        const u32 first = runs.at[b] + skipped;
        if (whole > 0) bulk_copy(out + (u32)(runs.to[b] + first), in + first, whole * (u32)sizeof(E));
        bulk_commit();
    }

    // Fewer than RUN_ALIGN elements at either end, as many threads for each bucket.
    template <typename E> LAB_MEMBER static void ends(const Runs<M>& runs, E* out, const E* in) {
        for (u32 j = threadIdx.x; j < (u32)M * RUN_ALIGN; j += THREADS) {
            const u32 b = j / RUN_ALIGN, k = j % RUN_ALIGN, count = runs.count[b], skipped = head(runs, b);
            const u32 tail = skipped + (count - skipped) / RUN_ALIGN * RUN_ALIGN + k;
            if (k < skipped) put(runs, b, runs.at[b] + k, out, in);
            if (tail < count) put(runs, b, runs.at[b] + tail, out, in);
        }
    }

    // A warp for each bucket, or several where buckets are few.
    template <typename E> LAB_MEMBER static void by_warps(const Runs<M>& runs, E* out, const E* in) {
        const u32 warp = threadIdx.x / 32u;
        for (u32 b = warp / PARTS; b < (u32)M; b += WARPS / PARTS) {
            for (u32 k = warp % PARTS * 32u + lane_of(); k < runs.count[b]; k += 32u * PARTS)
                put(runs, b, runs.at[b] + k, out, in);
        }
    }

    template <typename E> LAB_MEMBER static void put(const Runs<M>& runs, u32 b, u32 slot, E* out, const E* in) {
        out[(u32)(runs.to[b] + slot)] = in[slot];
    }
};

// How a tile that lies in shared memory bucket by bucket goes out: a run of each bucket, to where its keys belong.
#pragma once

#include "warp.cuh"

// Elements at a multiple of which bulk copies begin and end: whole sectors of 32 bytes and more.
#define RUN_ALIGN 8u

// Of each of M buckets of a tile. Runs begin as far behind a multiple of ALIGN in shared memory as in the output, so that
// all but their ends can leave in such parts.
template <int M, u32 ALIGN> struct Runs {
    u32 to[M];     // what a slot is short of its place in the output, modulo 2^32
    u32 outer[M];  // the run's slots: the first and, in the upper half, the one behind
    u32 inner[ALIGN > 1 ? M : 1];  // those of its whole sectors

    // Slots of a tile of so many keys, at most.
    static constexpr int slots(int keys) { return keys + (ALIGN > 1 ? M * 2 * (int)ALIGN : 0); }

    // Slots of a run of `count` that goes to `start`.
    LAB_MEMBER static u32 slots_of(u32 start, u32 count) {
        return (start % ALIGN + count + ALIGN - 1u) / ALIGN * ALIGN;
    }

    // Notes the run of a bucket, whose slots begin at `slot`; where its first element is.
    LAB_MEMBER u32 note(u32 bucket, u32 slot, u32 start, u32 count) {
        const u32 first = slot + start % ALIGN, end = first + count;
        const u32 up = (first + ALIGN - 1u) / ALIGN * ALIGN, down = end / ALIGN * ALIGN;
        const u32 whole = up < end ? up : end;
        to[bucket] = start - first;
        outer[bucket] = first | end << 16;
        if (ALIGN > 1) inner[bucket] = whole | (down > whole ? down : whole) << 16;
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

// Where the tile lies in shared memory, and where it goes; values may be none.
template <typename V> struct Arrays {
    u32* keys_out;
    V* values_out;
    const u32* keys;
    const V* values;
};

// Runs on their way out of a block of THREADS threads, with values or without: by bulk copies of their whole sectors,
// where the device has them and both arrays begin at one; else by warps.
template <int M, int THREADS, bool BULK, bool VALUES> struct RunStore {
    typedef Runs<M, BULK ? RUN_ALIGN : 1u> Tile;
    static const u32 WARPS = THREADS / 32, PARTS = (u32)M < WARPS ? WARPS / M : 1u;
    bool bulk;

    LAB_MEMBER RunStore(const void* keys, const void* values) : bulk(BULK && (((u64)keys | (u64)values) & 15u) == 0) {}

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
    template <typename V> LAB_MEMBER void store(const Tile& runs, const Arrays<V>& arrays) const {
        if constexpr (BULK) {
            if (bulk) {
                sectors(runs, arrays);
                ends(runs, arrays);
                return;
            }
        }
        by_warps(runs, arrays);
    }

    // A thread for each bucket.
    template <typename V> LAB_MEMBER static void sectors(const Tile& runs, const Arrays<V>& arrays) {
        const u32 b = threadIdx.x;
        if (b >= (u32)M) return;
        const u32 inner = runs.inner[b], first = inner & 0xFFFFu, count = (inner >> 16) - first, to = runs.to[b] + first;
        if (count > 0) {
            bulk_copy(arrays.keys_out + to, arrays.keys + first, count * 4u);
            if (VALUES) bulk_copy(arrays.values_out + to, arrays.values + first, count * (u32)sizeof(V));
        }
        bulk_commit();
    }

    // Fewer than RUN_ALIGN elements at either end, as many threads for each bucket.
    template <typename V> LAB_MEMBER static void ends(const Tile& runs, const Arrays<V>& arrays) {
        for (u32 j = threadIdx.x; j < (u32)M * RUN_ALIGN; j += THREADS) {
            const u32 b = j / RUN_ALIGN, k = j % RUN_ALIGN, outer = runs.outer[b], inner = runs.inner[b], to = runs.to[b];
            const u32 head = (outer & 0xFFFFu) + k, tail = (inner >> 16) + k;
            if (head < (inner & 0xFFFFu)) store_one(to, head, arrays);
            if (tail < outer >> 16) store_one(to, tail, arrays);
        }
    }

    // A warp for each bucket, or several where buckets are few.
    template <typename V> LAB_MEMBER static void by_warps(const Tile& runs, const Arrays<V>& arrays) {
        const u32 warp = threadIdx.x / 32u;
        for (u32 b = warp / PARTS; b < (u32)M; b += WARPS / PARTS) {
            const u32 outer = runs.outer[b], to = runs.to[b];
            for (u32 slot = (outer & 0xFFFFu) + warp % PARTS * 32u + lane_of(); slot < outer >> 16; slot += 32u * PARTS)
                store_one(to, slot, arrays);
        }
    }

    template <typename V> LAB_MEMBER static void store_one(u32 to, u32 slot, const Arrays<V>& arrays) {
        arrays.keys_out[(u32)(to + slot)] = arrays.keys[slot];
        if (VALUES) arrays.values_out[(u32)(to + slot)] = arrays.values[slot];
    }
};

// Stores a tile that is grouped by bucket in shared memory: each bucket is one run, which goes to one place of the
// output. Runs leave by bulk copies of whole sectors plus their unaligned ends, or else by warps. Used by
// split_tile.cuh and its callers (radix sort, multisplit).
#pragma once

#include "warp.cuh"

// Alignment of bulk copies in elements: whole sectors, at least 32 bytes.
#define RUN_ALIGN 8u

// The runs of a tile, one for each of M buckets; a slot is an element's index in shared memory. A run's slots and
// output positions agree modulo STEP, so that all but its ends can be copied in units of ALIGN elements of the output.
// If STEP < ALIGN, a run occupies an odd number of steps, so that runs of equal lengths begin in different banks.
template <int M, u32 ALIGN, u32 STEP = ALIGN> struct Runs {
    u32 to[M];     // output position - slot, modulo 2^32
    u32 outer[M];  // first slot | end slot << 16
    u32 inner[ALIGN > 1 ? M : 1];  // the same for the run's whole sectors

    // Upper bound of slots for a tile of `keys` keys, with the padding of M runs.
    static constexpr int slots(int keys) { return keys + (ALIGN == 1 ? 0 : STEP < ALIGN ? M * 3 * (int)STEP : M * 2 * (int)ALIGN); }

    // Slots of a run of `count` elements that goes to output position `start`.
    LAB_MEMBER static u32 slots_of(u32 start, u32 count) {
        if (STEP < ALIGN) return ((start % STEP + count + STEP - 1u) / STEP | 1u) * STEP;
        return (start % ALIGN + count + ALIGN - 1u) / ALIGN * ALIGN;
    }

    // Records a bucket's run, whose slots begin at `slot`; returns the slot of its first element.
    LAB_MEMBER u32 note(u32 bucket, u32 slot, u32 start, u32 count) {
        if (STEP < ALIGN) return note_steps(bucket, slot, start, count);
        const u32 first = slot + start % ALIGN, end = first + count;
        const u32 up = (first + ALIGN - 1u) / ALIGN * ALIGN, down = end / ALIGN * ALIGN;
        const u32 whole = up < end ? up : end;
        to[bucket] = start - first;
        outer[bucket] = first | end << 16;
        if (ALIGN > 1) inner[bucket] = whole | (down > whole ? down : whole) << 16;
        return first;
    }

    // note() if STEP < ALIGN: slots and output agree modulo STEP only.
    LAB_MEMBER u32 note_steps(u32 bucket, u32 slot, u32 start, u32 count) {
        const u32 first = slot + start % STEP, end = first + count, up = first + (0u - start) % ALIGN;
        to[bucket] = start - first;
        outer[bucket] = first | end << 16;
        inner[bucket] = up < end ? up | (end - (start + count) % ALIGN) << 16 : end | end << 16;
        return first;
    }
};

// ---- asynchronous copies, for compute capability 9.0 and later ------------------------------------

#if defined(__CUDACC__)
// Copies whole sectors from shared to global memory. Both addresses must be multiples of 16.
LAB void bulk_copy(void* to, const void* from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"((u32)__cvta_generic_to_shared(from)), "r"(bytes) : "memory");
}

LAB void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until this thread's copies have read shared memory; their global writes may still be under way.
LAB void bulk_wait() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// Makes this thread's writes to shared memory visible to bulk copies issued after the next barrier.
LAB void bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#else
LAB void bulk_copy(void* to, const void* from, u32 bytes) { memcpy(to, from, bytes); }
LAB void bulk_commit() {}
LAB void bulk_wait() {}
LAB void bulk_fence() {}
#endif

// A tile's keys and values in shared memory, and the arrays they go to; without values, both value pointers are
// unused.
template <typename V, typename K = u32> struct Arrays {
    K* keys_out;
    V* values_out;
    const K* keys;
    const V* values;
};

// Stores the runs of a block of THREADS threads. BULK: by bulk copies, if both output arrays are 16-byte aligned;
// otherwise by warps.
template <int M, int THREADS, bool BULK, bool VALUES, u32 ALIGN = RUN_ALIGN, u32 STEP = ALIGN> struct RunStore {
    typedef Runs<M, BULK ? ALIGN : 1u, BULK ? STEP : 1u> Tile;
    static const u32 WARPS = THREADS / 32, PARTS = (u32)M < WARPS ? WARPS / M : 1u;
    bool bulk;

    LAB_MEMBER RunStore(const void* keys, const void* values) : bulk(BULK && (((u64)keys | (u64)values) & 15u) == 0) {}

    // Call before shared memory is overwritten, and follow with a barrier.
    LAB_MEMBER void wait() const {
        if constexpr (BULK) {
            if (threadIdx.x < (u32)M) bulk_wait();
        }
    }

    // Call after shared memory is written, before the barrier that precedes store().
    LAB_MEMBER void written() const {
        if constexpr (BULK) bulk_fence();
    }

    // Stores all runs. All threads must call this.
    template <typename V, typename K> LAB_MEMBER void store(const Tile& runs, const Arrays<V, K>& arrays) const {
        if constexpr (BULK) {
            if (bulk) {
                sectors(runs, arrays);
                ends(runs, arrays);
                return;
            }
        }
        by_warps(runs, arrays);
    }

    // Thread b copies the whole sectors of bucket b.
    template <typename V, typename K> LAB_MEMBER static void sectors(const Tile& runs, const Arrays<V, K>& arrays) {
        const u32 b = threadIdx.x;
        if (b >= (u32)M) return;
        const u32 inner = runs.inner[b], first = inner & 0xFFFFu, count = (inner >> 16) - first, to = runs.to[b] + first;
        if (count > 0) {
            bulk_copy(arrays.keys_out + to, arrays.keys + first, count * (u32)sizeof(K));
            if (VALUES) bulk_copy(arrays.values_out + to, arrays.values + first, count * (u32)sizeof(V));
        }
        bulk_commit();
    }

    // Stores the fewer than ALIGN elements at each end of a run, with ALIGN threads per bucket.
    template <typename V, typename K> LAB_MEMBER static void ends(const Tile& runs, const Arrays<V, K>& arrays) {
        for (u32 j = threadIdx.x; j < (u32)M * ALIGN; j += THREADS) {
            const u32 b = j / ALIGN, k = j % ALIGN, outer = runs.outer[b], inner = runs.inner[b], to = runs.to[b];
            const u32 head = (outer & 0xFFFFu) + k, tail = (inner >> 16) + k;
            if (head < (inner & 0xFFFFu)) store_one(to, head, arrays);
            if (tail < outer >> 16) store_one(to, tail, arrays);
        }
    }

    // One warp per bucket, or PARTS warps if there are fewer buckets than warps.
    template <typename V, typename K> LAB_MEMBER static void by_warps(const Tile& runs, const Arrays<V, K>& arrays) {
        const u32 warp = threadIdx.x / 32u;
        for (u32 b = warp / PARTS; b < (u32)M; b += WARPS / PARTS) {
            const u32 outer = runs.outer[b], to = runs.to[b];
            for (u32 slot = (outer & 0xFFFFu) + warp % PARTS * 32u + lane_of(); slot < outer >> 16; slot += 32u * PARTS)
                store_one(to, slot, arrays);
        }
    }

    template <typename V, typename K> LAB_MEMBER static void store_one(u32 to, u32 slot, const Arrays<V, K>& arrays) {
        arrays.keys_out[(u32)(to + slot)] = arrays.keys[slot];
        if (VALUES) arrays.values_out[(u32)(to + slot)] = arrays.values[slot];
    }
};

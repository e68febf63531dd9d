// hash-search and hash-build (he2007 §4.2):
//
//   bucketed table                          table.cuh
//   its kernels                             this file
//   inputs and certificates                 inputs.cuh
//   search of he2007                        chained.cuh
//   results back in the order of the keys   multisplit/back.cuh
#include "../multisplit/back.cuh"
#include "chained.cuh"
#include "inputs.cuh"
#include "table.cuh"

// ---- building ----------------------------------------------------------------------------

#define BUILD_BLOCK 256u

// Empties n slots, two at a time (n is even), and sets the reach word past them to 2.
extern "C" __global__ void hash_empty(ulonglong2* __restrict__ slots, u64 word, u64 n) {
    if (thread_index() == 0) *(u64*)(slots + n / 2u) = 2u;
    for (u64 k = thread_index(); k < n / 2u; k += thread_count()) {
        ulonglong2 two;
        two.x = two.y = word;
        slots[k] = two;
    }
}

#define INSERT(SLOTS)                                                                                   \
    extern "C" __global__ void __launch_bounds__(BUILD_BLOCK)                                           \
        hash_insert_##SLOTS(Table t, const u32* __restrict__ keys, const u32* __restrict__ ids, u64 n) { \
        const u64 i = thread_index();                                                                   \
        if (i < n) insert_record<SLOTS>(t, (u64)__ldcs(ids + i) << 32 | __ldcs(keys + i));              \
    }                                                                                                   \
    extern "C" __global__ void hash_fill_table_##SLOTS(Table t, Records r, u64 n) {                     \
        for (u64 id = thread_index(); id < n; id += thread_count()) insert_record<SLOTS>(t, record_at(r, id)); \
    }

INSERT(4)
INSERT(8)

// ---- searching -----------------------------------------------------------------------------

#define SEARCH_BLOCK 256u
#define SEARCH_WARPS (SEARCH_BLOCK / 32u)

// The searches of a warp: ITEMS keys per lane, whose home buckets are loaded together. Keys that are not at home, but
// whose mark says that they may be elsewhere, are compacted in shared memory, so that the lanes share the further
// visits.
template <u32 SLOTS> struct Search {
    static const u32 ITEMS = SLOTS == 8u ? 2u : 4u, TILE = 32u * ITEMS;

    struct Room {
        u32 keys[TILE];     // [e]: searches that go on
        u32 items[TILE];
        u32 results[TILE];
    };

    // Continues a search from its second bucket on; returns the id or MISS.
    LAB_MEMBER static u32 go_on(const Table& t, u32 key, u32 reach) {
        const HashPlace p = place_of_key(t, key, SLOTS);
        Found found = {MISS, true};
        for (u32 step = 1; found.on; ++step) {
            Bucket<SLOTS> bucket;
            bucket.load(t, visit_of_key(t, p, step));
            found = bucket.look(key, p.mark);
            found.on = found.on && step + 1u < reach;
        }
        return found.id;
    }

    LAB_MEMBER static void run(const Table& t, const u32* __restrict__ keys, u32* __restrict__ out, u64 n) {
        __shared__ Room rooms[SEARCH_WARPS];
        Room& r = rooms[threadIdx.x / 32u];
        const u64 first = ((u64)blockIdx.x * SEARCH_WARPS + threadIdx.x / 32u) * TILE + lane_of();
        const u32 reach = reach_of(t, SLOTS);
        u32 key[ITEMS], mark[ITEMS], id[ITEMS], on = 0, count = 0;
        Bucket<SLOTS> home[ITEMS];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) key[u] = first + u * 32u < n ? __ldcs(keys + first + u * 32u) : 0u;
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            const HashPlace p = place_of_key(t, key[u], SLOTS);
            mark[u] = p.mark;
            home[u].load(t, p.base + p.home);
        }
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            const Found found = home[u].look(key[u], mark[u]);
            const u32 others = __ballot_sync(EVERYONE, found.on), at = count + __popc(others & lanes_below());
            if (found.on) {
                r.keys[at] = key[u];
                r.items[at] = u * 32u + lane_of();
            }
            id[u] = found.id;
            on |= (found.on ? 1u : 0u) << u;
            count += __popc(others);
        }
        __syncwarp();
        for (u32 e = lane_of(); e < count; e += 32u) r.results[r.items[e]] = go_on(t, r.keys[e], reach);
        __syncwarp();
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            const u32 found = (on >> u & 1u) != 0 ? r.results[u * 32u + lane_of()] : id[u];
            if (first + u * 32u < n) __stcs(out + first + u * 32u, found);
        }
    }
};

#define SEARCH(SLOTS)                                                                                   \
    extern "C" __global__ void __launch_bounds__(SEARCH_BLOCK)                                          \
        hash_search_##SLOTS(Table t, const u32* __restrict__ keys, u32* __restrict__ out, u64 n) {      \
        Search<SLOTS>::run(t, keys, out, n);                                                            \
    }

SEARCH(4)
SEARCH(8)

// ---- partitions --------------------------------------------------------------------------------

BACK(1)
BACK(2)
BACK(3)
BACK(4)
BACK(5)
BACK(6)
BACK(7)
BACK(8)

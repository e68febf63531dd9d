// hash-search and hash-build (he2007 §4.2):
//
//   the bucketed table                     hash_table.cuh
//   inputs and certificates                hash_inputs.cuh
//   the search of he2007                   hash_chained.cuh
//   results back in the order of the keys  multisplit_back.cuh
#include "hash_chained.cuh"
#include "hash_inputs.cuh"
#include "hash_table.cuh"
#include "multisplit_back.cuh"

// ---- building ----------------------------------------------------------------------------

#define BUILD_BLOCK 256u

// Empties n slots, two at a time, and sets the reach behind them; n is even.
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

// The searches of a warp: some keys per lane. A group of lanes looks at the home of one of its lanes' keys after
// the other. Loads for all keys are in flight together. Keys that are not at home, but whose mark says that they
// may be elsewhere, are gathered, so that all groups have one.
template <u32 SLOTS> struct Search {
    typedef Group<SLOTS> G;
    static const u32 ITEMS = SLOTS == 8u ? 2u : 4u, TILE = 32u * ITEMS;

    struct Room {
        u32 keys[TILE];     // of the searches that go on
        u32 items[TILE];
        u32 results[TILE];  // of all searches
    };

    // One key of each group, whose search visits its second bucket and the ones behind it.
    LAB_MEMBER static void go_on(const Table& t, Room& r, u32 e, u32 count) {
        const u32 key = e < count ? r.keys[e] : 0u;
        const HashPlace p = place_of_key(t, key, SLOTS);
        const u32 reach = reach_of(t, SLOTS);
        Found found;
        found.id = MISS;
        found.on = e < count;
        for (u32 step = 1; __ballot_sync(EVERYONE, found.on) != 0; ++step) {
            const Found next = G::look(G::load(t, visit_of_key(t, p, step)), key, p.mark);
            if (found.on) {
                found = next;
                found.on = next.on && step + 1u < reach;
            }
        }
        if (e < count && G::inside() == 0) r.results[r.items[e]] = found.id;
    }

    LAB_MEMBER static void run(const Table& t, const u32* __restrict__ keys, u32* __restrict__ out, u64 n) {
        __shared__ Room rooms[SEARCH_WARPS];
        Room& r = rooms[threadIdx.x / 32u];
        const u64 first = ((u64)blockIdx.x * SEARCH_WARPS + threadIdx.x / 32u) * TILE;
        u32 key[ITEMS], home[ITEMS], mark[ITEMS], count = 0;
        uint4 two[ITEMS][G::LANES];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            const u64 q = first + u * 32u + lane_of();
            key[u] = q < n ? __ldcs(keys + q) : 0u;
            const HashPlace p = place_of_key(t, key[u], SLOTS);
            home[u] = p.base + p.home;
            mark[u] = p.mark;
#pragma unroll
            for (u32 k = 0; k < G::LANES; ++k)
                two[u][k] = G::load(t, __shfl_sync(EVERYONE, home[u], (int)(G::first() + k)));
        }
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            Found mine;
            mine.id = MISS;
            mine.on = false;
#pragma unroll
            for (u32 k = 0; k < G::LANES; ++k) {
                const u32 wanted = __shfl_sync(EVERYONE, key[u], (int)(G::first() + k));
                const Found found = G::look(two[u][k], wanted, mark[u]);
                if (G::inside() == k) mine = found;
            }
            const u32 on = __ballot_sync(EVERYONE, mine.on), at = count + __popc(on & lanes_below());
            if (mine.on) {
                r.keys[at] = key[u];
                r.items[at] = u * 32u + lane_of();
            }
            r.results[u * 32u + lane_of()] = mine.id;
            count += __popc(on);
        }
        __syncwarp();
        for (u32 e = lane_of() / G::LANES; e - lane_of() / G::LANES < count; e += G::GROUPS) go_on(t, r, e, count);
        __syncwarp();
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            const u64 q = first + u * 32u + lane_of();
            if (q < n) __stcs(out + q, r.results[u * 32u + lane_of()]);
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

// gather: R_out[i] = R_in[L[i]]; scatter: R_out[L[i]] = R_in[i] (he2007 §3.2), with their inputs and certificates. A
// multi-pass or segmented method takes several launches, each for a range of i and the locations in one chunk (he2007
// §3.4). The kernels of partitioned scatters are in partitioned.cuh.
#include "../common/block_sums.cuh"
#include "../common/fill.cuh"
#include "../common/hints.cuh"
#include "partitioned.cuh"

// ---- the timed kernels ----------------------------------------------------------------

// True if `at` lies in [low, low + span). Both ends fit in an I.
template <typename I> LAB bool inside(I at, I low, u64 span) { return (u64)(I)(at - low) < span; }

template <typename T, typename I, bool SCATTER, int ORDERED, int AT_RANDOM>
LAB void move_one(T* __restrict__ out, const T* __restrict__ in, u64 i, I at) {
    if (SCATTER) {
        out[at] = load<ORDERED>(&in[i]);
    } else {
        store<ORDERED>(&out[i], load<AT_RANDOM>(&in[at]));
    }
}

// A span that includes every location. Such a launch of move_each has one thread per tuple.
#define EVERYTHING (~0ull)

// One tuple in flight per thread. If span == EVERYTHING, without loop and comparison: with all data in L2, on an H200,
// these cost 2 % at 2^20 tuples.
template <typename T, typename I, bool SCATTER, int ORDERED, int AT_RANDOM>
LAB void move_each(T* __restrict__ out, const T* __restrict__ in, const I* __restrict__ location,
                   u64 count, I low, u64 span) {
    if (span == EVERYTHING) {
        const u64 i = thread_index();
        if (i < count) move_one<T, I, SCATTER, ORDERED, AT_RANDOM>(out, in, i, load<ORDERED>(&location[i]));
        return;
    }
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const I at = load<ORDERED>(&location[i]);
        if (inside(at, low, span)) move_one<T, I, SCATTER, ORDERED, AT_RANDOM>(out, in, i, at);
    }
}

// Tiles of blockDim.x · ITEMS tuples per block, ITEMS of them in flight per thread. `tiles` (< 2^31) full tiles hold
// `tiled` tuples; the host passes both, because dividing by blockDim.x is slow.
template <typename T, typename I, bool SCATTER, u32 ITEMS, int ORDERED, int AT_RANDOM>
LAB void move_tiles(T* __restrict__ out, const T* __restrict__ in, const I* __restrict__ location,
                    u32 tiles, u64 tiled, u64 count, I low, u64 span) {
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 first = (u64)tile * (blockDim.x * ITEMS) + threadIdx.x;
        I at[ITEMS];
        T tuple[ITEMS];
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) at[u] = load<ORDERED>(&location[first + u * blockDim.x]);
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            if (!inside(at[u], low, span)) continue;
            tuple[u] = SCATTER ? load<ORDERED>(&in[first + u * blockDim.x]) : load<AT_RANDOM>(&in[at[u]]);
        }
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u) {
            if (!inside(at[u], low, span)) continue;
            if (SCATTER) {
                out[at[u]] = tuple[u];
            } else {
                store<ORDERED>(&out[first + u * blockDim.x], tuple[u]);
            }
        }
    }
    if (tiled == count) return;
    for (u64 i = tiled + thread_index(); i < count; i += thread_count()) {
        const I at = location[i];
        if (inside(at, low, span)) out[SCATTER ? at : i] = in[SCATTER ? i : at];
    }
}

// For each i in [0, count) with location[i] - low < span:
//   gather: out[i] = in[location[i]]      scatter: out[location[i]] = in[i]
// Offsets have 64 bits; arrays need no alignment beyond a tuple's own (32-byte tuples: 16 bytes).
template <typename T, typename I, bool SCATTER, u32 ITEMS, int HINT>
LAB void move_tuples(T* __restrict__ out, const T* __restrict__ in, const I* __restrict__ location,
                     u32 tiles, u64 tiled, u64 count, I low, u64 span) {
    const int ORDERED = HINT == STREAMING ? STREAMING : NO_HINT;
    const int AT_RANDOM = HINT == NO_L1 ? NO_L1 : NO_HINT;
    if constexpr (ITEMS == 1) {
        move_each<T, I, SCATTER, ORDERED, AT_RANDOM>(out, in, location, count, low, span);
    } else {
        move_tiles<T, I, SCATTER, ITEMS, ORDERED, AT_RANDOM>(out, in, location, tiles, tiled, count, low, span);
    }
}

// gather_tBYTES_iBYTES_nITEMS and scatter_…; suffix _cs: streaming hint; _no_l1: no allocation in L1.
#define MOVE(name, T, I, SCATTER, ITEMS, HINT)                                                \
    extern "C" __global__ void IN_FLIGHT(ITEMS)                                               \
        name(T* __restrict__ out, const T* __restrict__ in, const I* __restrict__ location,   \
             u32 tiles, u64 tiled, u64 count, u64 low, u64 span) {                            \
        move_tuples<T, I, SCATTER, ITEMS, HINT>(out, in, location, tiles, tiled, count, (I)low, span); \
    }

// Kernels with hints have one tuple in flight per thread.
#define ITEMS(z, T, i, I, n)                                      \
    MOVE(gather_t##z##_i##i##_n##n, T, I, false, n, NO_HINT)      \
    MOVE(scatter_t##z##_i##i##_n##n, T, I, true, n, NO_HINT)

#define MOVES(z, T, i, I)                                         \
    ITEMS(z, T, i, I, 1)                                          \
    ITEMS(z, T, i, I, 2)                                          \
    ITEMS(z, T, i, I, 4)                                          \
    ITEMS(z, T, i, I, 8)                                          \
    MOVE(gather_t##z##_i##i##_n1_cs, T, I, false, 1, STREAMING)   \
    MOVE(gather_t##z##_i##i##_n1_no_l1, T, I, false, 1, NO_L1)    \
    MOVE(scatter_t##z##_i##i##_n1_cs, T, I, true, 1, STREAMING)

#define TUPLES(i, I)             \
    MOVES(4, u32, i, I)          \
    MOVES(8, u64, i, I)          \
    MOVES(16, uint4, i, I)       \
    MOVES(32, Tuple32, i, I)

TUPLES(4, u32)
TUPLES(8, u64)

// ---- inputs ---------------------------------------------------------------------------

// The 4-byte tuples: out[i] = word32(seed, i).
extern "C" __global__ void fill_words32(u32* __restrict__ out, u64 key, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = word32(key, (u32)i);
}

#define SEQUENTIAL 0u
#define RANDOM 1u
#define ZIPF 2u
#define PARTITIONS 3u  // no closed form

// L as a function of i: identity, permutation, or Zipf draws.
struct Locations {
    u32 kind;
    u32 unused;
    u64 key;                // key of the Zipf draws
    const u64* cumulative;  // the Zipf table, null for other kinds
    const u64* start;
    const u32* guide;
    Permutation spread;  // maps i to a random location, and Zipf ranks to locations
};

// L[i], for the kinds with a closed form.
LAB u64 location_of(const Locations& l, u64 i) {
    if (l.kind == RANDOM) return permutation_apply(l.spread, i);
    if (l.kind == ZIPF) return zipf_draw(l.key, l.cumulative, l.start, l.guide, l.spread, i);
    return i;
}

template <typename I> LAB void fill_locations(I* __restrict__ out, const Locations& l, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = (I)location_of(l, i);
}

extern "C" __global__ void fill_locations_i4(u32* __restrict__ out, Locations l, u64 n) {
    fill_locations(out, l, n);
}

extern "C" __global__ void fill_locations_i8(u64* __restrict__ out, Locations l, u64 n) {
    fill_locations(out, l, n);
}

// Random partitions by a stable count: the input is cut into `chunks` of `length` tuples (the last may be shorter);
// counts[q · chunks + c] = the tuples of chunk c in partition q; the exclusive scan of this array gives the
// destinations.

// Counts the chunks, one block per chunk. `counts` must be 0 before.
extern "C" __global__ void partition_count(u64* counts, u64 key, u64 partitions, u64 chunks,
                                           u64 length, u64 n) {
    for (u64 c = blockIdx.x; c < chunks; c += gridDim.x) {
        const u64 end = (c + 1) * length < n ? (c + 1) * length : n;
        for (u64 i = c * length + threadIdx.x; i < end; i += blockDim.x) {
            atomicAdd(&counts[partition_of(key, i, partitions) * chunks + c], 1ull);
        }
    }
}

// data[k] = data[0] + … + data[k - 1], by one block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024) exclusive_sum(u64* data, u64 n) { sum_in_place(data, n); }

// starts[q] = where partition q begins, from the scanned counts; starts[partitions] = n.
extern "C" __global__ void partition_starts(u64* __restrict__ starts, const u64* __restrict__ counts,
                                            u64 partitions, u64 chunks, u64 n) {
    for (u64 q = thread_index(); q <= partitions; q += thread_count()) {
        starts[q] = q < partitions ? counts[q * chunks] : n;
    }
}

// L[i] = the next place of i's partition. One warp per chunk takes 32 tuples at a time in input order, which keeps
// places stable. Advances `next`, the scanned counts.
template <typename I>
LAB void partition_place(I* location, u64* next, u64 key, u64 partitions, u64 chunks, u64 length, u64 n) {
    const u64 c = thread_index() / 32u;
    if (c >= chunks) return;  // whole warps
    const u32 lane = threadIdx.x & 31u;
    const u64 end = (c + 1) * length < n ? (c + 1) * length : n;
    for (u64 base = c * length; base < end; base += 32u) {
        const u64 i = base + lane;
        const u32 members = __ballot_sync(0xFFFFFFFFu, i < end);
        if (i < end) {
            const u64 q = partition_of(key, i, partitions);
            const u32 peers = __match_any_sync(members, (u32)q);
            const u32 leader = __ffs((int)peers) - 1;
            u64 place = 0;
            if (lane == leader) {
                place = next[q * chunks + c];
                next[q * chunks + c] = place + __popc(peers);
            }
            place = __shfl_sync(members, place, (int)leader);
            location[i] = (I)(place + __popc(peers & ((1u << lane) - 1u)));
        }
        __syncwarp();  // the next leader of a partition may be another lane
    }
}

extern "C" __global__ void partition_place_i4(u32* location, u64* next, u64 key, u64 partitions,
                                              u64 chunks, u64 length, u64 n) {
    partition_place(location, next, key, partitions, chunks, length, n);
}

extern "C" __global__ void partition_place_i8(u64* location, u64* next, u64 key, u64 partitions,
                                              u64 chunks, u64 length, u64 n) {
    partition_place(location, next, key, partitions, chunks, length, n);
}

// ---- certificates ---------------------------------------------------------------------

// The definition that the output of a gather or a scatter is checked against.
struct Claim {
    const void* out;     // R_out, n tuples
    u64 key;             // key of the tuples' words
    u64 n;
    u32 tuple;           // bytes
    u32 scatter;         // 0 for a gather
    const u64* starts;   // random partitions: [partitions] starts, then n
    u64 partitions;
    u64 partition_key;
    u32* bitmap;         // random partitions: a bit per location, 0 before; or null
    Locations locations;
};

static_assert(sizeof(Locations) == 80 && sizeof(Claim) == 144, "the layouts of the host");

// Checks that L[i] equals its closed form or, for random partitions, lies inside i's partition.
LAB bool location_holds(const Claim& c, u64 i, u64 at, Finding* finding) {
    if (c.locations.kind == PARTITIONS) {
        const u64 q = partition_of(c.partition_key, i, c.partitions);
        if (at >= c.starts[q] && at < c.starts[q + 1] && at < c.n) return true;
        mistake(finding, i, OUT_OF_RANGE, i, c.starts[q], at);
        return false;
    }
    const u64 expected = location_of(c.locations, i);
    if (at == expected) return true;
    mistake(finding, i, WRONG_LOCATION, i, expected, at);
    return false;
}

LAB void judge(u64 i, u64 at, u64 expected, u64 found, u64 poison, Finding* finding) {
    if (found != expected) mistake(finding, i, found == poison ? NOT_WRITTEN : WRONG_VALUE, at, expected, found);
}

// Checks that tuple `at` of R_out is tuple `from` of R_in.
LAB void certify_tuple(const Claim& c, u64 i, u64 at, u64 from, Finding* finding) {
    if (c.tuple == 4u) {
        judge(i, at, word32(c.key, (u32)from), ((const u32*)c.out)[at], (u32)POISON, finding);
        return;
    }
    const u32 words = c.tuple / 8u;
    for (u32 w = 0; w < words; ++w) {
        judge(i, at, word64(c.key, from * words + w), ((const u64*)c.out)[at * words + w], POISON, finding);
    }
}

// Checks each L[i] and the tuple that it moves. With a bitmap, finding->touched counts the distinct locations.
template <typename I>
LAB void certify_move(const I* __restrict__ location, const Claim& c, Finding* finding) {
    u32 checked = 0, touched = 0;
    for (u64 i = thread_index(); i < c.n; i += thread_count()) {
        const u64 at = location[i];
        checked += 1;
        if (!location_holds(c, i, at, finding)) continue;
        if (c.bitmap != nullptr) touched += set_bit(c.bitmap, at);
        certify_tuple(c, i, c.scatter ? at : i, c.scatter ? i : at, finding);
    }
    add_count(&finding->checked, checked);
    add_count(&finding->touched, touched);
}

extern "C" __global__ void certify_move_i4(const u32* __restrict__ location, Claim c, Finding* finding) {
    certify_move(location, c, finding);
}

extern "C" __global__ void certify_move_i8(const u64* __restrict__ location, Claim c, Finding* finding) {
    certify_move(location, c, finding);
}

// Checks a user-provided L: locations below `tuples`, in any order, with repeats. finding->sum = a checksum of L,
// which must match that of the given array (given::checksum). Checks a gather's tuples too; marks a scatter's
// destinations in the bitmap.
template <typename I>
LAB void certify_given(const I* __restrict__ location, const Claim& c, u64 tuples, Finding* finding) {
    u32 checked = 0;
    u64 sum = 0;
    for (u64 i = thread_index(); i < c.n; i += thread_count()) {
        const u64 at = location[i];
        sum += mix64(at ^ mix64(i));
        if (at >= tuples) continue;  // the checksum will differ from the host's
        if (c.scatter) {
            mark(c.bitmap, at);
        } else {
            checked += 1;
            certify_tuple(c, i, i, at, finding);
        }
    }
    add_count(&finding->checked, checked);
    add_sum(&finding->sum, sum);
}

// True if word w of tuple `at` of R_out belongs to a tuple i with location[i] == at. The word's value identifies i.
template <typename I>
LAB bool landed(const I* __restrict__ location, const Claim& c, u64 at, u32 w, u64 found) {
    if (c.tuple == 4u) {
        const u64 i = index_of_word32(c.key, (u32)found);
        return i < c.n && location[i] == at;
    }
    const u32 words = c.tuple / 8u;
    const u64 word = index_of_word64(c.key, found);
    return word % words == w && word / words < c.n && location[word / words] == at;
}

// After certify_given: each word of a marked destination belongs to one of the tuples that go to it, and all other
// words still hold poison.
template <typename I>
LAB void certify_landed(const I* __restrict__ location, const Claim& c, u64 tuples, Finding* finding) {
    const u32 words = c.tuple == 4u ? 1u : c.tuple / 8u;
    u32 checked = 0;
    for (u64 at = thread_index(); at < tuples; at += thread_count()) {
        const bool touched = marked(c.bitmap, at);
        checked += 1;
        for (u32 w = 0; w < words; ++w) {
            const u64 found = c.tuple == 4u ? ((const u32*)c.out)[at] : ((const u64*)c.out)[at * words + w];
            const u64 poison = c.tuple == 4u ? (u32)POISON : POISON;
            if (touched && !landed(location, c, at, w, found)) {
                mistake(finding, at, WRONG_WRITER, at, 0, found);
            }
            if (!touched && found != poison) mistake(finding, at, STRAY_WRITE, at, poison, found);
        }
    }
    add_count(&finding->checked, checked);
}

#define CERTIFY_GIVEN(name, body, I)                                                                  \
    extern "C" __global__ void name(const I* __restrict__ location, Claim c, u64 tuples, Finding* finding) { \
        body(location, c, tuples, finding);                                                           \
    }

CERTIFY_GIVEN(certify_given_i4, certify_given, u32)
CERTIFY_GIVEN(certify_given_i8, certify_given, u64)
CERTIFY_GIVEN(certify_landed_i4, certify_landed, u32)
CERTIFY_GIVEN(certify_landed_i8, certify_landed, u64)

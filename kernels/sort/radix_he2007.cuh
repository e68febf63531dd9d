// MSD radix sort of he2007 §4.1 (src/core/primitives/sort/methods/he2007_msd.rs). For each phase, one digit from the highest bits
// on, over the tiles of all parts that do not fit in shared memory:
//   count     each thread counts its keys of each digit in counters of one byte
//   (scan)    exclusive scan of a part's counts, by digit and then by tile
//   locate    location of a key = its part's start of the digit + such keys of earlier tiles and threads + its rank;
//             the first tile of a part lists the parts that the part splits into
//   scatter   in passes: each moves the keys whose locations lie in its chunk of the output
// Then leaves: each part that fits is sorted in shared memory (bitonic.cuh). Partition numbers (the paper's pidArray)
// stay in shared memory. Phases write the array between and the output in turn, so that the last phase that a key may
// need writes the output; it leaves no bits to sort by. Once all parts fit, a phase finds no tiles and ends at once.
#pragma once

#include "bitonic.cuh"

#define SHARE 16u            // keys per thread
#define RANKS (SHARE + 2u)   // row of ranks per thread; padded, so that rows begin in different banks
#define DIGITS_ROW (SHARE + 4u)

typedef unsigned char u8;

// A part that does not fit in shared memory; `tile` is the number of tiles of the parts listed before it.
struct Part {
    u32 first, end, tile;
};

// A part that fits; keys | IN_OUTPUT if it lies in the output rather than in the array between.
struct Leaf {
    u32 first, keys;
};

#define IN_OUTPUT 0x80000000u

struct Phase {
    const void* keys_in;
    const void* values_in;
    void* keys_out;
    void* values_out;
    u32* locations;
    u32* counts;      // per part: [digit][tile]
    const u32* sums;  // exclusive scan of counts
    const Part* parts;
    Part* next;
    u64* listed;      // [phase]: parts << 32 | their tiles; [0]: leaves
    Leaf* leaves;
    u32 n;
    u32 phase;
    u32 shift, bits;  // the digit
    u32 rest;         // nonzero if lower bits are left after this digit
    u32 in_output;    // nonzero if this phase writes the output
    u32 low, span;    // scatter: the pass's chunk of locations
};

static_assert(sizeof(Part) == 12 && sizeof(Leaf) == 8 && sizeof(Phase) == 120, "the layouts of the host");

// ---- tiles -------------------------------------------------------------------------------------------

// A tile, and the part that it belongs to.
struct PartTile {
    Part part;
    u32 first, keys;     // of the tile
    u32 ordinal, tiles;  // its index among the part's tiles; their number
    u32 counts;          // the part's first index in Phase::counts

    LAB_MEMBER u32 count(u32 digit) const { return counts + digit * tiles + ordinal; }
};

// The part that a tile belongs to: a 32-ary search by a warp, all lanes of which must call this.
LAB Part part_of(const Part* parts, u32 count, u32 tile) {
    while (count > 1u) {
        const u32 step = (count + 31u) / 32u, at = lane_of() * step;
        const u32 reached = __ballot_sync(EVERYONE, at < count && parts[at].tile <= tile);
        const u32 before = ((u32)__popc(reached) - 1u) * step;
        parts += before;
        count = count - before < step ? count - before : step;
    }
    return parts[0];
}

// Describes the tile in t; false if the phase has fewer tiles. All threads must call this.
LAB bool tile_of(const Phase& s, u32 tile, PartTile& t) {
    const u32 TILE = blockDim.x * SHARE;
    u32 parts = 1, tiles = (s.n + TILE - 1u) / TILE;
    if (s.phase > 0) {
        parts = (u32)(s.listed[s.phase] >> 32);
        tiles = (u32)s.listed[s.phase];
    }
    if (tile >= tiles) return false;
    t.part = {0, s.n, 0};
    if (s.phase > 0) t.part = part_of(s.parts, parts, tile);
    t.ordinal = tile - t.part.tile;
    t.tiles = (t.part.end - t.part.first + TILE - 1u) / TILE;
    t.first = t.part.first + t.ordinal * TILE;
    t.keys = t.part.end - t.first < TILE ? t.part.end - t.first : TILE;
    t.counts = t.part.tile << s.bits;
    return true;
}

// ---- counters ----------------------------------------------------------------------------------------

// A block's arrays in shared memory, for digits 0 … parts - 1.
struct PhaseRoom {
    u32* places;   // [digit]: location of the tile's first such key
    u16* before;   // [digit][lane]: such keys of the threads before the lane's share of threads
    u16* ranks;    // [thread][RANKS]: rank of each key within tile and digit
    u8* digits;    // [thread][DIGITS_ROW]: digit of each key
    u8* counters;  // [digit][thread]

    LAB_MEMBER explicit PhaseRoom(u32 parts) {
        places = (u32*)dense;
        counters = (u8*)(places + parts);  // first, for alignment: it is cleared in words
        before = (u16*)(counters + parts * blockDim.x);
        ranks = before + parts * 32u;
        digits = (u8*)(ranks + blockDim.x * RANKS);
    }

    LAB_MEMBER u8& digit(u32 j) const { return digits[j / SHARE * DIGITS_ROW + j % SHARE]; }
    LAB_MEMBER u16& rank(u32 j) const { return ranks[j / SHARE * RANKS + j % SHARE]; }
    LAB_MEMBER u8& counter(u32 digit, u32 thread) const { return counters[digit * blockDim.x + thread]; }
};

// Reads the tile's digits, and counts them: each thread those of its SHARE adjacent keys.
template <typename K> LAB void count_shares(const Phase& s, const PartTile& t, const PhaseRoom& r) {
    const K* const keys = (const K*)s.keys_in + t.first;
    for (u32 i = threadIdx.x; i < (blockDim.x << s.bits) / 4u; i += blockDim.x) ((u32*)r.counters)[i] = 0;
    for (u32 j = threadIdx.x; j < t.keys; j += blockDim.x) r.digit(j) = (u8)((u32)(keys[j] >> s.shift) & ((1u << s.bits) - 1u));
    __syncthreads();
    for (u32 j = threadIdx.x * SHARE; j < t.keys && j < (threadIdx.x + 1u) * SHARE; ++j) ++r.counter(r.digit(j), threadIdx.x);
    __syncthreads();
}

// Exclusive scan, in place, of the lane's share of a digit's counters; returns their sum. A share is at most 8 threads
// of 16 keys, so sums fit in a byte.
LAB u32 sum_counters(const PhaseRoom& r, u32 digit) {
    const u32 threads = blockDim.x / 32u;
    u32 sum = 0;
    for (u32 thread = lane_of() * threads; thread < (lane_of() + 1u) * threads; ++thread) {
        const u32 count = r.counter(digit, thread);
        r.counter(digit, thread) = (u8)sum;
        sum += count;
    }
    return sum;
}

// Counts the digits of a phase's tiles. Phase 0 also clears `listed`, to which later kernels add.
template <typename K> LAB void count_tiles(const Phase& s) {
    const PhaseRoom r(1u << s.bits);
    PartTile t;
    if (s.phase == 0 && blockIdx.x == 0) {
        for (u32 i = threadIdx.x; i < 65u; i += blockDim.x) s.listed[i] = 0;
    }
    for (u32 tile = blockIdx.x; tile_of(s, tile, t); tile += gridDim.x) {
        count_shares<K>(s, t, r);
        for (u32 digit = threadIdx.x / 32u; digit < 1u << s.bits; digit += blockDim.x / 32u) {
            const u32 sum = sum_lanes(sum_counters(r, digit));
            if (lane_of() == 31u) s.counts[t.count(digit)] = sum;
        }
        __syncthreads();
    }
}

// ---- locations ---------------------------------------------------------------------------------------

// Lists a part for the next phase, or as a leaf.
LAB void list_part(const Phase& s, u32 first, u32 end) {
    const u32 keys = end - first, TILE = blockDim.x * SHARE;
    // A part without bits left is in the output already, and so is a single key if this phase writes the output.
    if (keys == 0 || s.rest == 0 || (keys == 1u && s.in_output != 0)) return;
    if (keys <= NETWORK_TILE) {
        s.leaves[atomicAdd(&s.listed[0], 1ull)] = {first, keys | (s.in_output != 0 ? IN_OUTPUT : 0u)};
    } else {
        const u64 at = atomicAdd(&s.listed[s.phase + 1u], 1ull << 32 | (keys + TILE - 1u) / TILE);
        s.next[at >> 32] = {first, end, (u32)at};
    }
}

template <typename K> LAB void locate_tiles(const Phase& s) {
    const u32 parts = 1u << s.bits;
    const PhaseRoom r(parts);
    PartTile t;
    for (u32 tile = blockIdx.x; tile_of(s, tile, t); tile += gridDim.x) {
        count_shares<K>(s, t, r);
        for (u32 digit = threadIdx.x / 32u; digit < parts; digit += blockDim.x / 32u) {
            const u32 keys = sum_counters(r, digit);
            r.before[digit * 32u + lane_of()] = (u16)(sum_lanes(keys) - keys);
        }
        // The scan runs on from part to part: subtract its value at this part's first count.
        for (u32 digit = threadIdx.x; digit < parts; digit += blockDim.x)
            r.places[digit] = t.part.first + s.sums[t.count(digit)] - s.sums[t.counts];
        __syncthreads();
        for (u32 j = threadIdx.x * SHARE; j < t.keys && j < (threadIdx.x + 1u) * SHARE; ++j) {
            const u32 digit = r.digit(j);
            r.rank(j) = (u16)(r.before[digit * 32u + threadIdx.x / (blockDim.x / 32u)] + r.counter(digit, threadIdx.x)++);
        }
        if (t.ordinal == 0) {
            for (u32 digit = threadIdx.x; digit < parts; digit += blockDim.x)
                list_part(s, r.places[digit], digit + 1u < parts ? r.places[digit + 1u] : t.part.end);
        }
        __syncthreads();
        for (u32 j = threadIdx.x; j < t.keys; j += blockDim.x) s.locations[t.first + j] = r.places[r.digit(j)] + r.rank(j);
        __syncthreads();
    }
}

// ---- scatter -----------------------------------------------------------------------------------------

template <int VALUE> struct ValueOf { typedef u32 V; };
template <> struct ValueOf<8> { typedef u64 V; };

// One pass: moves the keys whose locations lie in [low, low + span).
template <typename K, int VALUE> LAB void scatter_tiles(const Phase& s) {
    typedef typename ValueOf<VALUE>::V V;
    PartTile t;
    for (u32 tile = blockIdx.x; tile_of(s, tile, t); tile += gridDim.x) {
        const K* const keys = (const K*)s.keys_in + t.first;
        const V* const values = (const V*)s.values_in + t.first;
        u32 at[SHARE];
        K key[SHARE];
        V value[SHARE];
#pragma unroll
        for (u32 u = 0; u < SHARE; ++u) {
            const u32 j = u * blockDim.x + threadIdx.x;
            // Past the end: no location of the chunk, since ~0 ≥ span.
            at[u] = j < t.keys ? s.locations[t.first + j] - s.low : ~0u;
        }
#pragma unroll
        for (u32 u = 0; u < SHARE; ++u) {
            if (at[u] >= s.span) continue;
            key[u] = keys[u * blockDim.x + threadIdx.x];
            if (VALUE > 0) value[u] = values[u * blockDim.x + threadIdx.x];
        }
#pragma unroll
        for (u32 u = 0; u < SHARE; ++u) {
            if (at[u] >= s.span) continue;
            ((K*)s.keys_out)[s.low + at[u]] = key[u];
            if (VALUE > 0) ((V*)s.values_out)[s.low + at[u]] = value[u];
        }
    }
}

// ---- leaves ------------------------------------------------------------------------------------------

struct Leaves {
    const void* keys_between;
    const void* values_between;
    void* keys_out;
    void* values_out;
    const u64* listed;
    const Leaf* leaves;
    u32 begin, bits;  // the field to sort by
};

static_assert(sizeof(Leaves) == 56, "the layout of the host");

// Sorts a part. All values are read before the first is written: in the output, they are permuted in place.
template <typename K, int VALUE> LAB void sort_leaf(const Leaves& s, const Leaf& leaf) {
    typedef typename ValueOf<VALUE>::V V;
    const bool there = (leaf.keys & IN_OUTPUT) != 0;
    const Network<K, (VALUE > 0)> network(FieldOrder<K>(s.begin, s.bits), leaf.keys & ~IN_OUTPUT);
    const K* const keys = (const K*)(there ? s.keys_out : s.keys_between) + leaf.first;
    const V* const values = (const V*)(there ? s.values_out : s.values_between) + leaf.first;
    for (u32 j = threadIdx.x; j < network.n; j += blockDim.x) {
        network.keys[j] = keys[j];
        if constexpr (VALUE > 0) network.places[j] = j;
    }
    __syncthreads();
    network.sort();
    __syncthreads();
    if constexpr (VALUE > 0) {
        V value[NETWORK_ITEMS];
#pragma unroll
        for (u32 u = 0; u < NETWORK_ITEMS; ++u) {
            const u32 j = u * NETWORK_THREADS + threadIdx.x;
            if (j < network.n) value[u] = values[network.places[j]];
        }
        __syncthreads();
#pragma unroll
        for (u32 u = 0; u < NETWORK_ITEMS; ++u) {
            const u32 j = u * NETWORK_THREADS + threadIdx.x;
            if (j < network.n) ((V*)s.values_out)[leaf.first + j] = value[u];
        }
    }
    for (u32 j = threadIdx.x; j < network.n; j += blockDim.x) ((K*)s.keys_out)[leaf.first + j] = network.keys[j];
    __syncthreads();
}

#define PHASES(KEY)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) he2007_count_u##KEY(Phase s) { count_tiles<u##KEY>(s); }   \
    extern "C" __global__ void __launch_bounds__(256) he2007_locate_u##KEY(Phase s) { locate_tiles<u##KEY>(s); } \
    PHASES_OF(KEY, 0) PHASES_OF(KEY, 4) PHASES_OF(KEY, 8)

#define PHASES_OF(KEY, VALUE)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) he2007_scatter_u##KEY##_##VALUE(Phase s) {                 \
        scatter_tiles<u##KEY, VALUE>(s);                                                                         \
    }                                                                                                            \
    extern "C" __global__ void __launch_bounds__(NETWORK_THREADS) he2007_leaves_u##KEY##_##VALUE(Leaves s) {     \
        for (u32 i = blockIdx.x; i < s.listed[0]; i += gridDim.x) sort_leaf<u##KEY, VALUE>(s, s.leaves[i]);      \
    }

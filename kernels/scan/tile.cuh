// One tile of a scan or segmented scan in a single pass over memory. The method decides how a tile gets the sum of all
// tiles before it: by look-back (look_back.cuh) or from a spine (spine.cuh).
//
// A warp loads and stores its vectors coalesced, and transposes them in shared memory so that each lane owns
// consecutive elements: a lane sums its elements serially, and one scan over lanes covers the warp. A tile of one vector
// a thread, for few elements, stays in registers.
//
// All indices within a tile are in scan order: a backward scan numbers tiles, warps, vectors, and the elements of a
// vector from the end of the array.
#pragma once

#include "../common/published.cuh"
#include "../common/warp.cuh"
#include "operators.cuh"

struct Scan {
    const void* in;
    void* out;
    const u32* heads;       // bit i % 32 of word i / 32: a segment begins at i; null without segments
    void* descriptors;      // [tile]; a spine appends [tile]: the sums before each tile
    u32* ticket;            // null if all tiles are resident at once: then a tile is the block of its number
    u64 n;
    u64 flip;               // mask XORed with the elements if O::FLIPPED
    u32 tiles;
    u32 epoch;              // of this launch: part of each state, so that descriptors need no clearing
    u32 first_ticket;       // the first ticket that this launch draws
    u32 backward, inclusive;
    u32 aligned;            // in and out are 16-byte aligned
};

static_assert(sizeof(Scan) == 80, "the layout of the host");

// ---- descriptors -------------------------------------------------------------------------

// A descriptor holds a value once its state is 2 · epoch or 2 · epoch + 1.
//
// State and value share one word of 64 or 128 bits, which is stored and loaded whole: a reader that sees the state
// sees the value, without a fence. A value of 128 bits is split over two such words; if their states differ, the
// reader polls again.
#if defined(__CUDACC__)
LAB void publish(ulonglong2* at, u64 state, u64 value) {
    asm volatile("{\n\t.reg .b128 w;\n\tmov.b128 w, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], w;\n\t}"
                 ::"l"(at), "l"(state), "l"(value) : "memory");
}
LAB u64 published(const ulonglong2* at, u64& value) {
    u64 state;
    asm volatile("{\n\t.reg .b128 w;\n\tld.relaxed.gpu.global.b128 w, [%2];\n\tmov.b128 {%0, %1}, w;\n\t}"
                 : "=l"(state), "=l"(value) : "l"(at) : "memory");
    return state;
}
#else
LAB void publish(ulonglong2* at, u64 state, u64 value) { *at = {state, value}; }
LAB u64 published(const ulonglong2* at, u64& value) {
    value = at->y;
    return at->x;
}
#endif

template <typename T, int BYTES> struct Descriptor;

template <typename T> struct Descriptor<T, 4> {
    static LAB_MEMBER void put(void* all, u32 tile, u32 state, T value) {
        publish((u64*)all + tile, (u64)cast<u32>(value) << 32 | state);
    }
    static LAB_MEMBER u32 get(const void* all, u32 tile, T& value) {
        const u64 word = published((const u64*)all + tile);
        value = cast<T>((u32)(word >> 32));
        return (u32)word;
    }
};

template <typename T> struct Descriptor<T, 8> {
    static LAB_MEMBER void put(void* all, u32 tile, u32 state, T value) {
        publish((ulonglong2*)all + tile, state, cast<u64>(value));
    }
    static LAB_MEMBER u32 get(const void* all, u32 tile, T& value) {
        u64 bits;
        const u64 state = published((const ulonglong2*)all + tile, bits);
        value = cast<T>(bits);
        return (u32)state;
    }
};

template <typename W> struct Descriptor<Affine<W>, 16> {
    static LAB_MEMBER void put(void* all, u32 tile, u32 state, Affine<W> value) {
        publish((ulonglong2*)all + 2 * (u64)tile, state, value.a);
        publish((ulonglong2*)all + 2 * (u64)tile + 1, state, value.b);
    }
    // State 0 if the two halves have different states.
    static LAB_MEMBER u32 get(const void* all, u32 tile, Affine<W>& value) {
        const u64 state = published((const ulonglong2*)all + 2 * (u64)tile, value.a);
        return published((const ulonglong2*)all + 2 * (u64)tile + 1, value.b) == state ? (u32)state : 0u;
    }
};

// ---- one value a lane --------------------------------------------------------------------

template <typename T> LAB T lane_below(T v, u32 by) { return __shfl_up_sync(EVERYONE, v, by); }
template <typename T> LAB T lane_above(T v, u32 by) { return __shfl_down_sync(EVERYONE, v, by); }
template <typename T> LAB T of_lane(T v, u32 lane) { return __shfl_sync(EVERYONE, v, lane); }
template <typename W> LAB Affine<W> lane_below(Affine<W> v, u32 by) { return {lane_below(v.a, by), lane_below(v.b, by)}; }
template <typename W> LAB Affine<W> lane_above(Affine<W> v, u32 by) { return {lane_above(v.a, by), lane_above(v.b, by)}; }
template <typename W> LAB Affine<W> of_lane(Affine<W> v, u32 lane) { return {of_lane(v.a, lane), of_lane(v.b, lane)}; }

// Segmented inclusive scan over the lanes of a warp. Bit l of `heads`: the value of lane l contains a head, so nothing
// before lane l counts from lane l on.
template <class O> LAB typename O::T sum_lanes(O op, typename O::T v, u32 heads) {
    const u32 lane = threadIdx.x & 31u;
    const u32 up_to_here = heads & (EVERYONE >> (31u - lane));
    const u32 start = up_to_here == 0 ? 0u : 31u - (u32)__clz((int)up_to_here);
#pragma unroll
    for (u32 by = 1; by < 32u; by *= 2) {
        const typename O::T other = lane_below(v, by);
        if (lane >= start + by) v = op(other, v);
    }
    return v;
}

// The exclusive scan; `total` = the scan's value past lane 31.
template <class O> LAB typename O::T scan_lanes(O op, typename O::T v, u32 heads, typename O::T& total) {
    v = sum_lanes(op, v, heads);
    total = of_lane(v, 31u);
    v = lane_below(v, 1u);
    return (threadIdx.x & 31u) == 0 ? op.identity() : v;
}

// ---- a tile -----------------------------------------------------------------------------

template <typename T> struct alignas(16) Vector {
    T v[16 / sizeof(T)];
};

template <typename T> LAB void reverse(Vector<T>& x) {
    const int N = 16 / sizeof(T);
#pragma unroll
    for (int k = 0; k < N / 2; ++k) {
        const T t = x.v[k];
        x.v[k] = x.v[N - 1 - k];
        x.v[N - 1 - k] = t;
    }
}

template <typename T> LAB void flip(Vector<T>& x, u64 mask) {
#pragma unroll
    for (int k = 0; k < (int)(16 / sizeof(T)); ++k) x.v[k] = flipped(x.v[k], mask);
}

// The places of a warp's vectors in memory.
struct Chunk {
    u64 base;   // the warp's first element in memory
    u32 last;   // the warp's last vector
    bool backward;
    bool whole;  // all elements exist and are moved as vectors
    LAB_MEMBER u32 vector(u32 r) const {
        const u32 q = r * 32u + (threadIdx.x & 31u);
        return backward ? last - q : q;
    }
};

template <class O, int VECTORS> LAB void load(O op, const Scan& s, const Chunk& chunk, Vector<typename O::T>* x) {
    typedef typename O::T T;
    const int N = 16 / sizeof(T);
    const T* in = (const T*)s.in + chunk.base;
    if (chunk.whole) {
#pragma unroll
        for (int r = 0; r < VECTORS; ++r) x[r] = cast<Vector<T>>(__ldcg((const uint4*)in + chunk.vector(r)));
    } else {
#pragma unroll
        for (int r = 0; r < VECTORS; ++r) {
            const u64 at = (u64)chunk.vector(r) * N;
#pragma unroll
            for (int k = 0; k < N; ++k) x[r].v[k] = chunk.base + at + k < s.n ? in[at + k] : flipped(op.identity(), s.flip);
        }
    }
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) {
        if (chunk.backward) reverse(x[r]);
        if (O::FLIPPED) flip(x[r], s.flip);
    }
}

template <class O> LAB void store(const Scan& s, const Chunk& chunk, u32 r, Vector<typename O::T> x) {
    typedef typename O::T T;
    const int N = 16 / sizeof(T);
    T* out = (T*)s.out + chunk.base;
    const u64 at = (u64)chunk.vector(r) * N;
    if (O::FLIPPED) flip(x, s.flip);
    if (chunk.backward) reverse(x);
    if (chunk.whole) {
        __stcs((uint4*)(out + at), cast<uint4>(x));
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (chunk.base + at + k < s.n) out[at + k] = x.v[k];
        }
    }
}

// Loads the warp's head bits, one word per lane, in memory order. A backward scan shifts them by one, since its
// segments begin at the element before a head.
template <int WORDS> LAB u32 load_heads(const Scan& s, const Chunk& chunk) {
    static_assert(WORDS < 32, "one lane more than words");
    const u32 lane = threadIdx.x & 31u;
    const u64 at = chunk.base / 32u + lane;
    const u32 word = lane <= (u32)WORDS && at * 32u < s.n ? __ldcg(s.heads + at) : 0u;
    return chunk.backward ? __funnelshift_r(word, lane_above(word, 1u), 1u) : word;
}

// Bit k: a segment begins at element k of the lane's COUNT elements, in scan order.
template <int COUNT> LAB u32 heads_of(const Chunk& chunk, u32 words) {
    static_assert(COUNT <= 32, "a bit for each");
    const u32 lane = threadIdx.x & 31u, at = (chunk.backward ? 31u - lane : lane) * COUNT;
    const u32 low = of_lane(words, at / 32u), high = of_lane(words, at / 32u + 1u);
    const u32 bits = __funnelshift_r(low, high, at % 32u) << (32 - COUNT);
    return chunk.backward ? __brev(bits) : bits >> (32 - COUNT);
}

template <typename T, int WARPS, int VECTORS> struct Tile {
    Vector<T> vectors[WARPS][VECTORS > 1 ? 32 * VECTORS : 1];
    T totals[WARPS];    // [warp]: its sum, from its last head on
    T before[WARPS];    // [warp]: the sum before it in the tile
    T tiles;            // the sum before the tile
    u32 headed[WARPS];  // [warp]: nonzero if it contains a head
    u32 open[WARPS];    // [warp]: nonzero if no earlier warp of the tile contains a head
};

// The block's place in the order in which blocks wait for each other. Tickets are consecutive, so a block waits only for
// blocks that already run. Without tickets it waits for blocks of lower index, which run, too: the host then launches no
// more blocks than are resident at once.
LAB u32 place_of_block(const Scan& s) {
    __shared__ u32 taken;
    if (s.ticket == nullptr) return blockIdx.x;
    if (threadIdx.x == 0) taken = atomicAdd(s.ticket, 1u) - s.first_ticket;
    __syncthreads();
    return taken;
}

// The first warp scans the warps' sums, and obtains the sum of earlier tiles. Tiles::before publishes this tile's sum
// to later tiles; it returns the sum before this tile, valid in lane 0.
template <class O, class Tiles, bool SEGMENTED, int WARPS, int VECTORS>
LAB void scan_warps(O op, const Scan& s, u32 tile, Tile<typename O::T, WARPS, VECTORS>& shared) {
    typedef typename O::T T;
    const u32 lane = threadIdx.x & 31u;
    const bool there = lane < (u32)WARPS;
    const u32 row = SEGMENTED ? __ballot_sync(EVERYONE, there && shared.headed[there ? lane : 0u] != 0) : 0u;
    T total;
    const T before = scan_lanes(op, there ? shared.totals[lane] : op.identity(), row, total);
    if (there) {
        shared.before[lane] = before;
        shared.open[lane] = (row & ((1u << lane) - 1u)) == 0;
    }
    const T tiles = Tiles::before(op, s, tile, total, row != 0);
    if (lane == 0) shared.tiles = tiles;
}

template <class O, class Tiles, bool SEGMENTED, int THREADS, int VECTORS> LAB void scan_tile(O op, const Scan& s, u32 tile) {
    typedef typename O::T T;
    const int N = 16 / sizeof(T), WARPS = THREADS / 32;
    static_assert(VECTORS % 2 == 1, "eight lanes' vectors lie in different banks");
    __shared__ Tile<T, WARPS, VECTORS> shared;
    const u32 warp = threadIdx.x / 32u, lane = threadIdx.x & 31u;

    Chunk chunk;
    chunk.backward = s.backward != 0;
    chunk.last = 32 * VECTORS - 1;
    chunk.base = ((u64)(chunk.backward ? s.tiles - 1 - tile : tile) * WARPS + (chunk.backward ? WARPS - 1 - warp : warp)) *
                 (32 * VECTORS * N);
    chunk.whole = s.aligned != 0 && chunk.base + 32 * VECTORS * N <= s.n;
    Vector<T> x[VECTORS];
    load<O, VECTORS>(op, s, chunk, x);
    const u32 words = SEGMENTED ? load_heads<VECTORS * N>(s, chunk) : 0u;
    // The lane's consecutive elements.
    Vector<T>* const turned = shared.vectors[warp];
    Vector<T>* const own = VECTORS > 1 ? turned + lane * VECTORS : x;
#pragma unroll
    for (int r = 0; VECTORS > 1 && r < VECTORS; ++r) turned[r * 32 + lane] = x[r];
    __syncwarp();

    // Upsweep: the sums of the lane's elements and of the warp's.
    const u32 heads = SEGMENTED ? heads_of<VECTORS * N>(chunk, words) : 0u;
    T sum = op.identity();
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) {
        const Vector<T> vector = own[r];
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (SEGMENTED && (heads >> (r * N + k) & 1u)) sum = op.identity();
            sum = op(sum, vector.v[k]);
        }
    }
    const u32 row = SEGMENTED ? __ballot_sync(EVERYONE, heads != 0) : 0u;
    T total;
    const T before = scan_lanes(op, sum, row, total);
    const bool open = (row & ((1u << lane) - 1u)) == 0;
    if (lane == 0) {
        shared.totals[warp] = total;
        shared.headed[warp] = row;
    }

    // Scan over the warps of the tile, and over tiles.
    __syncthreads();
    if (warp == 0) scan_warps<O, Tiles, SEGMENTED, WARPS, VECTORS>(op, s, tile, shared);
    __syncthreads();

    // Downsweep into the elements.
    sum = before;
    if (!SEGMENTED || open) {
        sum = op(shared.before[warp], sum);
        if (!SEGMENTED || shared.open[warp] != 0) sum = op(shared.tiles, sum);
    }
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) {
        Vector<T> vector = own[r];
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (SEGMENTED && (heads >> (r * N + k) & 1u)) sum = op.identity();
            const T next = op(sum, vector.v[k]);
            vector.v[k] = s.inclusive != 0 ? next : sum;
            sum = next;
        }
        own[r] = vector;
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) store<O>(s, chunk, r, VECTORS > 1 ? turned[r * 32 + lane] : x[r]);
}

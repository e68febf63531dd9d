// Scan and segmented scan in a single pass by decoupled look-back (Merrill, Garland: Single-pass
// Parallel Prefix Scan with Decoupled Look-back, 2016).
//
// A block scans a tile. It publishes the tile's own sum, looks back over what earlier tiles have
// published, from the nearest one on, until one of them tells the sum of everything up to its end,
// and then publishes that of its own end. A segmented tile with a head needs nothing of earlier
// tiles to tell what later ones want: the look-back ends there. So a segmented scan passes as
// few words between blocks as a scan. A warp of its own looks back, from the block's beginning on,
// while the others wait for memory.
//
// Within a tile everything is in the order of the scan: a backward one numbers the tiles, the warps
// of a tile, the vectors of a warp and the elements of a vector from the end of the array on.
#pragma once

#include "operators.cuh"

#define ALL 0xFFFFFFFFu

struct Scan {
    const void* in;
    void* out;
    const u32* heads;       // bit i % 32 of word i / 32: whether i begins a segment; null without segments
    void* descriptors;      // of each tile
    u32* ticket;
    u64 n;
    u64 flip;               // what elements are exclusive-ored with where the operator says so
    u32 tiles;
    u32 epoch;              // of this launch: in the descriptors' states, so that nobody clears them
    u32 first_ticket;       // that this launch draws
    u32 backward, inclusive;
    u32 aligned;            // whether `in` and `out` begin with a vector
};

static_assert(sizeof(Scan) == 80, "the layout of the host");

// ---- descriptors -------------------------------------------------------------------------

// The states of a descriptor: 2 · epoch where it holds the sum of its tile, and one more where
// it holds that of everything up to its tile's end, or up to there from its last head on.
//
// A state and a value lie in one word of 64 or 128 bits, which is stored and loaded whole: so
// whoever sees the state sees the value, without a fence. A value of 128 bits is cut in two such
// words, which may be seen at different states, and then are looked at once more.
#if defined(__CUDACC__)
LAB void publish(u64* at, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
LAB u64 published(const u64* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
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
LAB void publish(u64* at, u64 word) { *at = word; }
LAB u64 published(const u64* at) { return *at; }
LAB void publish(ulonglong2* at, u64 state, u64 value) { *at = {state, value}; }
LAB u64 published(const ulonglong2* at, u64& value) {
    value = at->y;
    return at->x;
}
#endif

template <typename T, int BYTES> struct Descriptor;

template <typename T> struct Descriptor<T, 4> {
    static LAB_OPERATOR void put(void* all, u32 tile, u32 state, T value) {
        publish((u64*)all + tile, (u64)cast<u32>(value) << 32 | state);
    }
    static LAB_OPERATOR u32 get(const void* all, u32 tile, T& value) {
        const u64 word = published((const u64*)all + tile);
        value = cast<T>((u32)(word >> 32));
        return (u32)word;
    }
};

template <typename T> struct Descriptor<T, 8> {
    static LAB_OPERATOR void put(void* all, u32 tile, u32 state, T value) {
        publish((ulonglong2*)all + tile, state, cast<u64>(value));
    }
    static LAB_OPERATOR u32 get(const void* all, u32 tile, T& value) {
        u64 bits;
        const u64 state = published((const ulonglong2*)all + tile, bits);
        value = cast<T>(bits);
        return (u32)state;
    }
};

template <typename W> struct Descriptor<Affine<W>, 16> {
    static LAB_OPERATOR void put(void* all, u32 tile, u32 state, Affine<W> value) {
        publish((ulonglong2*)all + 2 * (u64)tile, state, value.a);
        publish((ulonglong2*)all + 2 * (u64)tile + 1, state, value.b);
    }
    // State 0 where the halves are of different ones.
    static LAB_OPERATOR u32 get(const void* all, u32 tile, Affine<W>& value) {
        const u64 state = published((const ulonglong2*)all + 2 * (u64)tile, value.a);
        return published((const ulonglong2*)all + 2 * (u64)tile + 1, value.b) == state ? (u32)state : 0u;
    }
};

// ---- one value a lane --------------------------------------------------------------------

template <typename T> LAB T lane_below(T v, u32 by) { return __shfl_up_sync(ALL, v, by); }
template <typename T> LAB T lane_above(T v, u32 by) { return __shfl_down_sync(ALL, v, by); }
template <typename T> LAB T of_lane(T v, u32 lane) { return __shfl_sync(ALL, v, lane); }
template <typename W> LAB Affine<W> lane_below(Affine<W> v, u32 by) { return {lane_below(v.a, by), lane_below(v.b, by)}; }
template <typename W> LAB Affine<W> lane_above(Affine<W> v, u32 by) { return {lane_above(v.a, by), lane_above(v.b, by)}; }
template <typename W> LAB Affine<W> of_lane(Affine<W> v, u32 lane) { return {of_lane(v.a, lane), of_lane(v.b, lane)}; }

// The exclusive scan over the lanes of a warp; `heads` are the lanes whose value begins anew, at
// some point within it. `total` becomes what a further lane would get.
template <class O> LAB typename O::T scan_lanes(O op, typename O::T v, u32 heads, typename O::T& total) {
    const u32 lane = threadIdx.x & 31u;
    const u32 up_to_here = heads & (ALL >> (31u - lane));
    const u32 start = up_to_here == 0 ? 0u : 31u - (u32)__clz((int)up_to_here);
#pragma unroll
    for (u32 by = 1; by < 32u; by *= 2) {
        const typename O::T other = lane_below(v, by);
        if (lane >= start + by) v = op(other, v);
    }
    total = of_lane(v, 31u);
    v = lane_below(v, 1u);
    return lane == 0 ? op.identity() : v;
}

// Descriptors before this tile: 32 of each of some windows, the nearest tile in lane 0 of the first.
template <class O, int WINDOWS> struct Windows {
    typedef typename O::T T;
    T value[WINDOWS];
    u32 state[WINDOWS];

    // Reads those of window `w` that were not published yet, `all` of them for the first time. Before
    // the first tile is nothing: identities that tell everything.
    LAB_OPERATOR void read(O op, const void* descriptors, long long nearest, u32 epoch, int w, bool all) {
        const long long at = nearest - 32 * w - (long long)(threadIdx.x & 31u);
        if (at < 0) {
            state[w] = 2 * epoch + 1;
            value[w] = op.identity();
        } else if (all || state[w] >> 1 != epoch) {
            state[w] = Descriptor<T, sizeof(T)>::get(descriptors, (u32)at, value[w]);
        }
    }
};

// The sum of all tiles before this one, or of those since the last head. All lanes of a warp call
// it. Descriptors that are there are not read again: what polls for the others loads little more
// than what it waits for.
template <class O, int WINDOWS> LAB typename O::T look_back(O op, const void* descriptors, u32 tile, u32 epoch) {
    typedef typename O::T T;
    const u32 lane = threadIdx.x & 31u;
    T sum = op.identity();
    for (long long nearest = (long long)tile - 1;; nearest -= 32 * WINDOWS) {
        Windows<O, WINDOWS> seen;
        u32 ends[WINDOWS];
        bool missing = true;
        for (bool all = true; missing; all = false) {
#pragma unroll
            for (int w = 0; w < WINDOWS; ++w) seen.read(op, descriptors, nearest, epoch, w, all);
            missing = false;
            bool open = true;  // whether nothing yet tells everything up to its end
#pragma unroll
            for (int w = 0; w < WINDOWS; ++w) {
                ends[w] = __ballot_sync(ALL, seen.state[w] == 2 * epoch + 1);
                const u32 absent = __ballot_sync(ALL, seen.state[w] >> 1 != epoch);
                const u32 wanted = ends[w] == 0 ? ALL : (ends[w] & -ends[w]) - 1u;
                missing |= open && (absent & wanted) != 0;
                open &= ends[w] == 0;
            }
        }
        bool open = true;
        T near = op.identity();
#pragma unroll
        for (int w = 0; w < WINDOWS; ++w) {
            T mine = seen.value[w];
            if (!open || (ends[w] != 0 && lane >= (u32)__ffs((int)ends[w]))) mine = op.identity();
#pragma unroll
            for (u32 by = 1; by < 32u; by *= 2) {
                const T farther = lane_above(mine, by);
                if (lane + by < 32u) mine = op(farther, mine);
            }
            near = op(mine, near);
            open &= ends[w] == 0;
        }
        sum = op(of_lane(near, 0u), sum);
        if (!open) return sum;
    }
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

// Where a warp's vectors lie.
struct Chunk {
    u64 base;   // its first element in memory
    u32 last;   // vector of it
    bool backward;
    bool whole;  // whether all of them are moved as vectors
    LAB_OPERATOR u32 vector(u32 r) const {
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
        for (int r = 0; r < VECTORS; ++r) x[r] = cast<Vector<T>>(__ldg((const uint4*)in + chunk.vector(r)));
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
        *(uint4*)(out + at) = cast<uint4>(x);
    } else {
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (chunk.base + at + k < s.n) out[at + k] = x.v[k];
        }
    }
}

// The word of heads that a lane holds for its warp: in the order of memory, and shifted for a
// backward scan, where an element begins a segment if the one behind it in memory is a head.
template <int WORDS> LAB u32 load_heads(const Scan& s, const Chunk& chunk) {
    static_assert(WORDS < 32, "one lane more than words");
    const u32 lane = threadIdx.x & 31u;
    const u64 at = chunk.base / 32u + lane;
    const u32 word = lane <= (u32)WORDS && at * 32u < s.n ? __ldg(s.heads + at) : 0u;
    return chunk.backward ? __funnelshift_r(word, lane_above(word, 1u), 1u) : word;
}

// Bit k: whether element k of the lane's vector r begins a segment.
template <int N> LAB u32 heads_of(const Chunk& chunk, u32 words, u32 r) {
    const u32 at = chunk.vector(r) * N;
    const u32 bits = (__shfl_sync(ALL, words, (int)(at / 32u)) >> (at % 32u)) & ((1u << N) - 1u);
    return chunk.backward ? __brev(bits) >> (32 - N) : bits;
}

// ---- barriers of some warps ------------------------------------------------------------------

#define TOTALS 1u  // the warps that scan: the sums of all are there
#define TOTAL 2u   // from the first of them to the one that looks back: so is the tile's
#define PREFIX 3u  // back to all: so is what comes before the tile

#if defined(__CUDACC__)
LAB void named_sync(u32 barrier, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
LAB void named_arrive(u32 barrier, u32 threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
#endif

// What the warps of a tile share.
template <typename T, int WARPS> struct Shared {
    T totals[WARPS], before[WARPS], total, tiles;
    u32 headed[WARPS], open[WARPS];  // open: without a head before the warp
    u32 known;                       // whether the total tells everything up to the tile's end
};

// The warp that looks back, and tells later tiles what they want as soon as both parts are there.
template <class O, int THREADS, int WINDOWS, typename S> LAB void look_back_for(O op, const Scan& s, u32 tile, S& shared) {
    typedef typename O::T T;
    const T tiles = tile == 0 ? op.identity() : look_back<O, WINDOWS>(op, s.descriptors, tile, s.epoch);
    if ((threadIdx.x & 31u) == 0) shared.tiles = tiles;
    named_sync(TOTAL, 64u);
    named_arrive(PREFIX, THREADS + 32u);
    if ((threadIdx.x & 31u) == 0 && shared.known == 0) {
        Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + 1, op(tiles, shared.total));
    }
}

// The scan of the warps' sums, by the first warp.
template <class O, bool SEGMENTED, int WARPS, typename S> LAB void scan_warps(O op, const Scan& s, u32 tile, S& shared) {
    typedef typename O::T T;
    const u32 lane = threadIdx.x & 31u;
    const bool there = lane < (u32)WARPS;
    const u32 row = SEGMENTED ? __ballot_sync(ALL, there && shared.headed[there ? lane : 0u] != 0) : 0u;
    T total;
    const T warps = scan_lanes(op, there ? shared.totals[lane] : op.identity(), row, total);
    if (there) {
        shared.before[lane] = warps;
        shared.open[lane] = (row & ((1u << lane) - 1u)) == 0;
    }
    if (lane == 0) {
        const bool known = tile == 0 || row != 0;
        Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + known, total);
        shared.total = total;
        shared.known = known;
    }
    named_arrive(TOTAL, 64u);
}

template <class O, bool SEGMENTED, int THREADS, int VECTORS, int WINDOWS> LAB void scan_tile(O op, const Scan& s) {
    typedef typename O::T T;
    const int N = 16 / sizeof(T), WARPS = THREADS / 32;
    __shared__ Shared<T, WARPS> shared;
    __shared__ u32 taken;
    const u32 warp = threadIdx.x / 32u, lane = threadIdx.x & 31u, below = (1u << lane) - 1u;

    // Tickets, so that a tile waits only for those that are at work already.
    if (threadIdx.x == 0) taken = atomicAdd(s.ticket, 1u) - s.first_ticket;
    __syncthreads();
    const u32 tile = taken;
    if (warp == (u32)WARPS) return look_back_for<O, THREADS, WINDOWS>(op, s, tile, shared);

    Chunk chunk;
    chunk.backward = s.backward != 0;
    chunk.last = 32 * VECTORS - 1;
    chunk.base = ((u64)(chunk.backward ? s.tiles - 1 - tile : tile) * WARPS + (chunk.backward ? WARPS - 1 - warp : warp)) *
                 (32 * VECTORS * N);
    chunk.whole = s.aligned != 0 && chunk.base + 32 * VECTORS * N <= s.n;
    Vector<T> x[VECTORS];
    load<O, VECTORS>(op, s, chunk, x);
    const u32 words = SEGMENTED ? load_heads<VECTORS * N>(s, chunk) : 0u;

    // Up: each vector's sum in its lane, row after row, and what comes before it within the warp.
    T carry = op.identity(), ahead[VECTORS];
    u32 heads = 0, open = 0;  // N bits a vector; bit r: no head in the warp before vector r
    u32 seen = 0;
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) {
        const u32 mine = SEGMENTED ? heads_of<N>(chunk, words, r) : 0u;
        heads |= mine << (r * N);
        T sum = x[r].v[0];
#pragma unroll
        for (int k = 1; k < N; ++k) sum = SEGMENTED && (mine >> k & 1u) ? x[r].v[k] : op(sum, x[r].v[k]);
        const u32 row = SEGMENTED ? __ballot_sync(ALL, mine != 0) : 0u;
        T total;
        const T lanes = scan_lanes(op, sum, row, total);
        const bool first = (row & below) == 0;
        ahead[r] = first ? op(carry, lanes) : lanes;
        if (first && seen == 0) open |= 1u << r;
        carry = row != 0 ? total : op(carry, total);
        seen |= row;
    }
    if (lane == 0) {
        shared.totals[warp] = carry;
        shared.headed[warp] = seen;
    }

    // Spine: the warps of the tile, and the tiles.
    named_sync(TOTALS, THREADS);
    if (warp == 0) scan_warps<O, SEGMENTED, WARPS>(op, s, tile, shared);
    named_sync(PREFIX, THREADS + 32u);

    // Down: into the vectors.
    const T reaching = shared.open[warp] != 0 ? op(shared.tiles, shared.before[warp]) : shared.before[warp];
#pragma unroll
    for (int r = 0; r < VECTORS; ++r) {
        T sum = !SEGMENTED || (open >> r & 1u) ? op(reaching, ahead[r]) : ahead[r];
#pragma unroll
        for (int k = 0; k < N; ++k) {
            if (SEGMENTED && (heads >> (r * N + k) & 1u)) sum = op.identity();
            const T next = op(sum, x[r].v[k]);
            x[r].v[k] = s.inclusive != 0 ? next : sum;
            sum = next;
        }
        store<O>(s, chunk, r, x[r]);
    }
}

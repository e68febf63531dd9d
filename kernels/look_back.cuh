// Scan and segmented scan in a single pass by decoupled look-back (Merrill, Garland: Single-pass
// Parallel Prefix Scan with Decoupled Look-back, 2016).
//
// A block scans a tile. It publishes the tile's own sum, looks back over what earlier tiles have
// published, from the nearest one on, until one of them tells the sum of everything up to its end,
// and then publishes that of its own end. A segmented tile with a head needs nothing of earlier
// tiles to tell what later ones want: the look-back ends there. So a segmented scan passes as
// few words between blocks as a scan. Its look-back is short, and a further warp does it from the
// block's beginning on, while the others wait for memory; that of a scan is long, and begins in
// the first warp once the tile's sum is there, so that it asks less often for what is not.
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

// The descriptors before this tile that a lane looks at together: `NEAR` of them, the nearest first.
template <class O, int NEAR> struct Near {
    typename O::T sum;  // of them, up to the first that tells everything up to its end
    bool ends;          // whether there is one
    bool missing;       // whether one of those was not published yet

    // Before the first tile is nothing: identities that tell everything.
    LAB_OPERATOR void read(O op, const void* descriptors, long long nearest, u32 epoch) {
        typename O::T value[NEAR];
        u32 state[NEAR];
#pragma unroll
        for (int k = 0; k < NEAR; ++k) {
            state[k] = 2 * epoch + 1;
            value[k] = op.identity();
            if (nearest >= k) state[k] = Descriptor<typename O::T, sizeof(typename O::T)>::get(descriptors, (u32)(nearest - k), value[k]);
        }
        sum = op.identity();
        ends = missing = false;
#pragma unroll
        for (int k = 0; k < NEAR; ++k) {
            if (ends) continue;
            missing |= state[k] >> 1 != epoch;
            ends = state[k] == 2 * epoch + 1;
            sum = op(value[k], sum);
        }
        ends &= !missing;
    }
};

// The sum of all tiles before this one, or of those since the last head. All lanes of a warp call
// it.
template <class O, int NEAR> LAB typename O::T look_back(O op, const void* descriptors, u32 tile, u32 epoch) {
    typedef typename O::T T;
    const u32 lane = threadIdx.x & 31u;
    T sum = op.identity();
    for (long long nearest = (long long)tile - 1;; nearest -= 32 * NEAR) {
        Near<O, NEAR> seen;
        u32 ends, missing;
        do {
            seen.read(op, descriptors, nearest - (long long)(lane * NEAR), epoch);
            ends = __ballot_sync(ALL, seen.ends);
            missing = __ballot_sync(ALL, seen.missing);
        } while ((missing & (ends == 0 ? ALL : (ends & -ends) - 1u)) != 0);
        T mine = ends != 0 && lane >= (u32)__ffs((int)ends) ? op.identity() : seen.sum;
#pragma unroll
        for (u32 by = 1; by < 32u; by *= 2) {
            const T farther = lane_above(mine, by);
            if (lane + by < 32u) mine = op(farther, mine);
        }
        sum = op(of_lane(mine, 0u), sum);
        if (ends != 0) return sum;
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

// ---- the spine ---------------------------------------------------------------------------------

#define TOTALS 1u  // the barrier of the warps that scan: the sums of all are there

#if defined(__CUDACC__)
LAB void named_sync(u32 barrier, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
#endif

template <typename T, int WARPS> struct Shared {
    T totals[WARPS];    // of each warp: the sum up to its end, from its last head on
    T before[WARPS];    // the sum before it in the tile
    T tiles;            // the sum before the tile
    T total;            // the tile's own
    u32 headed[WARPS];  // whether it has a head
    u32 open[WARPS];    // whether no warp before it has
    u32 known;          // whether the tile's sum tells everything up to its end
};

// Tells later tiles the sum up to the tile's end, by one thread.
template <class O, int WARPS> LAB void publish_end(O op, const Scan& s, u32 tile, const Shared<typename O::T, WARPS>& shared) {
    typedef typename O::T T;
    if (shared.known == 0) Descriptor<T, sizeof(T)>::put(s.descriptors, tile, 2 * s.epoch + 1, op(shared.tiles, shared.total));
}

// What comes before the tile, by a warp.
template <class O, int NEAR, int WARPS> LAB void find_tiles(O op, const Scan& s, u32 tile, Shared<typename O::T, WARPS>& shared) {
    const typename O::T tiles = tile == 0 ? op.identity() : look_back<O, NEAR>(op, s.descriptors, tile, s.epoch);
    if ((threadIdx.x & 31u) == 0) shared.tiles = tiles;
}

// The scan of the warps' sums, by the first warp, which tells later tiles the sum of this one.
template <class O, bool SEGMENTED, int WARPS> LAB void scan_warps(O op, const Scan& s, u32 tile, Shared<typename O::T, WARPS>& shared) {
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
}

// ---- all of it ---------------------------------------------------------------------------------

// THREADS scan; with APART a warp more looks back.
template <class O, bool SEGMENTED, bool APART, int THREADS, int VECTORS, int NEAR> LAB void scan_tile(O op, const Scan& s) {
    typedef typename O::T T;
    const int N = 16 / sizeof(T), WARPS = THREADS / 32;
    __shared__ Shared<T, WARPS> shared;
    __shared__ u32 taken;
    const u32 warp = threadIdx.x / 32u, lane = threadIdx.x & 31u, below = (1u << lane) - 1u;

    // Tickets, so that a tile waits only for those that are at work already.
    if (threadIdx.x == 0) taken = atomicAdd(s.ticket, 1u) - s.first_ticket;
    __syncthreads();
    const u32 tile = taken;
    if (APART && warp == (u32)WARPS) {
        find_tiles<O, NEAR, WARPS>(op, s, tile, shared);
        __syncthreads();
        return;
    }

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
    if (APART) named_sync(TOTALS, THREADS);
    else __syncthreads();
    if (warp == 0) {
        scan_warps<O, SEGMENTED, WARPS>(op, s, tile, shared);
        if (!APART) {
            find_tiles<O, NEAR, WARPS>(op, s, tile, shared);
            if (lane == 0) publish_end<O, WARPS>(op, s, tile, shared);
        }
    }
    __syncthreads();
    if (APART && threadIdx.x == 0) publish_end<O, WARPS>(op, s, tile, shared);

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

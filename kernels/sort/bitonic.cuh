// Bitonic sorting network (src/core/primitives/sort/methods/bitonic.rs): tiles, and parts that fit, in shared memory; longer
// spans in global memory. Stage by stage, with spans 2, 4, 8, …:
//
//   first level of a stage of span k   compares key i with its mirror image i ^ (k - 1)
//   later levels, of spans k/2, …, 2   compare keys half a span apart
//
// The smaller key always goes to the lower index, so positions past the end, as if greatest, would keep their place:
// comparisons with them are left out. With values, each key carries its place, the index of its value; among equal
// keys the lower place is smaller.
#pragma once

#include "../common/certify.cuh"
#include "../common/warp.cuh"

#define NETWORK_TILE 4096u    // keys that a block sorts in shared memory
#define NETWORK_THREADS 256u  // per block, at most
#define NETWORK_ITEMS (NETWORK_TILE / NETWORK_THREADS)

extern __shared__ ulonglong2 dense[];

struct NoPlace {};

// Orders keys by bits [begin, begin + bits), then by place.
template <typename K> struct FieldOrder {
    K mask;
    u32 begin;

    LAB_MEMBER FieldOrder(u32 begin, u32 bits) : mask((K)(~(K)0 >> (8u * sizeof(K) - bits))), begin(begin) {}
    LAB_MEMBER K of(K key) const { return key >> begin & mask; }
    LAB_MEMBER bool wrong(K a, NoPlace, K b, NoPlace) const { return of(a) > of(b); }
    LAB_MEMBER bool wrong(K a, u32 p, K b, u32 q) const { return of(a) > of(b) || (of(a) == of(b) && p > q); }
};

template <typename T> LAB void swap(T& a, T& b) {
    const T other = a;
    a = b;
    b = other;
}

// The array of places, or nothing without values.
template <bool PAIRED> struct Places {
    typedef u32 P;
    u32* at;
    LAB_MEMBER u32& operator[](u32 i) const { return at[i]; }
};

template <> struct Places<false> {
    typedef NoPlace P;
    u32* at;
    LAB_MEMBER NoPlace operator[](u32) const { return {}; }
};

LAB void exchange_places(const Places<true>& places, u32 a, u32 b) { swap(places[a], places[b]); }
LAB void exchange_places(const Places<false>&, u32, u32) {}

// ---- in shared memory ------------------------------------------------------------------------------

// In shared memory: NETWORK_TILE keys, then their places.
template <typename K, bool PAIRED> struct Network {
    FieldOrder<K> order;
    K* keys;
    Places<PAIRED> places;
    u32 n;

    LAB_MEMBER Network(const FieldOrder<K>& order, u32 n) : order(order), keys((K*)dense), places{(u32*)((K*)dense + NETWORK_TILE)}, n(n) {}

    LAB_MEMBER void level(u32 span, bool mirrored) const {
        const u32 half = span / 2u;
        for (u32 c = threadIdx.x;; c += blockDim.x) {
            const u32 low = (c & ~(half - 1u)) * 2u + (c & (half - 1u));
            if (low >= n) return;
            const u32 high = mirrored ? low ^ (span - 1u) : low + half;
            if (high >= n || !order.wrong(keys[low], places[low], keys[high], places[high])) continue;
            swap(keys[low], keys[high]);
            exchange_places(places, low, high);
        }
    }

    // Barrier between two levels. In spans up to 64 a warp compares only keys of its own 64, so it waits for itself
    // alone.
    LAB_MEMBER static void settle(u32 span, u32 next) {
        if (span > 64u || next > 64u) __syncthreads();
        else __syncwarp();
    }

    // Runs the levels span, span / 2, …, 2, which end a stage; only the first may be mirrored. `after`: span of the
    // level that follows.
    LAB_MEMBER void finish(u32 span, bool mirrored, u32 after) const {
        for (; span > 1u; span /= 2u, mirrored = false) {
            level(span, mirrored);
            settle(span, span > 2u ? span / 2u : after);
        }
    }

    // Sorts the keys. All threads must call this, with a barrier before and after.
    LAB_MEMBER void sort() const {
        for (u32 stage = 2; stage / 2u < n; stage *= 2u) finish(stage, true, 2u * stage);
    }
};

// ---- over all keys -----------------------------------------------------------------------------------

struct Bitonic {
    const void* keys_in;
    void* keys;
    u32* places;
    u32 n;
    u32 begin, bits;  // the field to sort by
    u32 span;
    u32 mirrored;
    u32 unused;
};

static_assert(sizeof(Bitonic) == 48, "the layout of the host");

// One tile in shared memory. BEGIN: sorts it from the input. Else: the levels of a stage whose spans fit in a tile.
template <typename K, bool PAIRED, bool BEGIN> LAB void network_tile(const Bitonic& s) {
    const u32 first = blockIdx.x * NETWORK_TILE, left = s.n - first;
    const Network<K, PAIRED> network(FieldOrder<K>(s.begin, s.bits), left < NETWORK_TILE ? left : NETWORK_TILE);
    const K* const from = (const K*)(BEGIN ? s.keys_in : s.keys) + first;
    for (u32 j = threadIdx.x; j < network.n; j += blockDim.x) {
        network.keys[j] = from[j];
        if constexpr (PAIRED) network.places[j] = BEGIN ? first + j : s.places[first + j];
    }
    __syncthreads();
    if (BEGIN) network.sort();
    else network.finish(NETWORK_TILE, false, 2u);
    __syncthreads();
    for (u32 j = threadIdx.x; j < network.n; j += blockDim.x) {
        ((K*)s.keys)[first + j] = network.keys[j];
        if constexpr (PAIRED) s.places[first + j] = network.places[j];
    }
}

// LEVELS levels, from span s.span down: a thread holds the 2^LEVELS keys that these levels compare with each other in
// registers.
template <typename K, bool PAIRED, u32 LEVELS> LAB void network_levels(const Bitonic& s) {
    const u32 E = 1u << LEVELS, each = s.span >> LEVELS, group = blockIdx.x * blockDim.x + threadIdx.x;
    const u32 first = group / each * s.span + group % each;
    if (first >= s.n) return;
    const FieldOrder<K> order(s.begin, s.bits);
    K key[E];
    typename Places<PAIRED>::P place[E];
    u32 at[E];
#pragma unroll
    for (u32 e = 0; e < E; ++e) {
        at[e] = s.mirrored != 0 && e >= E / 2u ? (first + (E - 1u - e) * each) ^ (s.span - 1u) : first + e * each;
        if (at[e] >= s.n) continue;
        key[e] = ((const K*)s.keys)[at[e]];
        if constexpr (PAIRED) place[e] = s.places[at[e]];
    }
    auto compare = [&](u32 low, u32 high) {
        if (at[high] >= s.n || !order.wrong(key[low], place[low], key[high], place[high])) return;
        swap(key[low], key[high]);
        swap(place[low], place[high]);
    };
#pragma unroll
    for (u32 e = 0; e < E / 2u; ++e) {
        if (s.mirrored != 0) compare(e, E - 1u - e);
        else compare(e, e + E / 2u);
    }
#pragma unroll
    for (u32 apart = E / 4u; apart > 0; apart /= 2u) {
#pragma unroll
        for (u32 e = 0; e < E; ++e) {
            if ((e & apart) == 0) compare(e, e + apart);
        }
    }
#pragma unroll
    for (u32 e = 0; e < E; ++e) {
        if (at[e] >= s.n) continue;
        ((K*)s.keys)[at[e]] = key[e];
        if constexpr (PAIRED) s.places[at[e]] = place[e];
    }
}

// Moves the values once their keys are sorted: out[i] = in[places[i]].
template <typename V> LAB void network_values(V* out, const V* in, const u32* places, u32 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = in[places[i]];
}

#define PAIRED_keys false
#define PAIRED_pairs true

#define BITONIC(KEY, what)                                                                                       \
    extern "C" __global__ void __launch_bounds__(NETWORK_THREADS) bitonic_tiles_u##KEY##_##what(Bitonic s) {     \
        network_tile<u##KEY, PAIRED_##what, true>(s);                                                            \
    }                                                                                                            \
    extern "C" __global__ void __launch_bounds__(NETWORK_THREADS) bitonic_rest_u##KEY##_##what(Bitonic s) {      \
        network_tile<u##KEY, PAIRED_##what, false>(s);                                                           \
    }                                                                                                            \
    BITONIC_LEVELS(KEY, what, 1) BITONIC_LEVELS(KEY, what, 2) BITONIC_LEVELS(KEY, what, 3)

#define BITONIC_LEVELS(KEY, what, LEVELS)                                                                        \
    extern "C" __global__ void __launch_bounds__(NETWORK_THREADS)                                                \
        bitonic_levels_##LEVELS##_u##KEY##_##what(Bitonic s) {                                                   \
        network_levels<u##KEY, PAIRED_##what, LEVELS>(s);                                                        \
    }

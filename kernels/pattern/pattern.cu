// pattern: Spatter's kernels on 8-byte words (lavin2020 §3.1). S is the sparse array, D the dense one, p the pattern
// of P entries; i runs over the count, j over the entries:
//
//   gather   D[j + P·(i mod wrap)] = S[p[j] + δ·i]      scatter  the reverse
//   gs       S_s[p_s[j] + δ_s·i] = S_g[p_g[j] + δ_g·i]
//
// multigather and multiscatter have p[q[j]] for p[j]. D is private to each block, in shared memory, unless all blocks
// share one in global memory; accesses to D are volatile, so that each of them happens. Certificates use a second
// instantiation, because timed kernels overwrite D: it keeps every word (gather), or takes a distinct word for each
// (i, j) (scatter).
#include "../common/fill.cuh"
#include "walk.cuh"
#include "visits.cuh"

extern __shared__ u64 dense[];

template <bool WRAPS> LAB Dense<WRAPS> dense_of(const Walk& w, const Place& at) {
    Dense<WRAPS> d;
    d.word = dense + at.slot;
    d.slots = w.slots;
    return d;
}

// ---- what the timed kernels do ----------------------------------------------------------------
// VISITS, _visits: uses start at positions read from an array instead of δ·i. _variant: that, or atomic stores.

// Calls move(source) with the array that the thread reads.
template <bool VISITS, typename Move>
LAB void taking(const u64* __restrict__ source, const Side& side, const Walk& w, const Place& at, Move move) {
    if constexpr (VISITS) {
        visiting(source, side, at, 0, move);
    } else {
        auto from = sparse(source, side, w, at);
        move(from);
    }
}

// gather, multigather. `left`: null when timed; in a certificate the final contents of each block's D, with poison in
// words that were never written.
template <u32 ITEMS, bool VISITS>
LAB void gather(const Walk& w, const Side& side, const u64* __restrict__ source, u64* left) {
    const u32 words = w.slots * w.wrap;
    if (left != nullptr) {
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) dense[s] = POISON;
        __syncthreads();
    }
    const Place at = place_of(w);
    if (at.active) {
        taking<VISITS>(source, side, w, at, [&](auto& from) {
            if (!VISITS && w.wrap == 1u) {
                auto to = dense_of<false>(w, at);
                move_words<ITEMS>(w, at, from, to);
            } else {
                auto to = dense_of<true>(w, at);
                move_words<ITEMS>(w, at, from, to);
            }
        });
    }
    if (left != nullptr) {
        __syncthreads();
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) left[(u64)blockIdx.x * words + s] = dense[s];
    }
}

template <bool WRAPS> LAB Shared<WRAPS> shared_of(u64* into, const Walk& w, const Place& at) {
    Shared<WRAPS> d;
    d.word = into + at.j;
    d.length = w.length;
    return d;
}

// gather, multigather with one D in global memory for all blocks, as in the definition: the last store to a word
// remains. The stores are volatile, too.
template <u32 ITEMS, bool VISITS>
LAB void gather_global(const Walk& w, const Side& side, const u64* __restrict__ source, u64* into) {
    const Place at = place_of(w);
    if (!at.active) return;
    taking<VISITS>(source, side, w, at, [&](auto& from) {
        if (!VISITS && w.wrap == 1u) {
            auto to = shared_of<false>(into, w, at);
            move_words<ITEMS>(w, at, from, to);
        } else {
            auto to = shared_of<true>(into, w, at);
            move_words<ITEMS>(w, at, from, to);
        }
    });
}

// Number of partial sums of a gather without a destination. One block per tile makes hundreds of millions of adds per
// second, which would serialize on a single address.
#define PARTIALS 1024u

// Adds the sum of the block's words to one of the partial sums. All threads of the block must call this.
LAB void add_block_sum(u64* partials, u64 mine) {
    __shared__ u64 warps[WIDE_BLOCK / 32u];
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (u32 warp = 1; warp < blockDim.x / 32u; ++warp) mine += warps[warp];
    atomicAdd(&partials[blockIdx.x % PARTIALS], mine);
}

// gather, multigather without a destination, as in Spatter's CUDA kernel. Adds the sum of all words to the partial
// sums.
template <u32 ITEMS, bool VISITS>
LAB void read_only(const Walk& w, const Side& side, const u64* __restrict__ source, u64* partials) {
    const Place at = place_of(w);
    Folded to;
    to.sum = 0;
    if (at.active) taking<VISITS>(source, side, w, at, [&](auto& from) { move_words<ITEMS>(w, at, from, to); });
    __syncwarp();
    add_block_sum(partials, to.sum);
}

// Fills the block's D: D[k] = word64(seed, k).
LAB void fill_dense(const Walk& w, u64 key) {
    const u64 first_column = (u64)(blockIdx.x % w.tiles) * w.columns;
    for (u32 s = threadIdx.x; s < w.slots * w.wrap; s += blockDim.x) {
        const u32 turn = w.wrap == 1u ? 0u : s / w.slots;  // no division for short blocks
        dense[s] = word64(key, first_column + (s - turn * w.slots) + w.length * turn);
    }
    __syncthreads();
}

// scatter, multiscatter.
template <u32 ITEMS>
LAB void scatter(const Walk& w, const Side& side, u64* __restrict__ destination, u64 key) {
    fill_dense(w, key);
    const Place at = place_of(w);
    if (!at.active) return;
    auto to = sparse(destination, side, w, at);
    if (w.wrap == 1u) {
        auto from = dense_of<false>(w, at);
        move_words<ITEMS>(w, at, from, to);
    } else {
        auto from = dense_of<true>(w, at);
        move_words<ITEMS>(w, at, from, to);
    }
}

template <u32 ITEMS>
LAB void scatter_variant(const Walk& w, const Side& side, u64* __restrict__ destination, u64 key, u32 atomic) {
    fill_dense(w, key);
    const Place at = place_of(w);
    if (!at.active) return;
    auto from = dense_of<true>(w, at);
    if (side.starts == nullptr) {
        auto to = exchanged(destination, side, w, at);
        move_words<ITEMS>(w, at, from, to);
    } else {
        visiting(destination, side, at, atomic, [&](auto& to) { move_words<ITEMS>(w, at, from, to); });
    }
}

template <u32 ITEMS>
LAB void gs(const Walk& w, const Side& from_side, const Side& to_side, const u64* __restrict__ source,
            u64* __restrict__ destination) {
    const Place at = place_of(w);
    if (!at.active) return;
    auto from = sparse(source, from_side, w, at);
    auto to = sparse(destination, to_side, w, at);
    move_words<ITEMS>(w, at, from, to);
}

// Either both sides have arrays of starts, with entries of one size, or neither has one.
template <u32 ITEMS>
LAB void gs_variant(const Walk& w, const Side& from_side, const Side& to_side, const u64* __restrict__ source,
                    u64* __restrict__ destination, u32 atomic) {
    const Place at = place_of(w);
    if (!at.active) return;
    if (from_side.starts == nullptr) {
        auto from = sparse(source, from_side, w, at);
        auto to = exchanged(destination, to_side, w, at);
        move_words<ITEMS>(w, at, from, to);
    } else if (from_side.start_bytes == 4u) {
        auto from = visited<u32>(source, from_side, at, 0);
        auto to = visited<u32>(destination, to_side, at, atomic);
        move_words<ITEMS>(w, at, from, to);
    } else {
        auto from = visited<u64>(source, from_side, at, 0);
        auto to = visited<u64>(destination, to_side, at, atomic);
        move_words<ITEMS>(w, at, from, to);
    }
}

// ---- the timed kernels, by the iterations that a thread has in flight ---------------------------
// pattern_NAME_uN is launched with walks of N items; _visits and _variant: see above. Wider blocks than BLOCK have kernels
// of their own, pattern_NAME_uN_wide, whose threads have fewer registers.

#define IN_BLOCKS(THREADS) extern "C" __global__ void __launch_bounds__(THREADS)
#define SOURCE const u64* __restrict__ source
#define DESTINATION u64* __restrict__ destination

#define WITH_ITEMS(N, THREADS, WIDE)                                                                        \
    IN_BLOCKS(THREADS) pattern_gather_u##N##WIDE(Walk w, Side side, SOURCE, u64* left) {                    \
        gather<N, false>(w, side, source, left);                                                            \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_gather_visits_u##N##WIDE(Walk w, Side side, SOURCE, u64* left) {             \
        gather<N, true>(w, side, source, left);                                                             \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_gather_global_u##N##WIDE(Walk w, Side side, SOURCE, u64* into) {             \
        gather_global<N, false>(w, side, source, into);                                                     \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_gather_global_visits_u##N##WIDE(Walk w, Side side, SOURCE, u64* into) {      \
        gather_global<N, true>(w, side, source, into);                                                      \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_read_only_u##N##WIDE(Walk w, Side side, SOURCE, u64* partials) {             \
        read_only<N, false>(w, side, source, partials);                                                     \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_read_only_visits_u##N##WIDE(Walk w, Side side, SOURCE, u64* partials) {      \
        read_only<N, true>(w, side, source, partials);                                                      \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_scatter_u##N##WIDE(Walk w, Side side, DESTINATION, u64 key) {                \
        scatter<N>(w, side, destination, key);                                                              \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_scatter_variant_u##N##WIDE(Walk w, Side side, DESTINATION, u64 key, u32 atomic) {\
        scatter_variant<N>(w, side, destination, key, atomic);                                              \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_gs_u##N##WIDE(Walk w, Side from, Side to, SOURCE, DESTINATION) {             \
        gs<N>(w, from, to, source, destination);                                                            \
    }                                                                                                       \
    IN_BLOCKS(THREADS) pattern_gs_variant_u##N##WIDE(Walk w, Side from, Side to, SOURCE, DESTINATION, u32 atomic) {\
        gs_variant<N>(w, from, to, source, destination, atomic);                                            \
    }

WITH_ITEMS(1, BLOCK, )
WITH_ITEMS(1, WIDE_BLOCK, _wide)
WITH_ITEMS(2, BLOCK, )
WITH_ITEMS(2, WIDE_BLOCK, _wide)
WITH_ITEMS(4, BLOCK, )
WITH_ITEMS(4, WIDE_BLOCK, _wide)
WITH_ITEMS(8, BLOCK, )
WITH_ITEMS(8, WIDE_BLOCK, _wide)

#include "certify.cuh"

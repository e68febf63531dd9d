// pattern: Spatter's kernels on 8-byte words (lavin2020 §3.1). S is sparse, D dense, p
// the pattern of P entries, i runs over the count, j over the entries:
//
//   gather   D[j + P·(i mod wrap)] = S[p[j] + δ·i]      scatter  the reverse
//   gs       S_s[p_s[j] + δ_s·i] = S_g[p_g[j] + δ_g·i]
//
// multigather and multiscatter have p[q[j]] for p[j].
//
// A thread serves one entry j in every `rows`-th iteration, so its index sits in a
// register and the loop has no division. Long patterns are cut into tiles of columns,
// one tile a block. D is private to a block, in shared memory; its accesses are volatile,
// so that each of them happens. For a certificate, where D would be overwritten, a second
// instantiation keeps every word (gather) or takes a word of its own for each (i, j)
// (scatter).
#include "fill.cuh"

#define BLOCK 256u
#define UNROLL 8u  // iterations that a thread has in flight

// How blocks and threads share the (i, j).
struct Walk {
    u64 length;        // P
    u64 first, last;   // iterations [first, last)
    u32 columns;       // entries of a tile, at most BLOCK
    u32 rows;          // iterations that a block handles side by side
    u32 tiles;         // tiles of columns; block b works on tile b % tiles
    u32 workers;       // blocks that share a tile
    u32 wrap;
    u32 slots;         // words of D for one i mod wrap
    u32 private_rows;  // each row has words of D of its own
    u32 unused;
};

// One sparse array's pattern.
struct Side {
    const void* index;  // p, or q where `outer` is p
    const void* outer;  // null without a second pattern
    u64 delta;
    const void* starts;  // where each visit starts, null where that is δ·i
    u32 bytes;           // of an index, 4 or 8
    u32 start_bytes;     // of a start, 4 or 8
};

static_assert(sizeof(Walk) == 56 && sizeof(Side) == 40, "the layouts of the host");

LAB u64 index_at(const void* index, u32 bytes, u64 j) {
    return bytes == 4u ? (u64)((const u32*)index)[j] : ((const u64*)index)[j];
}

LAB u64 entry(const Side& side, u64 j) {
    const u64 inner = index_at(side.index, side.bytes, j);
    return side.outer == nullptr ? inner : index_at(side.outer, side.bytes, inner);
}

// Where a thread stands.
struct Place {
    bool active;  // whether it has an entry
    u64 j;
    u64 i;     // its first iteration, which may be past the last
    u32 slot;  // its word of D where i mod wrap is 0
};

LAB Place place_of(const Walk& w, u32 unroll) {
    const u32 tile = blockIdx.x % w.tiles, worker = blockIdx.x / w.tiles;
    const u32 row = threadIdx.x / w.columns, column = threadIdx.x % w.columns;
    Place p;
    p.j = (u64)tile * w.columns + column;
    p.i = w.first + (u64)worker * w.rows * unroll + row;
    p.slot = w.private_rows ? row * w.columns + column : column;
    p.active = row < w.rows && p.j < w.length;
    return p;
}

// i mod wrap without a division in the loop.
LAB u32 turned(u32 turn, u32 by, u32 wrap) {
    turn += by;
    return turn >= wrap ? turn - wrap : turn;
}

#define LAB_MEMBER __forceinline__ __device__

// ---- what a move takes from and puts to: word `u` of the thread's tile of iterations,
// ---- which is of iteration i, and i mod wrap is `turn` -------------------------------------

// A sparse array. P is u64* or const u64* __restrict__.
template <typename P> struct Sparse {
    P word;    // of the tile's first iteration
    u64 row;   // words to the thread's next iteration
    u64 jump;  // words to the block's next tile of iterations
    LAB_MEMBER u64 take(u32 u, u64, u32) const { return word[u * row]; }
    LAB_MEMBER void put(u32 u, u64, u32, u64 value) const { word[u * row] = value; }
    LAB_MEMBER void advance() { word += jump; }
};

// The block's words of D. Without WRAPS, wrap is 1, and the loop needs no turns.
template <bool WRAPS> struct Dense {
    volatile u64* word;  // of turn 0
    u32 slots;
    LAB_MEMBER u64 take(u32, u64, u32 turn) const { return word[WRAPS ? turn * slots : 0]; }
    LAB_MEMBER void put(u32, u64, u32 turn, u64 value) const { word[WRAPS ? turn * slots : 0] = value; }
    LAB_MEMBER void advance() {}
};

// A word for each (i, j), in memory: those of [first, last), iteration after iteration.
struct Kept {
    u64* word;  // of (first, j)
    u64 first, length;
    LAB_MEMBER void put(u32, u64 i, u32, u64 value) const { word[(i - first) * length] = value; }
    LAB_MEMBER void advance() {}
};

// A word for each (i, j), computed: word64(seed, i·P + j).
struct Computed {
    u64 key, j, length;
    LAB_MEMBER u64 take(u32, u64 i, u32) const { return word64(key, i * length + j); }
    LAB_MEMBER void advance() {}
};

// A register that every word is added to: nothing is stored. A sum, because equal words
// would cancel in an exclusive or.
struct Folded {
    u64 sum;
    LAB_MEMBER void put(u32, u64, u32, u64 value) { sum += value; }
    LAB_MEMBER void advance() {}
};

template <typename P>
LAB Sparse<P> sparse(P words, const Side& side, const Walk& w, const Place& at) {
    Sparse<P> s;
    s.word = words + (entry(side, at.j) + side.delta * at.i);
    s.row = side.delta * w.rows;
    s.jump = side.delta * ((u64)w.rows * UNROLL * w.workers);
    return s;
}

// Moves the words of all iterations of an active thread: UNROLL of them are taken
// before the first is put. Only the last tile of iterations needs conditions.
template <typename From, typename To> LAB void move_words(const Walk& w, Place at, From& from, To& to) {
    const u64 rows = w.rows, jump = rows * UNROLL * w.workers;
    const u32 wrap = w.wrap, turn_row = w.rows % wrap, turn_jump = (u32)(jump % wrap);
    u32 first_turn = (u32)(at.i % wrap);
    u64 v[UNROLL];
    for (; at.i + (UNROLL - 1u) * rows < w.last; at.i += jump) {
        u32 turn = first_turn;
#pragma unroll
        for (u32 u = 0; u < UNROLL; ++u, turn = turned(turn, turn_row, wrap)) {
            v[u] = from.take(u, at.i + u * rows, turn);
        }
        turn = first_turn;
#pragma unroll
        for (u32 u = 0; u < UNROLL; ++u, turn = turned(turn, turn_row, wrap)) {
            to.put(u, at.i + u * rows, turn, v[u]);
        }
        first_turn = turned(first_turn, turn_jump, wrap);
        from.advance();
        to.advance();
    }
    u32 turn = first_turn;
#pragma unroll
    for (u32 u = 0; u < UNROLL; ++u, turn = turned(turn, turn_row, wrap)) {
        if (at.i + u * rows < w.last) v[u] = from.take(u, at.i + u * rows, turn);
    }
    turn = first_turn;
#pragma unroll
    for (u32 u = 0; u < UNROLL; ++u, turn = turned(turn, turn_row, wrap)) {
        if (at.i + u * rows < w.last) to.put(u, at.i + u * rows, turn, v[u]);
    }
}

#include "visits.cuh"

// ---- the timed kernels ----------------------------------------------------------------------
// Those named _visits or _variant do what a case has to that does not start its uses at δ·i,
// or whose stores are atomic.

extern __shared__ u64 dense[];

template <bool WRAPS> LAB Dense<WRAPS> dense_of(const Walk& w, const Place& at) {
    Dense<WRAPS> d;
    d.word = dense + at.slot;
    d.slots = w.slots;
    return d;
}

// gather, multigather. `left` is null when timed; a certificate gets there what each
// block's D holds at the end, poison where it was never written.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_gather(Walk w, Side side, const u64* __restrict__ source, u64* left) {
    const u32 words = w.slots * w.wrap;
    if (left != nullptr) {
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) dense[s] = POISON;
        __syncthreads();
    }
    const Place at = place_of(w, UNROLL);
    if (at.active) {
        auto from = sparse(source, side, w, at);
        if (w.wrap == 1u) {
            auto to = dense_of<false>(w, at);
            move_words(w, at, from, to);
        } else {
            auto to = dense_of<true>(w, at);
            move_words(w, at, from, to);
        }
    }
    if (left != nullptr) {
        __syncthreads();
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) left[(u64)blockIdx.x * words + s] = dense[s];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_gather_visits(Walk w, Side side, const u64* __restrict__ source, u64* left) {
    const u32 words = w.slots * w.wrap;
    if (left != nullptr) {
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) dense[s] = POISON;
        __syncthreads();
    }
    const Place at = place_of(w, UNROLL);
    if (at.active) {
        auto to = dense_of<true>(w, at);
        visiting(source, side, at, 0, [&](auto& from) { move_words(w, at, from, to); });
    }
    if (left != nullptr) {
        __syncthreads();
        for (u32 s = threadIdx.x; s < words; s += blockDim.x) left[(u64)blockIdx.x * words + s] = dense[s];
    }
}

// The same, keeping every word: kept[(i − first)·P + j].
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_gather_keep(Walk w, Side side, const u64* __restrict__ source, u64* __restrict__ kept) {
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    Kept to;
    to.word = kept + at.j;
    to.first = w.first;
    to.length = w.length;
    if (side.starts == nullptr) {
        auto from = sparse(source, side, w, at);
        move_words(w, at, from, to);
    } else {
        auto from = anywhere(source, side, at, 0);
        move_words(w, at, from, to);
    }
}

// gather, multigather without a destination, as in Spatter's CUDA kernel. *fold gains
// the sum of all words.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_read_only(Walk w, Side side, const u64* __restrict__ source, u64* fold) {
    __shared__ u64 block;
    if (threadIdx.x == 0) block = 0;
    __syncthreads();
    const Place at = place_of(w, UNROLL);
    Folded to;
    to.sum = 0;
    if (at.active) {
        auto from = sparse(source, side, w, at);
        move_words(w, at, from, to);
    }
    __syncwarp();
    add_sum(&block, to.sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(fold, block);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_read_only_visits(Walk w, Side side, const u64* __restrict__ source, u64* fold) {
    __shared__ u64 block;
    if (threadIdx.x == 0) block = 0;
    __syncthreads();
    const Place at = place_of(w, UNROLL);
    Folded to;
    to.sum = 0;
    if (at.active) visiting(source, side, at, 0, [&](auto& from) { move_words(w, at, from, to); });
    __syncwarp();
    add_sum(&block, to.sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(fold, block);
}

// D[k] = word64(seed, k).
LAB void fill_dense(const Walk& w, u64 key) {
    const u64 first_column = (u64)(blockIdx.x % w.tiles) * w.columns;
    for (u32 s = threadIdx.x; s < w.slots * w.wrap; s += blockDim.x) {
        dense[s] = word64(key, first_column + s % w.slots + w.length * (s / w.slots));
    }
    __syncthreads();
}

// scatter, multiscatter.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_scatter(Walk w, Side side, u64* __restrict__ destination, u64 key) {
    fill_dense(w, key);
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    auto to = sparse(destination, side, w, at);
    if (w.wrap == 1u) {
        auto from = dense_of<false>(w, at);
        move_words(w, at, from, to);
    } else {
        auto from = dense_of<true>(w, at);
        move_words(w, at, from, to);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_scatter_variant(Walk w, Side side, u64* __restrict__ destination, u64 key, u32 atomic) {
    fill_dense(w, key);
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    auto from = dense_of<true>(w, at);
    if (side.starts == nullptr) {
        auto to = exchanged(destination, side, w, at);
        move_words(w, at, from, to);
    } else {
        visiting(destination, side, at, atomic, [&](auto& to) { move_words(w, at, from, to); });
    }
}

// The same with a word of its own for each (i, j).
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_scatter_keep(Walk w, Side side, u64* __restrict__ destination, u64 key, u32 atomic) {
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    Computed from;
    from.key = key;
    from.j = at.j;
    from.length = w.length;
    if (side.starts == nullptr && atomic == 0) {
        auto to = sparse(destination, side, w, at);
        move_words(w, at, from, to);
    } else {
        auto to = anywhere(destination, side, at, atomic);
        move_words(w, at, from, to);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_gs(Walk w, Side from_side, Side to_side, const u64* __restrict__ source,
               u64* __restrict__ destination) {
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    auto from = sparse(source, from_side, w, at);
    auto to = sparse(destination, to_side, w, at);
    move_words(w, at, from, to);
}

// Both sides have starts of one size, or neither has any.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_gs_variant(Walk w, Side from_side, Side to_side, const u64* __restrict__ source,
                       u64* __restrict__ destination, u32 atomic) {
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    if (from_side.starts == nullptr) {
        auto from = sparse(source, from_side, w, at);
        auto to = exchanged(destination, to_side, w, at);
        move_words(w, at, from, to);
    } else if (from_side.start_bytes == 4u) {
        auto from = visited<u32>(source, from_side, at, 0);
        auto to = visited<u32>(destination, to_side, at, atomic);
        move_words(w, at, from, to);
    } else {
        auto from = visited<u64>(source, from_side, at, 0);
        auto to = visited<u64>(destination, to_side, at, atomic);
        move_words(w, at, from, to);
    }
}

// ---- certificates -----------------------------------------------------------------------------
// Their walks take one iteration at a time.

// Checks what pattern_gather_keep kept.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_check_kept(Walk w, Side side, u64 key, const u64* __restrict__ kept, Finding* finding) {
    const Place at = place_of(w, 1);
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            const u64 expected = word64(key, e + start_of(side, i));
            const u64 found = kept[(i - w.first) * w.length + at.j];
            const u64 which = i * w.length + at.j;
            if (found != expected) {
                mistake(finding, which, found == POISON ? NOT_WRITTEN : WRONG_VALUE, which, expected, found);
            }
            checked += 1;
        }
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Checks what the timed gather's blocks left in D: each word that was written is
// S[p[j] + δ·i] with the j and the i mod wrap of its place. The walk is the one that
// pattern_gather had; finding->touched counts the words.
extern "C" __global__ void pattern_check_left(Walk w, Side side, u64 key, const u64* __restrict__ left,
                                              u64 n, Finding* finding) {
    const u32 words = w.slots * w.wrap;
    u32 touched = 0;
    for (u64 k = thread_index(); k < n; k += thread_count()) {
        const u64 found = left[k];
        if (found == POISON) continue;
        const u64 block = k / words;
        const u32 slot = (u32)(k % words);
        const u64 j = (block % w.tiles) * w.columns + slot % w.slots % w.columns;
        const u64 from = index_of_word64(key, found);
        bool right = j < w.length;
        if (right) {
            const u64 e = entry(side, j);
            if (side.delta == 0) {
                right = from == e;
            } else {
                const u64 i = (from - e) / side.delta;
                right = from >= e && (from - e) % side.delta == 0 && i < w.last && i % w.wrap == slot / w.slots;
            }
        }
        if (!right) mistake(finding, k, WRONG_VALUE, k, 0, found);
        touched += 1;
    }
    add_count(&finding->touched, touched);
}

// The same where uses start anywhere: marks each word of D that a block stores to in
// `touched`, and in `explained` if it holds what one of these iterations puts there. Bit k of
// the bitmaps, 0 before, is left[k]; pattern_check_region compares them. The walk is the one
// that the gather had.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_mark_left(Walk w, Side side, u64 key, const u64* __restrict__ left, u32* touched,
                      u32* explained) {
    const Place at = place_of(w, UNROLL);
    if (!at.active) return;
    const u64 e = entry(side, at.j), rows = w.rows;
    const u64 mine = (u64)blockIdx.x * w.slots * w.wrap + at.slot;
    for (u64 first = at.i; first < w.last; first += rows * UNROLL * w.workers) {
        for (u64 i = first; i < first + rows * UNROLL && i < w.last; i += rows) {
            const u64 k = mine + i % w.wrap * w.slots;
            mark(touched, k);
            if (left[k] == word64(key, e + start_of(side, i))) mark(explained, k);
        }
    }
}

// Adds all words of a gather to finding->sum.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_expected_fold(Walk w, Side side, u64 key, Finding* finding) {
    const Place at = place_of(w, 1);
    u64 sum = 0;
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            sum += word64(key, e + start_of(side, i));
            checked += 1;
        }
    }
    __syncwarp();
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// What a scatter's certificate expects of (i, j).
#define FROM_DENSE 0u     // pattern_scatter: word64(seed, j + P·(i mod wrap))
#define FROM_COMPUTED 1u  // pattern_scatter_keep: word64(seed, i·P + j)
#define FROM_SPARSE 2u    // pattern_gs: word64(seed, p_g[j] + δ_g·i)

// For each (i, j) marks the word of the destination that it must write in `touched`, and
// in `explained` if the word holds what (i, j) stores. A word may have several writers;
// it is right if it holds what any of them stores. Bit k of the bitmaps, 0 before, is
// word begin + k. `source_side` is gs's p_g.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pattern_mark(Walk w, Side side, Side source_side, u32 kind, u64 key,
                 const u64* __restrict__ destination, u64 begin, u32* touched, u32* explained,
                 Finding* finding) {
    const Place at = place_of(w, 1);
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        const u64 g = kind == FROM_SPARSE ? entry(source_side, at.j) : 0;
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            const u64 number = kind == FROM_DENSE      ? at.j + w.length * (i % w.wrap)
                               : kind == FROM_COMPUTED ? i * w.length + at.j
                                                       : g + start_of(source_side, i);
            const u64 k = e + start_of(side, i);
            mark(touched, k - begin);
            if (destination[k] == word64(key, number)) mark(explained, k - begin);
            checked += 1;
        }
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Checks `words` words from word `begin` on: a touched one is explained, any other holds
// poison. finding->touched counts the touched ones.
extern "C" __global__ void pattern_check_region(const u64* __restrict__ destination, u64 begin, u64 words,
                                                const u32* __restrict__ touched,
                                                const u32* __restrict__ explained, Finding* finding) {
    u32 count = 0;
    for (u64 k = thread_index(); k < words; k += thread_count()) {
        const u64 at = begin + k, found = destination[at];
        if (marked(touched, k)) {
            count += 1;
            if (!marked(explained, k)) mistake(finding, at, found == POISON ? NOT_WRITTEN : WRONG_WRITER, at, 0, found);
        } else if (found != POISON) {
            mistake(finding, at, STRAY_WRITE, at, 0, found);
        }
    }
    add_count(&finding->touched, count);
}

// pattern: how blocks and threads divide the iterations, and how a thread moves its words.
//
// A thread serves one entry j in every `rows`-th iteration, so its index stays in a register and the loop needs no
// division. Long patterns are cut into tiles of columns, one tile per block.
#pragma once

#include "../common/inputs.cuh"

// Most threads of a block of the timed kernels, of those for wider blocks, and of all others.
#define BLOCK 256u
#define WIDE_BLOCK 1024u

// The division of the (i, j) among blocks and threads.
struct Walk {
    u64 length;        // P
    u64 first, last;   // iterations [first, last)
    u32 columns;       // entries per tile, at most the threads of a block
    u32 rows;          // iterations that a block handles side by side
    u32 tiles;         // tiles of columns; block b works on tile b % tiles
    u32 workers;       // blocks that share a tile
    u32 wrap;
    u32 slots;         // words of D for one i mod wrap
    u32 private_rows;  // nonzero if each row has words of D of its own
    u32 items;         // iterations that a thread has in flight
};

// The pattern of one sparse array.
struct Side {
    const void* index;  // p, or q where `outer` is p
    const void* outer;  // null without a second pattern
    u64 delta;
    const void* starts;  // [i]: where use i starts; null if at δ·i
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

// A thread's starting position.
struct Place {
    bool active;  // it has an entry
    u64 j;
    u64 i;     // its first iteration, which may be past the last
    u32 slot;  // its word of D where i mod wrap is 0
};

LAB Place place_of(const Walk& w) {
    const u32 tile = blockIdx.x % w.tiles, worker = blockIdx.x / w.tiles;
    const u32 row = threadIdx.x / w.columns, column = threadIdx.x % w.columns;
    Place p;
    p.j = (u64)tile * w.columns + column;
    p.i = w.first + (u64)worker * w.rows * w.items + row;
    p.slot = w.private_rows ? row * w.columns + column : column;
    p.active = row < w.rows && p.j < w.length;
    return p;
}

// Advances turn = i mod wrap without a division; by < wrap.
LAB u32 turned(u32 turn, u32 by, u32 wrap) {
    turn += by;
    return turn >= wrap ? turn - wrap : turn;
}

// ---- sources and destinations of a move: `u` is the word's number in the thread's tile of iterations,
// ---- i its iteration, `turn` = i mod wrap ---------------------------------------------------------

// A sparse array. P is u64* or const u64* __restrict__.
template <typename P> struct Sparse {
    P word;    // the word of the tile's first iteration
    u64 row;   // words to the thread's next iteration
    u64 jump;  // words to the block's next tile of iterations
    LAB_MEMBER u64 take(u32 u, u64, u32) const { return word[u * row]; }
    LAB_MEMBER void put(u32 u, u64, u32, u64 value) const { word[u * row] = value; }
    LAB_MEMBER void advance() { word += jump; }
};

// The block's words of D. Without WRAPS, wrap is 1, and the loop needs no turns.
template <bool WRAPS> struct Dense {
    volatile u64* word;  // the word of turn 0
    u32 slots;
    LAB_MEMBER u64 take(u32, u64, u32 turn) const { return word[WRAPS ? turn * slots : 0]; }
    LAB_MEMBER void put(u32, u64, u32 turn, u64 value) const { word[WRAPS ? turn * slots : 0] = value; }
    LAB_MEMBER void advance() {}
};

// The words of D if all blocks share D, in global memory.
template <bool WRAPS> struct Shared {
    volatile u64* word;  // the word of turn 0
    u64 length;
    LAB_MEMBER void put(u32, u64, u32 turn, u64 value) const { word[WRAPS ? turn * length : 0] = value; }
    LAB_MEMBER void advance() {}
};

// A word in memory for each (i, j) of iterations [first, last), iteration by iteration.
struct Kept {
    u64* word;  // the word of (first, j)
    u64 first, length;
    LAB_MEMBER void put(u32, u64 i, u32, u64 value) const { word[(i - first) * length] = value; }
    LAB_MEMBER void advance() {}
};

// A computed word for each (i, j): word64(seed, i·P + j).
struct Computed {
    u64 key, j, length;
    LAB_MEMBER u64 take(u32, u64 i, u32) const { return word64(key, i * length + j); }
    LAB_MEMBER void advance() {}
};

// Adds every word to a register; nothing is stored. A sum, because equal words would cancel in an exclusive or.
struct Folded {
    u64 sum;
    LAB_MEMBER void put(u32, u64, u32, u64 value) { sum += value; }
    LAB_MEMBER void advance() {}
};

template <typename P> LAB Sparse<P> sparse(P words, const Side& side, const Walk& w, const Place& at) {
    Sparse<P> s;
    s.word = words + (entry(side, at.j) + side.delta * at.i);
    s.row = side.delta * w.rows;
    s.jump = side.delta * ((u64)w.rows * w.items * w.workers);
    return s;
}

// Moves the words of all iterations of an active thread: ITEMS of them (= w.items) are taken before the first is put.
// Only the last tile of iterations needs conditions.
template <u32 ITEMS, typename From, typename To>
LAB void move_words(const Walk& w, Place at, From& from, To& to) {
    const u64 rows = w.rows, jump = rows * ITEMS * w.workers;
    const u32 wrap = w.wrap, turn_row = w.rows % wrap, turn_jump = (u32)(jump % wrap);
    u32 first_turn = (u32)(at.i % wrap);
    u64 v[ITEMS];
    for (; at.i + (ITEMS - 1u) * rows < w.last; at.i += jump) {
        u32 turn = first_turn;
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u, turn = turned(turn, turn_row, wrap)) {
            v[u] = from.take(u, at.i + u * rows, turn);
        }
        turn = first_turn;
#pragma unroll
        for (u32 u = 0; u < ITEMS; ++u, turn = turned(turn, turn_row, wrap)) {
            to.put(u, at.i + u * rows, turn, v[u]);
        }
        first_turn = turned(first_turn, turn_jump, wrap);
        from.advance();
        to.advance();
    }
    u32 turn = first_turn;
#pragma unroll
    for (u32 u = 0; u < ITEMS; ++u, turn = turned(turn, turn_row, wrap)) {
        if (at.i + u * rows < w.last) v[u] = from.take(u, at.i + u * rows, turn);
    }
    turn = first_turn;
#pragma unroll
    for (u32 u = 0; u < ITEMS; ++u, turn = turned(turn, turn_row, wrap)) {
        if (at.i + u * rows < w.last) to.put(u, at.i + u * rows, turn, v[u]);
    }
}

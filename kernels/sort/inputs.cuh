// The keys and values of a sort as integer functions of (seed, i): twins of src/core/primitives/sort/keys.rs.
#pragma once

#include "../common/inputs.cuh"

#define DRAW_UNIFORM 0u
#define DRAW_ZIPF 1u
#define DRAW_SORTED 2u
#define DRAW_REVERSED 3u
#define DRAW_EQUAL 4u
#define DRAW_FEW 5u
#define DRAW_ENTROPY 6u
#define DRAW_FILE 7u

// The input of a case; same layout as on the host.
struct SortKeys {
    u64 key;                // key of the seed
    u64 values;             // key of the values' seed
    u64 n;
    u64 step;               // sorted, reversed: difference of neighbors
    u64 distinct;           // few: number of distinct keys; entropy: of random words
    u64 draws;              // Zipf: key of the draws' seed
    const u64* cumulative;  // Zipf: its table
    const u64* start;
    const u32* guide;
    Permutation spread;
    u32 draw;
    u32 drop;               // 64 minus the bits of a key
    const u64* given;       // file: its keys
};

static_assert(sizeof(SortKeys) == 128, "the layout of the host");

// Random words joined by and.
LAB u64 entropy_key(const SortKeys& s, u64 i) {
    u64 key = ~0ull;
    for (u64 w = 0; w < s.distinct; ++w) key &= word64(s.key, i + w * s.n);
    return key >> s.drop;
}

// Key i of the n.
LAB u64 sort_key_inside(const SortKeys& s, u64 i) {
    switch (s.draw) {
        case DRAW_UNIFORM: return word64(s.key, i) >> s.drop;
        case DRAW_ZIPF: return word64(s.key, zipf_draw(s.draws, s.cumulative, s.start, s.guide, s.spread, i)) >> s.drop;
        case DRAW_SORTED: return i * s.step;
        case DRAW_REVERSED: return (s.n - 1u - i) * s.step;
        case DRAW_EQUAL: return word64(s.key, 0) >> s.drop;
        case DRAW_ENTROPY: return entropy_key(s, i);
        case DRAW_FILE: return s.given[i];
        default: return word64(s.key, scale(mix64(word64(s.key, i)), s.distinct)) >> s.drop;
    }
}

// Key i ≤ n. Key n, which only a deliberate mistake reads, differs from key 0 in every bit.
LAB u64 sort_key(const SortKeys& s, u64 i) {
    if (i < s.n) return sort_key_inside(s, i);
    return ~(s.n > 0 ? sort_key_inside(s, 0) : 0ull) & (~0ull >> s.drop);
}

// Value i, in 4 or 8 bytes: a bijection of i, which the certificate inverts.
LAB u32 sort_value32(const SortKeys& s, u64 i) { return word32(s.values, (u32)i); }
LAB u64 sort_value64(const SortKeys& s, u64 i) { return word64(s.values, i); }

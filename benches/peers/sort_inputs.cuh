// The keys and values of the primitive sort as integer functions of (seed, i). The parameters of a case make a
// SortKeys on the host (sort.cuh); Zipf's table is made there, too (zipf.cuh).
#pragma once
#include "../../kernels/inputs.cuh"

#define DRAW_UNIFORM 0u
#define DRAW_ZIPF 1u
#define DRAW_SORTED 2u
#define DRAW_REVERSED 3u
#define DRAW_EQUAL 4u
#define DRAW_FEW 5u

// The input of a case.
struct SortKeys {
    u64 key;                // key of the seed
    u64 values;             // key of the values' seed
    u64 n;
    u64 step;               // sorted, reversed: the difference of neighbours
    u64 distinct;           // few: the number of different keys
    u64 draws;              // Zipf: key of the draws' seed
    const u64* cumulative;  // Zipf's table
    const u64* start;
    const u32* guide;
    Permutation spread;
    u32 draw;
    u32 drop;               // bits by which a key is narrower than 64
};

// Key i < n.
LAB u64 sort_key(const SortKeys& s, u64 i) {
    switch (s.draw) {
        case DRAW_UNIFORM: return word64(s.key, i) >> s.drop;
        case DRAW_ZIPF: return word64(s.key, zipf_draw(s.draws, s.cumulative, s.start, s.guide, s.spread, i)) >> s.drop;
        case DRAW_SORTED: return i * s.step;
        case DRAW_REVERSED: return (s.n - 1u - i) * s.step;
        case DRAW_EQUAL: return word64(s.key, 0) >> s.drop;
        default: return word64(s.key, scale(mix64(word64(s.key, i)), s.distinct)) >> s.drop;
    }
}

// Value i, in 4 or 8 bytes: a bijection of i.
LAB u32 sort_value32(const SortKeys& s, u64 i) { return word32(s.values, (u32)i); }
LAB u64 sort_value64(const SortKeys& s, u64 i) { return word64(s.values, i); }

// Fills the inputs of a sort and certifies its output; the same for all methods.
//
//   order    field(key[i - 1]) ≤ field(key[i])
//   keys     without values: two sums over hashes of the keys, which ignore their order, equal those of the input
//   values   a value is a bijection of its place p in the input: input key p equals the key beside it, no p occurs
//            twice, and among equal fields p rises (stability)
//
// If tiles are sorted separately, all this holds within each tile.
#pragma once

#include "../common/certify.cuh"
#include "inputs.cuh"

// The output: keys of `key_words` and values of `value_words` 32-bit words, 0 without values.
struct Sorted {
    const u32* keys;
    const u32* values;
    u64 n;
    u64 tile;  // keys that are sorted together; n if all are
    u32 key_words;
    u32 value_words;
    u32 begin;  // the field to sort by
    u32 bits;
};

static_assert(sizeof(Sorted) == 48, "the layout of the host");

LAB u64 word_at(const u32* words, u32 size, u64 i) { return size == 1u ? words[i] : ((const u64*)words)[i]; }

LAB void store_word(u32* words, u32 size, u64 i, u64 word) {
    if (size == 1u) words[i] = (u32)word;
    if (size == 2u) ((u64*)words)[i] = word;
}

// Keys and values [0, n]. Element n lies past the arrays; only a deliberate mistake reads it.
extern "C" __global__ void sort_fill(u32* keys, u32 key_words, u32* values, u32 value_words, SortKeys s) {
    for (u64 i = thread_index(); i <= s.n; i += thread_count()) {
        store_word(keys, key_words, i, sort_key(s, i));
        store_word(values, value_words, i, value_words == 1u ? sort_value32(s, i) : sort_value64(s, i));
    }
}

LAB u64 field_of(const Sorted& s, u64 key) { return key >> s.begin & ~0ull >> (64u - s.bits); }

// The place in the input that element i came from, decoded from its value.
LAB u64 origin_of(const Sorted& s, const SortKeys& keys, u64 i) {
    const u64 value = word_at(s.values, s.value_words, i);
    return s.value_words == 1u ? index_of_word32(keys.values, (u32)value) : index_of_word64(keys.values, value);
}

// Checks order and stability of neighbors.
extern "C" __global__ void sort_order(Sorted s, SortKeys keys, Finding* finding) {
    u32 checked = 0;
    for (u64 i = thread_index(); i < s.n; i += thread_count(), ++checked) {
        if (i % s.tile == 0) continue;
        const u64 before = word_at(s.keys, s.key_words, i - 1u), key = word_at(s.keys, s.key_words, i);
        if (field_of(s, before) > field_of(s, key)) mistake(finding, i, OUT_OF_ORDER, i, before, key);
        if (s.value_words == 0 || field_of(s, before) != field_of(s, key)) continue;
        const u64 from = origin_of(s, keys, i - 1u), to = origin_of(s, keys, i);
        if (from >= to) mistake(finding, i, NOT_STABLE, i, from, to);
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Two sums of hashes of the keys, minus those of the input's keys: both 0 for a permutation.
extern "C" __global__ void sort_sums(Sorted s, SortKeys keys, Finding* finding) {
    u64 sums[2] = {0, 0};
    for (u64 i = thread_index(); i < s.n; i += thread_count()) {
        const u64 found = word_at(s.keys, s.key_words, i), given = sort_key(keys, i);
        sums[0] += mix64(found) - mix64(given);
        sums[1] += mix64(~found) - mix64(~given);
    }
    __syncwarp();
    add_sum(&finding->sum, sums[0]);
    add_sum(&finding->touched, sums[1]);
}

// Checks that every value leads back to its key; `touched` has a bit for each place of the input.
extern "C" __global__ void sort_origins(Sorted s, SortKeys keys, u32* touched, Finding* finding) {
    u32 distinct = 0;
    for (u64 i = thread_index(); i < s.n; i += thread_count()) {
        const u64 from = origin_of(s, keys, i), key = word_at(s.keys, s.key_words, i);
        if (from >= s.n || from / s.tile != i / s.tile || sort_key(keys, from) != key) {
            mistake(finding, i, WRONG_ORIGIN, i, key, word_at(s.values, s.value_words, i));
            continue;
        }
        distinct += set_bit(touched, from);
    }
    __syncwarp();
    add_count(&finding->touched, distinct);
}

// Records of a hash table and search keys as functions of an index, twins of
// src/core/primitives/hash_search/records.rs, and the certificates.
#pragma once

#include "../common/certify.cuh"
#include "table.cuh"

#define ABSENT 0x80000000u  // numbers from here on are keys that no record has

// The records; same layout as on the host.
struct Records {
    u64 key;  // key of the seed
    u64 count;
    u64 copies;
};

// The keys that are searched for; same layout as on the host.
struct Searches {
    Records records;
    u64 key;   // key of the draws' seed
    u64 hits;  // 2^32 times the share of hits
    u64 zipf;  // key of the Zipf draws' seed
    const u64* cumulative;  // Zipf's table; null: uniform
    const u64* start;
    const u32* guide;
    Permutation spread;
};

static_assert(sizeof(Records) == 24 && sizeof(Searches) == 112, "the layout of the host");

LAB u64 numbers_of(const Records& r) { return (r.count + r.copies - 1u) / r.copies; }

LAB u64 record_at(const Records& r, u64 id) { return id << 32 | word32(r.key, (u32)(id / r.copies)); }

LAB u32 number_at(const Searches& s, u64 q) {
    const u64 word = word64(s.key, q), drawn = mix64(word ^ 0x484153484B455953ull);
    if (word >> 32 >= s.hits) return ABSENT + (u32)scale(drawn, ABSENT - 1u);
    if (s.cumulative != nullptr) return (u32)zipf_draw(s.zipf, s.cumulative, s.start, s.guide, s.spread, q);
    return (u32)scale(drawn, numbers_of(s.records));
}

// keys[q] = search key q.
extern "C" __global__ void hash_fill_keys(u32* __restrict__ keys, Searches s, u64 n) {
    for (u64 q = thread_index(); q < n; q += thread_count()) keys[q] = word32(s.records.key, number_at(s, q));
}

// out[id] = the record with that id.
extern "C" __global__ void hash_fill_records(u64* __restrict__ out, Records r, u64 n) {
    for (u64 id = thread_index(); id < n; id += thread_count()) out[id] = record_at(r, id);
}

// The keys and ids of the records in separate arrays.
extern "C" __global__ void hash_fill_pairs(u32* __restrict__ keys, u32* __restrict__ ids, Records r, u64 n) {
    for (u64 id = thread_index(); id < n; id += thread_count()) {
        keys[id] = (u32)record_at(r, id);
        ids[id] = (u32)id;
    }
}

// out[i] = i.
extern "C" __global__ void hash_fill_numbers(u32* __restrict__ out, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = (u32)i;
}

// True if `found` is right for a search for key `number`; *expected = the first right id.
LAB bool is_found(const Records& r, u32 number, u32 found, u64* expected) {
    *expected = number < ABSENT ? (u64)number * r.copies : MISS;
    if (number >= ABSENT) return found == MISS;
    return found < r.count && found / r.copies == number;
}

// Checks that each search has found a record with its key, or MISS if no record has it. out[j] is the result of search
// index[j], or of search j without an index.
extern "C" __global__ void hash_certify_search(const u32* __restrict__ out, const u32* __restrict__ index, Searches s,
                                               u32* bitmap, u64 n, Finding* finding) {
    u32 checked = 0;
    for (u64 j = thread_index(); j < n; j += thread_count()) {
        const u64 q = index != nullptr ? index[j] : j;
        u64 expected = q;
        if (q >= n || (index != nullptr && set_bit(bitmap, q) == 0)) {
            mistake(finding, j, MISPLACED, j, n, q);
        } else if (!is_found(s.records, number_at(s, q), out[j], &expected)) {
            mistake(finding, j, out[j] == (u32)POISON ? NOT_WRITTEN : WRONG_VALUE, j, expected, out[j]);
        }
        checked += 1;
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// True if a search for the key visits the bucket.
LAB bool leads_to(const Table& t, u32 key, u32 bucket, u32 slots) {
    const HashPlace p = place_of_key(t, key, slots);
    const u32 reach = reach_of(t, slots);
    for (u32 step = 0; step < reach; ++step) {
        const u32 visited = visit_of_key(t, p, step);
        if (visited == bucket) return true;
        if ((t.slots[(u64)visited * slots + p.mark] & MARK) == 0) return false;
    }
    return false;
}

// Checks that each slot is empty or holds an intact record, which no other slot holds, in a bucket that a search for
// its key visits. finding->touched = the number of records.
extern "C" __global__ void hash_certify_table(Table t, Records r, u32 slots, u32* bitmap, u64 n, Finding* finding) {
    u32 checked = 0, touched = 0;
    for (u64 at = thread_index(); at < n; at += thread_count()) {
        const u64 word = t.slots[at];
        const u32 id = id_of_slot(word);
        checked += 1;
        if (id == NO_ID) {
            if ((word & ~MARK) != t.empty) mistake(finding, at, WRONG_VALUE, at, t.empty, word);
        } else if (id >= r.count || (word & ~MARK) != record_at(r, id)) {
            mistake(finding, at, word == POISON ? NOT_WRITTEN : MISPLACED, at, 0, word);
        } else if (set_bit(bitmap, id) == 0 || !leads_to(t, (u32)word, (u32)(at / slots), slots)) {
            mistake(finding, at, MISPLACED, at, 0, word);
        } else {
            touched += 1;
        }
    }
    __syncwarp();
    add_count(&finding->checked, checked);
    add_count(&finding->touched, touched);
}

// Bucketed hash table in device memory, twin of src/core/primitives/hash_search/layout.rs, which describes it. A slot
// is mark (1 bit) | id (31 bits) | key (32 bits); a bucket is 4 or 8 slots. A record lies in its home bucket, its
// alternative, or the first bucket with room after the alternative; marks tell a search whether to go on.
#pragma once

#include "../common/inputs.cuh"
#include "../common/warp.cuh"

#define NO_ID 0x7FFFFFFFu       // the id of an empty slot
#define MARK (1ull << 63)       // the mark bit of a slot
#define MISS 0xFFFFFFFFu        // the result of a search without a match
#define HASH_AGAIN 0x9E3779B9u
#define MOST_MOVES 500u         // records that an insertion moves at most

// A table; same layout as on the host.
struct Table {
    u64* slots;
    u64 empty;  // the word of an empty slot
    u32 per_region, regions;
};

static_assert(sizeof(Table) == 24, "the layout of the host");

// The places of a key: base = first bucket of its region; home, other = home and alternative bucket, counted from base;
// mark = the slot with its mark.
struct HashPlace {
    u32 base, home, other, mark;
};

LAB u32 scale32(u32 word, u32 n) { return (u32)((u64)word * n >> 32); }

LAB u32 id_of_slot(u64 word) { return (u32)(word >> 32) & NO_ID; }

LAB HashPlace place_of_key(const Table& t, u32 key, u32 slots) {
    const u32 hash = mix32(key), again = mix32(hash + HASH_AGAIN), n = t.per_region;
    const u64 place = (u64)hash * t.regions;
    HashPlace p;
    p.base = (u32)(place >> 32) * n;
    p.home = scale32((u32)place, n);
    const u32 beside = p.home + 1u + scale32(again, n - 1u);
    p.other = beside >= n ? beside - n : beside;
    p.mark = again & (slots - 1u);
    return p;
}

// The bucket that a search visits after `step` others: home, alternative, then the buckets after the alternative in
// turn.
LAB u32 visit_of_key(const Table& t, const HashPlace& p, u32 step) {
    if (step == 0) return p.base + p.home;
    const u64 on = (u64)p.other + step - 1u;
    return p.base + (u32)(on >= t.per_region ? on - t.per_region : on);
}

// All buckets of a region from the alternative on, and the home before them.
LAB u32 most_visits(const Table& t) { return t.per_region + 1u; }

// The word past the slots: the most buckets that a search visits.
LAB u64* reach_word(const Table& t, u32 slots) { return t.slots + (u64)t.per_region * t.regions * slots; }

LAB u32 reach_of(const Table& t, u32 slots) {
    const u64 reach = __ldg(reach_word(t, slots));
    return reach < most_visits(t) ? (u32)reach : most_visits(t);
}

// ---- insertion -------------------------------------------------------------------------

// Puts a record into an empty slot of a bucket; false if it is full. A mark that is set meanwhile stays. The loads go
// through L1, so that the two halves of a sector are requested once. They may return old words: slots only ever become
// full, and the CAS compares with the current word.
template <u32 SLOTS> LAB bool put_record(const Table& t, u32 bucket, u64 record) {
    u64* slots = t.slots + (u64)bucket * SLOTS;
    u32 empty = 0, marks = 0;
#pragma unroll
    for (u32 k = 0; k < SLOTS / 2u; ++k) {
        const ulonglong2 two = ((const ulonglong2*)slots)[k];
        empty |= (id_of_slot(two.x) == NO_ID ? 1u << (2u * k) : 0u) | (id_of_slot(two.y) == NO_ID ? 2u << (2u * k) : 0u);
        marks |= (u32)(two.x >> 63) << (2u * k) | (u32)(two.y >> 63) << (2u * k + 1u);
    }
    for (; empty != 0; empty &= empty - 1u) {
        const u32 s = (u32)__ffs((int)empty) - 1u;
        u64 seen = t.empty | (u64)(marks >> s & 1u) << 63;
        while (id_of_slot(seen) == NO_ID) {
            const u64 was = atomicCAS(&slots[s], seen, record | (seen & MARK));
            if (was == seen) return true;
            seen = was;
        }
    }
    return false;
}

// Replaces the record in a slot, keeping the mark; returns the old record.
LAB u64 replace_record(u64* slot, u64 record) {
    u64 seen = __ldcg(slot);
    while (true) {
        const u64 was = atomicCAS(slot, seen, record | (seen & MARK));
        if (was == seen) return seen & ~MARK;
        seen = was;
    }
}

// Sets a key's mark in a bucket, so that searches for it go on past this bucket.
LAB void set_mark(const Table& t, u32 bucket, const HashPlace& p, u32 slots) {
    u64* slot = t.slots + (u64)bucket * slots + p.mark;
    if ((__ldcg(slot) & MARK) == 0) atomicOr(slot, MARK);
}

// True if a bucket has an empty slot.
template <u32 SLOTS> LAB bool has_room(const Table& t, u32 bucket) {
    const ulonglong2* slots = (const ulonglong2*)(t.slots + (u64)bucket * SLOTS);
    bool room = false;
#pragma unroll
    for (u32 k = 0; k < SLOTS / 2u; ++k) {
        const ulonglong2 two = slots[k];
        room = room || id_of_slot(two.x) == NO_ID || id_of_slot(two.y) == NO_ID;
    }
    return room;
}

// Selects the record of a full bucket that gives way: one whose other bucket has room, else one that is not at home,
// else the one that `turn` selects. Returns its slot.
template <u32 SLOTS> LAB u32 victim_of(const Table& t, u32 bucket, u32 turn) {
    u32 away = turn % SLOTS;
    bool none = true;
    for (u32 k = 0; k < SLOTS; ++k) {
        const u32 at = (turn + k) % SLOTS;
        const HashPlace p = place_of_key(t, (u32)__ldcg(t.slots + (u64)bucket * SLOTS + at), SLOTS);
        const bool home = p.base + p.home == bucket;
        if (has_room<SLOTS>(t, p.base + (home ? p.other : p.home))) return at;
        if (!home && none) away = at;
        none = none && home;
    }
    return away;
}

// Inserts a record whose home is full: into its alternative, or in place of a record in it, which then moves on. After
// MOST_MOVES moves, into the first bucket with room that its search visits.
template <u32 SLOTS> LAB void insert_away(const Table& t, u64 record, HashPlace p) {
    u32 step = 1;
    for (u32 moves = 0; moves < MOST_MOVES; ++moves) {
        const u32 bucket = visit_of_key(t, p, step);
        if (step == 1) set_mark(t, p.base + p.home, p, SLOTS);
        if (put_record<SLOTS>(t, bucket, record)) return;
        const u32 victim = victim_of<SLOTS>(t, bucket, p.mark + moves);
        record = replace_record(t.slots + (u64)bucket * SLOTS + victim, record);
        p = place_of_key(t, (u32)record, SLOTS);
        // The replaced record goes to its alternative if this is its home, else to its home.
        step = p.base + p.home == bucket ? 1u : 0u;
    }
    for (step = 0; step < most_visits(t); ++step) {
        const u32 bucket = visit_of_key(t, p, step);
        if (put_record<SLOTS>(t, bucket, record)) {
            atomicMax(reach_word(t, SLOTS), (u64)step + 1u);
            return;
        }
        set_mark(t, bucket, p, SLOTS);
    }
    // No room: the record is missing from the table, which the certificate shows.
}

template <u32 SLOTS> LAB void insert_record(const Table& t, u64 record) {
    const HashPlace p = place_of_key(t, (u32)record, SLOTS);
    if (!put_record<SLOTS>(t, p.base + p.home, record)) insert_away<SLOTS>(t, record, p);
}

// ---- search ----------------------------------------------------------------------------

// The result of a look into a bucket: the id or MISS; `on` if the search goes on.
struct Found {
    u32 id;
    bool on;
};

// The slots of a bucket, loaded by one lane. If neighboring lanes shared a bucket, each load would touch half as many
// sectors; but a table in the cache is bound by instructions, of which shared buckets take five times as many. The
// second half of a sector comes from L1.
template <u32 SLOTS> struct Bucket {
    uint4 two[SLOTS / 2u];

    LAB_MEMBER void load(const Table& t, u32 bucket) {
        const uint4* slots = (const uint4*)(t.slots + (u64)bucket * SLOTS);
#pragma unroll
        for (u32 k = 0; k < SLOTS / 2u; ++k) two[k] = __ldg(slots + k);
    }

    // Looks for `key`; `mark` is the slot whose mark says whether the search goes on.
    LAB_MEMBER Found look(u32 key, u32 mark) const {
        u32 id = MISS, marked = 0;
#pragma unroll
        for (u32 k = 0; k < SLOTS / 2u; ++k) {
            if (two[k].x == key) id = two[k].y & NO_ID;
            if (two[k].z == key) id = two[k].w & NO_ID;
            if (mark == 2u * k) marked = two[k].y;
            if (mark == 2u * k + 1u) marked = two[k].w;
        }
        return {id, id == MISS && marked >> 31 != 0};
    }
};

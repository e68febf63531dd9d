// The post-scans of wms and bms: a tile's keys are reordered by bucket in shared memory (ashkiani2017 §5.6), so that
// the keys of a bucket are written contiguously. wms reorders a warp's tile, bms a block's.
#pragma once

#include "subproblems.cuh"

// ---- a tile --------------------------------------------------------------------------------------

// Lane b: the keys of bucket b < 32 in each window, one byte per window, so that one shuffle of a word covers four
// windows (§6, "Parameters").
struct Packed {
    u32 word[WINDOWS / 4u];

    LAB_MEMBER void put(u32 w, u32 count) { word[w / 4u] |= count << (w % 4u * 8u); }

    // Exclusive scan over the windows, in place; returns the total. At most 224 keys precede the last window, which
    // fits a byte.
    LAB_MEMBER u32 sum() {
        u32 before = 0;
#pragma unroll
        for (u32 k = 0; k < WINDOWS / 4u; ++k) {
            const u32 all = (word[k] & 0x00FF00FFu) + (word[k] >> 8 & 0x00FF00FFu);
            word[k] = word[k] * 0x01010100u + before * 0x01010101u;
            before += (all + (all >> 16)) & 0x1FFu;
        }
        return before;
    }

    // Adds `by` to every window's byte. With at most 256 places a byte overflows only after the bucket's last key, and
    // the carry disturbs only later windows.
    LAB_MEMBER void raise(u32 by) {
#pragma unroll
        for (u32 k = 0; k < WINDOWS / 4u; ++k) word[k] += by * 0x01010101u;
    }

    LAB_MEMBER u32 of(u32 w, u32 bucket) const {
        return __shfl_sync(EVERYONE, word[w / 4u], (int)bucket) >> (w % 4u * 8u) & 0xFFu;
    }
};

// The lane's first bucket if each warp covers all buckets; a lane has WORDS adjacent ones.
template <u32 BITS> LAB u32 first_bucket() { return lane_of() * Ballot<BITS>::WORDS; }

// For the lane's buckets: `count` = their keys in the tile, `start` = the exclusive scan over buckets, i.e. where they
// begin in the tile.
template <u32 BITS>
LAB void starts_of(const u32* counts, u32 (&count)[Ballot<BITS>::WORDS], u32 (&start)[Ballot<BITS>::WORDS]) {
    u32 sum = 0;
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = first_bucket<BITS>() + r;
        count[r] = b < Ballot<BITS>::NUMBERS ? counts[b] : 0u;
        start[r] = sum;
        sum += count[r];
    }
    const u32 before = sum_lanes(sum) - sum;
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) start[r] += before;
}

// next = where the next key of each of the lane's buckets goes: column `subproblem` of G.
template <u32 BITS> LAB void load_next(const Split& s, u32 m, u32 subproblem, u32 (&next)[Ballot<BITS>::WORDS]) {
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = first_bucket<BITS>() + r;
        next[r] = b < m ? s.counts[(u64)b * s.subproblems + subproblem] : 0u;
    }
}

// moved[b] = destination - place in the tile, for the keys of bucket b. Then advances `next` past the tile's keys.
template <u32 BITS>
LAB void store_moved(u32* moved, u32 (&next)[Ballot<BITS>::WORDS], const u32 (&count)[Ballot<BITS>::WORDS],
                     const u32 (&start)[Ballot<BITS>::WORDS]) {
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = first_bucket<BITS>() + r;
        if (b < Ballot<BITS>::NUMBERS) moved[b] = next[r] - start[r];
        next[r] += count[r];
    }
}

// Writes a tile's keys in bucket order: the thread writes places j, j + stride, … below `count`; `to` receives their
// destinations.
template <u32 BITS>
LAB void store_keys(const Split& s, const BucketFunction& f, const u32* keys, const u32* moved, u32 j, u32 stride, u32 count,
                    u32 (&to)[WINDOWS]) {
    u32 key[WINDOWS], bucket[WINDOWS];
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) key[w] = w < s.windows && j + w * stride < count ? keys[j + w * stride] : 0u;
    buckets_of(f, key, bucket);
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w >= s.windows || j + w * stride >= count) continue;
        to[w] = moved[bucket[w]] + j + w * stride;
        s.keys_out[to[w]] = key[w];
    }
}

// Moves the values to the places of their keys in the tile.
template <typename V> LAB void gather_values(const Split& s, const Reach& part, V* values, const u32 (&place)[WINDOWS]) {
    V value[WINDOWS];
    const V* in = (const V*)s.values + part.first;
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w < s.windows && part.at(w) < part.keys) value[w] = in[part.at(w)];
    }
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w < s.windows && part.at(w) < part.keys) values[place[w]] = value[w];
    }
}

template <typename V>
LAB void store_values(const Split& s, const V* values, u32 j, u32 stride, u32 count, const u32 (&to)[WINDOWS]) {
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w < s.windows && j + w * stride < count) ((V*)s.values_out)[to[w]] = values[j + w * stride];
    }
}

// ---- wms -----------------------------------------------------------------------------------------

// A warp's arrays in shared memory.
struct Room {
    u64* values;
    u32* keys;
    u32* counts;  // [bucket]: keys, later starts
    u32* moved;
};

// Bytes for a tile of `keys` keys, and two words for each of `buckets` buckets.
LAB u32 room_of(u32 keys, u32 value, u32 buckets) { return keys * (4u + value) + 8u * buckets; }

LAB Room room_at(void* at, u32 keys, u32 value, u32 buckets) {
    Room room;
    room.values = (u64*)at;
    room.keys = (u32*)((char*)at + keys * value);
    room.counts = room.keys + keys;
    room.moved = room.counts + buckets;
    return room;
}

// Buckets for which a warp reserves words in shared memory: at least 4, for alignment.
template <u32 BITS> LAB u32 words_for() { return Ballot<BITS>::NUMBERS < 4u ? 4u : Ballot<BITS>::NUMBERS; }

// place = places of the warp's keys in its tile (§5.6.1). Also sets room.moved.
template <u32 BITS>
LAB void place_in_warp(const Split& s, const Reach& part, const u32 (&bucket)[WINDOWS], const Room& room,
                       u32 (&next)[Ballot<BITS>::WORDS], u32 (&place)[WINDOWS]) {
    u32 count[Ballot<BITS>::WORDS], start[Ballot<BITS>::WORDS];
    if (BITS > 5) {
#pragma unroll
        for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) room.counts[r * 32u + lane_of()] = 0;
        __syncwarp();
#pragma unroll
        for (u32 w = 0; w < WINDOWS; ++w) {
            if (w >= s.windows) break;
            const u32 valid = part.lanes(w), same = voters<BITS>(voted<BITS>(bucket[w], valid), bucket[w]);
            place[w] = take_shared(room.counts, bucket[w], (valid >> lane_of() & 1u) != 0, same);
        }
        starts_of<BITS>(room.counts, count, start);
        store_moved<BITS>(room.moved, next, count, start);
#pragma unroll
        for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) room.counts[first_bucket<BITS>() + r] = start[r];
        __syncwarp();
#pragma unroll
        for (u32 w = 0; w < WINDOWS; ++w) {
            if (w < s.windows) place[w] += room.counts[bucket[w]];
        }
        return;
    }
    Packed packed = {};
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w >= s.windows) break;
        const Votes<BITS> votes = voted<BITS>(bucket[w], part.lanes(w));
        place[w] = __popc(voters<BITS>(votes, bucket[w]) & lanes_below());
        u32 counts[Ballot<BITS>::WORDS];
        tally<BITS>(votes, counts);
        packed.put(w, lane_of() < Ballot<BITS>::NUMBERS ? counts[0] : 0u);
    }
    count[0] = packed.sum();
    start[0] = sum_lanes(count[0]) - count[0];
    store_moved<BITS>(room.moved, next, count, start);
    packed.raise(start[0]);
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w < s.windows) place[w] += packed.of(w, bucket[w]);
    }
    __syncwarp();
}

// Moves the values of a warp's tile to the destinations of their keys, through shared memory.
template <typename V>
LAB void follow_in_warp(const Split& s, const Reach& part, V* values, const u32 (&place)[WINDOWS], const u32 (&to)[WINDOWS]) {
    gather_values(s, part, values, place);
    __syncwarp();
    store_values(s, values, lane_of(), 32u, part.keys, to);
}

template <u32 BITS> LAB void wms(const Split& s, const BucketFunction& given) {
    const BucketFunction f = placed(given);
    const u32 warp = threadIdx.x / 32u, subproblem = blockIdx.x * (blockDim.x / 32u) + warp;
    if (subproblem >= s.subproblems) return;
    const u32 tile = s.windows * 32u, words = words_for<BITS>();
    const Room room = room_at((char*)dense + warp * room_of(tile, s.value, words), tile, s.value, words);
    u32 next[Ballot<BITS>::WORDS];
    load_next<BITS>(s, f.buckets, subproblem, next);
    const u64 size = keys_of_warp(s), first = subproblem * size, last = end_of(s, first + size);
    for (u64 at = first; at < last; at += tile) {
        const Reach part = reach_of(at, last, tile);
        u32 key[WINDOWS], bucket[WINDOWS], place[WINDOWS], to[WINDOWS];
        load_keys(s, part, key);
        buckets_of(f, key, bucket);
        place_in_warp<BITS>(s, part, bucket, room, next, place);
#pragma unroll
        for (u32 w = 0; w < WINDOWS; ++w) {
            if (w < s.windows && part.at(w) < part.keys) room.keys[place[w]] = key[w];
        }
        __syncwarp();
        store_keys<BITS>(s, f, room.keys, room.moved, lane_of(), 32u, part.keys, to);
        if (s.value == 4u) follow_in_warp(s, part, (u32*)room.values, place, to);
        else if (s.value == 8u) follow_in_warp(s, part, room.values, place, to);
        __syncwarp();
    }
}

// ---- bms -----------------------------------------------------------------------------------------

// Scans each bucket's counts over the block's warps (§5.5.4), and leaves the buckets' totals in room.counts.
template <u32 BITS> LAB void scan_cells(u32* cells, const Room& room) {
    const u32 warps = blockDim.x / 32u;
    each_cell<BITS>(warps, [&](u32 at, bool there) {
        const u32 mine = there ? cells[spaced(at)] : 0u, w = at % warps;
        u32 sum = mine;
        for (u32 by = 1; by < warps; by *= 2) {
            const u32 other = __shfl_up_sync(EVERYONE, sum, by);
            if (w >= by) sum += other;
        }
        if (there) cells[spaced(at)] = sum - mine;
        if (there && w + 1 == warps) room.counts[at / warps] = sum;
    });
}

// place = places of the warp's keys in the block's tile (§5.6.2). The first warp also sets room.moved.
template <u32 BITS>
LAB void place_in_block(const Split& s, const Reach& part, const u32 (&bucket)[WINDOWS], u32* cells, const Room& room,
                        u32 (&next)[Ballot<BITS>::WORDS], u32 (&place)[WINDOWS]) {
    const u32 warps = blockDim.x / 32u, warp = threadIdx.x / 32u;
    Packed packed = {};
    if (BITS > 5) {
#pragma unroll
        for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) cells[cell(r * 32u + lane_of(), warps, warp)] = 0;
        __syncwarp();
    }
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w >= s.windows) break;
        const u32 valid = part.lanes(w);
        const Votes<BITS> votes = voted<BITS>(bucket[w], valid);
        const u32 same = voters<BITS>(votes, bucket[w]);
        if (BITS > 5) {
            place[w] = take_shared(cells, cell(bucket[w], warps, warp), (valid >> lane_of() & 1u) != 0, same);
        } else {
            u32 counts[Ballot<BITS>::WORDS];
            tally<BITS>(votes, counts);
            packed.put(w, counts[0]);
            place[w] = __popc(same & lanes_below());
        }
    }
    if (BITS <= 5) {
        const u32 sum = packed.sum();
        if (lane_of() < Ballot<BITS>::NUMBERS) cells[cell(lane_of(), warps, warp)] = sum;
    }
    __syncthreads();
    scan_cells<BITS>(cells, room);
    __syncthreads();
    u32 count[Ballot<BITS>::WORDS], start[Ballot<BITS>::WORDS];
    starts_of<BITS>(room.counts, count, start);
    if (warp == 0) store_moved<BITS>(room.moved, next, count, start);
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        const u32 b = first_bucket<BITS>() + r;
        if (b < Ballot<BITS>::NUMBERS) start[r] += cells[cell(b, warps, warp)];
        if (BITS > 5) cells[cell(b, warps, warp)] = start[r];
    }
    __syncwarp();
#pragma unroll
    for (u32 w = 0; w < WINDOWS; ++w) {
        if (w >= s.windows) break;
        if (BITS > 5) place[w] += cells[cell(bucket[w], warps, warp)];
        else place[w] += packed.of(w, bucket[w]) + __shfl_sync(EVERYONE, start[0], (int)bucket[w]);
    }
}

template <u32 BITS> LAB void bms(const Split& s, const BucketFunction& given) {
    const BucketFunction f = placed(given);
    const u32 warps = blockDim.x / 32u, warp = threadIdx.x / 32u, part_size = s.windows * 32u;
    const u32 tile = part_size * warps, words = words_for<BITS>();
    const Room room = room_at(dense, tile, s.value, words);
    u32* const cells = room.moved + words;
    u32 next[Ballot<BITS>::WORDS];
    if (blockIdx.x >= s.subproblems) return;
    if (warp == 0) load_next<BITS>(s, f.buckets, blockIdx.x, next);
    const u64 size = (u64)s.tiles * tile, first = blockIdx.x * size, last = end_of(s, first + size);
    for (u64 at = first; at < last; at += tile) {
        const Reach part = reach_of(at + warp * part_size, last, part_size);
        const u32 all = reach_of(at, last, tile).keys;
        u32 key[WINDOWS], bucket[WINDOWS], place[WINDOWS], to[WINDOWS];
        load_keys(s, part, key);
        buckets_of(f, key, bucket);
        place_in_block<BITS>(s, part, bucket, cells, room, next, place);
#pragma unroll
        for (u32 w = 0; w < WINDOWS; ++w) {
            if (w < s.windows && part.at(w) < part.keys) room.keys[place[w]] = key[w];
        }
        if (s.value == 4u) gather_values(s, part, (u32*)room.values, place);
        else if (s.value == 8u) gather_values(s, part, room.values, place);
        __syncthreads();
        store_keys<BITS>(s, f, room.keys, room.moved, threadIdx.x, blockDim.x, all, to);
        if (s.value == 4u) store_values(s, (const u32*)room.values, threadIdx.x, blockDim.x, all, to);
        else if (s.value == 8u) store_values(s, room.values, threadIdx.x, blockDim.x, all, to);
    }
}

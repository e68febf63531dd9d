// Hash search of he2007 §4.2: the entries of a bucket are adjacent in an array, and headers hold where each bucket
// begins. A search counts the matches of each key, scans the counts, writes the matching ids to L, and gathers their
// records by L, in several passes if asked to.
#pragma once

#include "../common/block_sums.cuh"
#include "../common/hints.cuh"
#include "inputs.cuh"

// A table; same layout as on the host. Header h has entries [starts[h], starts[h + 1]).
struct Chained {
    const u32* starts;
    const u64* entries;  // key and id, as in a slot of a bucketed table
    u32 headers, unused;
};

static_assert(sizeof(Chained) == 24, "the layout of the host");

LAB u32 header_of(u32 key, u32 headers) { return scale32(mix32(key), headers); }

// ---- the table ---------------------------------------------------------------------------

// starts[h + 1] += the number of entries of header h.
extern "C" __global__ void hash_chain_count(u32* starts, u32 headers, Records r, u64 n) {
    for (u64 id = thread_index(); id < n; id += thread_count())
        atomicAdd(&starts[header_of((u32)record_at(r, id), headers) + 1u], 1u);
}

// Stores the entries. starts[h + 1] is where header h begins on entry; each entry of h advances it, so that it ends as
// the start of header h + 1.
extern "C" __global__ void hash_chain_place(u32* starts, u64* entries, u32 headers, Records r, u64 n) {
    for (u64 id = thread_index(); id < n; id += thread_count()) {
        const u64 record = record_at(r, id);
        entries[atomicAdd(&starts[header_of((u32)record, headers) + 1u], 1u)] = record;
    }
}

// ---- scan of counts ------------------------------------------------------------------------

#define SUM_BLOCK 512u
#define SUM_ITEMS 8u  // consecutive counts per thread

// Exclusive scan over the block's threads; `all` = the sum of all.
LAB u32 sum_of_earlier(u32 mine, u32& all) {
    __shared__ u32 warps[SUM_BLOCK / 32u];
    const u32 warp = threadIdx.x / 32u, end = sum_lanes(mine);
    if (lane_of() == 31u) warps[warp] = end;
    __syncthreads();
    u32 before = end - mine;
    all = 0;
    for (u32 w = 0; w < SUM_BLOCK / 32u; ++w) {
        before += w < warp ? warps[w] : 0u;
        all += warps[w];
    }
    return before;
}

// Loads the thread's counts of the block's tile; returns their sum.
LAB u32 load_counts(const u32* counts, u64 n, u32 (&item)[SUM_ITEMS]) {
    const u64 first = ((u64)blockIdx.x * SUM_BLOCK + threadIdx.x) * SUM_ITEMS;
    u32 sum = 0;
#pragma unroll
    for (u32 k = 0; k < SUM_ITEMS; ++k) {
        item[k] = first + k < n ? counts[first + k] : 0u;
        sum += item[k];
    }
    return sum;
}

// sums[t] = sum of tile t of the n counts.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK) hash_tile_sums(const u32* __restrict__ counts, u64* sums, u64 n) {
    u32 item[SUM_ITEMS], all;
    sum_of_earlier(load_counts(counts, n, item), all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// Exclusive scan: sums[t] = sum of all tiles before t.
extern "C" __global__ void __launch_bounds__(1024) hash_sum_tiles(u64* sums, u64 tiles) { sum_in_place(sums, tiles); }

// Exclusive scan: counts[i] = sum of all counts before i.
extern "C" __global__ void __launch_bounds__(SUM_BLOCK) hash_offsets(u32* counts, const u64* __restrict__ sums, u64 n) {
    const u64 first = ((u64)blockIdx.x * SUM_BLOCK + threadIdx.x) * SUM_ITEMS;
    u32 item[SUM_ITEMS], all;
    const u32 mine = load_counts(counts, n, item);
    u32 before = (u32)sums[blockIdx.x] + sum_of_earlier(mine, all);
#pragma unroll
    for (u32 k = 0; k < SUM_ITEMS; ++k) {
        if (first + k < n) counts[first + k] = before;
        before += item[k];
    }
}

// ---- the timed kernels -----------------------------------------------------------------------

#define MATCH_BLOCK 256u

// Steps 1 and 2: counts[q] = matches of key q; counts[n] = 0.
extern "C" __global__ void __launch_bounds__(MATCH_BLOCK)
    hash_match_count(Chained t, const u32* __restrict__ keys, u32* __restrict__ counts, u64 n) {
    const u64 q = thread_index();
    if (q > n) return;
    u32 matches = 0;
    if (q < n) {
        const u32 key = __ldcs(keys + q), header = header_of(key, t.headers), end = __ldg(t.starts + header + 1u);
        for (u32 e = __ldg(t.starts + header); e < end; ++e) matches += (u32)__ldg(t.entries + e) == key ? 1u : 0u;
    }
    counts[q] = matches;
}

// Step 3: the ids of key q's matches go to ids[offsets[q]], ids[offsets[q] + 1], …
extern "C" __global__ void __launch_bounds__(MATCH_BLOCK)
    hash_match_ids(Chained t, const u32* __restrict__ keys, const u32* __restrict__ offsets, u32* __restrict__ ids, u64 n) {
    const u64 q = thread_index();
    if (q >= n) return;
    const u32 key = __ldcs(keys + q), header = header_of(key, t.headers), end = __ldg(t.starts + header + 1u);
    u32 at = offsets[q];
    for (u32 e = __ldg(t.starts + header); e < end; ++e) {
        const u64 entry = __ldg(t.entries + e);
        if ((u32)entry == key) ids[at++] = id_of_slot(entry);
    }
}

// Step 4, for one chunk: out[k] = records[ids[k]] for all ids in [low, low + span). *total = the number of ids.
extern "C" __global__ void __launch_bounds__(MATCH_BLOCK)
    hash_gather(u64* __restrict__ out, const u64* __restrict__ records, const u32* __restrict__ ids,
                const u32* __restrict__ total, u32 low, u32 span) {
    const u64 n = *total;
    for (u64 k = thread_index(); k < n; k += thread_count()) {
        const u32 id = ids[k];
        if (id - low < span) out[k] = load_no_l1(records + id);
    }
}

// ---- the certificate ---------------------------------------------------------------------------

// Checks that key q matches as many records as have its key, and that its matches are these records, each once.
extern "C" __global__ void hash_certify_matches(const u32* __restrict__ offsets, const u64* __restrict__ out, Searches s,
                                                u64 most, u64 n, Finding* finding) {
    u32 checked = 0;
    for (u64 q = thread_index(); q < n; q += thread_count()) {
        const Records& r = s.records;
        const u32 number = number_at(s, q);
        const u64 begin = offsets[q], end = offsets[q + 1];
        const u64 first = (u64)number * r.copies;
        const u64 there = number >= ABSENT ? 0u : r.count - first < r.copies ? r.count - first : r.copies;
        checked += 1;
        if (end - begin != there || end > most || (q == 0 && begin != 0)) {
            mistake(finding, q, WRONG_OFFSET, q + 1u, begin + there, end);
            continue;
        }
        u32 seen = 0;
        for (u64 k = begin; k < end; ++k) {
            const u64 id = out[k] >> 32;
            if (id - first >= there || out[k] != record_at(r, id)) {
                mistake(finding, q, out[k] == POISON ? NOT_WRITTEN : WRONG_VALUE, k, record_at(r, first), out[k]);
            } else {
                seen |= 1u << (u32)(id - first);
            }
        }
        if (seen != (1u << (u32)there) - 1u) mistake(finding, q, MISPLACED, begin, seen, out[begin]);
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// enumerate, compact, distribute, split and split-and-segment (sengupta2007 §2.3). A tile is one warp's; flags and
// heads are bits.
//
//   compaction_sums   reduces each tile to two sums: the head of its last segment with the trues since this head, and
//                     the end of its first segment with the trues before this end
//   (scan)            segmented_lookback_add_u64 of scan/scan.cu scans the sums of all tiles
//   place             from the sums before and behind a tile and its bits, each lane computes its element's destination
//
// A destination follows from the flags of the element's segment, or from the heads alone. No warp waits for another.
#include "../common/overlap.cuh"
#include "../scan/inputs.cuh"
#include "../scan/look_back.cuh"

#define WORDS 4u                // words of bits per lane
#define TILE (32u * 32u * WORDS)  // elements per tile

struct Bits {
    const u32* flags;  // bit i % 32 of word i / 32: element i is true; padded to whole tiles; null: all are false
    const u32* heads;  // such bits: element i begins a segment; null: only the first element does
    u64* sums;         // [tile], per direction: its sum, scanned in place
    u32* starts;       // a bit per sum: the scan starts a new segment at it
    u32 n;
    u32 tiles;         // sums per direction: all tiles, and padding tiles without elements
    u32 before;        // nonzero if the sums before each tile are needed
    u32 behind;        // nonzero if those behind it are needed, stored from the last tile backward
    u32 together;      // nonzero: count heads, and the trues of all segments together
    u32 unused;
};

static_assert(sizeof(Bits) == 56, "the layout of the host");

// ---- sums ------------------------------------------------------------------------------------

// A sum packs an element number (upper half) and a count of trues (lower half):
//   before a position: the head of its segment, and the trues from this head to the position
//   behind a position: the next head, or n if there is none, and the trues from the position to it
// With `together`, a sum before a position counts all heads and all trues before it.
LAB u64 sum_of(u32 at, u32 trues) { return (u64)at << 32 | trues; }
LAB u32 at_of(u64 sum) { return (u32)(sum >> 32); }
LAB u32 trues_of(u64 sum) { return (u32)sum; }

// The sum past a word of elements at, at + 1, …, given the sum before it.
LAB u64 past(u64 before, u32 flags, u32 heads, u32 at, bool together) {
    if (together) return before + sum_of((u32)__popc(heads), (u32)__popc(flags));
    if (heads == 0) return before + (u32)__popc(flags);
    const u32 last = 31u - (u32)__clz((int)heads);
    return sum_of(at + last, (u32)__popc(flags >> last));
}

// The sum from a word on, given the sum behind it.
LAB u64 ahead(u64 behind, u32 flags, u32 heads, u32 at) {
    if (heads == 0) return behind + (u32)__popc(flags);
    const u32 first = (u32)__ffs((int)heads) - 1u;
    return sum_of(at + first, (u32)__popc(flags & ((1u << first) - 1u)));
}

// The words of one lane in a tile.
struct Words {
    u32 flags[WORDS], heads[WORDS];

    LAB_MEMBER void load(const Bits& b, u32 tile) {
        const u32 at = tile * 32u + (threadIdx.x & 31u);
        const uint4 none = {0u, 0u, 0u, 0u};
        const uint4 f = b.flags == nullptr ? none : __ldcg((const uint4*)b.flags + at);
        uint4 h = b.heads == nullptr ? none : __ldcg((const uint4*)b.heads + at);
        if (b.heads == nullptr && at == 0) h.x = 1u;
        flags[0] = f.x, flags[1] = f.y, flags[2] = f.z, flags[3] = f.w;
        heads[0] = h.x, heads[1] = h.y, heads[2] = h.z, heads[3] = h.w;
    }

    LAB_MEMBER u32 any_head() const { return heads[0] | heads[1] | heads[2] | heads[3]; }

    LAB_MEMBER u64 before(u64 sum, u32 at, bool together) const {
#pragma unroll
        for (u32 k = 0; k < WORDS; ++k) sum = past(sum, flags[k], heads[k], at + 32u * k, together);
        return sum;
    }

    LAB_MEMBER u64 behind(u64 sum, u32 at) const {
#pragma unroll
        for (u32 k = WORDS; k-- > 0u;) sum = ahead(sum, flags[k], heads[k], at + 32u * k);
        return sum;
    }
};

LAB u64 of_mirrored_lane(u64 v) { return __shfl_sync(EVERYONE, v, (int)(31u - (threadIdx.x & 31u))); }

// On entry, `before` and `behind` are the sums before and behind the tile; on return, the sums that the tile passes on
// in each direction. left, right = the sums before and behind the lane's words.
LAB void sums_of_lanes(const Words& words, u32 at, bool together, u64& before, u64& behind, u64& left, u64& right) {
    const u32 lane = threadIdx.x & 31u;
    const u32 row = together ? 0u : __ballot_sync(EVERYONE, words.any_head() != 0);
    const u32 below = row & ((1u << lane) - 1u), above = lane == 31u ? 0u : row >> (lane + 1u);
    u64 total;
    const u64 lanes = scan_lanes(Add<u64>(), words.before(0, at, together), row, total);
    left = below == 0 ? before + lanes : lanes;
    before = row == 0 ? before + total : total;
    const u64 mirrored = scan_lanes(Add<u64>(), of_mirrored_lane(words.behind(0, at)), __brev(row), total);
    const u64 lanes_behind = of_mirrored_lane(mirrored);
    right = above == 0 ? behind + lanes_behind : lanes_behind;
    behind = row == 0 ? behind + total : total;
}

// Index of a tile's sum, per direction; sums behind are stored from the last tile backward.
LAB u32 place_before(u32 tile) { return tile; }
LAB u32 place_behind(const Bits& b, u32 tile) { return (b.before != 0 ? b.tiles : 0u) + b.tiles - 1u - tile; }

// Reduces all tiles: one warp per tile and 32 tiles per block, so that each block writes whole words of `starts`. The
// last tile, which may be a padding tile, is the first of the backward direction.
extern "C" __global__ void __launch_bounds__(1024) compaction_sums(const Bits b) {
    __shared__ u32 headed;
    const u32 warp = threadIdx.x / 32u, lane = threadIdx.x & 31u, tile = blockIdx.x * 32u + warp;
    after_earlier_launches();
    if (threadIdx.x == 0) headed = 0;
    __syncthreads();
    Words words;
    if ((u64)tile * TILE < b.n) words.load(b, tile);
    else words = Words{};
    u64 before = 0, behind = 0, left, right;
    sums_of_lanes(words, (tile * 32u + lane) * 32u * WORDS, b.together != 0, before, behind, left, right);
    const u32 any = __ballot_sync(EVERYONE, words.any_head() != 0);
    if (lane == 0 && any != 0 && b.together == 0) atomicOr(&headed, 1u << warp);
    if (tile == b.tiles - 1u) behind = sum_of(b.n, 0u);
    if (lane == 0 && b.before != 0) b.sums[place_before(tile)] = before;
    if (lane == 0 && b.behind != 0) b.sums[place_behind(b, tile)] = behind;
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (b.before != 0) b.starts[blockIdx.x] = headed;
    // The last tile starts the scan of the backward direction.
    const u32 last = blockIdx.x + 1u == gridDim.x ? 1u : 0u;
    if (b.behind != 0) b.starts[place_behind(b, tile) / 32u] = __brev(headed) | last;
}

// ---- places ------------------------------------------------------------------------------------

// An element and the row of 32 elements that contains it.
struct Place {
    u32 i;
    u32 lane;
    u32 flags, heads;  // of the row
    u64 left, right;   // sums before the row and behind it

    LAB_MEMBER u32 upto() const { return EVERYONE >> (31u - lane); }
    LAB_MEMBER bool flag() const { return (flags >> lane & 1u) != 0; }
    LAB_MEMBER bool head() const { return (heads >> lane & 1u) != 0; }
    LAB_MEMBER u32 trues_in_row() const { return (u32)__popc(flags & (upto() >> 1)); }
    // The sum before the element.
    LAB_MEMBER u64 before() const {
        const u32 mine = heads & upto();
        if (mine == 0) return left + trues_in_row();
        const u32 first = 31u - (u32)__clz((int)mine);
        return sum_of(i - lane + first, (u32)__popc((flags & (upto() >> 1)) >> first));
    }
    // The sum from the element on.
    LAB_MEMBER u64 behind() const {
        const u32 next = heads & ~upto(), rest = flags & ~(upto() >> 1);
        if (next == 0) return right + (u32)__popc(rest);
        const u32 end = (u32)__ffs((int)next) - 1u;
        return sum_of(i - lane + end, (u32)__popc(rest & ((1u << end) - 1u)));
    }
};

#define PLACING 256  // threads per block of the placing kernels; one warp per tile

// Calls `put` for each element of a tile, WORDS rows at a time. `get` comes first for all WORDS rows, so that their
// loads are in flight together.
template <bool BEFORE, bool BEHIND, typename Get, typename Put> LAB void place(const Bits& b, Get get, Put put) {
    after_earlier_launches();
    const u32 tile = blockIdx.x * (PLACING / 32u) + threadIdx.x / 32u, lane = threadIdx.x & 31u;
    if ((u64)tile * TILE >= b.n) return;
    Words words;
    words.load(b, tile);
    u64 before = BEFORE && b.before != 0 && tile != 0 ? b.sums[place_before(tile) - 1u] : 0;
    u64 behind = BEHIND && b.behind != 0 ? b.sums[place_behind(b, tile) - 1u] : sum_of(b.n, 0u);
    u64 left, right;
    sums_of_lanes(words, (tile * 32u + lane) * 32u * WORDS, b.together != 0, before, behind, left, right);
    for (u32 from = 0; from < 32u; ++from) {
        Place rows[WORDS];
        const u32 first = (tile * 32u + from) * 32u * WORDS;
        if (first >= b.n) return;
        u64 sum = of_lane(left, from);
#pragma unroll
        for (u32 k = 0; k < WORDS; ++k) {
            rows[k].lane = lane;
            rows[k].i = first + 32u * k + lane;
            rows[k].flags = of_lane(words.flags[k], from);
            rows[k].heads = of_lane(words.heads[k], from);
            rows[k].left = sum;
            if (BEFORE) sum = past(sum, rows[k].flags, rows[k].heads, first + 32u * k, b.together != 0);
        }
        sum = of_lane(right, from);
#pragma unroll
        for (u32 k = WORDS; k-- > 0u;) {
            rows[k].right = sum;
            if (BEHIND) sum = ahead(sum, rows[k].flags, rows[k].heads, first + 32u * k);
        }
        get(rows);
#pragma unroll
        for (u32 k = 0; k < WORDS; ++k) {
            if (rows[k].i < b.n) put(rows[k], k);
        }
    }
}

// `out` is written in whole lines and not read again, so it need not stay in the cache (__stcs).
extern "C" __global__ void __launch_bounds__(PLACING) compaction_enumerate(const Bits b, u32* out) {
    place<true, false>(b, [](const Place*) {}, [&](const Place& p, u32) { __stcs(out + p.i, trues_of(p.before())); });
}

template <typename T> LAB void load_rows(const Bits& b, const T* in, const Place* rows, T* x) {
#pragma unroll
    for (u32 k = 0; k < WORDS; ++k) x[k] = rows[k].i < b.n ? __ldcg(in + rows[k].i) : T(0);
}

// *number = the number of kept elements; pointers[j] = where segment j begins in `out`.
template <typename T> LAB void compact(const Bits& b, const T* in, T* out, u32* pointers, u64* number) {
    T x[WORDS];
    place<true, false>(b, [&](const Place* rows) { load_rows(b, in, rows, x); }, [&](const Place& p, u32 k) {
        const u32 at = trues_of(p.left) + p.trues_in_row();
        if (p.flag()) out[at] = x[k];
        if (pointers != nullptr && p.head()) {
            pointers[at_of(p.left) + (u32)__popc(p.heads & (p.upto() >> 1))] = at;
        }
        if (p.i + 1u == b.n) *number = at + (p.flag() ? 1u : 0u);
    });
}

template <typename T, bool BACKWARD> LAB void distribute(const Bits& b, const T* in, T* out) {
    T x[WORDS];
    place<!BACKWARD, BACKWARD>(b, [&](const Place* rows) {
#pragma unroll
        for (u32 k = 0; k < WORDS; ++k) {
            if (rows[k].i < b.n) x[k] = in[BACKWARD ? at_of(rows[k].behind()) - 1u : at_of(rows[k].before())];
        }
    }, [&](const Place& p, u32 k) { __stcs(out + p.i, x[k]); });
}

// A false goes to i − t(i), t = trues before it in its segment; a true to e − u(i), e = the segment's end, u = trues
// from it on (src/core/primitives/compaction). The first element of each kind begins a new segment.
template <typename T> LAB void split(const Bits& b, const T* in, T* out, u32* new_heads) {
    T x[WORDS];
    place<true, true>(b, [&](const Place* rows) { load_rows(b, in, rows, x); }, [&](const Place& p, u32 k) {
        const u64 before = p.before(), behind = p.behind();
        const u32 at = p.flag() ? at_of(behind) - trues_of(behind) : p.i - trues_of(before);
        out[at] = x[k];
        const bool first = p.flag() ? trues_of(before) == 0 : at == at_of(before);
        if (new_heads != nullptr && first) atomicOr(&new_heads[at / 32u], 1u << (at % 32u));
    });
}

#define OF_ELEMENTS(suffix, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(PLACING) compaction_compact_##suffix(                          \
        const Bits b, const T* in, T* out, u32* pointers, u64* number) {                                       \
        compact<T>(b, in, out, pointers, number);                                                              \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(PLACING) compaction_distribute_##suffix(                       \
        const Bits b, const T* in, T* out) {                                                                   \
        distribute<T, false>(b, in, out);                                                                      \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(PLACING) compaction_distribute_backward_##suffix(              \
        const Bits b, const T* in, T* out) {                                                                   \
        distribute<T, true>(b, in, out);                                                                       \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(PLACING) compaction_split_##suffix(                            \
        const Bits b, const T* in, T* out, u32* new_heads) {                                                   \
        split<T>(b, in, out, new_heads);                                                                       \
    }

OF_ELEMENTS(4, u32)
OF_ELEMENTS(8, u64)

// ---- inputs and certificate -------------------------------------------------------------------

// Layout shared with src/core/primitives/compaction/cuda: elements, flags and segments as functions of i.
struct Given {
    u64 key;
    u64 trues;
    Permutation order;
    Segments segments;
    u32 element;
    u32 operation;  // codes below
};

static_assert(sizeof(Given) == 96, "the layout of the host");

#define ENUMERATE 0u
#define COMPACT 1u
#define DISTRIBUTE 2u
#define DISTRIBUTE_BACKWARD 3u
#define SPLIT 4u

LAB u64 value_of(const Given& g, u64 i) { return g.element == 4u ? word32(g.key, (u32)i) : word64(g.key, i); }
LAB u64 index_of(const Given& g, u64 value) {
    return g.element == 4u ? index_of_word32(g.key, (u32)value) : index_of_word64(g.key, value);
}
LAB bool flag_of(const Given& g, u64 i) { return permutation_apply(g.order, i) < g.trues; }

// The first element of i's segment; `end` = past its last.
LAB u64 segment_of(const Segments& s, u64 i, u64& end) {
    u64 j = i / s.mean;
    if (pointer(s, j) > i) --j;
    end = pointer(s, j + 1);
    return pointer(s, j);
}

extern "C" __global__ void compaction_fill(void* in, const Given g, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        if (g.element == 4u) ((u32*)in)[i] = (u32)value_of(g, i);
        else ((u64*)in)[i] = value_of(g, i);
    }
}

// Words of the flags, or of the heads; bits of elements from n on are clear.
extern "C" __global__ void compaction_fill_bits(u32* bits, const Given g, u32 heads, u64 n, u64 words) {
    for (u64 w = thread_index(); w < words; w += thread_count()) {
        u32 word = 0;
        for (u64 i = 32 * w; i < 32 * w + 32 && i < n; ++i) {
            word |= (u32)(heads != 0 ? is_head(g.segments, i) : flag_of(g, i)) << (i % 32u);
        }
        bits[w] = word;
    }
}

LAB u64 out_at(const Given& g, const void* out, u64 k) {
    return g.element == 4u || g.operation == ENUMERATE ? ((const u32*)out)[k] : ((const u64*)out)[k];
}

struct Claim {
    u64 expected, found;
    u64 what;  // 0 if the claim holds
};

// Checks out[k] against out[k - 1]: within a segment, falses come first, and indices ascend among falses and among
// trues.
LAB Claim ordered(const Given& g, const void* out, u64 k, u64 start, u64 end) {
    const u64 found = out_at(g, out, k), i = index_of(g, found);
    const bool flag = i < g.order.n && flag_of(g, i);
    bool right = i >= start && i < end && (flag || g.operation == SPLIT);
    if (right && k > (g.operation == SPLIT ? start : 0)) {
        const u64 before = index_of(g, out_at(g, out, k - 1));
        const bool other = before < g.order.n && flag_of(g, before);
        right = other == flag ? before < i : flag;
    }
    return {i, found, right ? 0 : MISPLACED};
}

LAB Claim claim(const Given& g, const void* out, u64 k) {
    const u64 found = out_at(g, out, k), n = g.order.n;
    u64 end, start = segment_of(g.segments, k, end), expected = 0;
    if (g.operation == SPLIT) return ordered(g, out, k, start, end);
    if (g.operation == COMPACT) {
        if (k < g.trues) return ordered(g, out, k, 0, n);
        expected = g.element == 4u ? POISON & 0xFFFFFFFFull : POISON;
        return {expected, found, found == expected ? 0 : STRAY_WRITE};
    }
    if (g.operation == DISTRIBUTE) expected = value_of(g, start);
    else if (g.operation == DISTRIBUTE_BACKWARD) expected = value_of(g, end - 1);
    else if (k != start) expected = out_at(g, out, k - 1) + flag_of(g, k - 1);
    return {expected, found, found == expected ? 0 : WRONG_VALUE};
}

// Checks out[0..n).
extern "C" __global__ void compaction_certify(const void* out, const Given g, Finding* finding) {
    u32 checked = 0;
    for (u64 k = thread_index(); k < g.order.n; k += thread_count()) {
        const Claim c = claim(g, out, k);
        if (c.what != 0) mistake(finding, k, c.what, k, c.expected, c.found);
        checked += 1;
    }
    add_count(&finding->checked, checked);
}

// Checks the segment pointers of a compaction: segment j begins after all kept elements of earlier segments.
extern "C" __global__ void compaction_certify_pointers(const u32* pointers, const void* out, const Given g, u64 count,
                                                     Finding* finding) {
    for (u64 j = thread_index(); j < count; j += thread_count()) {
        const u64 at = pointers[j], head = pointer(g.segments, j);
        const bool right = at <= g.trues && (at == 0 || index_of(g, out_at(g, out, at - 1)) < head) &&
                           (at == g.trues || index_of(g, out_at(g, out, at)) >= head);
        if (!right) mistake(finding, j, MISPLACED, j, head, at);
    }
}

// Checks the new heads: each old head, and the first true of each segment.
extern "C" __global__ void compaction_certify_heads(const u32* heads, const void* out, const Given g, u64 words,
                                                  Finding* finding) {
    for (u64 w = thread_index(); w < words; w += thread_count()) {
        u32 expected = 0;
        for (u64 k = 32 * w; k < 32 * w + 32 && k < g.order.n; ++k) {
            bool head = is_head(g.segments, k);
            if (!head) {
                const u64 i = index_of(g, out_at(g, out, k)), before = index_of(g, out_at(g, out, k - 1));
                head = i < g.order.n && before < g.order.n && flag_of(g, i) && !flag_of(g, before);
            }
            expected |= (u32)head << (k % 32u);
        }
        if (heads[w] != expected) mistake(finding, w, WRONG_VALUE, w, expected, heads[w]);
    }
}

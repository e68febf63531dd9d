// Splits a tile of keys (and values) into buckets 0 … 2^BITS - 1, stably. Warps rank their keys with one ballot per
// bit of the bucket number; the block turns the warps' counts into positions, reorders the tile in shared memory, and
// stores one run per bucket (split_runs.cuh). Used by sort/onesweep.cuh and multisplit.
//
// The function object B maps a key to 4 · bucket, the byte offset of the bucket's counter. A cheap B (B::CHEAP) is
// evaluated again wherever it is needed; any other once per tile, and its results are kept. Positions past the last
// key take the last bucket, or for a cheap B the bucket of B::behind(s). The launch parameters `s` have `keys`,
// `values`, n.
#pragma once

#include "split_runs.cuh"
#include "warp.cuh"

extern __shared__ ulonglong2 dense[];

LAB u32& at4(u32* counters, u32 bucket4) { return *(u32*)((char*)counters + bucket4); }

#if defined(__CUDACC__)
// The lanes whose bucket agrees with this lane's in this bit. Inline assembly takes four instructions; the compiler
// emits seven.
LAB u32 alike(u32 bucket4, u32 bit) {
    u32 votes;
    asm("{\n\t.reg .pred p;\n\t.reg .b32 t;\n\tand.b32 t, %1, %2;\n\tsetp.ne.u32 p, t, 0;\n\t"
        "vote.sync.ballot.b32 %0, p, 0xffffffff;\n\t@!p not.b32 %0, %0;\n\t}"
        : "=r"(votes) : "r"(bucket4), "r"(bit));
    return votes;
}
#else
LAB u32 alike(u32 bucket4, u32 bit) {
    const u32 votes = __ballot_sync(EVERYONE, (bucket4 & bit) != 0);
    return (bucket4 & bit) != 0 ? votes : ~votes;
}
#endif

// The lanes with the same bucket as this lane.
template <int BITS> LAB u32 peers(u32 bucket4) {
    u32 all = EVERYONE;
#pragma unroll
    for (int k = 0; k < BITS; ++k) all &= alike(bucket4, 4u << k);
    return all;
}

// A 16-bit number for each of a thread's keys, two per register if PACKED.
template <int ITEMS, bool PACKED> struct Numbers {
    u32 w[PACKED ? (ITEMS + 1) / 2 : ITEMS];
    // Call in order of i: the even item's write overwrites both halves.
    LAB_MEMBER void put(int i, u32 v) {
        if (!PACKED) w[i] = v;
        else if (i % 2 == 0) w[i / 2] = v;
        else w[i / 2] |= v << 16;
    }
    LAB_MEMBER void replace(int i, u32 v) {
        if (!PACKED) w[i] = v;
        else w[i / 2] = i % 2 == 0 ? (w[i / 2] & 0xFFFF0000u) | v : (w[i / 2] & 0xFFFFu) | v << 16;
    }
    LAB_MEMBER u32 operator[](int i) const { return !PACKED ? w[i] : i % 2 == 0 ? w[i / 2] & 0xFFFFu : w[i / 2] >> 16; }
};

template <int VALUE> struct ValueOf { typedef u32 V; };
template <> struct ValueOf<8> { typedef u64 V; };

// S gives the tile's shape (threads per block, keys per thread), and whether its launches overlap. B, BITS: see above.
// VALUE: bytes of a value, 0 without.
template <typename K, int BITS, int VALUE, typename B, bool BULK, typename S> struct SplitTile {
    typedef typename ValueOf<VALUE>::V V;
    static const int M = 1 << BITS, THREADS = S::THREADS, ITEMS = S::ITEMS, T = THREADS * ITEMS, WARPS = THREADS / 32;
    static const int COUNTERS = M < 32 ? 32 : M, SLOTS = Runs<M, BULK ? S::ALIGN : 1u, BULK ? S::STEP : 1u>::slots(T);
    // Unrolling of the loops over the warps' counters, i.e. counters loaded at a time: with more, 48 keys leave no
    // registers.
    static const int WALKED = VALUE > 0 ? 8 : 4;
    static const bool CHEAP = B::CHEAP, PACKED = CHEAP && VALUE > 0;

    typedef RunStore<M, THREADS, BULK, (VALUE > 0), S::ALIGN, S::STEP> Store;
    typedef typename Store::Tile Tile;
    static_assert(SLOTS < 1 << 16, "two slots in a word");
    static_assert(M <= THREADS, "a thread for each bucket");

    // Shared memory. Runs are aligned as in the output (split_runs.cuh), so some slots stay empty.
    struct Room {
        alignas(16) V values[VALUE > 0 ? SLOTS : 2];
        alignas(16) K keys[SLOTS];
        u32 counters[WARPS][COUNTERS];  // [warp][bucket]: its keys so far, later its first slot
        Tile runs;
        u32 sums[8];
        u32 next;                       // the next tile of this block
    };

    // State of each thread.
    K key[ITEMS];
    Numbers<ITEMS, PACKED> number;  // rank in warp and bucket (| label << 16 unless CHEAP), later the slot

    // What a launch that overlaps reads, an earlier one may write while it waits (overlap.cuh).
    template <typename E> LAB_MEMBER static E taken(const E* from) {
        if constexpr (S::OVERLAPS) return *from;
        else return __ldg(from);
    }

    LAB_MEMBER static u32 first_item() { return threadIdx.x / 32u * (32u * ITEMS) + lane_of(); }

    template <typename F> LAB_MEMBER void load(const F& s, u32 tile) {
        const u32 at = tile * T + first_item();
        const K* keys = (const K*)s.keys + at;
        if ((tile + 1u) * (u64)T <= s.n) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) key[i] = taken(keys + i * 32);
        } else {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) key[i] = at + i * 32 < s.n ? keys[i * 32] : B::behind(s);
        }
    }

    // The bucket of positions past the last key: the last one that occurs, so that they end up at the end of the tile.
    template <typename F> LAB_MEMBER static u32 bucket_behind(const F& s, const B& bucket) { return CHEAP ? bucket(B::behind(s)) / 4u : M - 1u; }

    template <typename F> LAB_MEMBER u32 label(const F& s, const B& bucket, u32 tile, int i) const {
        if (CHEAP || tile * T + first_item() + i * 32 < s.n) return bucket(key[i]);
        return 4u * (M - 1);
    }

    // Ranks for two buckets: the warp's ones so far are counted in a register, and zeros follow from them.
    template <typename F> LAB_MEMBER void rank_two(const F& s, const B& bucket, u32 tile, u32* counters) {
        const u32 below = (1u << lane_of()) - 1u;
        u32 ones = 0;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const u32 b = label(s, bucket, tile, i);
            const u32 votes = __ballot_sync(EVERYONE, b != 0), before = ones + __popc(votes & below);
            number.put(i, (b != 0 ? before : i * 32 + lane_of() - before) | (CHEAP ? 0 : b << 16));
            ones += __popc(votes);
        }
        if (lane_of() < 2u) counters[lane_of()] = lane_of() == 0 ? ITEMS * 32 - ones : ones;
    }

    // Rank of a key = its bucket's counter + the lower lanes with the same bucket. The highest of these lanes updates
    // the counter for the next row of keys.
    template <typename F> LAB_MEMBER void rank_many(const F& s, const B& bucket, u32 tile, u32* counters) {
        const u32 below = (1u << lane_of()) - 1u, above = ~below << 1;
#pragma unroll
        for (int k = 0; k < COUNTERS / 32; ++k) counters[k * 32 + lane_of()] = 0;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const u32 b = label(s, bucket, tile, i), same = peers<BITS>(b);
            const u32 mine = at4(counters, b) + __popc(same & below);
            __syncwarp();
            if ((same & above) == 0) at4(counters, b) = mine + 1u;
            __syncwarp();
            number.put(i, mine | (CHEAP ? 0 : b << 16));
        }
    }

    // Turns the warps' counters into first slots: an exclusive scan over buckets, then over warps, by one thread per
    // bucket. `start` is the output position of the tile's first key of the bucket, `behind` how many of its positions
    // are past the last key. All threads must call this.
    LAB_MEMBER static void place_warps(Room& r, u32 start, u32 behind) {
        const u32 b = threadIdx.x;
        const bool there = b < (u32)M;
        u32 total = 0;
        if (there) {
#pragma unroll WALKED
            for (int w = 0; w < WARPS; ++w) total += r.counters[w][b];
        }
        const u32 slots = there ? Tile::slots_of(start, total) : 0u;
        u32 end = sum_lanes(slots);
        if (M > 32) {
            if (there && lane_of() == 31u) r.sums[b / 32u] = end;
            __syncthreads();
#pragma unroll
            for (int w = 0; w < M / 32 - 1; ++w) end += (u32)w < b / 32u ? r.sums[w] : 0u;
        }
        if (!there) return;
        u32 at = r.runs.note(b, end - slots, start, total - behind);
        // The counters are read twice: kept in registers, they would spill the keys.
#pragma unroll WALKED
        for (int w = 0; w < WARPS; ++w) {
            const u32 count = r.counters[w][b];
            r.counters[w][b] = at;
            at += count;
        }
    }

    // Moves the keys to their slots.
    LAB_MEMBER void reorder(Room& r, const B& bucket) {
        u32* counters = r.counters[threadIdx.x / 32u];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const u32 n = number[i], b = CHEAP ? bucket(key[i]) : n >> 16, at = at4(counters, b) + (CHEAP ? n : n & 0xFFFFu);
            r.keys[at] = key[i];
            if (VALUE > 0) number.replace(i, at);
        }
    }

    // Moves the values, which are loaded only now that the keys' registers are free.
    template <typename F> LAB_MEMBER void reorder_values(const F& s, Room& r, u32 tile) const {
        const u32 at = tile * T + first_item();
        const V* values = (const V*)s.values + at;
        V value[ITEMS];
        if ((tile + 1u) * (u64)T <= s.n) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) value[i] = taken(values + i * 32);
        } else {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) value[i] = at + i * 32 < s.n ? values[i * 32] : V(0);
        }
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) r.values[number[i]] = value[i];
    }
};

// LSD radix sort that reads and writes the keys once per digit of 8 bits (Adinets, Merrill: Onesweep, 2022).
//
//   histograms   one read of the keys counts all digits
//   for each digit, the lowest first:
//     a block draws a tile, ranks its keys (common/split_tile.cuh), and publishes its count of each digit;
//     other blocks, the spine, turn these counts into output places, tile after tile;
//     the tile is written in runs, one per digit
//
// The spine serves a tile as soon as all earlier tiles have published, which they do without waiting; with look-back,
// the hundreds of tiles at work would read each other's counts. A digit that all keys share is skipped: its blocks
// return at once. With c digits left, passes write the output and the array between in turn, so that the last one
// writes the output. If all digits are shared, the lowest copies the keys.
#pragma once

#include "../common/overlap.cuh"
#include "../common/published.cuh"
#include "../common/split_tile.cuh"

#define DIGIT_BITS 8u
#define DIGITS 256u  // values of a digit

struct Onesweep {
    const void* keys_in;
    const void* values_in;
    void* keys_out;
    void* values_out;
    void* keys_between;
    void* values_between;
    u32* counts;       // [digit][DIGITS]: keys with each value of each digit
    u32* cleared;      // counts of the next execution, which this one clears
    u32* even;         // [tile][DIGITS]: descriptors; passes use even and odd in turn
    u32* odd;
    u32* tickets;      // per digit: the next tile to draw
    u32 n;
    u32 tile_count;
    u32 begin, end;    // the bits that keys are sorted by
    u32 digits, digit; // number of digits; digit of this launch
};

static_assert(sizeof(Onesweep) == 112, "the layout of the host");

// Bits of digit d; the highest digit may have fewer.
LAB u32 bits_of(const Onesweep& s, u32 d) {
    const u32 left = s.end - s.begin - d * DIGIT_BITS;
    return left < DIGIT_BITS ? left : DIGIT_BITS;
}

// 4 · digit of a key. A 32-bit key is rotated so that the digit begins at bit 2.
template <typename K> struct Digit;

template <> struct Digit<u32> {
    static const bool CHEAP = true;
    u32 turn, mask;
    LAB_MEMBER Digit(const Onesweep& s, u32 d) : turn((s.begin + d * DIGIT_BITS - 2u) & 31u), mask(((1u << bits_of(s, d)) - 1u) * 4u) {}
    LAB_MEMBER u32 operator()(u32 key) const { return __funnelshift_r(key, key, turn) & mask; }
    template <typename F> LAB_MEMBER static u32 behind(const F&) { return ~0u; }
};

template <> struct Digit<u64> {
    static const bool CHEAP = true;
    u32 shift, mask;
    LAB_MEMBER Digit(const Onesweep& s, u32 d) : shift(s.begin + d * DIGIT_BITS), mask(((1u << bits_of(s, d)) - 1u) * 4u) {}
    LAB_MEMBER u32 operator()(u64 key) const { return (u32)(key >> shift) * 4u & mask; }
    template <typename F> LAB_MEMBER static u64 behind(const F&) { return ~0ull; }
};

// ---- histograms --------------------------------------------------------------------------------

#define HISTOGRAM_THREADS 1024u
#define HISTOGRAM_BATCH 4u  // vectors that each lane has in flight

// Histograms of all digits of all keys. Also clears `even` and `tickets` for this execution's passes, and `cleared`
// for the next execution. Each lane counts in one of COPIES tables, so that few lanes meet in a bank.
template <typename K, u32 COPIES, bool WHOLE> LAB void count_digits(const Onesweep& s) {
    u32* const counts = (u32*)dense;  // [digit][DIGITS][COPIES]
    const u32 used = s.digits * DIGITS, VECTOR = 16u / sizeof(K), CHUNK = 32u * HISTOGRAM_BATCH * VECTOR;
    const u64 first = (u64)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x, step = (u64)gridDim.x * HISTOGRAM_THREADS;
    for (u32 i = threadIdx.x; i < used * COPIES; i += HISTOGRAM_THREADS) counts[i] = 0;
    after_earlier_launches();
    for (u64 i = first; i < used; i += step) s.cleared[i] = 0;
    for (u64 i = first; i < s.digits; i += step) s.tickets[i] = 0;
    for (u64 i = first; i < (u64)s.tile_count * DIGITS; i += step) s.even[i] = 0;
    __syncthreads();
    const K* const keys = (const K*)s.keys_in;
    u32* const own = counts + threadIdx.x % COPIES;
    auto add = [&](K key) {
#pragma unroll
        for (u32 d = 0; d < (u32)sizeof(K); ++d) {
            if (WHOLE) atomicAdd(own + d * DIGITS * COPIES + ((u32)(key >> d * DIGIT_BITS) & 255u) * COPIES, 1u);
            else if (d < s.digits) atomicAdd(&at4(own + d * DIGITS * COPIES, Digit<K>(s, d)(key) * COPIES), 1u);
        }
    };
    const u64 chunks = ((u64)keys & 15u) == 0 ? s.n / CHUNK : 0u;
    for (u64 chunk = first / 32u; chunk < chunks; chunk += step / 32u) {
        union { uint4 vector[HISTOGRAM_BATCH]; K key[HISTOGRAM_BATCH * (16u / sizeof(K))]; } in;
#pragma unroll
        for (u32 j = 0; j < HISTOGRAM_BATCH; ++j)
            in.vector[j] = __ldcs((const uint4*)(keys + chunk * CHUNK) + j * 32u + lane_of());
#pragma unroll
        for (u32 j = 0; j < HISTOGRAM_BATCH * VECTOR; ++j) add(in.key[j]);
    }
    for (u64 i = chunks * CHUNK + first; i < s.n; i += step) add(keys[i]);
    __syncthreads();
    for (u32 i = threadIdx.x; i < used; i += HISTOGRAM_THREADS) {
        u32 sum = 0;
        for (u32 c = 0; c < COPIES; ++c) sum += counts[i * COPIES + (c + i) % COPIES];
        if (sum != 0) atomicAdd(&s.counts[i], sum);
    }
}

// `whole` counts all digits of the key, `some` those of a field.
#define WHOLE_whole true
#define WHOLE_some false
#define COUNT_DIGITS(digits, KEY, COPIES)                                                                     \
    extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS) sort_count_##digits##_u##KEY##_##COPIES(Onesweep s) { \
        count_digits<u##KEY, COPIES, WHOLE_##digits>(s);                                                      \
    }

// ---- descriptors ---------------------------------------------------------------------------------

// A descriptor of a tile and digit first holds the tile's count of the digit (OF_TILE), then the output place of its
// first such key (PLACED). A place of 2^30 would read as 0, but no key goes there: n ≤ 2^30.
#define OF_TILE (1u << 30)
#define PLACED (2u << 30)
#define COUNT_OF 0x3FFFFFFFu

#define SERVED 32u  // tiles that the spine polls at once

// Waits for the spine; returns the output place of a tile's first key of a digit.
LAB u32 placed(const u32* descriptor) {
    u32 word;
    while ((word = published(descriptor)) < PLACED) __nanosleep(PATIENCE);
    return word & COUNT_OF;
}

// Minimum over the lanes of a warp.
LAB u32 least_of_lanes(u32 word) {
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) {
        const u32 other = __shfl_xor_sync(EVERYONE, word, by);
        if (other < word) word = other;
    }
    return word;
}

// A thread of the spine: the exclusive scan of digit b's counts over all tiles, from `place`, where the digit's first
// key goes.
LAB void serve(const Onesweep& s, u32* descriptors, u32 b, u32 place) {
    for (u32 first = 0; first < s.tile_count;) {
        u32* const row = descriptors + (u64)first * DIGITS + b;
        u32 word[SERVED], ready = 0;
#pragma unroll
        for (u32 k = 0; k < SERVED; ++k) word[k] = first + k < s.tile_count ? published(row + k * DIGITS) : 0u;
#pragma unroll
        for (u32 k = 0; k < SERVED; ++k) ready |= (word[k] >> 30 | word[k] >> 31) % 2u << k;
        const u32 served = least_of_lanes(ready == EVERYONE ? 32u : (u32)__ffs((int)~ready) - 1u);
#pragma unroll
        for (u32 k = 0; k < SERVED; ++k) {
            if (k >= served) break;
            publish(row + k * DIGITS, PLACED | (place & COUNT_OF));
            place += word[k] & COUNT_OF;
        }
        if (served == 0) __nanosleep(PATIENCE);
        first += served;
    }
}

// ---- a pass ----------------------------------------------------------------------------------------

// Sizes of tiles. Fewer keys take smaller tiles, so that most multiprocessors have one.
#define SMALL 0
#define MEDIUM 1
#define LARGE 2

// Threads per block, keys per thread, blocks per multiprocessor, as in src/core/primitives/sort/methods/onesweep.rs.
template <int KEY, int VALUE, int SIZE> struct SortShape {
    static const int PAIR = KEY + VALUE;
    static const int THREADS = PAIR == 4 ? 256 : 512;
    static const int MOST = PAIR == 4 ? 48 : PAIR == 8 ? (KEY == 4 ? 32 : 24) : PAIR == 12 ? (KEY == 4 ? 24 : 20) : 17;
    static const int ITEMS = SIZE == SMALL ? (PAIR == 4 ? 8 : 4) : SIZE == MEDIUM ? 16 : MOST;
    static const int BLOCKS = PAIR == 4 ? 2 : 1;
    // Not where it takes longer (H200): two medium blocks crowd on one multiprocessor while others have none (7 % of 2^19
    // keys), and many large tiles took 1 to 2 % longer.
    static const bool OVERLAPS = SIZE == SMALL || (SIZE == MEDIUM && BLOCKS == 1);
    static const int SPINES = 2;  // blocks of the spine, each for DIGITS / SPINES digits
    // Bulk copies move whole sectors, between addresses that are multiples of 16 bytes.
    static const bool WIDE = KEY == 8;
    static const u32 ALIGN = WIDE ? 4 : 8, STEP = WIDE ? 2 : 4;
};

// The bitwise or of all threads' words. All threads must call this.
LAB u32 or_block(u32 word) {
    __shared__ u32 all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    if (word != 0) atomicOr(&all, word);
    __syncthreads();
    return all;
}

// This launch's digit: its index among the digits that are not skipped, and their number. All threads must call
// turn_of.
struct Turn {
    u32 place, count;
    bool skipped;
};

template <int MOST> LAB Turn turn_of(const Onesweep& s) {
    Turn turn = {0, 0, true};
    u32 same = 0;  // bit d: all keys share digit d
#pragma unroll
    for (u32 d = 0; d < (u32)MOST; ++d) same |= (d < s.digits && threadIdx.x < DIGITS && s.counts[d * DIGITS + threadIdx.x] == s.n ? 1u : 0u) << d;
    same = or_block(same);
    for (u32 d = 0; d < s.digits; ++d) {
        if ((same >> d & 1u) != 0) continue;
        if (d < s.digit) ++turn.place;
        if (d == s.digit) turn.skipped = false;
        ++turn.count;
    }
    if (turn.count == 0) turn = {0, 1, s.digit != 0};
    return turn;
}

template <typename K, int VALUE, bool BULK, int SIZE>
struct DigitPass : SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, BULK, SortShape<sizeof(K), VALUE, SIZE>> {
    typedef SplitTile<K, DIGIT_BITS, VALUE, Digit<K>, BULK, SortShape<sizeof(K), VALUE, SIZE>> Base;
    typedef typename Base::V V;
    typedef typename Base::Store Store;
    static const u32 T = Base::T, SPINES = SortShape<sizeof(K), VALUE, SIZE>::SPINES;

    struct Room : Base::Room {
        u32 keys_of[DIGITS];  // [digit]: keys of the next tile
    };

    // The arrays that a pass reads and writes.
    struct Ends {
        const void* keys;
        const void* values;
        K* keys_out;
        V* values_out;
        u32 n;
    };

    LAB_MEMBER static Ends ends_of(const Onesweep& s, const Turn& turn) {
        const bool out = (turn.count - turn.place) % 2u != 0;  // true if this pass writes the output
        Ends ends = {s.keys_in, s.values_in, (K*)(out ? s.keys_out : s.keys_between), (V*)(out ? s.values_out : s.values_between), s.n};
        if (turn.place > 0) {
            ends.keys = out ? s.keys_between : s.keys_out;
            ends.values = out ? s.values_between : s.values_out;
        }
        return ends;
    }

    // The output place where digit threadIdx.x begins: the exclusive scan of its counts over digits.
    LAB_MEMBER static u32 digit_start(const Onesweep& s, Room& r) {
        const u32 b = threadIdx.x, total = b < DIGITS ? s.counts[s.digit * DIGITS + b] : 0u;
        u32 end = sum_lanes(total);
        if (lane_of() == 31u && b < DIGITS) r.sums[b / 32u] = end;
        __syncthreads();
        for (u32 w = 0; w < b / 32u && w < 8u; ++w) end += r.sums[w];
        __syncthreads();
        return end - total;
    }

    // Counts the tile's digits before its keys are ranked, so that the spine works meanwhile.
    LAB_MEMBER void count(Room& r, const Digit<K>& digit) const {
#pragma unroll
        for (int i = 0; i < Base::ITEMS; ++i) atomicAdd(&at4(r.keys_of, digit(this->key[i])), 1u);
    }

    // Publishes the counts of a tile, if there is one.
    LAB_MEMBER static void announce(const Onesweep& s, Room& r, u32* descriptors, u32 tile) {
        if (threadIdx.x >= DIGITS || tile >= s.tile_count) return;
        publish(descriptors + (u64)tile * DIGITS + threadIdx.x, OF_TILE | r.keys_of[threadIdx.x]);
        r.keys_of[threadIdx.x] = 0;
    }

    LAB_MEMBER static void run(const Onesweep& s) {
        Room& r = *(Room*)dense;
        if (SortShape<sizeof(K), VALUE, SIZE>::OVERLAPS) after_earlier_launches();
        if (threadIdx.x == 0) r.next = atomicAdd(&s.tickets[s.digit], 1u);
        const Turn turn = turn_of<sizeof(K)>(s);
        if (turn.skipped) return;
        u32 *const descriptors = turn.place % 2u == 0 ? s.even : s.odd, *const cleared = turn.place % 2u == 0 ? s.odd : s.even;
        const u32 drawn = r.next, b = threadIdx.x;
        if (drawn >= SPINES) return split(s, ends_of(s, turn), drawn - SPINES, descriptors, cleared);
        const u32 start = digit_start(s, r);
        if (b / (DIGITS / SPINES) == drawn) serve(s, descriptors, b, start);
    }

    // Splits `tile`, then every tile that the block draws.
    LAB_MEMBER static void split(const Onesweep& s, const Ends& ends, u32 tile, u32* descriptors, u32* cleared) {
        Room& r = *(Room*)dense;
        const Digit<K> digit(s, s.digit);
        const u32 b = threadIdx.x, last = digit.mask / 4u;
        const Store leaving(ends.keys_out, ends.values_out);
        const Arrays<V, K> arrays = {ends.keys_out, ends.values_out, r.keys, r.values};
        DigitPass mine;
        if (b < DIGITS) r.keys_of[b] = 0;
        __syncthreads();
        if (tile >= s.tile_count) return;
        mine.load(ends, tile);
        mine.count(r, digit);
        __syncthreads();
        announce(s, r, descriptors, tile);
        while (tile < s.tile_count) {
            const u32 here = s.n - tile * T, behind = b == last && here < T ? T - here : 0u;
            u32 next = 0, to = 0;
            mine.rank_many(ends, digit, tile, r.counters[b / 32u]);
            leaving.wait();
            __syncthreads();  // all warps have counted, and the previous tile has been written
            if (b < DIGITS) {
                cleared[(u64)tile * DIGITS + b] = 0;
                to = placed(descriptors + (u64)tile * DIGITS + b);
            }
            // Drawn as late as possible: until the drawn tile is published, all later tiles wait.
            if (b == 0) next = atomicAdd(&s.tickets[s.digit], 1u) - SPINES;
            Base::place_warps(r, to, behind);
            if (b == 0) r.next = next;
            __syncthreads();
            const u32 drawn = r.next;
            mine.reorder(r, digit);
            if (drawn < s.tile_count) mine.load(ends, drawn);
            if (VALUE > 0) mine.reorder_values(ends, r, tile);
            tile = drawn;
            mine.count(r, digit);  // past the last tile these are old keys, which does no harm
            leaving.written();
            __syncthreads();
            announce(s, r, descriptors, tile);
            leaving.store(r.runs, arrays);
        }
        leaving.wait();
    }
};

// `pass` stores runs with the block's threads, `bulk` with asynchronous copies.
#define BULK_pass false
#define BULK_bulk true
#define SIZE_small SMALL
#define SIZE_medium MEDIUM
#define SIZE_large LARGE

#define DIGIT_PASS(store, size, KEY, VALUE)                                                                     \
    extern "C" __global__ void __launch_bounds__(SortShape<KEY / 8, VALUE, SIZE_##size>::THREADS,               \
                                                 SortShape<KEY / 8, VALUE, SIZE_##size>::BLOCKS)                \
        sort_##store##_##size##_u##KEY##_##VALUE(Onesweep s) {                                                  \
        DigitPass<u##KEY, VALUE, BULK_##store, SIZE_##size>::run(s);                                            \
    }
// Pairs with 64-bit keys are stored faster by threads than by bulk copies.
#define WIDE_PAIRS_pass(size) DIGIT_PASS(pass, size, 64, 4) DIGIT_PASS(pass, size, 64, 8)
#define WIDE_PAIRS_bulk(size)
#define DIGIT_PASSES_OF(store, size)                                                                            \
    DIGIT_PASS(store, size, 32, 0) DIGIT_PASS(store, size, 32, 4) DIGIT_PASS(store, size, 32, 8)                \
    DIGIT_PASS(store, size, 64, 0) WIDE_PAIRS_##store(size)
#define DIGIT_PASSES(store) DIGIT_PASSES_OF(store, small) DIGIT_PASSES_OF(store, medium) DIGIT_PASSES_OF(store, large)

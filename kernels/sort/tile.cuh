// The tiles of sorts by scans (sengupta2007 §4.1 and §5): a block holds a tile of keys in shared memory, and splits it
// by one bit after another, a stable split each (§2.3.3).
//
//   a tile alone    sort_by_bits: all bits of the field in one launch; merge.cuh merges the tiles
//   all keys        pass: one bit a launch; a look-back scan of the tiles' falses gives the places of all keys
//
// Every element carries its first place in the tile, and values are read from there at the end, so that they move once.
#pragma once

#include "../scan/look_back.cuh"

#define SORT_THREADS 256u
#define SORT_WARPS (SORT_THREADS / 32u)
#define SORT_ITEMS 17u  // keys per thread; odd, so that threads' runs of keys begin in different banks
#define SORT_TILE (SORT_THREADS * SORT_ITEMS)
#define SORT_BITS 64u   // at most, of a field

// A launch of any of these sorts.
struct ScanSort {
    const void* keys_in;
    const void* values_in;
    void* keys_out;
    void* values_out;
    u32* ones;          // [SORT_BITS]: keys in which a bit of the field is set
    u32* cleared;       // the same of the next execution, to be cleared
    void* descriptors;  // per tile, of the scan of its falses
    u32* tickets;       // [SORT_BITS]: the next tile to draw
    u64 mask;           // the field that keys are sorted by
    u32 n;
    u32 begin, end;     // its bits
    u32 bit;            // the one of this launch
    u32 width;          // merges: keys of a sorted run, a multiple of SORT_TILE
    u32 passes;         // quicksort: at most
};

static_assert(sizeof(ScanSort) == 96, "the layout of the host");

template <int VALUE> struct SortValue { typedef u32 V; };
template <> struct SortValue<8> { typedef u64 V; };

LAB u32 warp_of() { return threadIdx.x / 32u; }

// The place of the thread's key i in its tile: a row of 32 keys is a warp's.
LAB u32 place_of(u32 i) { return (warp_of() * SORT_ITEMS + i) * 32u + lane_of(); }

template <typename K, int VALUE> struct SortTile {
    typedef typename SortValue<VALUE>::V V;

    struct Room {
        K keys[SORT_TILE];
        unsigned short from[VALUE > 0 ? SORT_TILE : 1u];  // the first place of each key
        u32 falses[SORT_WARPS];
    };

    K key[SORT_ITEMS];
    unsigned short from[VALUE > 0 ? SORT_ITEMS : 1u];

    // Positions behind the last key get the greatest key. Splits are stable, so they stay behind all others.
    LAB_MEMBER void load(const ScanSort& s, u32 tile) {
        const u32 base = tile * SORT_TILE;
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 at = base + place_of(i);
            key[i] = at < s.n ? __ldg((const K*)s.keys_in + at) : ~K(0);
            if (VALUE > 0) from[i] = (unsigned short)place_of(i);
        }
    }

    LAB_MEMBER void take(const Room& r) {
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            key[i] = r.keys[place_of(i)];
            if (VALUE > 0) from[i] = r.from[place_of(i)];
        }
    }

    LAB_MEMBER void put(Room& r, u32 i, u32 at) const {
        r.keys[at] = key[i];
        if (VALUE > 0) r.from[at] = from[i];
    }

    // Writes the thread's key i, of this tile of the input.
    LAB_MEMBER void store(const ScanSort& s, u32 tile, u32 i, u32 to) const {
        ((K*)s.keys_out)[to] = key[i];
        if (VALUE > 0) ((V*)s.values_out)[to] = __ldg((const V*)s.values_in + tile * SORT_TILE + from[i]);
    }

    LAB_MEMBER void store_tile(const ScanSort& s, u32 tile) const {
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 at = tile * SORT_TILE + place_of(i);
            if (at < s.n) store(s, tile, i, at);
        }
    }

    // Splits the tile by a bit (§2.3.3): an element that is false goes to f, the number of falses before it, any other to
    // t = id − f + NF. Returns NF, the number of falses. All threads must call this.
    LAB_MEMBER u32 split(Room& r, u32 bit) {
        u32 before[SORT_ITEMS], falses = 0;
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 votes = __ballot_sync(EVERYONE, (key[i] >> bit & 1u) == 0);
            before[i] = falses + (u32)__popc(votes & lanes_below());
            falses += (u32)__popc(votes);
        }
        if (lane_of() == 0) r.falses[warp_of()] = falses;
        __syncthreads();
        u32 earlier = 0, all = 0;
#pragma unroll
        for (u32 w = 0; w < SORT_WARPS; ++w) {
            const u32 count = r.falses[w];
            if (w < warp_of()) earlier += count;
            all += count;
        }
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 f = earlier + before[i];
            put(r, i, (key[i] >> bit & 1u) == 0 ? f : place_of(i) - f + all);
        }
        __syncthreads();
        take(r);
        return all;
    }

    LAB_MEMBER void sort_by_bits(const ScanSort& s, Room& r) {
#pragma unroll 1
        for (u32 bit = s.begin; bit < s.end; ++bit) split(r, bit);
    }

    LAB_MEMBER static void sort(const ScanSort& s) {
        __shared__ Room room;
        SortTile mine;
        mine.load(s, blockIdx.x);
        mine.sort_by_bits(s, room);
        mine.store_tile(s, blockIdx.x);
    }

    // Splits all keys by the bit of this launch: NF is known from a count of all bits, and f from the falses of the tile
    // and of the tiles before it.
    LAB_MEMBER static void pass(const ScanSort& s) {
        __shared__ Room room;
        __shared__ u32 falses_before;
        Scan scan = {};
        scan.descriptors = s.descriptors;
        scan.ticket = s.tickets + (s.bit - s.begin);
        scan.epoch = s.bit - s.begin + 1u;
        const u32 tile = draw_ticket(scan);
        SortTile mine;
        mine.load(s, tile);
        const u32 falses = mine.split(room, s.bit);
        if (warp_of() == 0) {
            const u32 sum = LookBack::before(Add<u32>(), scan, tile, falses, false);
            if (lane_of() == 0) falses_before = sum;
        }
        __syncthreads();
        const u32 base = tile * SORT_TILE, all = s.n - s.ones[s.bit - s.begin];
#pragma unroll
        for (u32 i = 0; i < SORT_ITEMS; ++i) {
            const u32 at = place_of(i);
            if (base + at >= s.n) continue;
            mine.store(s, tile, i, at < falses ? falses_before + at : all + (base - falses_before) + (at - falses));
        }
    }
};

// Counts the ones of every bit of all keys, of which lane b of a warp counts bits b and b + 32; and clears what this
// execution's passes and the next execution's count need to be clear.
template <typename K> LAB void count_ones(const ScanSort& s) {
    const u32 WORDS = sizeof(K) / 4u, step = gridDim.x * SORT_THREADS, first = blockIdx.x * SORT_THREADS + threadIdx.x;
    const u32 tiles = s.n / SORT_TILE + 1u;
    __shared__ u32 ones[SORT_BITS];
    if (threadIdx.x < SORT_BITS) ones[threadIdx.x] = 0;
    if (first < SORT_BITS) s.cleared[first] = s.tickets[first] = 0;
    for (u32 i = first; i < tiles; i += step) ((u64*)s.descriptors)[i] = 0;
    __syncthreads();
    u32 count[WORDS] = {};
    for (u64 row = first - lane_of(); row < s.n; row += step) {
        const K key = row + lane_of() < s.n ? __ldg((const K*)s.keys_in + row + lane_of()) : K(0);
#pragma unroll
        for (u32 b = 0; b < 32u * WORDS; ++b) {
            const u32 votes = __ballot_sync(EVERYONE, (key >> b & 1u) != 0);
            if (lane_of() == b % 32u) count[b / 32u] += (u32)__popc(votes);
        }
    }
#pragma unroll
    for (u32 w = 0; w < WORDS; ++w) atomicAdd(&ones[32u * w + lane_of()], count[w]);
    __syncthreads();
    const u32 bit = threadIdx.x;
    if (bit >= s.begin && bit < s.end && ones[bit] != 0) atomicAdd(&s.ones[bit - s.begin], ones[bit]);
}

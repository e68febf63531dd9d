// Tiles of the sorts by scans (sengupta2007 §4.1 and §5): a block holds a tile of keys in shared memory, and splits it
// stably by one bit after another (§2.3.3).
//
//   a tile alone    sort_by_bits: all bits of the field in one launch; merge.cuh merges the tiles
//   all keys        pass: one bit per launch; a look-back scan of the tiles' falses gives the places of all keys
//
// A key carries its original place in the tile, by which its value is fetched at the end: values move once.
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
    u32* ones;          // [bit]: keys in which this bit of the field is set
    u32* cleared;       // `ones` of the next execution, which this one clears
    void* descriptors;  // [tile]: of the look-back scan of falses
    u32* tickets;       // [bit]: the next tile to draw
    u64 mask;           // the field to sort by
    u32 n;
    u32 begin, end;     // the field's bits [begin, end)
    u32 bit;            // bit of this launch
    u32 width;          // merges: keys of a sorted run, a multiple of SORT_TILE
    u32 passes;         // quicksort: the most passes
};

static_assert(sizeof(ScanSort) == 96, "the layout of the host");

template <int VALUE> struct SortValue { typedef u32 V; };
template <> struct SortValue<8> { typedef u64 V; };

LAB u32 warp_of() { return threadIdx.x / 32u; }

// The place in the tile of the thread's key i: the warp's row i of 32 keys, one per lane.
LAB u32 place_of(u32 i) { return (warp_of() * SORT_ITEMS + i) * 32u + lane_of(); }

template <typename K, int VALUE> struct SortTile {
    typedef typename SortValue<VALUE>::V V;

    struct Room {
        K keys[SORT_TILE];
        unsigned short from[VALUE > 0 ? SORT_TILE : 1u];  // [place]: the key's original place
        u32 falses[SORT_WARPS];
    };

    K key[SORT_ITEMS];
    unsigned short from[VALUE > 0 ? SORT_ITEMS : 1u];

    // Positions past the last key get the greatest key; splits are stable, so they stay last.
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

    // Writes key i to place `to` of the output, with its value from tile `tile` of the input.
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

    // Splits the tile by a bit (§2.3.3): a false goes to f = the falses before it, a true to t = id − f + NF. Returns
    // NF, the number of falses. All threads must call this.
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

    // Splits all keys by this launch's bit. NF is known from count_ones; f = falses of earlier tiles (look-back) +
    // earlier in the tile.
    LAB_MEMBER static void pass(const ScanSort& s) {
        __shared__ Room room;
        __shared__ u32 falses_before;
        Scan scan = {};
        scan.descriptors = s.descriptors;
        scan.ticket = s.tickets + (s.bit - s.begin);
        scan.epoch = s.bit - s.begin + 1u;
        const u32 tile = place_of_block(scan);
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

// ones[bit] = keys in which the bit is set, by one ballot per bit: lane b of a warp adds up bits b and b + 32. Also
// clears tickets and descriptors for this execution's passes, and `cleared` for the next execution.
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

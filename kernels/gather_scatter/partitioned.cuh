// Scatter R_out[L[i]] = R_in[i] that first partitions the pairs (L[i], R_in[i]) by the high bits of L, so that the
// tuples of a partition go to one chunk of R_out, which fits in shared memory:
//
//   count   one read of L counts the tuples of all chunks
//   pass    divides every partition of the previous pass, by the highest bits first
//   place   assembles each chunk in shared memory and writes it
//
// Pairs of a partition may change their order within a tile and among tiles: if several tuples go to one place, any of
// them may win (he2007 §3.2 scatters to distinct places).
#pragma once

#include "../common/block_sums.cuh"
#include "../common/certify.cuh"
#include "../common/hints.cuh"


extern __shared__ uint4 dense[];

// ---- counts ---------------------------------------------------------------------------

// counts[b] = 0 for b < n.
extern "C" __global__ void partitioned_clear(u64* counts, u64 n) {
    for (u64 b = thread_index(); b < n; b += thread_count()) counts[b] = 0;
}

LAB void count_one(u32* count, u64 at, u32 shift, u64 low, u32 window) {
    const u64 bin = (at >> shift) - low;
    if (bin < window) atomicAdd(&count[bin], 1u);
}

LAB void count_vector(u32* count, uint4 v, u32 shift, u64 low, u32 window, u32) {
    count_one(count, v.x, shift, low, window);
    count_one(count, v.y, shift, low, window);
    count_one(count, v.z, shift, low, window);
    count_one(count, v.w, shift, low, window);
}

LAB void count_vector(u32* count, uint4 v, u32 shift, u64 low, u32 window, u64) {
    count_one(count, (u64)v.y << 32 | v.x, shift, low, window);
    count_one(count, (u64)v.w << 32 | v.z, shift, low, window);
}

// counts[b] += the number of locations with location >> shift == b, among n. A block counts `window` values of b in
// shared memory, up to 2^32 - 1 of each; the blocks of a window are adjacent in the grid and share the locations.
template <typename I>
LAB void count_chunks(u64* counts, const I* __restrict__ location, u32 shift, u32 window, u32 blocks,
                      u64 bins, u64 n) {
    u32* count = (u32*)dense;
    const u32 together = sizeof(uint4) / sizeof(I), unrolled = 4;
    const u64 low = (u64)(blockIdx.x / blocks) * window;
    for (u32 b = threadIdx.x; b < window; b += blockDim.x) count[b] = 0;
    __syncthreads();
    const bool aligned = (u64)location % sizeof(uint4) == 0;
    const u64 step = (u64)blocks * blockDim.x, vectors = aligned ? n / together : 0;
    const uint4* vector = (const uint4*)location;
    u64 i = (u64)(blockIdx.x % blocks) * blockDim.x + threadIdx.x;
    const u64 rest = vectors * together + i;
    for (; i + (unrolled - 1) * step < vectors; i += unrolled * step) {
        uint4 v[unrolled];
#pragma unroll
        for (u32 k = 0; k < unrolled; ++k) v[k] = vector[i + k * step];
#pragma unroll
        for (u32 k = 0; k < unrolled; ++k) count_vector(count, v[k], shift, low, window, I());
    }
    for (; i < vectors; i += step) count_vector(count, vector[i], shift, low, window, I());
    for (i = rest; i < n; i += step) count_one(count, location[i], shift, low, window);
    __syncthreads();
    for (u32 b = threadIdx.x; b < window && low + b < bins; b += blockDim.x) {
        if (count[b] != 0) atomicAdd(&counts[low + b], (u64)count[b]);
    }
}

#define COUNT(name, I)                                                                             \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        name(u64* counts, const I* __restrict__ location, u32 shift, u32 window, u32 blocks,       \
             u64 bins, u64 n) {                                                                    \
        count_chunks(counts, location, shift, window, blocks, bins, n);                            \
    }

COUNT(partitioned_count_i4, u32)
COUNT(partitioned_count_i8, u64)

// next[b] = next[0] + … + next[b - 1], in place, by one block of 1024 threads: where each chunk's pairs begin.
extern "C" __global__ void __launch_bounds__(1024) partitioned_sum(u64* next, u64 n) { sum_in_place(next, n); }

// coarse[b] = fine[b << bits]: where the partitions of an earlier pass begin.
extern "C" __global__ void partitioned_coarsen(u64* __restrict__ coarse, const u64* __restrict__ fine, u32 bits,
                                               u64 n) {
    for (u64 b = thread_index(); b < n; b += thread_count()) coarse[b] = fine[b << bits];
}

// ---- a pass ---------------------------------------------------------------------------

// The pairs [low, high) of a tile that belong to one partition (`segment`) of the previous pass.
struct Part {
    u64 low, high;
    u32 tile, segment;
};

// The input of a pass: n pairs in `segments` partitions; partition s ends at ends[s] (null if there is only one).
// Tiles have `tile` pairs: as many as a block can hold, or slightly fewer to balance the blocks.
struct Divided {
    const u64* ends;
    u64 segments;
    u64 n;
    u64 tile;
};

LAB u64 lesser(u64 a, u64 b) { return a < b ? a : b; }

LAB void cut_part(const Divided& all, Part* part) {
    const u64 end = lesser((part->tile + 1ull) * all.tile, all.n);
    part->high = all.segments == 1 ? end : lesser(all.ends[part->segment], end);
}

// The first part of part->tile; part->low ≥ n if the tile lies past all pairs.
LAB void first_part(const Divided& all, Part* part) {
    part->low = part->tile * all.tile;
    u64 low = 0, high = all.segments - 1;
    if (part->low >= all.n) return;
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (all.ends[middle] > part->low) high = middle;
        else low = middle + 1;
    }
    part->segment = (u32)low;
    cut_part(all, part);
}

// The next part, of the same tile or of the block's next tile.
LAB void next_part(const Divided& all, Part* part) {
    if (part->high == lesser((part->tile + 1ull) * all.tile, all.n)) {
        part->tile += gridDim.x;
        first_part(all, part);
        return;
    }
    part->low = part->high;
    do {
        part->segment += 1;
        cut_part(all, part);
    } while (part->high == part->low);
}

// Exclusive scan over THREADS threads; contains one barrier. All threads must pass another barrier before the next
// call.
template <u32 THREADS> LAB u32 sum_before(u32 mine, u32* warps) {
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    u32 sum = mine;
#pragma unroll
    for (u32 step = 1; step < 32u; step *= 2) {
        const u32 other = __shfl_up_sync(0xFFFFFFFFu, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31u) warps[warp] = sum;
    sum -= mine;
    __syncthreads();
#pragma unroll
    for (u32 w = 0; w < THREADS / 32u; ++w) sum += w < warp ? warps[w] : 0u;
    return sum;
}

// Divides partitions by the bin (location >> shift) & (bins - 1); `bins` is a power of two, at most MOST. next[s ·
// bins + b], where the pairs of bin b of partition s begin, advances to where they end. Blocks of THREADS threads take
// tiles of up to THREADS · ITEMS pairs, and each tile partition by partition: counters in shared memory rank the pairs
// in their bins, `next` reserves room in the output, and the pairs, sorted in shared memory, are written bin by bin
// while the loads of the next part are in flight. To is the type of the locations that are written: u16 or I.
template <typename T, typename I, typename To, u32 THREADS, u32 ITEMS, u32 MOST>
LAB void divide(T* __restrict__ out, To* __restrict__ out_location, const T* __restrict__ in,
                const I* __restrict__ location, u64* __restrict__ next, const Divided& all, u32 shift,
                u32 bins) {
    __shared__ u32 warps[32];
    const u32 TILE = THREADS * ITEMS, EACH = (MOST + THREADS - 1) / THREADS;
    T* tuples = (T*)dense;
    I* places = (I*)(tuples + TILE);
    I* target = places + TILE;           // [bin]: output position - place in the tile
    u32* begin = (u32*)(target + bins);  // [bin]: count, then its start in the tile
    const u32 tid = threadIdx.x, mask = bins - 1;
    Part part{0, 0, blockIdx.x, 0};
    I at[ITEMS];
    T tuple[ITEMS];
    const auto load_part = [&] {
        if (part.low >= all.n) return;
        const u32 count = (u32)(part.high - part.low);
        const I* l = location + part.low + tid;
        const T* t = in + part.low + tid;
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) if (tid + k * THREADS < count) at[k] = l[k * THREADS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) if (tid + k * THREADS < count) tuple[k] = t[k * THREADS];
    };
    first_part(all, &part);
    load_part();
    while (part.low < all.n) {
        const u32 count = (u32)(part.high - part.low);
        u64* room = next + (u64)part.segment * bins;
        for (u32 b = tid; b < bins; b += THREADS) begin[b] = 0;
        __syncthreads();
        u32 rank[(ITEMS + 1) / 2];  // two 16-bit ranks per word
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 mine = tid + k * THREADS < count ? atomicAdd(&begin[(u32)(at[k] >> shift) & mask], 1u) : 0;
            rank[k / 2] = k % 2 == 0 ? mine : rank[k / 2] | mine << 16;
        }
        __syncthreads();
        u32 sizes[EACH], sum = 0;
        I first[EACH];
#pragma unroll
        for (u32 k = 0; k < EACH; ++k) {
            const u32 b = tid + k * THREADS;
            sizes[k] = b < bins ? begin[b] : 0;
            first[k] = sizes[k] != 0 ? (I)atomicAdd(&room[b], (u64)sizes[k]) : 0;
            sum += sizes[k];
        }
        u32 before = sum_before<THREADS>(sum, warps);
#pragma unroll
        for (u32 k = 0; k < EACH; ++k) {
            if (tid + k * THREADS < bins) begin[tid + k * THREADS] = before;
            before += sizes[k];
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            if (tid + k * THREADS >= count) continue;
            const u32 to = begin[(u32)(at[k] >> shift) & mask] + (rank[k / 2] >> k % 2 * 16 & 0xFFFFu);
            places[to] = at[k];
            tuples[to] = tuple[k];
        }
#pragma unroll
        for (u32 k = 0; k < EACH; ++k) {
            const u32 b = tid + k * THREADS;
            if (b < bins) target[b] = first[k] - begin[b];
        }
        __syncthreads();
        next_part(all, &part);
        load_part();
#pragma unroll 4
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 j = tid + k * THREADS;
            if (j >= count) continue;
            const I place = places[j];
            const I to = target[(u32)(place >> shift) & mask] + j;
            out_location[to] = (To)place;
            out[to] = tuples[j];
        }
        __syncthreads();  // the next part overwrites shared memory
    }
}

// partitioned_pass_tBYTES_iBYTES_nITEMS writes whole locations, partitioned_last_… only their lowest 16 bits. One
// block of 768 threads has a multiprocessor to itself: 80 registers per thread hold its pairs; spilling some of them
// costs a third of the pass (H200).
#define DIVIDE(name, T, I, To, ITEMS)                                                              \
    extern "C" __global__ void __launch_bounds__(768, 1)                                           \
        name(T* __restrict__ out, To* __restrict__ out_location, const T* __restrict__ in,         \
             const I* __restrict__ location, u64* __restrict__ next, Divided all, u32 shift,       \
             u32 bins) {                                                                           \
        divide<T, I, To, 768, ITEMS, 2048>(out, out_location, in, location, next, all, shift, bins); \
    }

#define PASSES(z, T, i, I, ITEMS)                                              \
    DIVIDE(partitioned_pass_t##z##_i##i##_n##ITEMS, T, I, I, ITEMS)            \
    DIVIDE(partitioned_last_t##z##_i##i##_n##ITEMS, T, I, u16, ITEMS)

PASSES(4, u32, 4, u32, 20)
PASSES(8, u64, 4, u32, 16)
PASSES(16, uint4, 4, u32, 10)
PASSES(32, Tuple32, 4, u32, 6)
PASSES(4, u32, 8, u64, 14)
PASSES(8, u64, 8, u64, 12)
PASSES(16, uint4, 8, u64, 8)
PASSES(32, Tuple32, 8, u64, 5)

// ---- the chunks -----------------------------------------------------------------------

// Assembles the chunks of 2^bits places, `places` in all, and writes the places that receive a tuple. Chunk c has the
// pairs [ends[c - 1], ends[c]). If all locations are `distinct`, a chunk with as many pairs as places is written
// whole. Else a bit per place records that a tuple was put in it, and the first of several tuples wins. A block takes
// one chunk at a time; the first pairs of the next chunk are loaded while the chunk is written.
template <typename T, u32 THREADS, u32 ITEMS>
LAB void put_together(T* __restrict__ out, const T* __restrict__ in, const u16* __restrict__ location,
                      const u64* __restrict__ ends, u32 bits, u64 chunks, u64 places, u32 distinct) {
    const u32 AT_ONCE = THREADS * ITEMS, FURTHER = sizeof(T) > 16 ? 2 : 4;
    T* tuples = (T*)dense;
    const u32 size = 1u << bits, tid = threadIdx.x;
    u32* written = (u32*)(tuples + size);  // one bit per place
    u64 begin = 0, end = 0, chunk = blockIdx.x;
    u32 at[ITEMS];
    T tuple[ITEMS];
    const auto load_chunk = [&] {
        if (chunk >= chunks) return;
        begin = chunk == 0 ? 0 : ends[chunk - 1];
        end = ends[chunk];
        const u32 count = (u32)lesser(end - begin, AT_ONCE);
        const u16* l = location + begin + tid;
        const T* t = in + begin + tid;
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) if (tid + k * THREADS < count) at[k] = l[k * THREADS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) if (tid + k * THREADS < count) tuple[k] = t[k * THREADS];
    };
    load_chunk();
    while (chunk < chunks) {
        const u64 first = chunk << bits;
        const u32 here = (u32)lesser(size, places - first);
        const bool whole = distinct != 0 && end - begin == here;
        const auto put = [&](u32 location, const T& value) {
            const u32 place = location & (size - 1u);
            if (whole || set_bit(written, place) != 0) tuples[place] = value;
        };
        if (!whole) {
            for (u32 w = tid; w < (size + 31u) / 32u; w += THREADS) written[w] = 0;
            __syncthreads();
        }
        const u32 count = (u32)lesser(end - begin, AT_ONCE);
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) if (tid + k * THREADS < count) put(at[k], tuple[k]);
        for (u64 i = begin + AT_ONCE + tid; i < end; i += FURTHER * THREADS) {
            u32 l[FURTHER];
            T t[FURTHER];
#pragma unroll
            for (u32 k = 0; k < FURTHER; ++k) if (i + k * THREADS < end) l[k] = location[i + k * THREADS];
#pragma unroll
            for (u32 k = 0; k < FURTHER; ++k) if (i + k * THREADS < end) t[k] = in[i + k * THREADS];
#pragma unroll
            for (u32 k = 0; k < FURTHER; ++k) if (i + k * THREADS < end) put(l[k], t[k]);
        }
        __syncthreads();
        T* to = out + first;
        chunk += gridDim.x;
        load_chunk();
#pragma unroll 4
        for (u32 p = tid; p < here; p += THREADS) {
            if (whole || (written[p / 32u] >> p % 32u & 1u) != 0) to[p] = tuples[p];
        }
        __syncthreads();  // the next chunk overwrites shared memory
    }
}

#define PLACE(z, T, ITEMS)                                                                         \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        partitioned_place_t##z(T* __restrict__ out, const T* __restrict__ in,                      \
                               const u16* __restrict__ location, const u64* __restrict__ ends,     \
                               u32 bits, u64 chunks, u64 places, u32 distinct) {                   \
        put_together<T, 1024, ITEMS>(out, in, location, ends, bits, chunks, places, distinct);     \
    }

PLACE(4, u32, 16)
PLACE(8, u64, 8)
PLACE(16, uint4, 4)
PLACE(32, Tuple32, 2)

// For chunks that do not fit in shared memory: scatters the pairs in their order, so that the places written at a time
// lie in a chunk or two, which L2 holds.
#define SPREAD(z, T, i, I)                                                                         \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        partitioned_spread_t##z##_i##i(T* __restrict__ out, const T* __restrict__ in,              \
                                       const I* __restrict__ location, u64 n) {                    \
        for (u64 k = thread_index(); k < n; k += thread_count()) out[location[k]] = in[k];         \
    }

#define SPREADS(z, T)      \
    SPREAD(z, T, 4, u32)   \
    SPREAD(z, T, 8, u64)

SPREADS(4, u32)
SPREADS(8, u64)
SPREADS(16, uint4)
SPREADS(32, Tuple32)

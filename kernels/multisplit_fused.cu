// multisplit in a single pass over counted keys: the counts and their sums. The passes are in modules of their
// own (multisplit_fused_0.cu, with values multisplit_fused_4.cu and multisplit_fused_8.cu), for the driver
// compiles all kernels of a module. A reduced-bit sort (ashkiani2017 §3.3) is the same passes on labels.
#include "multisplit_fused.cuh"

// ---- counts ------------------------------------------------------------------------------------

#define COUNT_THREADS 512u
#define BATCH 4u  // vectors that a lane has in flight

// A lane has copy lane mod COPIES of a tile's counters: one of each bank where buckets are few.
template <int BITS> struct Copies {
    static const u32 M = 1u << BITS, COPIES = BITS <= 3 ? 32u : 256u >> BITS;
};

// Adds up the keys from `first` on, by a warp, which has `keys` of them.
template <int BITS, bool FIELD> LAB void count_part(const Fused& s, const Bucket<FIELD>& bucket, u64 first, u32 keys, u32* counters) {
    const u32 COPIES = Copies<BITS>::COPIES;
    u32* own = counters + lane_of() % COPIES;
    const u32* in = s.keys + first;
    auto add = [&](u32 key) { atomicAdd(&at4(own, bucket(key) * COPIES), 1u); };
    const u32 whole = ((u64)in & 15u) == 0 ? keys / (128u * BATCH) : 0u;
    for (u32 round = 0; round < whole; ++round) {
        uint4 v[BATCH];
#pragma unroll
        for (u32 j = 0; j < BATCH; ++j) v[j] = __ldg((const uint4*)in + (round * BATCH + j) * 32u + lane_of());
#pragma unroll
        for (u32 j = 0; j < BATCH; ++j) {
            add(v[j].x);
            add(v[j].y);
            add(v[j].z);
            add(v[j].w);
        }
    }
    for (u32 i = whole * 128u * BATCH + lane_of(); i < keys; i += 32u) add(in[i]);
}

// The counts of a group of tiles, two warps each: of every tile those of the tiles before it, and
// those of all.
template <int BITS, bool FIELD> LAB void count(const Fused& s) {
    const u32 M = Copies<BITS>::M, COPIES = Copies<BITS>::COPIES;
    __shared__ u32 counters[GROUP][M * COPIES];
    for (u32 w = threadIdx.x; w < GROUP * M * COPIES; w += COUNT_THREADS) (&counters[0][0])[w] = 0;
    __syncthreads();
    const u32 part = threadIdx.x / 32u, half = s.tile / 2u;
    const u64 first = ((u64)blockIdx.x * GROUP * 2u + part) * half;
    const u32 keys = first >= s.n ? 0u : s.n - first < half ? (u32)(s.n - first) : half;
    count_part<BITS, FIELD>(s, Bucket<FIELD>(s.f), first, keys, counters[part / 2u]);
    __syncthreads();
    for (u32 b = threadIdx.x; b < M; b += COUNT_THREADS) {
        u32 sum = 0;
        for (u32 k = 0; k < GROUP; ++k) {
            const u32 tile = blockIdx.x * GROUP + k;
            if (tile < s.tiles) s.in_group[(u64)tile * M + b] = sum;
#pragma unroll
            for (u32 c = 0; c < COPIES; ++c) sum += counters[k][b * COPIES + ((c + b) & (COPIES - 1u))];
        }
        s.groups[(u64)b * s.all + blockIdx.x] = sum;
    }
}

#define COUNT(by, BITS)                                                                                 \
    extern "C" __global__ void __launch_bounds__(COUNT_THREADS) fused_count_##by##_##BITS(Fused s) {     \
        count<BITS, FIELD_##by>(s);                                                                      \
    }
#define COUNTS(by)                                                                                      \
    COUNT(by, 1) COUNT(by, 2) COUNT(by, 3) COUNT(by, 4) COUNT(by, 5) COUNT(by, 6) COUNT(by, 7) COUNT(by, 8)

COUNTS(field)
COUNTS(any)

// ---- sums over groups ----------------------------------------------------------------------------

#define SCAN_THREADS 256u
#define SCAN_ITEMS 8u

// What a thread's values have before them in the block, and in `sum` the block's own.
LAB u32 sum_block(u32 mine, u32* warps, u32& sum) {
    const u32 warp = threadIdx.x / 32u, end = sum_lanes(mine);
    if (lane_of() == 31u) warps[warp] = end;
    __syncthreads();
    u32 before = end - mine;
    sum = 0;
    for (u32 w = 0; w < SCAN_THREADS / 32u; ++w) {
        before += w < warp ? warps[w] : 0u;
        sum += warps[w];
    }
    __syncthreads();
    return before;
}

// Of bucket blockIdx.x: before each group, and all. The tickets begin behind the tiles that the blocks
// of the pass have by their numbers.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) fused_scan(Fused s) {
    __shared__ u32 warps[SCAN_THREADS / 32u];
    const u32* counts = s.groups + (u64)blockIdx.x * s.all;
    u32 carry = 0;
    for (u32 at = 0; at < s.all; at += SCAN_THREADS * SCAN_ITEMS) {
        const u32 first = at + threadIdx.x * SCAN_ITEMS;
        u32 v[SCAN_ITEMS], mine = 0, sum;
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            v[k] = first + k < s.all ? counts[first + k] : 0u;
            mine += v[k];
        }
        u32 before = carry + sum_block(mine, warps, sum);
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            if (first + k < s.all) s.before[(u64)(first + k) * gridDim.x + blockIdx.x] = before;
            before += v[k];
        }
        carry += sum;
    }
    if (threadIdx.x == 0) s.totals[blockIdx.x] = carry;
    if (threadIdx.x == 0 && blockIdx.x == 0) *s.ticket = s.blocks;
}

// ---- what a reduced-bit sort does besides ------------------------------------------------------

// The label of each key, and what goes with it: the key, the key with its value, or its number.
#define WITH_KEY 0u
#define WITH_PAIR 1u
#define WITH_NUMBER 2u

extern "C" __global__ void rb_label(const u32* __restrict__ keys, const u32* __restrict__ values, u32 n, BucketFunction f,
                                    u32 with, u32* __restrict__ labels, void* __restrict__ packed) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 key = __ldcs(keys + i);
        __stcs(labels + i, bucket_of(f, key));
        if (with == WITH_PAIR) __stcs((u64*)packed + i, (u64)key << 32 | __ldcs(values + i));
        if (with == WITH_NUMBER) __stcs((u32*)packed + i, (u32)i);
    }
}

extern "C" __global__ void rb_unpack(const u64* __restrict__ packed, u32 n, u32* __restrict__ keys, u32* __restrict__ values) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u64 pair = __ldcs(packed + i);
        __stcs(keys + i, (u32)(pair >> 32));
        __stcs(values + i, (u32)pair);
    }
}

// Keys and values of `words` words from where the sorted numbers say.
extern "C" __global__ void rb_permute(const u32* __restrict__ numbers, u32 n, const u32* __restrict__ keys, const u32* __restrict__ values,
                                      u32 words, u32* __restrict__ keys_out, u32* __restrict__ values_out) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 from = __ldcs(numbers + i);
        __stcs(keys_out + i, __ldg(keys + from));
        if (words == 1u) __stcs(values_out + i, __ldg(values + from));
        else __stcs((u64*)values_out + i, __ldg((const u64*)values + from));
    }
}

// Where each of m buckets begins among sorted labels: the label's own place tells that of all since the one before.
extern "C" __global__ void rb_offsets(const u32* __restrict__ labels, u32 n, u32 m, u32* __restrict__ offsets) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) {
        const u32 from = i == 0 ? 0u : labels[i - 1u] + 1u, to = i == n ? m : labels[i];
        for (u32 b = from; b <= to; ++b) offsets[b] = (u32)i;
    }
}

// The bucket functions of multisplit.
#pragma once

#include "certify.cuh"

#if defined(__CUDACC__)
#define LAB_MEMBER __forceinline__ __device__
#else
#define LAB_MEMBER inline
#endif

#define DELTA 0u
#define IDENTITY 1u
#define RANGE 2u
#define HASH 3u
#define PRIME 4u

struct Buckets {
    u32 kind;
    u32 m;
    u32 a;
    u32 b;
    const u32* splitters;  // m - 1 of them, ascending
};

LAB u32 high_of(u32 x, u32 y) { return (u32)((u64)x * y >> 32); }

template <u32 BITS> LAB u32 bucket_of(const Buckets& f, u32 key) {
    if (f.kind == DELTA) return high_of(key, f.a);
    if (f.kind == IDENTITY) return key >> f.a & (f.m - 1u);
    if (f.kind == HASH) return high_of(mix32(key ^ f.a), f.m);
    u32 b = 0;
#pragma unroll
    for (u32 step = 1u << (BITS - 1); step > 0; step /= 2) {
        if (b + step < f.m && key >= f.splitters[b + step - 1]) b += step;
    }
    return b;
}

// With the splitters in shared memory. All threads of the block call it.
LAB Buckets placed(const Buckets& given) {
    __shared__ u32 splitters[256];
    Buckets f = given;
    if (f.kind == RANGE) {
        for (u32 j = threadIdx.x; j + 1 < f.m; j += blockDim.x) splitters[j] = given.splitters[j];
        __syncthreads();
        f.splitters = splitters;
    }
    return f;
}

// The function is chosen once for all N keys.
template <u32 BITS, u32 N> LAB void buckets_of(const Buckets& f, const u32 (&key)[N], u32 (&bucket)[N]) {
    if (f.kind == DELTA) {
#pragma unroll
        for (u32 k = 0; k < N; ++k) bucket[k] = high_of(key[k], f.a);
    } else if (f.kind == IDENTITY) {
#pragma unroll
        for (u32 k = 0; k < N; ++k) bucket[k] = key[k] >> f.a & (f.m - 1u);
    } else {
#pragma unroll
        for (u32 k = 0; k < N; ++k) bucket[k] = bucket_of<BITS>(f, key[k]);
    }
}

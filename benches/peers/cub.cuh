// Shared by the peers that call CUB: the lab's elements and segments, and a check of the sums.
#pragma once

#include "counts.cuh"

#include <cub/device/device_scan.cuh>

// Element i of the lab's sums (src/core/primitives/scan/inputs.rs).
template <typename T> LAB T summand(u64 key, u64 i) {
    return sizeof(T) == 4 ? (T)word32(key, (u32)i) : (T)word64(key, i);
}
LAB int rank32(u64 key, u64 i) { return (int)(word32(key, (u32)i) >> 20); }
LAB long long rank64(u64 key, u64 i) { return (long long)(word64(key, i) >> 32); }
template <> __forceinline__ __host__ __device__ float summand<float>(u64 key, u64 i) {
    return (float)(rank32(key, i) - (i == 0 ? 0 : rank32(key, i - 1)));
}
template <> __forceinline__ __host__ __device__ double summand<double>(u64 key, u64 i) {
    return (double)(rank64(key, i) - (i == 0 ? 0 : rank64(key, i - 1)));
}

// Segment heads as in src/core/primitives/scan/segments.rs.
enum Lengths { CONSTANT, RANDOM, GEOMETRIC };

struct Segments {
    Lengths lengths;
    u64 mean, key, n;
    __host__ __device__ bool head(u64 i) const {
        if (i == 0) return true;
        if (lengths == CONSTANT) return i % mean == 0;
        if (lengths == GEOMETRIC) return word64(key, i) <= ~0ull / mean;
        const u64 j = i / mean, start = j * mean;
        return j > 0 && start + scale(word64(key, j), n - start < mean ? n - start : mean) == i;
    }
};

template <typename T> static __global__ void fill_summands(T* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = summand<T>(key, i);
}

// Both types of counts hold these.
static int count(u64 n) {
    if (n == 0 || n > 0x7FFFFFFFull) throw NotApplicable{"this peer sums 1 to 2^31 - 1 elements"};
    return (int)n;
}

// Sums of elements, separately for each segment.
template <typename T> struct Sums : CubWork {
    const u64 n, key;
    const Segments segments;
    const bool inclusive;
    Buffer<T> in, out;

    Sums(u64 n, u64 seed, Segments s, bool inclusive)
        : CubWork(n), n(n), key(key64(seed)), segments(s), inclusive(inclusive), in(n), out(n) {
        fill_summands<<<blocks(n), BLOCK>>>(in.data, key, n);
        effective_bytes = 2 * n * sizeof(T);
    }
    u64 wrong() override {
        const T* found = out.data;
        const u64 k = key;
        const Segments s = segments;
        const bool with = inclusive;
        return wrong_of(n, [=] __device__(u64 i) {
            const T before = s.head(i) ? T(0) : found[i - 1];
            if (with) return found[i] == before + summand<T>(k, i);
            return found[i] == (s.head(i) ? T(0) : before + summand<T>(k, i - 1));
        });
    }
};

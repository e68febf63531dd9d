// The lab's inputs as integer functions of (seed, i): bit-for-bit twins of those in src/core/inputs. A kernel takes
// key64(seed) instead of the seed. Host-compilable: a test builds this file with a C++ compiler and compares
// golden vectors.
#pragma once

#if defined(LAB)  // a program that needs the functions on host and device defines LAB itself
#elif defined(__CUDACC__)
#define LAB static __forceinline__ __device__
#else
#define LAB static inline
#endif

// LAB without `static`: for members of a struct, and for functions whose storage class is given separately.
#if defined(__CUDACC__)
#define LAB_MEMBER __forceinline__ __device__
#else
#define LAB_MEMBER inline
#endif

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// ---- words (src/core/inputs/mix.rs) -------------------------------------------------

LAB u64 mix64(u64 x) {
    x ^= x >> 27;
    x *= 0x3C79AC492BA7B653ull;
    x ^= x >> 33;
    x *= 0x1C69B3F74AC4AE35ull;
    return x ^ (x >> 27);
}

LAB u32 mix32(u32 x) {
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ (x >> 16);
}

// Inverse of an odd number modulo 2^64 by Newton's iteration; the compiler folds it for constants.
LAB u64 odd_inverse(u64 odd) {
    u64 x = odd;
    for (int round = 0; round < 6; ++round) x *= 2ull - odd * x;
    return x;
}

LAB u64 unmix64(u64 x) {
    x ^= (x >> 27) ^ (x >> 54);
    x *= odd_inverse(0x1C69B3F74AC4AE35ull);
    x ^= x >> 33;
    x *= odd_inverse(0x3C79AC492BA7B653ull);
    return x ^ (x >> 27) ^ (x >> 54);
}

LAB u32 unmix32(u32 x) {
    x ^= x >> 16;
    x *= (u32)odd_inverse(0x846CA68Bull);
    x ^= (x >> 15) ^ (x >> 30);
    x *= (u32)odd_inverse(0x7FEB352Dull);
    return x ^ (x >> 16);
}

LAB u64 word64(u64 key, u64 i) { return mix64(i + key); }

LAB u64 index_of_word64(u64 key, u64 word) { return unmix64(word) - key; }

LAB u32 word32(u64 key, u32 i) { return mix32(i + (u32)key); }

LAB u32 index_of_word32(u64 key, u32 word) { return unmix32(word) - (u32)key; }

// floor(word * n / 2^64): maps a uniform word to [0, n).
LAB u64 scale(u64 word, u64 n) {
#if defined(__CUDA_ARCH__)
    return __umul64hi(word, n);
#else
    return (u64)(((unsigned __int128)word * n) >> 64);
#endif
}

// The f64 values of the primitive stream: integers below 2^20.
LAB double stream_value(u64 key, u64 i) { return (double)(word64(key, i) >> 44); }

// ---- permutations (src/core/inputs/permutation.rs) -----------------------------------

// Layout of inputs::Permutation.
struct Permutation {
    u64 n;
    u32 bits_left;
    u32 bits_right;
    u32 keys[6];
};

LAB u32 feistel_fold(u32 x, u32 key) {
    u64 t = (u64)(x ^ key) * 0xD256D193u;
    return (u32)t ^ (u32)(t >> 32);
}

LAB u64 permutation_round(const Permutation& p, u64 i) {
    const u32 mask_left = (1u << p.bits_left) - 1u;
    const u32 mask_right = (1u << p.bits_right) - 1u;
    u32 left = (u32)(i >> p.bits_right);
    u32 right = (u32)i & mask_right;
    for (int r = 0; r < 6; r += 2) {
        left ^= feistel_fold(right, p.keys[r]) & mask_left;
        right ^= feistel_fold(left, p.keys[r + 1]) & mask_right;
    }
    return ((u64)left << p.bits_right) | right;
}

LAB u64 permutation_unround(const Permutation& p, u64 j) {
    const u32 mask_left = (1u << p.bits_left) - 1u;
    const u32 mask_right = (1u << p.bits_right) - 1u;
    u32 left = (u32)(j >> p.bits_right);
    u32 right = (u32)j & mask_right;
    for (int r = 4; r >= 0; r -= 2) {
        right ^= feistel_fold(left, p.keys[r + 1]) & mask_right;
        left ^= feistel_fold(right, p.keys[r]) & mask_left;
    }
    return ((u64)left << p.bits_right) | right;
}

// i → a permutation of [0, n), by cycle walking: rounds repeat until the result is below n. Requires i < p.n;
// otherwise the walk may not end.
LAB u64 permutation_apply(const Permutation& p, u64 i) {
    do i = permutation_round(p, i);
    while (i >= p.n);
    return i;
}

// The inverse of permutation_apply. Requires j < p.n.
LAB u64 permutation_invert(const Permutation& p, u64 j) {
    do j = permutation_unround(p, j);
    while (j >= p.n);
    return j;
}

// ---- Zipf draws (src/core/inputs/zipf.rs) ----------------------------------------------

LAB u64 zipf_draw(u64 key, const u64* cumulative, const u64* start, const u32* guide,
                  const Permutation& spread, u64 i) {
    const u64 u = word64(key, i);
    const u32 g = (u32)(u >> 52);
    u32 low = guide[g], high = guide[g + 1];
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (u < cumulative[middle]) high = middle;
        else low = middle + 1;
    }
    const u64 first = start[low];
    return permutation_apply(spread, first + scale(mix64(u ^ 0x5A495046ull), start[low + 1] - first));
}

// ---- partitions (src/core/inputs/partitions.rs) ---------------------------------------

LAB u64 partition_of(u64 key, u64 i, u64 p) { return scale(word64(key, i), p); }

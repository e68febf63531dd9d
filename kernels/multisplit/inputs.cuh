// The keys and values of a multisplit as integer functions of (seed, i), and the bucket functions: twins of
// src/core/primitives/multisplit/{keys,buckets}.rs.
#pragma once
#include "../common/inputs.cuh"

// ---- primes (buckets.rs) ----------------------------------------------------------------------

#define LAST_PRIME 4294967291u

LAB u32 power_mod(u32 base, u32 exponent, u32 modulus) {
    u64 square = base % modulus, product = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1u) product = product * square % modulus;
        square = square * square % modulus;
    }
    return (u32)product;
}

// True if odd n > 2 is prime, or a strong pseudoprime to `base`, which must not be a multiple of n.
LAB bool passes_base(u32 n, u32 base) {
    u32 odd = n - 1u, twos = 0;
    for (; (odd & 1u) == 0; odd >>= 1) ++twos;
    u32 x = power_mod(base, odd, n);
    if (x == 1u || x == n - 1u) return true;
    for (u32 k = 1; k < twos; ++k) {
        x = (u32)((u64)x * x % n);
        if (x == n - 1u) return true;
    }
    return false;
}

LAB bool is_prime(u32 n) {
    if (n < 2u) return false;
    if (n % 2u == 0) return n == 2u;
    if (n % 3u == 0) return n == 3u;
    if (n % 5u == 0) return n == 5u;
    if (n % 7u == 0) return n == 7u;
    if (n % 11u == 0) return n == 11u;
    if (n % 13u == 0) return n == 13u;
    if (n == 61u) return true;
    return passes_base(n, 2u) && passes_base(n, 7u) && passes_base(n, 61u);
}

// ---- bucket functions (buckets.rs) -------------------------------------------------------------

#define BY_DELTA 0u
#define BY_IDENTITY 1u
#define BY_RANGE 2u
#define BY_HASH 3u
#define BY_PRIME 4u
#define BY_QUOTIENT 5u

// The bucket function of a case; same layout as on the host.
struct BucketFunction {
    u64 reciprocal;        // delta-buckets: ceil(2^64 / delta); quotient: delta itself
    const u32* splitters;  // range: m - 1 of them, ascending
    u32 by;
    u32 buckets;  // m
    u32 shift;    // identity
    u32 mask;     // identity and quotient: 2^ceil(log2 m) - 1
};

LAB u32 bucket_delta(const BucketFunction& f, u32 key) { return (u32)scale(f.reciprocal, key); }

LAB u32 bucket_identity(const BucketFunction& f, u32 key) { return key >> f.shift & f.mask; }

// A digit by the integer division of the paper's delta-buckets (ashkiani2017 §7.1).
LAB u32 bucket_quotient(const BucketFunction& f, u32 key) { return key / (u32)f.reciprocal & f.mask; }

// The number of splitters ≤ key: a binary search in `count` ascending splitters.
LAB u32 splitters_below(const u32* splitters, u32 count, u32 key) {
    u32 low = 0;
    while (count > 0) {
        const u32 half = count / 2u;
        if (splitters[low + half] <= key) {
            low += half + 1u;
            count -= half + 1u;
        } else {
            count = half;
        }
    }
    return low;
}

LAB u32 bucket_range(const BucketFunction& f, u32 key) { return splitters_below(f.splitters, f.buckets - 1u, key); }

LAB u32 bucket_hash(const BucketFunction& f, u32 key) { return (u32)((u64)mix32(key) * f.buckets >> 32); }

LAB u32 bucket_prime(const BucketFunction&, u32 key) { return is_prime(key) ? 0u : 1u; }

LAB u32 bucket_of(const BucketFunction& f, u32 key) {
    switch (f.by) {
        case BY_DELTA: return bucket_delta(f, key);
        case BY_IDENTITY: return bucket_identity(f, key);
        case BY_RANGE: return bucket_range(f, key);
        case BY_HASH: return bucket_hash(f, key);
        default: return bucket_prime(f, key);
    }
}

// ---- keys and values (keys.rs) -------------------------------------------------------------------

#define DRAW_UNIFORM 0u
#define DRAW_ALPHA_UNIFORM 1u
#define DRAW_BINOMIAL 2u
#define DRAW_SKEWED 3u
#define DRAW_ONE_BUCKET 4u

#define IMAGE_KEY 0u
#define IMAGE_HASH 1u
#define IMAGE_FIELD 2u
#define IMAGE_PRIME 3u

// The input of a case; same layout as on the host.
struct KeySource {
    u64 key;           // key of the seed
    u64 bits;          // key of the seed of binomial draws
    u64 values;        // key of the values' seed
    u64 coin;          // alpha-uniform: 2^32 times alpha
    const u64* first;  // the first key of each bucket, then 2^32
    u32 draw;
    u32 image;
    u32 buckets;  // m
    u32 hot;      // bucket of all keys (one-bucket), or of those not drawn uniformly (alpha-uniform)
    u32 shift;    // image field: its position and mask
    u32 mask;
};

LAB u32 leading_zeros(u64 word) {
#if defined(__CUDA_ARCH__)
    return (u32)__clzll((long long)word);
#else
    return word == 0 ? 64u : (u32)__builtin_clzll(word);
#endif
}

LAB u32 set_bits(u64 word) {
#if defined(__CUDA_ARCH__)
    return (u32)__popcll(word);
#else
    return (u32)__builtin_popcountll(word);
#endif
}

LAB u32 binomial_draw(const KeySource& s, u64 i) {
    const u64 bits = s.buckets - 1u, words = (bits + 63u) / 64u;
    u32 sum = 0;
    for (u64 k = 0; k < words; ++k) {
        const u64 word = word64(s.bits, i * words + k);
        sum += set_bits(k + 1u < words ? word : word & (~0ull >> (64u * words - bits)));
    }
    return sum;
}

// The bucket of key i; u is key i's word.
LAB u32 drawn_bucket(const KeySource& s, u64 i, u64 u) {
    switch (s.draw) {
        case DRAW_UNIFORM: return (u32)scale(u, s.buckets);
        case DRAW_ALPHA_UNIFORM: return (u & 0xFFFFFFFFull) < s.coin ? (u32)scale(u, s.buckets) : s.hot;
        case DRAW_BINOMIAL: return binomial_draw(s, i);
        case DRAW_SKEWED: {
            const u32 zeros = leading_zeros(u);
            return zeros < s.buckets - 1u ? zeros : s.buckets - 1u;
        }
        default: return s.hot;
    }
}

// A key of the bucket, selected by a random word.
LAB u32 key_in(const KeySource& s, u32 bucket, u64 word) {
    if (s.image == IMAGE_FIELD) return ((u32)(word >> 32) & ~(s.mask << s.shift)) | bucket << s.shift;
    if (s.image == IMAGE_PRIME) {
        u32 key = (u32)scale(word, (u64)LAST_PRIME + 1u);
        while (is_prime(key) != (bucket == 0u)) ++key;
        return key;
    }
    const u64 low = s.first[bucket];
    const u32 inside = (u32)(low + scale(word, s.first[bucket + 1u] - low));
    return s.image == IMAGE_HASH ? unmix32(inside) : inside;
}

LAB u32 key_at(const KeySource& s, u64 i) {
    const u64 u = word64(s.key, i);
    return key_in(s, drawn_bucket(s, i, u), mix64(u ^ 0x4D535F494E534944ull));
}

// Value i, in 4 or 8 bytes.
LAB u32 value32_at(const KeySource& s, u64 i) { return word32(s.values, (u32)i); }
LAB u64 value64_at(const KeySource& s, u64 i) { return word64(s.values, i); }

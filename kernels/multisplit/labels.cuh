// The number by which a pass over counted keys splits: the bucket of a key, or a digit of the bucket's number.
#pragma once

#include "fused.cuh"

// A field of the key.
struct Field {
    static const bool CHEAP = true;
    u32 turn, mask;
    LAB_MEMBER Field(const BucketFunction& f) : turn((f.shift - 2u) & 31u), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return __funnelshift_r(key, key, turn) & mask; }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// Not inlined: the code is long and would be repeated for each of a thread's keys.
static __noinline__ __device__ u32 label_of(const BucketFunction& f, u32 key) { return bucket_of(f, key); }

// Any function of the key.
struct Any {
    static const bool CHEAP = false;
    const BucketFunction& f;
    LAB_MEMBER Any(const BucketFunction& f) : f(f) {}
    LAB_MEMBER u32 operator()(u32 key) const { return 4u * label_of(f, key); }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// ⌊h(u) · m / 2^32⌋, as bucket_hash without a call.
struct Hash {
    static const bool CHEAP = false;
    u32 buckets;
    LAB_MEMBER Hash(const BucketFunction& f) : buckets(f.buckets) {}
    LAB_MEMBER u32 operator()(u32 key) const { return 4u * (u32)((u64)mix32(key) * buckets >> 32); }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

// A digit of ⌊u / Δ⌋. There are at most 2^16 buckets, so Δ ≥ 2^16, and four times the reciprocal fits in 64
// bits.
struct DeltaDigit {
    static const bool CHEAP = true;
    u64 reciprocal;
    u32 shift, mask;
    LAB_MEMBER DeltaDigit(const BucketFunction& f) : reciprocal(4u * f.reciprocal), shift(f.shift), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return (u32)scale(reciprocal, key) >> shift & mask; }
    // The greatest key may have a lower digit than other keys.
    LAB_MEMBER static u32 behind(const Fused& s) { return s.behind; }
};

#define NUMBER_field Field
#define NUMBER_any Any
#define NUMBER_hash Hash
#define NUMBER_delta DeltaDigit

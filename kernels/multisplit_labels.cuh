// A key's number in a multisplit by passes over counted keys: its bucket.
#pragma once

#include "multisplit_fused.cuh"

// Called, for it is long, and stands for each of a thread's keys.
static __noinline__ __device__ u32 label_of(const BucketFunction& f, u32 key) { return bucket_of(f, key); }

template <> struct Bucket<true> {
    u32 turn, mask;
    LAB_MEMBER Bucket(const BucketFunction& f) : turn((f.shift - 2u) & 31u), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return __funnelshift_r(key, key, turn) & mask; }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

template <> struct Bucket<false> {
    const BucketFunction& f;
    LAB_MEMBER Bucket(const BucketFunction& f) : f(f) {}
    LAB_MEMBER u32 operator()(u32 key) const { return 4u * label_of(f, key); }
    LAB_MEMBER static u32 behind(const Fused&) { return ~0u; }
};

#define FIELD_field true
#define FIELD_any false

// multisplit among more buckets than a pass takes, in rounds over the digits of a bucket's number (ashkiani2017
// §6.3): the counts and the passes for digits of delta-buckets. Those of fields are fields themselves
// (multisplit_fused.cu).
#include "multisplit_counts.cuh"

// A digit of ⌊u / Δ⌋: 2^16 numbers at most, so that Δ is 2^16 at least, and four times the reciprocal fits.
struct DeltaDigit {
    static const bool CHEAP = true;
    u64 reciprocal;
    u32 shift, mask;
    LAB_MEMBER DeltaDigit(const BucketFunction& f) : reciprocal(4u * f.reciprocal), shift(f.shift), mask(4u * f.mask) {}
    LAB_MEMBER u32 operator()(u32 key) const { return (u32)scale(reciprocal, key) >> shift & mask; }
    // The last of all keys may have a lower digit than others.
    LAB_MEMBER static u32 behind(const Fused& s) { return s.behind; }
};

#define NUMBER_delta DeltaDigit

#define DIGITS(BITS)                                                                                    \
    COUNT(delta, BITS) PASS(delta, BITS, 0) PASS(delta, BITS, 4) PASS(delta, BITS, 8)

DIGITS(5)
DIGITS(6)
DIGITS(7)
DIGITS(8)

// multisplit (ashkiani2017), except for the passes with bulk copies, which need a newer architecture
// (multisplit_bulk.cu):
//
//   inputs and certificate              certify.cuh
//   the paper's methods                 paper.cuh
//   a single pass over counted keys     counts.cuh, fused.cuh
//   few keys in one launch              kept.cuh
//   reduced-bit: such passes on labels  reduced_bit.cuh
#include "certify.cuh"
#include "paper.cuh"
#include "counts.cuh"
#include "kept.cuh"
#include "reduced_bit.cuh"

#define COUNTS(by)                                                                                      \
    COUNT(by, 1) COUNT(by, 2) COUNT(by, 3) COUNT(by, 4) COUNT(by, 5) COUNT(by, 6) COUNT(by, 7) COUNT(by, 8)

COUNTS(field)
COUNTS(any)
COUNTS(hash)

PASSES(pass, field, 0)
PASSES(pass, field, 4)
PASSES(pass, field, 8)
PASSES(pass, any, 0)
PASSES(pass, any, 4)
PASSES(pass, any, 8)
PASSES(pass, hash, 0)
PASSES(pass, hash, 4)

// More buckets than a pass takes are handled in rounds over the digits of the bucket number (§6.3). These are
// the digits of delta-buckets; digits of fields are fields themselves.
COUNT(delta, 5)
COUNT(delta, 6)
COUNT(delta, 7)
COUNT(delta, 8)

PASSES_OF_DIGITS(pass, 5)
PASSES_OF_DIGITS(pass, 6)
PASSES_OF_DIGITS(pass, 7)
PASSES_OF_DIGITS(pass, 8)

KEPT(2, 0)
KEPT(2, 4)
KEPT(5, 0)
KEPT(5, 4)
KEPT(5, 8)
KEPT(8, 0)
KEPT(8, 4)
KEPT(8, 8)

extern "C" __global__ void
    fused_offsets(const u32* __restrict__ keys, u64 n, u32* __restrict__ offsets, const BucketFunction f) {
    seek_offset(keys, n, offsets, f);
}

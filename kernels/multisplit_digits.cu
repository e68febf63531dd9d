// multisplit among more buckets than a pass takes, in rounds over the digits of a bucket's number (ashkiani2017
// §6.3): the counts and the passes for digits of delta-buckets. Those of fields are fields themselves
// (multisplit_fused.cu).
#include "multisplit_counts.cuh"
#include "multisplit_labels.cuh"

COUNT(delta, 5)
COUNT(delta, 6)
COUNT(delta, 7)
COUNT(delta, 8)

PASSES_OF_DIGITS(pass, 5)
PASSES_OF_DIGITS(pass, 6)
PASSES_OF_DIGITS(pass, 7)
PASSES_OF_DIGITS(pass, 8)

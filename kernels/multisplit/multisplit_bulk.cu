// The passes of multisplit.cu with bulk copies (fused.cuh), which need compute capability 9.0.
#include "fused.cuh"

PASSES(bulk, field, 0)
PASSES(bulk, field, 4)
PASSES(bulk, field, 8)
PASSES(bulk, any, 0)
PASSES(bulk, any, 4)
PASSES(bulk, any, 8)
PASSES(bulk, hash, 0)
PASSES(bulk, hash, 4)

PASSES_OF_DIGITS(bulk, 5)
PASSES_OF_DIGITS(bulk, 6)
PASSES_OF_DIGITS(bulk, 7)
PASSES_OF_DIGITS(bulk, 8)

// The passes of multisplit_digits.cu with bulk copies, for compute capability 9.0.
#include "multisplit_labels.cuh"

PASSES_OF_DIGITS(bulk, 5)
PASSES_OF_DIGITS(bulk, 6)
PASSES_OF_DIGITS(bulk, 7)
PASSES_OF_DIGITS(bulk, 8)

// The passes of sort.cu with bulk copies, which need compute capability 9.0.
#include "onesweep.cuh"

DIGIT_PASSES(bulk)

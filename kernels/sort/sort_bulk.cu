// The digit passes of sort.cu with bulk copies (onesweep.cuh), which need compute capability 9.0.
#include "onesweep.cuh"

DIGIT_PASSES(bulk)

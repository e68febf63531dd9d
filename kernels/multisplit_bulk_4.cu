// The passes of multisplit_fused_4.cu with bulk copies, for compute capability 9.0.
#include "multisplit_labels.cuh"

PASSES(bulk, field, 4)
PASSES(bulk, any, 4)

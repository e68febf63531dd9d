// The passes of multisplit_fused_8.cu with bulk copies, for compute capability 9.0.
#include "multisplit_labels.cuh"

PASSES(bulk, field, 8)
PASSES(bulk, any, 8)

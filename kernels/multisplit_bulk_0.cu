// The passes of multisplit_fused_0.cu with bulk copies, for compute capability 9.0.
#include "multisplit_labels.cuh"

PASSES(bulk, field, 0)
PASSES(bulk, any, 0)

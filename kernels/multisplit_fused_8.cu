// multisplit in a single pass over counted keys, with values of 8 bytes.
#include "multisplit_labels.cuh"

PASSES(pass, field, 8)
PASSES(pass, any, 8)

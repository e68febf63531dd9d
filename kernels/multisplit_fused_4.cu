// multisplit in a single pass over counted keys, with values of 4 bytes.
#include "multisplit_labels.cuh"

PASSES(pass, field, 4)
PASSES(pass, any, 4)

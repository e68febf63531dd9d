// multisplit in a single pass over counted keys, without values.
#include "multisplit_labels.cuh"

PASSES(field, 0)
PASSES(any, 0)

// multisplit in a single pass over counted keys, without values.
#include "multisplit_labels.cuh"

PASSES(pass, field, 0)
PASSES(pass, any, 0)

// cuSPARSE's cusparseSpMV of compressed rows, for the primitive spmv: each of its algorithms without and with
// cusparseSpMV_preprocess, of which the fastest is kept.
#include "spmv.cuh"

const char* const PEER = "cusparse";

std::unique_ptr<Work> prepare(Case& parameters) { return spmv_prepared(parameters, "best"); }

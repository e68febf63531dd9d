// cuSPARSE's cusparseSpMV of slices of rows (SELL), for the primitive spmv. The slices are made untimed.
#include "spmv.cuh"

const char* const PEER = "cusparse-sell";

std::unique_ptr<Work> prepare(Case& parameters) { return spmv_prepared(parameters, "sell"); }

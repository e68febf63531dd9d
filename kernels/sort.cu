// sort, except for the passes with bulk copies, which need a newer architecture (sort_bulk.cu):
//
//   inputs and certificate          sort_certify.cuh
//   one pass over the keys a digit  sort_onesweep.cuh
#include "sort_certify.cuh"
#include "sort_onesweep.cuh"

COUNT_DIGITS(whole, 32, 32) COUNT_DIGITS(whole, 64, 16)
COUNT_DIGITS(some, 32, 32) COUNT_DIGITS(some, 64, 16)
// Fewer tables, which take less time to clear and to sum, for fewer keys.
COUNT_DIGITS(whole, 32, 2) COUNT_DIGITS(whole, 64, 2)
COUNT_DIGITS(some, 32, 2) COUNT_DIGITS(some, 64, 2)

DIGIT_PASSES(pass)

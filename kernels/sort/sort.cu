// sort, except for the passes with bulk copies, which need a newer architecture (sort_bulk.cu):
//
//   inputs and certificate        certify.cuh
//   radix sort, a pass per digit  onesweep.cuh
//   radix sort by one block       block.cuh
//   roof: its ranking alone       ranking.cuh
#include "block.cuh"
#include "certify.cuh"
#include "ranking.cuh"

COUNT_DIGITS(whole, 32, 32) COUNT_DIGITS(whole, 64, 16)
COUNT_DIGITS(some, 32, 32) COUNT_DIGITS(some, 64, 16)
// For fewer keys: fewer copies of the tables take less time to clear and to sum.
COUNT_DIGITS(whole, 32, 2) COUNT_DIGITS(whole, 64, 2)
COUNT_DIGITS(some, 32, 2) COUNT_DIGITS(some, 64, 2)

DIGIT_PASSES(pass)

RANKING(32, 0) RANKING(32, 4) RANKING(32, 8)
RANKING(64, 0) RANKING(64, 4) RANKING(64, 8)

BLOCK_SORTS(256, 4) BLOCK_SORTS(256, 8) BLOCK_SORTS(256, 16) BLOCK_SORTS(512, 16)

// The sorts of sengupta2007 §5 by scans:
//
//   radix sort of a tile, and of all keys, by splits  tile.cuh
//   quicksort of a tile                               quick.cuh
//   merge of tiles                                    merge.cuh
#include "merge.cuh"
#include "quick.cuh"

#define COUNT_ONES(KEY) \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS) sort_ones_u##KEY(ScanSort s) { count_ones<u##KEY>(s); }

COUNT_ONES(32) COUNT_ONES(64)

#define SORTS(KEY, VALUE)                                                                            \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS) sort_bit_u##KEY##_##VALUE(ScanSort s) { \
        SortTile<u##KEY, VALUE>::pass(s);                                                            \
    }                                                                                                \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS) sort_tile_by_splits_u##KEY##_##VALUE(ScanSort s) { \
        SortTile<u##KEY, VALUE>::sort(s);                                                            \
    }                                                                                                \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS, 2) sort_tile_by_pivots_u##KEY##_##VALUE(ScanSort s) { \
        QuickTile<u##KEY, VALUE>::sort(s);                                                           \
    }                                                                                                \
    extern "C" __global__ void __launch_bounds__(SORT_THREADS) sort_merge_u##KEY##_##VALUE(ScanSort s) { \
        MergeTile<u##KEY, VALUE>::run(s);                                                            \
    }

SORTS(32, 0) SORTS(32, 4) SORTS(32, 8) SORTS(64, 0) SORTS(64, 4) SORTS(64, 8)

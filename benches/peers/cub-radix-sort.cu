// cub::DeviceRadixSort by the bits of the bucket, for the primitive multisplit: SortKeys and SortPairs.
#include "radix-sort.cuh"

const char* const PEER = "cub-radix-sort";

template <typename V> using ByBucket = Sort<V, false>;

std::unique_ptr<Work> prepare(Case& parameters) {
    const Splits splits = splits_of(parameters);
    return by_value<ByBucket>(splits, parameters);
}

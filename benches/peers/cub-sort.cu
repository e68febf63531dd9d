// cub::DeviceRadixSort by all 32 bits of the keys, for the primitive multisplit: the baseline of ashkiani2017's
// speed-ups (Table 3, Fig. 7). Its order within a bucket differs.
#include "radix-sort.cuh"

const char* const PEER = "cub-sort";

template <typename V> using ByKey = Sort<V, true>;

std::unique_ptr<Work> prepare(Case& parameters) {
    const Splits splits = splits_of(parameters);
    return by_value<ByKey>(splits, parameters);
}

// cub::DeviceRadixSort, SortKeys and SortPairs: for the primitive sort by the case's bits, for the primitive
// multisplit by the bits of the bucket.
#include "radix-sort.cuh"
#include "sort.cuh"

const char* const PEER = "cub-radix-sort";

template <typename V> using ByBucket = Sort<V, false>;

template <typename K, typename V> struct RadixSort : Sorting<K, V> {
    using Sorting<K, V>::Sorting;
    cudaError_t call(void* at, size_t& bytes) override {
        K *in = this->keys.data, *out = this->keys_out.data;
        V *from = this->values.data, *to = this->values_out.data;
        const int begin = this->c.begin, end = this->c.end;
        return this->counted([&](auto n) {
            if (this->c.value == 0) return cub::DeviceRadixSort::SortKeys(at, bytes, in, out, n, begin, end);
            return cub::DeviceRadixSort::SortPairs(at, bytes, in, out, from, to, n, begin, end);
        });
    }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    if (parameters.one_of("primitive", {"multisplit", "sort"}) == "sort") {
        const SortCase c = sort_case(parameters);
        return by_types<RadixSort>(c, parameters);
    }
    const Splits splits = splits_of(parameters);
    return by_value<ByBucket>(splits, parameters);
}

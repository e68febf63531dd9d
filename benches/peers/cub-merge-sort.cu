// cub::DeviceMergeSort by whole keys, for the primitive sort: StableSortKeysCopy, and SortPairsCopy, which has the
// kernels of StableSortPairs but leaves its input as it is, so that each execution sorts the same.
#include <cub/device/device_merge_sort.cuh>

#include "sort.cuh"

const char* const PEER = "cub-merge-sort";

struct Less {
    template <typename K> __host__ __device__ bool operator()(const K& a, const K& b) const { return a < b; }
};

template <typename K, typename V> struct MergeSort : Sorting<K, V> {
    using Sorting<K, V>::Sorting;
    cudaError_t call(void* at, size_t& bytes) override {
        K *in = this->keys.data, *out = this->keys_out.data;
        V *from = this->values.data, *to = this->values_out.data;
        return this->counted([&](auto n) {
            if (this->c.value == 0) return cub::DeviceMergeSort::StableSortKeysCopy(at, bytes, in, out, n, Less{});
            return cub::DeviceMergeSort::SortPairsCopy(at, bytes, in, from, out, to, n, Less{});
        });
    }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    const SortCase c = sort_case(parameters);
    if (c.begin > 0 || c.end < (c.wide ? 64 : 32)) throw NotApplicable{"it compares whole keys"};
    return by_types<MergeSort>(c, parameters);
}

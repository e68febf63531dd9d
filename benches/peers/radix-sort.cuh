// cub::DeviceRadixSort by some bits of the keys, for the primitive multisplit.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "split.cuh"

// Sorts by the bits of the bucket, or by the whole key.
template <typename V, bool ALL> struct Sort : Pairs<V> {
    using Pairs<V>::s;
    const int begin, end;

    explicit Sort(const Splits& given)
        : Pairs<V>(given), begin(ALL ? 0 : (int)given.begin), end(ALL ? 32 : (int)given.end) {}
    cudaError_t call(void* at, size_t& bytes) override {
        u32 *in = this->keys.data, *out = this->keys_out.data;
        V *from = this->values.data, *to = this->values_out.data;
        return this->counted([&](auto n) {
            if (s.value == 0) return cub::DeviceRadixSort::SortKeys(at, bytes, in, out, n, begin, end);
            return cub::DeviceRadixSort::SortPairs(at, bytes, in, out, from, to, n, begin, end);
        });
    }
    u64 wrong() override { return this->wrong_where(true, (u32)begin, (u32)end); }
};

// cub::DevicePartition::If, for the primitive multisplit with two buckets. It leaves the second bucket in
// reverse order, so it is not stable there.
#include <cub/device/device_partition.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "split.cuh"

const char* const PEER = "cub-partition";

// Whether the bucket of a key, or of a pair's key, is the first.
struct First {
    BucketFunction function;
    __host__ __device__ bool operator()(u32 key) const { return bucket_identity(function, key) == 0; }
    template <typename P> __host__ __device__ bool operator()(const P& pair) const { return (*this)((u32)thrust::get<0>(pair)); }
};

template <typename V> struct Partition : Pairs<V> {
    using Pairs<V>::s;
    Buffer<long long> selected{1};

    explicit Partition(const Splits& given) : Pairs<V>(given) {}
    cudaError_t call(void* at, size_t& bytes) override {
        const First first{s.function};
        u32 *in = this->keys.data, *out = this->keys_out.data;
        const auto from = thrust::make_zip_iterator(thrust::make_tuple(in, this->values.data));
        const auto to = thrust::make_zip_iterator(thrust::make_tuple(out, this->values_out.data));
        return this->counted([&](auto n) {
            // The number that is selected has the type of the counts.
            auto* const number = reinterpret_cast<decltype(n)*>(selected.data);
            if (s.value == 0) return cub::DevicePartition::If(at, bytes, in, out, number, n, first);
            return cub::DevicePartition::If(at, bytes, from, to, number, n, first);
        });
    }
    u64 wrong() override { return this->wrong_where(false, s.begin, s.end); }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    const Splits splits = splits_of(parameters);
    if (splits.function.buckets != 2) throw NotApplicable{"it has two buckets"};
    return by_value<Partition>(splits, parameters);
}

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
    Buffer<int> selected{1};

    explicit Partition(const Splits& given) : Pairs<V>(given) {
        CUDA(run(nullptr));
        this->room = std::make_unique<Buffer<char>>(this->bytes);
    }
    cudaError_t run(void* at) {
        const int n = (int)s.n;
        const First first{s.function};
        u32 *in = this->keys.data, *out = this->keys_out.data;
        if (s.value == 0) return cub::DevicePartition::If(at, this->bytes, in, out, selected.data, n, first);
        const auto from = thrust::make_zip_iterator(thrust::make_tuple(in, this->values.data));
        const auto to = thrust::make_zip_iterator(thrust::make_tuple(out, this->values_out.data));
        return cub::DevicePartition::If(at, this->bytes, from, to, selected.data, n, first);
    }
    void execute() override { CUDA(run(this->room->data)); }
    u64 wrong() override { return this->wrong_where(false, s.begin, s.end); }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    const Splits splits = splits_of(parameters);
    if (splits.function.buckets != 2) throw NotApplicable{"it has two buckets"};
    return by_value<Partition>(splits);
}

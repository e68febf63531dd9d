// cub::DevicePartition::If, for the primitive multisplit with two buckets, and with three, which it leaves in arrays of their
// own. With two buckets it leaves the second one in reverse order, so it is not stable there.
#include <cub/device/device_partition.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "split.cuh"

const char* const PEER = "cub-partition";

// Whether a key, or a pair's key, is in the bucket.
struct In {
    BucketFunction function;
    u32 bucket;
    __host__ __device__ bool operator()(u32 key) const {
        return (function.by == BY_DELTA ? bucket_delta(function, key) : bucket_identity(function, key)) == bucket;
    }
    template <typename P> __host__ __device__ bool operator()(const P& pair) const { return (*this)((u32)thrust::get<0>(pair)); }
};

template <typename V> struct Partition : Pairs<V> {
    using Pairs<V>::s;
    Buffer<long long> selected{1};

    explicit Partition(const Splits& given) : Pairs<V>(given) {}
    cudaError_t call(void* at, size_t& bytes) override {
        const In first{s.function, 0};
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

// The first bucket is in the arrays of the result, the others in arrays of their own: a caller who knows no sizes has to.
template <typename V> struct ThreeWay : Pairs<V> {
    using Pairs<V>::s;
    Buffer<u32> second_keys{s.n}, third_keys{s.n};
    Buffer<V> second_values{s.value ? s.n : 0}, third_values{s.value ? s.n : 0};
    Buffer<long long> selected{2};

    explicit ThreeWay(const Splits& given) : Pairs<V>(given) {}
    cudaError_t call(void* at, size_t& bytes) override {
        const In first{s.function, 0}, second{s.function, 1};
        u32* keys[4] = {this->keys.data, this->keys_out.data, second_keys.data, third_keys.data};
        V* values[4] = {this->values.data, this->values_out.data, second_values.data, third_values.data};
        const auto pairs = [&](int i) { return thrust::make_zip_iterator(thrust::make_tuple(keys[i], values[i])); };
        return this->counted([&](auto n) {
            auto* const numbers = reinterpret_cast<decltype(n)*>(selected.data);
            if (s.value == 0) {
                return cub::DevicePartition::If(at, bytes, keys[0], keys[1], keys[2], keys[3], numbers, n, first, second);
            }
            return cub::DevicePartition::If(at, bytes, pairs(0), pairs(1), pairs(2), pairs(3), numbers, n, first, second);
        });
    }
    // All keys of a part are of its bucket and, as far as values tell, in the order of the input; together there are as many
    // as keys.
    u64 wrong() override {
        long long found[2] = {};
        CUDA(cudaMemcpy(found, selected.data, sizeof found, cudaMemcpyDeviceToHost));
        if (!this->wide) {
            int narrow[2];
            std::memcpy(narrow, found, sizeof narrow);
            std::copy(narrow, narrow + 2, found);
        }
        const long long rest = (long long)s.n - found[0] - found[1];
        if (found[0] < 0 || found[1] < 0 || rest < 0) return s.n;
        return wrong_in(0, this->keys_out.data, this->values_out.data, (u64)found[0]) +
               wrong_in(1, second_keys.data, second_values.data, (u64)found[1]) +
               wrong_in(2, third_keys.data, third_values.data, (u64)rest);
    }
    u64 wrong_in(u32 bucket, const u32* k, const V* values, u64 n) {
        const V* v = s.value ? values : nullptr;
        const KeySource source = s.source;
        const In in{s.function, bucket};
        const u64 all = s.n;
        return n == 0 ? 0 : wrong_of(n, [=] __device__(u64 j) {
            if (!in(k[j]) || v == nullptr) return in(k[j]);
            const u64 i = index_of<V>(source, v[j]);
            return i < all && key_at(source, i) == k[j] && (j == 0 || index_of<V>(source, v[j - 1]) < i);
        });
    }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    const Splits splits = splits_of(parameters, true);
    if (splits.function.buckets == 2) return by_value<Partition>(splits, parameters);
    if (splits.function.buckets == 3) return by_value<ThreeWay>(splits, parameters);
    throw NotApplicable{"it has two buckets, or three"};
}

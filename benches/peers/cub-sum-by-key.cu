// CUB's DeviceScan::InclusiveSumByKey and ExclusiveSumByKey, for the primitive segmented-scan. Segments are
// identified by 4-byte keys, the number of each element's segment, whatever the case's `heads` are.
#include "cub.cuh"

const char* const PEER = "cub-sum-by-key";

static __global__ void fill_heads(u32* out, Segments segments, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = segments.head(i);
}

template <typename T> struct SumByKey : Sums<T> {
    using Sums<T>::in;
    using Sums<T>::out;
    using Sums<T>::inclusive;
    Buffer<u32> keys;

    SumByKey(u64 n, u64 seed, Segments segments, bool inclusive) : Sums<T>(n, seed, segments, inclusive), keys(n) {
        fill_heads<<<blocks(n), BLOCK>>>(keys.data, segments, n);
        const auto number = [&](void* at, size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(at, bytes, keys.data, keys.data, count(n));
        };
        size_t bytes = 0;
        CUDA(number(nullptr, bytes));
        Buffer<unsigned char> once(bytes);
        CUDA(number(once.data, bytes));
        CUDA(cudaDeviceSynchronize());
    }
    cudaError_t call(void* at, size_t& bytes) override {
        return this->counted([&](auto n) {
            if (inclusive) return cub::DeviceScan::InclusiveSumByKey(at, bytes, keys.data, in.data, out.data, n);
            return cub::DeviceScan::ExclusiveSumByKey(at, bytes, keys.data, in.data, out.data, n);
        });
    }
};

static Segments segments(Case& parameters, u64 n, u64 seed) {
    const std::string lengths = parameters.one_of("segments", {"constant", "random", "geometric"});
    const bool constant = lengths == "constant";
    const u64 mean = parameters.number("segments." + lengths + (constant ? ".length" : ".mean"));
    if (mean == 0) throw NotApplicable{"segments have elements"};
    const u64 key = key64(seed ^ 0x5345474D454E5453ull);
    return {constant ? CONSTANT : lengths == "random" ? RANDOM : GEOMETRIC, mean, key, n};
}

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"segmented-scan"});
    parameters.one_of("operator", {"add"});
    parameters.one_of("direction", {"forward"});
    const bool inclusive = parameters.one_of("kind", {"exclusive", "inclusive"}) == "inclusive";
    const std::string type = parameters.one_of("type", {"u32", "i32", "f32"});
    const u64 n = parameters.number("elements"), seed = parameters.number("seed", "1");
    const Segments all = segments(parameters, n, seed);
    parameters.text("heads");  // ignored: CUB's segments are keys
    const std::string counts = counts_of(parameters);
    parameters.nothing_else();
    count(n);
    std::unique_ptr<CubWork> work;
    if (type == "f32") work = std::make_unique<SumByKey<float>>(n, seed, all, inclusive);
    else work = std::make_unique<SumByKey<u32>>(n, seed, all, inclusive);
    return settled(std::move(work), parameters, counts);
}

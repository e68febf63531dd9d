// CUB's DeviceScan::ExclusiveSum, for the primitive scan.
#include "cub.cuh"

const char* const PEER = "cub-exclusive-sum";

template <typename T> struct ExclusiveSum : Sums<T> {
    using Sums<T>::in;
    using Sums<T>::out;

    ExclusiveSum(u64 n, u64 seed) : Sums<T>(n, seed, {CONSTANT, n, 0, n}, false) {}
    cudaError_t call(void* at, size_t& bytes) override {
        return this->counted([&](auto n) { return cub::DeviceScan::ExclusiveSum(at, bytes, in.data, out.data, n); });
    }
};

static std::unique_ptr<CubWork> of(const std::string& type, u64 n, u64 seed) {
    if (type == "u64") return std::make_unique<ExclusiveSum<u64>>(n, seed);
    if (type == "f32") return std::make_unique<ExclusiveSum<float>>(n, seed);
    if (type == "f64") return std::make_unique<ExclusiveSum<double>>(n, seed);
    return std::make_unique<ExclusiveSum<u32>>(n, seed);
}

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"scan"});
    parameters.one_of("operator", {"add"});
    parameters.one_of("kind", {"exclusive"});
    parameters.one_of("direction", {"forward"});
    const std::string type = parameters.one_of("type", {"u32", "i32", "u64", "f32", "f64"});
    const u64 n = parameters.number("elements"), seed = parameters.number("seed", "1");
    const std::string counts = counts_of(parameters);
    parameters.nothing_else();
    count(n);
    return settled(of(type, n, seed), parameters, counts);
}

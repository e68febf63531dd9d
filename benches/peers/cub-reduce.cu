// CUB's DeviceReduce::Sum, Min and Max, for the primitive reduce.
#include "cub.cuh"

#include <cub/device/device_reduce.cuh>

const char* const PEER = "cub-reduce";

// Element i of x (src/core/primitives/reduce/mod.rs), without the planted element, whose position does not affect
// the time.
template <typename T> LAB T element(u64 key, u64 i) {
    const u64 w = word64(key, i);
    return sizeof(T) == 4 ? (T)((w >> 32) | 1) : (T)(w | 1);
}
LAB double real(u64 key, u64 i) {
    const u64 w = word64(key, i);
    const double v = (double)((1ull << 23) + (w >> 41)) / (double)(1 << 24);
    return (w & 1) == 0 ? v : -v;
}
template <> __forceinline__ __host__ __device__ float element<float>(u64 key, u64 i) { return (float)real(key, i); }
template <> __forceinline__ __host__ __device__ double element<double>(u64 key, u64 i) { return real(key, i); }

template <typename T> static __global__ void fill(T* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = element<T>(key, i);
}

template <typename T> struct Reduction : CubWork {
    const u64 n, key;
    const std::string op;
    Buffer<T> in, out;

    Reduction(u64 n, u64 seed, std::string op)
        : CubWork(n), n(n), key(key64(seed)), op(std::move(op)), in(n), out(1) {
        fill<<<blocks(n), BLOCK>>>(in.data, key, n);
        effective_bytes = n * sizeof(T);
    }
    cudaError_t call(void* at, size_t& bytes) override {
        return counted([&](auto n) {
            if (op == "min") return cub::DeviceReduce::Min(at, bytes, in.data, out.data, n);
            if (op == "max") return cub::DeviceReduce::Max(at, bytes, in.data, out.data, n);
            return cub::DeviceReduce::Sum(at, bytes, in.data, out.data, n);
        });
    }
    // An integer sum is recomputed by the definition. Any other result is only checked not to be NaN.
    u64 wrong() override {
        T found{};
        CUDA(cudaMemcpy(&found, out.data, sizeof found, cudaMemcpyDeviceToHost));
        if (op != "sum" || std::is_floating_point<T>::value) return found == found ? 0 : 1;
        T sum{};
        for (u64 i = 0; i < n; ++i) sum += element<T>(key, i);
        return found == sum ? 0 : 1;
    }
};

static std::unique_ptr<CubWork> of(const std::string& type, u64 n, u64 seed, const std::string& op) {
    if (type == "u64") return std::make_unique<Reduction<u64>>(n, seed, op);
    if (type == "f32") return std::make_unique<Reduction<float>>(n, seed, op);
    if (type == "f64") return std::make_unique<Reduction<double>>(n, seed, op);
    return std::make_unique<Reduction<u32>>(n, seed, op);
}

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"reduce"});
    parameters.one_of("of", {"elements"});
    parameters.one_of("contents", {"numbers"});
    parameters.one_of("method", {"direct"});
    const std::string op = parameters.one_of("operator", {"sum", "min", "max"});
    const std::string type = parameters.one_of("type", {"u32", "u64", "f32", "f64"});
    const u64 n = parameters.number("elements"), seed = parameters.number("seed", "1");
    const std::string counts = counts_of(parameters);
    parameters.nothing_else();
    return settled(of(type, n, seed, op), parameters, counts);
}

// cub::DeviceHistogram, for the primitive histogram: HistogramEven, and HistogramRange with the lab's random
// splitters. Histograms have 32-bit entries. CUB itself narrows 64-bit counts of less than 2 GiB of values to 32 bits.
#include <cub/device/device_histogram.cuh>

#include "counts.cuh"

const char* const PEER = "cub-histogram";

// Values as in src/core/primitives/histogram/values.rs, in units of 2^-14.
struct Source {
    u64 key;
    u32 hot;
    bool skewed;

    __host__ __device__ u32 at(u64 i) const {
        const u64 u = word64(key, i);
        return skewed && u % 16 != 0 ? hot + (u32)(u >> 52) : (u32)(u >> 40);
    }
};

static __global__ void fill_values(float* out, Source source, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = (float)source.at(i) / 16384.0f;
}

static __global__ void recount(u32* out, Source source, const float* levels, u32 bins, u64 n) {
    const u64 i = this_thread();
    if (i >= n) return;
    u32 bin = 0;
    for (u32 step = 2048; step > 0; step /= 2) {
        if (bin + step < bins && levels[bin + step] <= (float)source.at(i) / 16384.0f) bin += step;
    }
    atomicAdd(&out[bin], 1u);
}

// Spec::splitters of src/core/primitives/histogram/spec.rs, plus the ends of the domain.
static std::vector<float> levels_of(u64 bins, bool range, u64 seed) {
    const u64 key = key64(seed ^ 0x53504C4954544552ull);
    std::vector<float> levels;
    for (u64 j = 1; j < bins; ++j) {
        const u64 even = j * (1ull << 24) / bins, random = 1 + scale(word64(key, j), (1ull << 24) - 1);
        levels.push_back((float)(range ? random : even) / 16384.0f);
    }
    levels.push_back(0.0f);
    levels.push_back(1024.0f);
    std::sort(levels.begin(), levels.end());
    return levels;
}

struct Histogram : CubWork {
    const u64 n, bins;
    const bool range;
    const Source source;
    Buffer<float> values, levels;
    Buffer<u32> counts;

    Histogram(u64 n, u64 bins, bool range, Source source, u64 seed)
        : CubWork(n), n(n), bins(bins), range(range), source(source), values(n), levels(bins + 1), counts(bins) {
        fill_values<<<blocks(n), BLOCK>>>(values.data, source, n);
        const std::vector<float> all = levels_of(bins, range, seed);
        CUDA(cudaMemcpy(levels.data, all.data(), all.size() * sizeof(float), cudaMemcpyHostToDevice));
        effective_bytes = 4 * n;
    }
    cudaError_t call(void* at, size_t& bytes) override {
        const int edges = (int)bins + 1;
        float* const in = values.data;
        return counted([&](auto n) {
            if (!range) return cub::DeviceHistogram::HistogramEven(at, bytes, in, counts.data, edges, 0.0f, 1024.0f, n);
            return cub::DeviceHistogram::HistogramRange(at, bytes, in, counts.data, edges, levels.data, n);
        });
    }
    u64 wrong() override {
        Buffer<u32> expected(bins);
        CUDA(cudaMemset(expected.data, 0, expected.bytes));
        recount<<<blocks(n), BLOCK>>>(expected.data, source, levels.data, (u32)bins, n);
        const u32 *found = counts.data, *wanted = expected.data;
        return wrong_of(bins, [=] __device__(u64 i) { return found[i] == wanted[i]; });
    }
};

// Whether both types of counts call the same kernels (MultiHistogramEven of CUB).
static bool narrowed(u64 n) { return n * sizeof(float) < 0x7FFFFFFFull; }

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"histogram"});
    const bool range = parameters.one_of("by", {"even", "range"}) == "range";
    const bool skewed = parameters.one_of("distribution", {"uniform", "skewed"}) == "skewed";
    const u64 n = parameters.number("elements"), bins = parameters.number("bins");
    const u64 seed = parameters.number("seed", "1");
    const std::string counts = counts_of(parameters);
    parameters.nothing_else();
    if (n == 0 || n > 0x7FFFFFFFull) throw NotApplicable{"it counts up to 2^31 - 1 values"};
    if (bins < 2 || bins > 4096) throw NotApplicable{"there are 2 to 4096 bins"};
    if (!range && (bins & (bins - 1)) != 0) throw NotApplicable{"it rounds where even bins are no power of two"};
    const u32 hot = (u32)(word64(key64(seed ^ 0x484F54504C414345ull), 0) >> 52) << 12;
    auto work = std::make_unique<Histogram>(n, bins, range, Source{key64(seed), hot, skewed}, seed);
    return settled(std::move(work), parameters, narrowed(n) && counts == "best" ? "32" : counts);
}

// std::exclusive_scan of C++17 with std::execution::par_unseq, for `cargo bench --bench scan`.
//
//     g++ -O3 -march=native -std=c++17 benches/scan/std.cpp -ltbb -o /tmp/std-scan
//
// std-scan ELEMENTS THREADS SAMPLES prints the seconds of each sample after one untimed execution, one per
// line, and exits with an error if a result is wrong. Like ours, its arrays lie in huge pages and are first
// touched by the threads that scan them.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <execution>
#include <numeric>
#include <sys/mman.h>
#include <tbb/global_control.h>

static std::uint32_t *array(std::size_t elements) {
    const std::size_t bytes = (elements * sizeof(std::uint32_t) + (2u << 20)) >> 21 << 21;
    void *memory = std::aligned_alloc(2u << 20, bytes);
    if (memory == nullptr) std::exit(2);
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<std::uint32_t *>(memory);
}

static std::uint32_t element(std::size_t i) { return static_cast<std::uint32_t>(i) * 2654435761u; }

int main(int count, char **words) {
    if (count != 4) return 2;
    const std::size_t n = std::strtoull(words[1], nullptr, 10);
    const std::size_t threads = std::strtoull(words[2], nullptr, 10);
    const int samples = std::atoi(words[3]);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    std::uint32_t *in = array(n), *out = array(n);
    const auto policy = std::execution::par_unseq;
    std::for_each(policy, in, in + n, [in](std::uint32_t &x) { x = element(&x - in); });
    std::fill(policy, out, out + n, 0xDEADBEEFu);
    for (int sample = -1; sample < samples; ++sample) {
        const auto start = std::chrono::steady_clock::now();
        std::exclusive_scan(policy, in, in + n, out, 0u);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        if (sample >= 0) std::printf("%.9f\n", seconds.count());
    }
    for (std::size_t i = 0; i < n; ++i)
        if (out[i] != (i == 0 ? 0u : out[i - 1] + element(i - 1))) return 1;
    return 0;
}

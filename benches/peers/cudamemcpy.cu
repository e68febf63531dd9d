// The driver's copies and fills, for the primitive stream: device-to-device cudaMemcpy for copy, and cudaMemset
// for write (which fills bytes rather than the number in the definition).
#include "peer.cuh"

const char* const PEER = "cudamemcpy";

struct Copy : Work {
    Buffer<double> a, c;

    Copy(u64 n, u64 seed) : a(n), c(n) {
        fill_stream<<<blocks(n), BLOCK>>>(a.data, key64(seed), n);
        effective_bytes = 16 * n;
    }
    void execute() override { CUDA(cudaMemcpyAsync(c.data, a.data, a.bytes, cudaMemcpyDeviceToDevice)); }
    u64 wrong() override {
        const double *from = a.data, *to = c.data;
        return wrong_of(a.bytes / 8, [=] __device__(u64 i) { return to[i] == from[i]; });
    }
};

struct Fill : Work {
    Buffer<double> a;

    explicit Fill(u64 n) : a(n) { effective_bytes = 8 * n; }
    void execute() override { CUDA(cudaMemsetAsync(a.data, 7, a.bytes)); }
    u64 wrong() override {
        const u64* words = (const u64*)a.data;
        return wrong_of(a.bytes / 8, [=] __device__(u64 i) { return words[i] == 0x0707070707070707ull; });
    }
};

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"stream"});
    const std::string kernel = parameters.one_of("kernel", {"copy", "write"});
    const u64 elements = parameters.number("elements"), seed = parameters.number("seed", "1");
    parameters.nothing_else();
    if (kernel == "copy") return std::make_unique<Copy>(elements, seed);
    return std::make_unique<Fill>(elements);
}

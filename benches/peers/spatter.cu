// Gathers and scatters as in the CUDA backend of Spatter 2.1.0, for the primitive pattern: one thread per entry
// per use, i and j by dividing the thread's number, blocks of min(P, 1024) threads, and 8-byte indices
// regardless of the case. Its gather reads and stores nothing, so its counterpart is the method read-only.
#include "peer.cuh"

const char* const PEER = "spatter";

// A gather stores only if it loads this value, which no input has. Without the store the compiler would drop
// the loads.
#define NEVER 0.5

struct Uses {
    u64 length, delta, wrap, count;
};

static __global__ void gather(const size_t* pattern, const double* sparse, double* dense, Uses u) {
    const u64 id = this_thread(), i = id / u.length, j = id % u.length;
    if (i >= u.count) return;
    const double x = sparse[pattern[j] + u.delta * i];
    if (x == NEVER) dense[0] = x;
}

static __global__ void scatter(const size_t* pattern, double* sparse, const double* dense, Uses u) {
    const u64 id = this_thread(), i = id / u.length, j = id % u.length;
    if (i < u.count) sparse[pattern[j] + u.delta * i] = dense[j + u.length * (i % u.wrap)];
}

static bool distinct(std::vector<u64> pattern) {
    std::sort(pattern.begin(), pattern.end());
    return std::adjacent_find(pattern.begin(), pattern.end()) == pattern.end();
}

static u64 largest(const std::vector<u64>& pattern) { return *std::max_element(pattern.begin(), pattern.end()); }

struct Walk : Work {
    const bool scatters, once;  // once: no word of the sparse array is used twice
    const Uses uses;
    const unsigned block;
    Buffer<size_t> pattern;
    Buffer<double> sparse, dense;

    Walk(bool scatters, const std::vector<u64>& indices, Uses u)
        : scatters(scatters), once(u.delta > largest(indices) && distinct(indices)), uses(u), block((unsigned)std::min<u64>(u.length, 1024)), pattern(u.length),
          sparse(largest(indices) + u.delta * (u.count - 1) + 1), dense(u.length * u.wrap) {
        CUDA(cudaMemcpy(pattern.data, indices.data(), pattern.bytes, cudaMemcpyHostToDevice));
        fill(sparse, key64(1));
        fill(dense, key64(2));
        effective_bytes = 8 * u.length * u.count;
    }
    void execute() override {
        const unsigned grid = blocks(uses.length * uses.count, block);
        if (scatters) scatter<<<grid, block>>>(pattern.data, sparse.data, dense.data, uses);
        else gather<<<grid, block>>>(pattern.data, sparse.data, dense.data, uses);
    }
    // Where several writers meet, any of their values is right; a gather leaves no result to check.
    u64 wrong() override {
        if (!scatters || !once) return 0;
        const size_t* p = pattern.data;
        const double *to = sparse.data, *from = dense.data;
        const Uses u = uses;
        return wrong_of(u.length * u.count, [=] __device__(u64 id) {
            const u64 i = id / u.length, j = id % u.length;
            return to[p[j] + u.delta * i] == from[j + u.length * (i % u.wrap)];
        });
    }

    static void fill(Buffer<double>& buffer, u64 key) {
        const u64 n = buffer.bytes / sizeof(double);
        fill_stream<<<blocks(n), BLOCK>>>(buffer.data, key, n);
    }
};

static std::vector<u64> indices(Case& parameters) {
    if (parameters.one_of("source", {"custom", "uniform"}) == "custom") {
        return parameters.list("source.custom.indices");
    }
    const u64 length = parameters.number("source.uniform.length");
    const u64 stride = parameters.number("source.uniform.stride");
    if (length > (1 << 20)) throw NotApplicable{"a pattern has at most 2^20 indices"};
    std::vector<u64> all;
    for (u64 i = 0; i < length; ++i) all.push_back(i * stride);
    return all;
}

std::unique_ptr<Work> prepare(Case& parameters) {
    parameters.one_of("primitive", {"pattern"});
    const bool scatters = parameters.one_of("kernel", {"gather", "scatter"}) == "scatter";
    const std::vector<u64> pattern = indices(parameters);
    const Uses uses = {pattern.size(), parameters.number("delta", "8"), parameters.number("wrap", "1"),
                       parameters.number("count")};
    parameters.one_of("visits", {"sequential"});
    parameters.one_of("fence", {"none"});
    parameters.text("index");  // ignored: the peer always uses 8 bytes
    parameters.text("seed");   // ignored: the peer has inputs of its own
    parameters.nothing_else();
    if (pattern.empty() || uses.count == 0 || uses.wrap == 0) throw NotApplicable{"there is nothing to do"};
    return std::make_unique<Walk>(scatters, pattern, uses);
}

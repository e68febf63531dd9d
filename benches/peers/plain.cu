// Kernels as a first course in CUDA writes them: one thread per element, 256 threads per block, no unrolling,
// no hints. They cover stream (except its sum, which is not a map), and gather and scatter with random or
// sequential locations.
#include "peer.cuh"

const char* const PEER = "plain";

// ---- stream ---------------------------------------------------------------------------

enum Operation { WRITE, COPY, SCALE, ADD, TRIAD };

template <Operation OP> static __device__ double result(double x, double y) {
    if (OP == WRITE) return 7.0;
    if (OP == COPY) return x;
    if (OP == SCALE) return 3.0 * x;
    if (OP == ADD) return x + y;
    return x + 3.0 * y;
}

template <Operation OP> __global__ void map(double* out, const double* x, const double* y, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = result<OP>(OP >= COPY ? x[i] : 0.0, OP >= ADD ? y[i] : 0.0);
}

template <Operation OP> struct Stream : Work {
    const u64 n, x_key, y_key;
    Buffer<double> out, x, y;

    Stream(u64 n, u64 seed)
        : n(n), x_key(key64(seed)), y_key(key64(seed + 1)), out(n), x(OP == WRITE ? 0 : n), y(OP < ADD ? 0 : n) {
        if (OP != WRITE) fill_stream<<<blocks(n), BLOCK>>>(x.data, x_key, n);
        if (OP >= ADD) fill_stream<<<blocks(n), BLOCK>>>(y.data, y_key, n);
        effective_bytes = 8 * n * (OP == WRITE ? 1 : OP < ADD ? 2 : 3);
    }
    void execute() override { map<OP><<<blocks(n), BLOCK>>>(out.data, x.data, y.data, n); }
    u64 wrong() override {
        const double* found = out.data;
        const u64 one = x_key, other = y_key;
        return wrong_of(n, [=] __device__(u64 i) {
            return found[i] == result<OP>(stream_value(one, i), stream_value(other, i));
        });
    }
};

static std::unique_ptr<Work> stream(Case& parameters) {
    const std::string kernel = parameters.one_of("kernel", {"copy", "write", "scale", "add", "triad"});
    const u64 n = parameters.number("elements"), seed = parameters.number("seed", "1");
    parameters.nothing_else();
    if (kernel == "write") return std::make_unique<Stream<WRITE>>(n, seed);
    if (kernel == "copy") return std::make_unique<Stream<COPY>>(n, seed);
    if (kernel == "scale") return std::make_unique<Stream<SCALE>>(n, seed);
    if (kernel == "add") return std::make_unique<Stream<ADD>>(n, seed);
    return std::make_unique<Stream<TRIAD>>(n, seed);
}

// ---- gather and scatter -----------------------------------------------------------------

struct alignas(16) Tuple32 {
    uint4 low, high;
};

template <typename T, typename I> __global__ void gather(T* out, const T* in, const I* location, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = in[location[i]];
}

template <typename T, typename I> __global__ void scatter(T* out, const T* in, const I* location, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[location[i]] = in[i];
}

// The lab's tuples: 64-bit words, or 32-bit words for 4-byte tuples.
static __global__ void fill_words64(u64* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = word64(key, i);
}

static __global__ void fill_words32(u32* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = word32(key, (u32)i);
}

template <typename I> __global__ void fill_locations(I* out, Permutation permutation, bool random, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = (I)(random ? permutation_apply(permutation, i) : i);
}

// Permutation::new of src/core/inputs/permutation.rs.
static Permutation permutation(u64 n, u64 seed) {
    Permutation p;
    u32 bits = 0;
    while (bits < 64 && ((n - 1) >> bits) != 0) ++bits;
    p.n = n;
    p.bits_left = bits / 2;
    p.bits_right = bits - bits / 2;
    const u64 key = key64(seed ^ 0x5045524D55544521ull);
    for (u64 r = 0; r < 6; ++r) p.keys[r] = (u32)(word64(key, r) >> 32);
    return p;
}

// The properties of a case that do not depend on its types.
struct Moves {
    bool scatters, random;
    u64 n, seed;
};

template <typename T, typename I> struct Move : Work {
    const Moves moves;
    Buffer<T> out, in;
    Buffer<I> location;

    explicit Move(Moves m) : moves(m), out(m.n), in(m.n), location(m.n) {
        const u64 words = in.bytes / 8, key = key64(m.seed);
        if (sizeof(T) == 4) fill_words32<<<blocks(m.n), BLOCK>>>((u32*)in.data, key, m.n);
        else fill_words64<<<blocks(words), BLOCK>>>((u64*)in.data, key, words);
        fill_locations<<<blocks(m.n), BLOCK>>>(location.data, permutation(m.n, m.seed), m.random, m.n);
        effective_bytes = m.n * sizeof(T);
    }
    void execute() override {
        const unsigned grid = blocks(moves.n);
        if (moves.scatters) scatter<<<grid, BLOCK>>>(out.data, in.data, location.data, moves.n);
        else gather<<<grid, BLOCK>>>(out.data, in.data, location.data, moves.n);
    }
    // Compares every 4 bytes of every tuple; a permutation writes no place twice.
    u64 wrong() override {
        const u32 *to = (const u32*)out.data, *from = (const u32*)in.data;
        const I* at = location.data;
        const bool scatters = moves.scatters;
        const u64 words = sizeof(T) / 4;
        return wrong_of(moves.n * words, [=] __device__(u64 i) {
            const u64 here = i, there = at[i / words] * words + i % words;
            return scatters ? to[there] == from[here] : to[here] == from[there];
        });
    }
};

template <typename T> static std::unique_ptr<Work> move(const Moves& moves, u64 index) {
    if (index == 4) return std::make_unique<Move<T, u32>>(moves);
    return std::make_unique<Move<T, u64>>(moves);
}

static std::unique_ptr<Work> moved(Case& parameters, bool scatters) {
    const bool random = parameters.one_of("locations", {"random", "sequential"}) == "random";
    const u64 tuple = std::stoull(parameters.one_of("tuple", {"8", "4", "16", "32"}));
    const u64 index = std::stoull(parameters.one_of("index", {"4", "8"}));
    const Moves moves = {scatters, random, parameters.number("tuples"), parameters.number("seed", "1")};
    parameters.nothing_else();
    if (moves.n == 0) throw NotApplicable{"there are no tuples"};
    if (tuple == 4) return move<u32>(moves, index);
    if (tuple == 8) return move<u64>(moves, index);
    if (tuple == 16) return move<uint4>(moves, index);
    return move<Tuple32>(moves, index);
}

std::unique_ptr<Work> prepare(Case& parameters) {
    const std::string primitive = parameters.one_of("primitive", {"stream", "gather", "scatter"});
    return primitive == "stream" ? stream(parameters) : moved(parameters, primitive == "scatter");
}

// cuSPARSE's solvers of tridiagonal systems, for the primitive tridiagonal: gtsv2StridedBatch, and gtsv2_nopivot of all
// systems as one, where systems are one after another; gtsvInterleavedBatch by each of its algorithms where they are
// interleaved. The fastest is kept.
#include "cusparse.cuh"
#include "fastest.cuh"
#include "tridiagonal.cuh"

const char* const PEER = "cusparse-gtsv2";

// The functions for elements of type T.
template <typename T> struct Gtsv {
    typedef int Strided(SparseHandle, int, const T*, const T*, const T*, T*, int, int, void*);
    typedef int StridedBytes(SparseHandle, int, const T*, const T*, const T*, const T*, int, int, size_t*);
    typedef int Single(SparseHandle, int, int, const T*, const T*, const T*, T*, int, void*);
    typedef int SingleBytes(SparseHandle, int, int, const T*, const T*, const T*, const T*, int, size_t*);
    typedef int Interleaved(SparseHandle, int, int, T*, T*, T*, T*, int, void*);
    typedef int InterleavedBytes(SparseHandle, int, int, const T*, const T*, const T*, const T*, int, size_t*);

    Strided* strided = need<Strided*>("gtsv2StridedBatch");
    StridedBytes* strided_bytes = need<StridedBytes*>("gtsv2StridedBatch_bufferSizeExt");
    Single* single = need<Single*>("gtsv2_nopivot");
    SingleBytes* single_bytes = need<SingleBytes*>("gtsv2_nopivot_bufferSizeExt");
    Interleaved* interleaved = need<Interleaved*>("gtsvInterleavedBatch");
    InterleavedBytes* interleaved_bytes = need<InterleavedBytes*>("gtsvInterleavedBatch_bufferSizeExt");

    template <typename F> static F need(const char* name) {
        return Cusparse::get().need<F>((std::string("cusparse") + (sizeof(T) == 4 ? "S" : "D") + name).c_str());
    }
};

enum Solver { STRIDED, SINGLE, INTERLEAVED };

struct Way {
    const char* name;
    Solver solver;
    int algorithm;  // of the interleaved solver
};

static std::vector<Way> ways_of(const Systems& s, const std::string& algorithm) {
    static const Way strided[] = {{"strided-batch", STRIDED, 0}, {"nopivot", SINGLE, 0}};
    static const Way interleaved[] = {{"thomas", INTERLEAVED, 0}, {"lu", INTERLEAVED, 1}, {"qr", INTERLEAVED, 2}};
    std::vector<Way> all;
    if (s.interleaved) all.assign(std::begin(interleaved), std::end(interleaved));
    else all.assign(std::begin(strided), std::end(strided));
    if (algorithm == "best") return all;
    std::vector<Way> asked;
    std::copy_if(all.begin(), all.end(), std::back_inserter(asked), [&](const Way& way) { return way.name == algorithm; });
    if (asked.empty()) throw NotApplicable{"algorithm=" + algorithm + " is not one for this layout"};
    return asked;
}

// Bytes of what executions overwrite, in as many copies as are solved in a row: few enough to stay in a cache.
static const u64 COPIES = 32 << 20;
static const u64 MOST_COPIES = 64;

template <typename T> static __global__ void fill_systems(Systems s, T* out) {
    const u64 i = this_thread(), n = s.equations();
    if (i >= n) return;
    const Equation e = s.equation(i);
    out[i] = (T)e.lower;
    out[n + i] = (T)e.diagonal;
    out[2 * n + i] = (T)e.upper;
    out[3 * n + i] = (T)e.right;
}

template <typename T> static __global__ void copy_again(const T* from, T* to, u64 length, u64 all) {
    const u64 i = this_thread();
    if (i < all) to[i] = from[i % length];
}

// The arrays are lower, diagonal, upper and right side, one after the other. The batch of strided systems leaves all but
// the right side as they are, the interleaved one leaves nothing.
template <typename T> struct Solving : Work {
    const Systems s;
    const u64 n;
    const Gtsv<T> gtsv;
    Handle handle;
    const u64 changed, copies;  // elements that executions overwrite, and copies of them
    Buffer<T> input, copied;
    std::vector<Way> ways;
    std::vector<std::unique_ptr<Buffer<unsigned char>>> rooms;
    size_t chosen = 0;
    u64 solved = 0;  // copies since they were put back

    explicit Solving(const Systems& given)
        : s(given), n(s.equations()), changed((s.interleaved ? 4 : 1) * n),
          copies(std::min(std::max<u64>(COPIES / (changed * sizeof(T)), 1), MOST_COPIES)), input(4 * n),
          copied(copies * changed) {
        fill_systems<<<blocks(n), BLOCK>>>(s, input.data);
        CUDA(cudaGetLastError());
        effective_bytes = 5 * n * sizeof(T);
    }

    void add(const Way& way) {
        const T *a = input.data, *b = a + n, *c = b + n, *d = c + n;
        const int rows = (int)s.rows, systems = (int)s.systems;
        size_t bytes = 0;
        const auto& library = Cusparse::get();
        if (way.solver == STRIDED) {
            library.check(gtsv.strided_bytes(handle.handle, rows, a, b, c, d, systems, rows, &bytes), "gtsv2StridedBatch");
        } else if (way.solver == SINGLE) {
            library.check(gtsv.single_bytes(handle.handle, (int)n, 1, a, b, c, d, (int)n, &bytes), "gtsv2_nopivot");
        } else {
            library.check(gtsv.interleaved_bytes(handle.handle, way.algorithm, rows, a, b, c, d, systems, &bytes),
                          "gtsvInterleavedBatch");
        }
        rooms.push_back(std::make_unique<Buffer<unsigned char>>(bytes));
        ways.push_back(way);
    }

    void clear() {
        ways.clear();
        rooms.clear();
    }

    u64 in_a_row() const override { return copies; }

    void restore() override {
        copy_again<<<blocks(copies * changed), BLOCK>>>(input.data + 4 * n - changed, copied.data, changed, copies * changed);
        solved = 0;
    }

    void execute() override {
        T *a = input.data, *at = copied.data + solved++ % copies * changed;
        const Way& way = ways[chosen];
        void* room = rooms[chosen]->data;
        const int rows = (int)s.rows, systems = (int)s.systems;
        const auto& library = Cusparse::get();
        if (way.solver == STRIDED) {
            library.check(gtsv.strided(handle.handle, rows, a, a + n, a + 2 * n, at, systems, rows, room), "gtsv2StridedBatch");
        } else if (way.solver == SINGLE) {
            library.check(gtsv.single(handle.handle, (int)n, 1, a, a + n, a + 2 * n, at, (int)n, room), "gtsv2_nopivot");
        } else {
            library.check(gtsv.interleaved(handle.handle, way.algorithm, rows, at, at + n, at + 2 * n, at + 3 * n, systems, room),
                          "gtsvInterleavedBatch");
        }
    }

    // Equations whose residual exceeds rounding errors.
    u64 wrong() override {
        restore();
        execute();
        const T* x = copied.data + changed - n;
        const Systems all = s;
        const double unit = sizeof(T) == 4 ? 1.0 / (1 << 24) : 1.0 / (1ll << 53);
        return wrong_of(n, [=] __device__(u64 i) {
            const Equation e = all.equation(i);
            const u64 step = all.interleaved ? all.systems : 1;
            const double terms[3] = {e.lower == 0 ? 0 : e.lower * (double)x[i - step], e.diagonal * (double)x[i],
                                     e.upper == 0 ? 0 : e.upper * (double)x[i + step]};
            const double residual = terms[0] + terms[1] + terms[2] - e.right;
            const double size = fabs(terms[0]) + fabs(terms[1]) + fabs(terms[2]) + fabs(e.right);
            return fabs(residual) <= 256 * unit * size;
        });
    }
};

template <typename T>
static std::unique_ptr<Work> solving_of(const Systems& s, const std::vector<Way>& ways, const Case& parameters) {
    auto solving = std::make_unique<Solving<T>>(s);
    const Way& way = settled_way(*solving, ways, parameters);
    solving->settings.push_back({"algorithm", way.name});
    solving->settings.push_back({"version", solving->handle.version()});
    return solving;
}

std::unique_ptr<Work> prepare(Case& parameters) {
    const std::string algorithm = parameters.one_of("algorithm", {"best", "strided-batch", "nopivot", "thomas", "lu", "qr"});
    const bool f64 = parameters.one_of("type", {"f32", "f64"}) == "f64";
    const Systems s = systems_of(parameters);
    const std::vector<Way> ways = ways_of(s, algorithm);
    return f64 ? solving_of<double>(s, ways, parameters) : solving_of<float>(s, ways, parameters);
}

// The product of a sparse matrix and a vector by cuSPARSE, in compressed rows or in slices (SELL), for the primitive spmv.
#pragma once

#include "cusparse.cuh"
#include "fastest.cuh"
#include "sparse.cuh"

// A case, and the matrix of its generator.
struct Spmv {
    Generator generator;
    u64 seed;
    bool f64, add;
    std::shared_ptr<const Rows> rows;
};

static Generator generator_of(Case& parameters) {
    struct Kind {
        const char* name;
        Generator::Kind kind;
        const char *n, *m, *unset;
    };
    static const Kind kinds[] = {
        {"laplace5", Generator::LAPLACE5, "side", nullptr, nullptr},
        {"laplace7", Generator::LAPLACE7, "side", nullptr, nullptr},
        {"random", Generator::RANDOM, "rows", "entries", "16"},
        {"banded", Generator::BANDED, "rows", "half", "8"},
        {"rmat", Generator::RMAT, "scale", "entries", "16"},
        {"empty-rows", Generator::EMPTY_ROWS, "rows", "entries", "4"},
        {"dense-row", Generator::DENSE_ROW, "rows", "entries", "4"},
    };
    std::vector<std::string> names;
    for (const Kind& kind : kinds) names.push_back(kind.name);
    const std::string name = parameters.one_of("matrix", names), at = "matrix." + name + ".";
    const Kind& kind = kinds[std::find(names.begin(), names.end(), name) - names.begin()];
    return {kind.kind, parameters.number(at + kind.n), kind.m ? parameters.number(at + kind.m, kind.unset) : 0};
}

// Most bytes of matrices that are kept for further rounds and cases.
static const u64 KEPT = 2ull << 30;

// The matrix, which later rounds and cases find where this one leaves it; those that were used least recently go first.
static std::shared_ptr<const Rows> rows_of(const Generator& generator, u64 seed) {
    struct Kept {
        std::vector<u64> of;
        std::shared_ptr<const Rows> rows;
    };
    static std::vector<Kept> kept;
    const std::vector<u64> wanted{(u64)generator.kind, generator.n, generator.m, seed};
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.of == wanted; });
    if (found != kept.end()) {
        std::rotate(found, found + 1, kept.end());
        return kept.back().rows;
    }
    const auto bytes = [](const Rows& rows) { return 4 * (rows.starts.size() + rows.columns.size()); };
    u64 all = 4 * (generator.rows(~0u) + generator.entries(~0u));
    for (const Kept& one : kept) all += bytes(*one.rows);
    while (!kept.empty() && all > KEPT) {
        all -= bytes(*kept.front().rows);
        kept.erase(kept.begin());
    }
    kept.push_back({wanted, generator.make(seed)});
    return kept.back().rows;
}

static Spmv spmv_of(Case& parameters) {
    static const u64 MOST = 0x7FFFFFFF;
    parameters.one_of("primitive", {"spmv"});
    Spmv s{};
    s.seed = parameters.number("seed", "1");
    s.generator = generator_of(parameters);
    s.f64 = parameters.one_of("type", {"f32", "f64"}) == "f64";
    s.add = parameters.one_of("beta", {"0", "1"}) == "1";
    parameters.nothing_else();
    const u64 rows = s.generator.rows(MOST);
    if (rows == 0 || rows > MOST || s.generator.entries(MOST) > MOST) {
        throw NotApplicable{"its indices of 32 bits are signed: 1 to 2147483647 rows, and as many entries at most"};
    }
    Cusparse::get();  // before the matrix is made
    s.rows = rows_of(s.generator, s.seed);
    return s;
}

// ---- the matrix on the device ----------------------------------------------------------------

template <typename T> static void upload(Buffer<T>& to, const std::vector<T>& from) {
    CUDA(cudaMemcpy(to.data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
}

// The value of each entry.
template <typename T> static std::vector<T> values_of(const Spmv& s) {
    const u64 key = sparse_key(s.seed + 1);
    std::vector<T> values(s.rows->entries());
    in_ranges(s.rows->rows(), [&](u64 begin, u64 end) {
        for (u64 row = begin; row < end; ++row) {
            for (u64 at = s.rows->starts[row]; at < s.rows->starts[row + 1]; ++at) {
                values[at] = (T)s.generator.value(key, row, s.rows->columns[at], at);
            }
        }
    });
    return values;
}

// A matrix that the library knows.
struct Stored {
    SparseMatrix matrix = nullptr;
    Stored() = default;
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;
    virtual ~Stored() {
        if (matrix) Cusparse::get().drop_matrix(matrix);
    }
};

// Arrays of compressed rows, which several matrices may share.
template <typename T> struct Compressed {
    Buffer<u32> starts, columns;
    Buffer<T> values;

    explicit Compressed(const Spmv& s)
        : starts(s.rows->starts.size()), columns(s.rows->entries()), values(s.rows->entries()) {
        upload(starts, s.rows->starts);
        upload(columns, s.rows->columns);
        upload(values, values_of<T>(s));
    }
};

// What preprocessing finds out is kept in a matrix, so that each way has one of its own.
template <typename T> struct InRows : Stored {
    const std::shared_ptr<Compressed<T>> arrays;

    InRows(const Spmv& s, std::shared_ptr<Compressed<T>> shared) : arrays(std::move(shared)) {
        const int64_t rows = (int64_t)s.rows->rows();
        CUSPARSE(csr(&matrix, rows, rows, (int64_t)s.rows->entries(), arrays->starts.data, arrays->columns.data,
                     arrays->values.data, Cusparse::INDEX_32, Cusparse::INDEX_32, Cusparse::FROM_ZERO, data_type<T>()));
    }
};

// Where each slice of rows begins, if all rows of a slice take as much place as its longest.
static std::vector<u32> slice_starts(const Rows& rows, u64 slice) {
    const u64 slices = (rows.rows() + slice - 1) / slice, most = std::min<u64>(8 * rows.entries() + (1 << 24), 0x7FFFFFFF);
    std::vector<u32> starts(1, 0);
    for (u64 k = 0; k < slices; ++k) {
        u64 width = 0;
        for (u64 row = k * slice; row < std::min((k + 1) * slice, rows.rows()); ++row) {
            width = std::max<u64>(width, rows.starts[row + 1] - rows.starts[row]);
        }
        if (starts.back() + width * slice > most) {
            throw NotApplicable{"in slices of " + std::to_string(slice) + " rows it takes more than eight times the place"};
        }
        starts.push_back((u32)(starts.back() + width * slice));
    }
    return starts;
}

// Slices of rows, each column by column. Places without an entry have column -1, those behind the last row as well.
template <typename T> struct InSlices : Stored {
    const u64 slice;
    const std::vector<u32> at;
    Buffer<u32> starts;
    Buffer<int> columns;
    Buffer<T> values;

    InSlices(const Spmv& s, u64 slice)
        : slice(slice), at(slice_starts(*s.rows, slice)), starts(at.size()), columns(at.back()), values(at.back()) {
        const auto create = Cusparse::get().sell;
        if (!create) throw NotApplicable{"this version of cuSPARSE has no cusparseCreateSlicedEll"};
        upload(starts, at);
        fill(s);
        const int64_t rows = (int64_t)s.rows->rows(), entries = (int64_t)s.rows->entries();
        CUSPARSE(sell(&matrix, rows, rows, entries, (int64_t)at.back(), (int64_t)slice, starts.data, columns.data,
                      values.data, Cusparse::INDEX_32, Cusparse::INDEX_32, Cusparse::FROM_ZERO, data_type<T>()));
    }

    void fill(const Spmv& s) {
        std::vector<int> to(at.back(), -1);
        std::vector<T> numbers(at.back(), 0);
        const u64 key = sparse_key(s.seed + 1);
        in_ranges(s.rows->rows(), [&](u64 begin, u64 end) {
            for (u64 row = begin; row < end; ++row) {
                u64 place = at[row / slice] + row % slice;
                for (u64 e = s.rows->starts[row]; e < s.rows->starts[row + 1]; ++e, place += slice) {
                    const u32 column = s.rows->columns[e];
                    to[place] = (int)column;
                    numbers[place] = (T)s.generator.value(key, row, column, e);
                }
            }
        });
        upload(columns, to);
        upload(values, numbers);
    }
};

// ---- the product -----------------------------------------------------------------------------

// A way to compute it.
struct Way {
    std::string name;
    int algorithm;
    bool preprocess;
    u64 slice;  // 0: compressed rows
};

static std::vector<Way> ways_of(const std::string& algorithm, const std::string& preprocess, u64 slice) {
    std::vector<Way> ways;
    static const std::pair<const char*, int> in_rows[] = {
        {"default", Cusparse::DEFAULT}, {"csr-alg1", Cusparse::CSR_ALG1}, {"csr-alg2", Cusparse::CSR_ALG2}};
    for (const auto& [name, number] : in_rows) {
        if (algorithm != "best" && algorithm != name) continue;
        if (preprocess != "yes") ways.push_back({name, number, false, 0});
        if (preprocess != "no") ways.push_back({name, number, true, 0});
    }
    if (algorithm == "sell") {
        for (u64 rows : slice ? std::vector<u64>{slice} : std::vector<u64>{32, 16, 64, 128}) {
            ways.push_back({"sell", Cusparse::SELL_ALG1, false, rows});
        }
    }
    return ways;
}

// A way with the matrix as it needs it, and room to work in.
struct Prepared {
    Way way;
    std::unique_ptr<Stored> stored;
    std::unique_ptr<Buffer<unsigned char>> room;
};

static __global__ void fill_small(float* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = (float)small_integer(key, i);
}
static __global__ void fill_small(double* out, u64 key, u64 n) {
    const u64 i = this_thread();
    if (i < n) out[i] = small_integer(key, i);
}

// y = A·x, or y += A·x: there z is in y before the first execution, and what comes of further ones takes the same time.
template <typename T> struct Product : Work {
    const Spmv s;
    const u64 n;
    Handle handle;
    Buffer<T> x, y;
    DenseVector of_x = nullptr, of_y = nullptr;
    const T one = 1, beta;
    std::shared_ptr<Compressed<T>> compressed;
    std::vector<Prepared> prepared;
    size_t chosen = 0;

    explicit Product(const Spmv& given)
        : s(given), n(s.rows->rows()), x(n), y(n), beta(s.add ? 1 : 0) {
        fill_small<<<blocks(n), BLOCK>>>(x.data, sparse_key(s.seed + 2), n);
        CUDA(cudaGetLastError());
        start();
        CUSPARSE(vector(&of_x, (int64_t)n, x.data, data_type<T>()));
        CUSPARSE(vector(&of_y, (int64_t)n, y.data, data_type<T>()));
        const u64 entries = s.rows->entries(), vectors = std::min(n, entries) + n * (s.add ? 2 : 1);
        effective_bytes = 4 * (n + 1) + (4 + sizeof(T)) * entries + sizeof(T) * vectors;
    }
    ~Product() override {
        clear();
        for (DenseVector v : {of_x, of_y}) {
            if (v) Cusparse::get().drop_vector(v);
        }
    }

    // Puts z into y, or poison.
    void start() {
        if (s.add) fill_small<<<blocks(n), BLOCK>>>(y.data, sparse_key(s.seed + 3), n);
        else CUDA(cudaMemset(y.data, 0xFF, y.bytes));
        CUDA(cudaGetLastError());
    }

    // Makes the matrix for a way, and room; preprocesses if that is part of it.
    void add(const Way& way) {
        Prepared p{way, nullptr, nullptr};
        const auto preprocess = Cusparse::get().spmv_preprocess;
        if (way.preprocess && !preprocess) throw NotApplicable{"this version of cuSPARSE has no cusparseSpMV_preprocess"};
        if (way.slice) {
            p.stored = std::make_unique<InSlices<T>>(s, way.slice);
        } else {
            if (!compressed) compressed = std::make_shared<Compressed<T>>(s);
            p.stored = std::make_unique<InRows<T>>(s, compressed);
        }
        const SparseMatrix a = p.stored->matrix;
        size_t bytes = 0;
        CUSPARSE(spmv_bytes(handle.handle, Cusparse::AS_IT_IS, &one, a, of_x, &beta, of_y, data_type<T>(), way.algorithm, &bytes));
        p.room = std::make_unique<Buffer<unsigned char>>(bytes);
        if (way.preprocess) {
            CUSPARSE(spmv_preprocess(handle.handle, Cusparse::AS_IT_IS, &one, a, of_x, &beta, of_y, data_type<T>(),
                                     way.algorithm, p.room->data));
        }
        prepared.push_back(std::move(p));
    }

    void clear() {
        prepared.clear();
        compressed.reset();
    }

    void execute() override {
        const Prepared& p = prepared[chosen];
        CUSPARSE(spmv(handle.handle, Cusparse::AS_IT_IS, &one, p.stored->matrix, of_x, &beta, of_y, data_type<T>(),
                      p.way.algorithm, p.room->data));
    }

    // Compares one execution with sums of the rows in the host's memory, which are exact where all terms are small enough.
    u64 wrong() override {
        start();
        execute();
        std::vector<T> found(n);
        CUDA(cudaMemcpy(found.data(), y.data, y.bytes, cudaMemcpyDeviceToHost));
        u64 wrong = 0;
        in_ranges(n, [&](u64 begin, u64 end) {
            u64 own = 0;
            for (u64 row = begin; row < end; ++row) own += is_wrong(row, (double)found[row]) ? 1 : 0;
            __atomic_fetch_add(&wrong, own, __ATOMIC_RELAXED);
        });
        return wrong;
    }

    bool is_wrong(u64 row, double found) const {
        const u64 first = s.rows->starts[row], end = s.rows->starts[row + 1];
        double sum = s.add ? small_integer(sparse_key(s.seed + 3), row) : 0, size = std::abs(sum);
        for (u64 at = first; at < end; ++at) {
            const u32 column = s.rows->columns[at];
            const int value = s.generator.value(sparse_key(s.seed + 1), row, column, at);
            const double term = (double)value * small_integer(sparse_key(s.seed + 2), column);
            sum += term;
            size += std::abs(term);
        }
        const double unit = sizeof(T) == 4 ? 1.0 / (1 << 24) : 1.0 / (1ll << 53);
        const double bound = size * unit <= 1 ? 0 : 2 * ((double)(end - first) + 2) * unit * size;
        return !(std::abs(found - sum) <= bound);
    }
};

// The product by the fastest of these ways.
template <typename T>
static std::unique_ptr<Work> product_of(const Spmv& s, const std::vector<Way>& ways, const Case& parameters) {
    auto product = std::make_unique<Product<T>>(s);
    const Way& way = settled_way(*product, ways, parameters);
    product->settings.push_back({"algorithm", way.name});
    if (way.slice) product->settings.push_back({"slice", std::to_string(way.slice)});
    else product->settings.push_back({"preprocess", way.preprocess ? "yes" : "no"});
    product->settings.push_back({"version", product->handle.version()});
    product->start();
    return product;
}

// By hand, `algorithm`, `preprocess` and `slice` leave less to choose; `first` is the algorithm unless they do.
static std::unique_ptr<Work> spmv_prepared(Case& parameters, const std::string& first) {
    std::vector<std::string> algorithms{"best", "default", "csr-alg1", "csr-alg2", "sell"};
    std::stable_partition(algorithms.begin(), algorithms.end(), [&](const std::string& name) { return name == first; });
    const std::string algorithm = parameters.one_of("algorithm", algorithms);
    const std::string preprocess = parameters.one_of("preprocess", {"best", "no", "yes"});
    const std::vector<Way> ways = ways_of(algorithm, preprocess, parameters.number("slice", "0"));
    const Spmv s = spmv_of(parameters);
    return s.f64 ? product_of<double>(s, ways, parameters) : product_of<float>(s, ways, parameters);
}

// Shared by the peers of the primitive sort: the lab's keys and values, and a check that a result is sorted.
#pragma once

#include "counts.cuh"
#include "../../kernels/sort/inputs.cuh"
#include "zipf.cuh"

// A case.
struct SortCase {
    u64 n, seed, value;  // value: bytes, or 0 without values
    bool wide;           // 64-bit keys
    std::string distribution, exponent, counts;
    u64 distinct;
    int begin, end;  // the bits by which keys are sorted
};

static SortCase sort_case(Case& parameters) {
    SortCase c{};
    parameters.one_of("primitive", {"sort"});
    parameters.text("method");  // ours
    c.n = parameters.number("keys"), c.seed = parameters.number("seed", "1");
    c.wide = parameters.one_of("key", {"u32", "u64"}) == "u64";
    const std::string values = parameters.one_of("values", {"none", "4B", "8B"});
    c.value = values == "none" ? 0 : values == "4B" ? 4 : 8;
    c.distribution = parameters.one_of("distribution", {"uniform", "zipf", "sorted", "reversed", "equal", "few", "entropy"});
    c.exponent = parameters.text("distribution.zipf.exponent", "1.0");
    // The number of random words of `entropy` is in the same place as that of distinct keys.
    c.distinct = c.distribution == "entropy" ? parameters.number("distribution.entropy.words")
                                             : parameters.number("distribution.few.distinct", "16");
    const u64 width = c.wide ? 64 : 32;
    const u64 begin = parameters.number("begin", "0");
    const u64 end = parameters.text("end", "auto") == "auto" ? width : parameters.number("end");
    c.begin = (int)std::min<u64>(begin, 65), c.end = (int)std::min<u64>(end, 65);
    c.counts = counts_of(parameters);
    parameters.nothing_else();
    if (c.n == 0 || c.n > 0x7FFFFFFFull) throw NotApplicable{"it sorts 1 to 2^31 - 1 keys"};
    if (c.begin >= c.end || c.end > (int)width) throw NotApplicable{"it sorts by bits that a key has, at least by one"};
    if (c.distinct == 0) throw NotApplicable{"there is a key"};
    return c;
}

static double exponent_of(const std::string& text) {
    std::istringstream words(text);
    double exponent = -1;
    if (!(words >> exponent) || !words.eof() || !(exponent >= 0 && exponent <= 16)) {
        throw NotApplicable{"distribution.zipf.exponent=" + text + " is not from 0 to 16"};
    }
    return exponent;
}

// The arrays of Zipf's table on the device.
struct ZipfTable {
    Buffer<u64> cumulative, start;
    Buffer<u32> guide;

    ZipfTable(const std::vector<u64>& sums, const std::vector<u64>& starts, const std::vector<u32>& first)
        : cumulative(sums.size()), start(starts.size()), guide(first.size()) {
        CUDA(cudaMemcpy(cumulative.data, sums.data(), cumulative.bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(start.data, starts.data(), start.bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(guide.data, first.data(), guide.bytes, cudaMemcpyHostToDevice));
    }
};

static std::unique_ptr<ZipfTable> zipf_table(const SortCase& c) {
    const std::vector<u64> starts = zipf_starts(c.n), sums = zipf_cumulative(starts, exponent_of(c.exponent));
    return std::make_unique<ZipfTable>(sums, starts, zipf_guide(sums));
}

static SortKeys sort_keys(const SortCase& c, const ZipfTable* table) {
    static const std::map<std::string, u32> draws = {{"uniform", DRAW_UNIFORM}, {"zipf", DRAW_ZIPF},
        {"sorted", DRAW_SORTED}, {"reversed", DRAW_REVERSED}, {"equal", DRAW_EQUAL}, {"few", DRAW_FEW},
        {"entropy", DRAW_ENTROPY}};
    SortKeys s{};
    s.key = key64(c.seed);
    s.values = key64(c.seed ^ 0x534F525456414C55ull);
    s.n = c.n;
    s.draw = draws.at(c.distribution);
    s.drop = c.wide ? 0 : 32;
    s.step = std::max<u64>((~0ull >> s.drop) / c.n, 1);
    s.distinct = c.distinct;
    if (table) {
        s.draws = key64(c.seed ^ 0x5A49504644524157ull);
        s.cumulative = table->cumulative.data, s.start = table->start.data, s.guide = table->guide.data;
        s.spread = permutation_of(c.n, c.seed);
    }
    return s;
}

template <typename V> LAB V sort_value(const SortKeys& s, u64 i) {
    return sizeof(V) == 8 ? (V)sort_value64(s, i) : (V)sort_value32(s, i);
}
template <typename V> LAB u64 sort_index(const SortKeys& s, V value) {
    return sizeof(V) == 8 ? index_of_word64(s.values, value) : index_of_word32(s.values, (u32)value);
}

template <typename K, typename V> static __global__ void fill_sort(K* keys, V* values, SortKeys source, u64 n) {
    const u64 i = this_thread();
    if (i >= n) return;
    keys[i] = (K)sort_key(source, i);
    if (values != nullptr) values[i] = sort_value<V>(source, i);
}

// Adds up a hash of each key, which a permutation of the keys does not change.
template <typename K> static __global__ void sum_hashes(const K* keys, u64 n, u64* sum) {
    const u64 i = this_thread();
    if (i < n) atomicAdd(sum, mix64((u64)keys[i] + 0x9E3779B97F4A7C15ull));
}

template <typename K> static u64 hash_of(const K* keys, u64 n) {
    Buffer<u64> sum(1);
    CUDA(cudaMemset(sum.data, 0, sum.bytes));
    sum_hashes<<<blocks(n), BLOCK>>>(keys, n, sum.data);
    u64 found = 0;
    CUDA(cudaMemcpy(&found, sum.data, sizeof found, cudaMemcpyDeviceToHost));
    return found;
}

// Keys of type K with values of type V, or without; the result is beside them.
template <typename K, typename V> struct Sorting : CubWork {
    const SortCase c;
    std::unique_ptr<ZipfTable> table;
    const SortKeys source;
    Buffer<K> keys, keys_out;
    Buffer<V> values, values_out;

    explicit Sorting(const SortCase& given)
        : CubWork(given.n), c(given), table(c.distribution == "zipf" ? zipf_table(c) : nullptr),
          source(sort_keys(c, table.get())), keys(c.n), keys_out(c.n), values(c.value ? c.n : 0),
          values_out(c.value ? c.n : 0) {
        fill_sort<<<blocks(c.n), BLOCK>>>(keys.data, c.value ? values.data : nullptr, source, c.n);
        effective_bytes = 2 * c.n * (sizeof(K) + c.value);
    }

    // Bits descend nowhere, and the keys are those of the input: without values by a sum of hashes, with values
    // because each value belongs to its key and, among equal bits, comes later in the input than the one before.
    u64 wrong() override {
        const K* k = keys_out.data;
        const V* v = c.value ? values_out.data : nullptr;
        const SortKeys s = source;
        const u64 n = c.n, mask = ~0ull >> (64 - (c.end - c.begin));
        const int begin = c.begin;
        const u64 bad = wrong_of(n, [=] __device__(u64 j) {
            const u64 here = (u64)k[j] >> begin & mask, before = j == 0 ? 0u : (u64)k[j - 1] >> begin & mask;
            if (v == nullptr || before > here) return before <= here;
            const u64 i = sort_index<V>(s, v[j]);
            if (i >= n || (K)sort_key(s, i) != k[j]) return false;
            return j == 0 || before < here || sort_index<V>(s, v[j - 1]) < i;
        });
        return bad + (hash_of(keys.data, n) == hash_of(keys_out.data, n) ? 0 : 1);
    }
};

// Creates the work of a case with its types of keys and values, and settles the type of its counts.
template <template <typename, typename> class W> static std::unique_ptr<Work> by_types(const SortCase& c, const Case& parameters) {
    std::unique_ptr<CubWork> work;
    if (c.wide && c.value == 8) work = std::make_unique<W<u64, u64>>(c);
    else if (c.wide) work = std::make_unique<W<u64, u32>>(c);
    else if (c.value == 8) work = std::make_unique<W<u32, u64>>(c);
    else work = std::make_unique<W<u32, u32>>(c);
    return settled(std::move(work), parameters, c.counts);
}

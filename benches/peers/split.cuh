// Shared by the peers of the primitive multisplit: the lab's keys, values and buckets, and a check that a
// result is ordered by bucket. Supports fields of the key, and delta-buckets: a power of two, or for a peer that compares
// keys any number.
#pragma once

#include "counts.cuh"

#include "../../kernels/multisplit/inputs.cuh"

// A case: the source of its keys, and the bits of a key that hold the bucket.
struct Splits {
    KeySource source;
    BucketFunction function;
    u64 n;
    u32 begin, end;  // bits of the bucket, where it is bits of the key
    u64 delta;       // keys of a bucket, where it is not
    u64 value;       // bytes, or 0 without values
    std::string counts;
};

static u64 of_word(const std::string& word, const std::map<std::string, u64>& meanings) { return meanings.at(word); }

static Splits splits_of(Case& parameters, bool compares = false) {
    parameters.one_of("primitive", {"multisplit"});
    const bool field = parameters.one_of("by", {"delta-buckets", "identity"}) == "identity";
    const u64 values = of_word(parameters.one_of("values", {"none", "4B", "8B"}), {{"none", 0}, {"4B", 4}, {"8B", 8}});
    const std::map<std::string, u64> draws = {{"uniform", DRAW_UNIFORM}, {"binomial", DRAW_BINOMIAL}, {"skewed", DRAW_SKEWED}};
    const u64 draw = of_word(parameters.one_of("distribution", {"uniform", "binomial", "skewed"}), draws);
    const u64 n = parameters.number("keys"), m = parameters.number("buckets"), seed = parameters.number("seed", "1");
    const u64 shift = field ? parameters.number("by.identity.shift", "0") : 0;
    const std::string counts = counts_of(parameters);
    parameters.nothing_else();
    if (n == 0 || n > 0x7FFFFFFFull) throw NotApplicable{"it takes 1 to 2^31 - 1 keys"};
    u32 bits = 0;
    while ((1ull << bits) < m) ++bits;
    const bool by_delta = compares && !field && 1ull << bits != m;
    if (m < 2 || bits > 16 || (!field && 1ull << bits != m && !by_delta)) {
        throw NotApplicable{"its buckets are bits of the key: 2 to 65536, a power of two"};
    }
    Splits s{};
    s.n = n;
    s.value = values;
    s.counts = counts;
    s.begin = field ? (u32)shift : 32u - bits;
    s.end = s.begin + bits;
    if (s.end > 32u) throw NotApplicable{"a key has 32 bits"};
    const u32 mask = (u32)((1ull << bits) - 1u);
    s.delta = by_delta ? ((1ull << 32) + m - 1) / m : 1ull << s.begin;
    // bucket_delta is never asked with a power of two, whose reciprocal does not fit.
    s.function = {by_delta ? ~0ull / s.delta + 1 : 0, nullptr, by_delta ? BY_DELTA : BY_IDENTITY, (u32)m, s.begin, mask};
    // In delta-buckets, keys are drawn relative to the first key of the bucket, so that they equal the keys of
    // the lab.
    s.source = {key64(seed), key64(seed ^ 0x4D535F424954535Full), key64(seed ^ 0x4D535F56414C5545ull), 0, nullptr,
                (u32)draw, field ? IMAGE_FIELD : IMAGE_KEY, (u32)m, 0, s.begin, mask};
    return s;
}

template <typename V> LAB V value_at(const KeySource& s, u64 i) {
    return sizeof(V) == 8 ? (V)value64_at(s, i) : (V)value32_at(s, i);
}
template <typename V> LAB u64 index_of(const KeySource& s, V value) {
    return sizeof(V) == 8 ? index_of_word64(s.values, value) : index_of_word32(s.values, (u32)value);
}

template <typename V> static __global__ void fill_pairs(u32* keys, V* values, KeySource source, u64 n) {
    const u64 i = this_thread();
    if (i >= n) return;
    keys[i] = key_at(source, i);
    if (values != nullptr) values[i] = value_at<V>(source, i);
}

// Keys or pairs, with room for the result.
template <typename V> struct Pairs : CubWork {
    Splits s;
    Buffer<u64> first;
    Buffer<u32> keys, keys_out;
    Buffer<V> values, values_out;

    explicit Pairs(const Splits& given)
        : CubWork(given.n), s(given), first(given.function.buckets + 1ull), keys(s.n), keys_out(s.n), values(s.value ? s.n : 0),
          values_out(s.value ? s.n : 0) {
        std::vector<u64> all;
        for (u64 b = 0; b < s.function.buckets; ++b) all.push_back(b * s.delta);
        all.push_back(s.function.by == BY_DELTA ? 1ull << 32 : s.function.buckets * s.delta);
        CUDA(cudaMemcpy(first.data, all.data(), first.bytes, cudaMemcpyHostToDevice));
        s.source.first = first.data;
        fill_pairs<<<blocks(s.n), BLOCK>>>(keys.data, s.value ? values.data : nullptr, s.source, s.n);
        effective_bytes = 2 * s.n * (4 + s.value);
    }

    // A pair is right if its value belongs to its key and its predecessor is in a lower bucket or in the same
    // one, there (if `stable`) from earlier in the input. Keys without values are right if their buckets
    // ascend.
    u64 wrong_where(bool stable, u32 begin, u32 end) {
        const u32* k = keys_out.data;
        const V* v = s.value ? values_out.data : nullptr;
        const KeySource source = s.source;
        const u64 n = s.n;
        const u32 mask = (u32)((1ull << (end - begin)) - 1u);
        return wrong_of(n, [=] __device__(u64 j) {
            const u32 bucket = k[j] >> begin & mask, before = j == 0 ? 0u : k[j - 1] >> begin & mask;
            if (v == nullptr || before > bucket) return before <= bucket;
            const u64 i = index_of<V>(source, v[j]);
            if (i >= n || key_at(source, i) != k[j]) return false;
            return !stable || j == 0 || before < bucket || index_of<V>(source, v[j - 1]) < i;
        });
    }
};

// Creates the work of a case with the given value size, and settles the type of its counts.
template <template <typename> class W> static std::unique_ptr<Work> by_value(const Splits& s, const Case& parameters) {
    if (s.value == 8) return settled(std::make_unique<W<u64>>(s), parameters, s.counts);
    return settled(std::make_unique<W<u32>>(s), parameters, s.counts);
}

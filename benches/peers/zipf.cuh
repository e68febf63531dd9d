// Zipf's table on the host, the same as that of src/core/inputs/zipf.rs to the bit: only additions, multiplications and
// divisions, which IEEE 754 rounds identically everywhere (build.sh keeps compilers from fusing them).
#pragma once

#include <cstring>

#include "peer.cuh"

// Of src/core/inputs/real.rs.
static double ln_of(double x) {
    u64 bits;
    std::memcpy(&bits, &x, sizeof bits);
    long long exponent = (long long)(bits >> 52) - 1023;
    bits = (bits & ((1ull << 52) - 1)) | 1023ull << 52;
    double m;
    std::memcpy(&m, &bits, sizeof m);
    if (m > 1.41421356237309504880) {
        m /= 2.0;
        exponent += 1;
    }
    const double t = (m - 1.0) / (m + 1.0), square = t * t;
    double series = 0.0;
    for (int k = 11; k >= 0; --k) series = series * square + 1.0 / (double)(2 * k + 1);
    return (double)exponent * 0.693147180559945309417 + 2.0 * t * series;
}

// Of src/core/inputs/real.rs, for the arguments that occur here.
static double exp_of(double x) {
    const double ln2 = 0.693147180559945309417;
    const long long k = (long long)(x / ln2 + (x < 0.0 ? -0.5 : 0.5));
    if (k < -1021) return 0.0;
    const double r = x - (double)k * ln2;
    double series = 1.0;
    for (int n = 17; n >= 1; --n) series = 1.0 + r / (double)n * series;
    const u64 bits = (u64)(k + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return series * power;
}

static Permutation permutation_of(u64 n, u64 seed) {
    u32 bits = 0;
    while (bits < 40 && 1ull << bits < n) ++bits;
    Permutation p{n, bits / 2, bits - bits / 2, {}};
    for (u64 r = 0; r < 6; ++r) p.keys[r] = (u32)(word64(key64(seed ^ 0x5045524D55544521ull), r) >> 32);
    return p;
}

// First ranks of the buckets, followed by n.
static std::vector<u64> zipf_starts(u64 n) {
    const u64 most = 16384, head = 8192, buckets = most - head;
    std::vector<u64> starts;
    for (u64 rank = 0; rank <= (n <= most ? n : head); ++rank) starts.push_back(rank);
    if (n <= most) return starts;
    const double growth = ln_of((double)n / (double)head) / (double)buckets;
    u64 last = head;
    for (u64 k = 1; k < buckets; ++k) {
        const u64 boundary = (u64)((double)head * exp_of(growth * (double)k));
        last = std::min(std::max(boundary, last + 1), n - (buckets - k));
        starts.push_back(last);
    }
    starts.push_back(n);
    return starts;
}

// For each bucket, the probability of this or an earlier one, times 2^64.
static std::vector<u64> zipf_cumulative(const std::vector<u64>& start, double exponent) {
    std::vector<double> sums;
    double running = 0.0;
    for (size_t b = 0; b + 1 < start.size(); ++b) {
        const double middle = (double)(start[b] + start[b + 1] + 1) / 2.0;
        running += (double)(start[b + 1] - start[b]) * exp_of(-exponent * ln_of(middle));
        sums.push_back(running);
    }
    std::vector<u64> cumulative;
    for (const double sum : sums) {
        const double share = sum / running * 18446744073709551616.0;
        cumulative.push_back(share >= 18446744073709551616.0 ? ~0ull : (u64)share);
    }
    return cumulative;
}

// The bucket of the draw g·2^52, for each g, and the last bucket.
static std::vector<u32> zipf_guide(const std::vector<u64>& cumulative) {
    const u64 last = cumulative.size() - 1;
    std::vector<u32> guide;
    for (u64 g = 0; g < 4096; ++g) {
        const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), g << 52);
        guide.push_back((u32)std::min<u64>((u64)(at - cumulative.begin()), last));
    }
    guide.push_back((u32)last);
    return guide;
}

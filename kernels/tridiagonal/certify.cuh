// The systems of tridiagonal, and the certificate of their solutions (src/core/primitives/tridiagonal/mod.rs):
// residuals, relative to the size of the system's rows.
#pragma once

#include "../common/certify.cuh"

#define DOMINANT 0u
#define LAPLACE 1u
#define ZERO_PIVOT 2u
#define NOT_A_NUMBER 3u

// The contents of the arrays; `key` is the key of the seed.
struct Contents {
    u64 key, rows, systems;
    u32 kind, interleaved;
};

static_assert(sizeof(Contents) == 32, "the layout of the host");

struct Elements {
    double a, b, c, d;
};

// Row i of system s: twin of `Spec::elements`.
LAB Elements elements_of(const Contents& of, u64 s, u64 i) {
    const u64 e = 4u * (s * of.rows + i);
    double u[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u64 word = word64(of.key, e + k);
        const double v = (double)(word >> 41) / (double)(1 << 23);
        u[k] = word & 1u ? -v : v;
    }
    Elements row = {u[0], fabs(u[0]) + fabs(u[1]) + 0.25 + fabs(u[2]), u[1], u[3]};
    if (of.kind == LAPLACE) row = {-1.0, 2.0, -1.0, u[3]};
    const bool planted = i == 0 && s == of.systems / 2u;
    if (of.kind == ZERO_PIVOT && planted) row.b = 0.0;
    if (of.kind == NOT_A_NUMBER && planted) row.d = (double)__int_as_float(0x7FC00000);
    return row;
}

LAB u64 system_at(const Contents& of, u64 k) { return of.interleaved ? k % of.systems : k / of.rows; }
LAB u64 row_at(const Contents& of, u64 k) { return of.interleaved ? k / of.systems : k % of.rows; }

// Elements [0, rows · systems], in the layout of the arrays. The last one lies past them.
template <typename T> LAB void fill(const Contents& of, T* a, T* b, T* c, T* d) {
    const u64 count = of.rows * of.systems;
    for (u64 k = thread_index(); k <= count; k += thread_count()) {
        const Elements row = k == count ? elements_of(of, of.systems, 0) : elements_of(of, system_at(of, k), row_at(of, k));
        a[k] = (T)row.a;
        b[k] = (T)row.b;
        c[k] = (T)row.c;
        d[k] = (T)row.d;
    }
}

LAB bool is_number(double v) { return v - v == 0.0; }

// A row's residual |d − a·x[i−1] − b·x[i] − c·x[i+1]| in f64, and the sum of the sizes of its terms.
struct Residual {
    double off, size;
};

template <typename T>
LAB Residual residual_at(const Contents& of, const T* a, const T* b, const T* c, const T* d, const T* x, u64 k) {
    const u64 i = row_at(of, k), far = of.interleaved ? of.systems : 1u;
    const double left = i == 0 ? 0.0 : (double)a[k] * (double)x[k - far];
    const double middle = (double)b[k] * (double)x[k];
    const double right = i + 1u == of.rows ? 0.0 : (double)c[k] * (double)x[k + far];
    return {fabs((double)d[k] - left - middle - right), fabs(left) + fabs(middle) + fabs(right) + fabs((double)d[k])};
}

// sizes[s] = the largest size of a row of system s, of the sizes that are numbers. Nonnegative numbers compare like
// their bits. Reading first saves most atomic operations, since few rows exceed the maximum so far.
template <typename T>
LAB void measure(const Contents& of, const T* a, const T* b, const T* c, const T* d, const T* x, u64* sizes) {
    const u64 count = of.rows * of.systems;
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        const double size = residual_at(of, a, b, c, d, x, k).size;
        const u64 bits = (u64)__double_as_longlong(size);
        u64* const most = sizes + system_at(of, k);
        if (is_number(size) && bits > __ldcg(most)) atomicMax(most, bits);
    }
}

// Checks each row's residual: at most `bound` times the size of its system. *most = the largest ratio. In the system
// that elimination cannot solve, wrong rows are counted in `sum` instead, and values of x that are not numbers in
// `touched`.
template <typename T>
LAB void certify(const Contents& of, const T* a, const T* b, const T* c, const T* d, const T* x, const double* sizes,
                 double bound, u64* most, Finding* finding) {
    const u64 count = of.rows * of.systems;
    u32 checked = 0, flagged = 0;
    u64 wrong = 0;
    double largest = 0.0;
    for (u64 k = thread_index(); k < count; k += thread_count()) {
        const u64 i = row_at(of, k), s = system_at(of, k);
        const Residual row = residual_at(of, a, b, c, d, x, k);
        const double size = sizes[s];
        // Infinities and NaN exceed every bound.
        const bool right_enough = row.off <= bound * size;
        if (right_enough && size > 0.0 && row.off / size > largest) largest = row.off / size;
        ++checked;
        if (of.kind >= ZERO_PIVOT && s == of.systems / 2u) {
            wrong += right_enough ? 0u : 1u;
            flagged += is_number((double)x[k]) ? 0u : 1u;
        } else if (!right_enough) {
            mistake(finding, s * of.rows + i, WRONG_RESIDUAL, i, s, __double_as_longlong(row.off / size));
        }
    }
    add_count(&finding->checked, checked);
    add_count(&finding->touched, flagged);
    add_sum(&finding->sum, wrong);
    atomicMax(most, (u64)__double_as_longlong(largest));
}

// Tridiagonal systems for the peers of the primitive tridiagonal.
#pragma once

#include "peer.cuh"

// lower · x[i - 1] + diagonal · x[i] + upper · x[i + 1] = right. The first of a system has no lower, the last no upper.
struct Equation {
    double lower, diagonal, upper, right;
};

// Systems of as many rows each: one after another, or interleaved, so that the same rows of all systems are together.
struct Systems {
    u64 rows, systems, key;
    bool interleaved;

    __host__ __device__ u64 equations() const { return rows * systems; }

    // The equation at place i of the arrays: small integers, of which the diagonal exceeds the sum of the others.
    __host__ __device__ Equation equation(u64 i) const {
        const u64 row = interleaved ? i / systems : i % rows;
        const u64 word = word64(key, i);
        const double lower = row == 0 ? 0 : 1 + (double)(word >> 61), upper = row + 1 == rows ? 0 : 1 + (double)(word >> 58 & 7);
        const double more = 1 + (double)(word >> 55 & 7), right = 1 + (double)(word >> 52 & 7);
        const bool negative = word & 1;
        return {word & 2 ? lower : -lower, negative ? -(lower + upper + more) : lower + upper + more,
                word & 4 ? upper : -upper, word & 8 ? right : -right};
    }
};

static Systems systems_of(Case& parameters) {
    static const u64 MOST = 0x7FFFFFFF;
    parameters.one_of("primitive", {"tridiagonal"});
    Systems s{};
    s.rows = parameters.number("rows"), s.systems = parameters.number("systems");
    s.key = key64(parameters.number("seed", "1"));
    s.interleaved = parameters.one_of("layout", {"strided", "interleaved"}) == "interleaved";
    parameters.nothing_else();
    if (s.rows < 3 || s.systems == 0 || s.rows > MOST / s.systems) {
        throw NotApplicable{"it solves systems of at least 3 equations, of at most 2147483647 in all"};
    }
    return s;
}

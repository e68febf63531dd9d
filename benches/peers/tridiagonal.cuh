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

    // The equation at place i of the arrays: that of `Spec::elements` in src/core/primitives/tridiagonal/mod.rs.
    __host__ __device__ Equation equation(u64 i) const {
        const u64 row = interleaved ? i / systems : i % rows, system = interleaved ? i % systems : i / rows;
        double u[4];
        for (u64 k = 0; k < 4; ++k) {
            const u64 word = word64(key, 4 * (system * rows + row) + k);
            const double size = (double)(word >> 41) / (double)(1 << 23);
            u[k] = word & 1 ? -size : size;
        }
        const double diagonal = fabs(u[0]) + fabs(u[1]) + 0.25 + fabs(u[2]);
        return {row == 0 ? 0 : u[0], diagonal, row + 1 == rows ? 0 : u[1], u[3]};
    }
};

static Systems systems_of(Case& parameters) {
    static const u64 MOST = 0x7FFFFFFF;
    parameters.one_of("primitive", {"tridiagonal"});
    Systems s{};
    s.rows = parameters.number("rows"), s.systems = parameters.number("systems", "1");
    parameters.one_of("inputs", {"dominant"});
    s.key = key64(parameters.number("seed", "1"));
    s.interleaved = parameters.one_of("layout", {"strided", "interleaved"}) == "interleaved";
    parameters.nothing_else();
    if (s.rows < 3 || s.systems == 0 || s.rows > MOST / s.systems) {
        throw NotApplicable{"it solves systems of at least 3 equations, of at most 2147483647 in all"};
    }
    return s;
}

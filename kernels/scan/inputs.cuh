// Elements and segments of the scans as functions of (seed, i), bit-for-bit twins of
// src/core/primitives/scan/{inputs,segments}.rs, and the operators on elements whose type is known only at run time.
#pragma once

#include "operators.cuh"

#define U32 0u
#define I32 1u
#define U64 2u
#define F32 3u
#define F64 4u

// The bits of an element; b is 0 unless the element is an affine pair.
struct Element {
    u64 a, b;
};

LAB bool operator==(Element x, Element y) { return x.a == y.a && x.b == y.b; }

struct Inputs {
    u64 key;
    u64 n;
    u32 op, type;    // codes as above and in operators.cuh
    u32 backward;
    u32 length;      // bit length of the greatest rank + jitter
};

static_assert(sizeof(Inputs) == 32, "the layout of the host");

LAB bool wide(u32 type) { return type == U64 || type == F64; }

LAB u64 input_word(const Inputs& in, u64 i) { return wide(in.type) ? word64(in.key, i) : word32(in.key, (u32)i); }

LAB u64 summand(const Inputs& in, u64 i) {
    if (in.type == F32) {
        const int here = (int)(word32(in.key, (u32)i) >> 20);
        const int before = i == 0 ? 0 : (int)(word32(in.key, (u32)(i - 1)) >> 20);
        return cast<u32>((float)(here - before));
    }
    if (in.type == F64) {
        const long long here = (long long)(word64(in.key, i) >> 32);
        const long long before = i == 0 ? 0 : (long long)(word64(in.key, i - 1) >> 32);
        return cast<u64>((double)(here - before));
    }
    return input_word(in, i);
}

LAB u64 rank(const Inputs& in, u64 i) { return in.backward != 0 ? in.n - 1 - i : i; }

// Bits of the values that min and max scans draw, by type: exact in the type.
LAB u32 width(u32 type) { return type == F32 ? 24u : type == F64 ? 53u : type == U64 ? 64u : 32u; }

LAB u64 rising(const Inputs& in, u64 i) {
    const u64 q = rank(in, i) + (word32(in.key, (u32)i) & 15u);
    const u32 bits = width(in.type);
    return bits >= in.length ? q << (bits - in.length) : q >> (in.length - bits);
}

LAB u64 as_type(u32 type, u64 v) {
    if (type == I32) return v ^ 0x80000000ull;
    if (type == F32) return cast<u32>((float)((int)v - (1 << 23)));
    if (type == F64) return cast<u64>((double)((long long)v - (1ll << 52)));
    return v;
}

LAB u64 rare_bits(const Inputs& in, u64 i) {
    const u64 allowed = (wide(in.type) ? 64u : 32u) * (rank(in, i) + 1) / (in.n + 1);
    return input_word(in, i) & ((1ull << allowed) - 1);
}

LAB Element input(const Inputs& in, u64 i) {
    if (in.op == MAX) return {as_type(in.type, rising(in, i)), 0};
    if (in.op == MIN) return {as_type(in.type, (~0ull >> (64u - width(in.type))) - rising(in, i)), 0};
    if (in.op == OR) return {rare_bits(in, i), 0};
    if (in.op == AND) return {~rare_bits(in, i) & (wide(in.type) ? ~0ull : 0xFFFFFFFFull), 0};
    if (in.op == AFFINE) return {input_word(in, 2 * i) | 1u, input_word(in, 2 * i + 1)};
    return {summand(in, i), 0};
}

// ---- segments ----------------------------------------------------------------------------

#define CONSTANT 0u
#define RANDOM 1u
#define GEOMETRIC 2u

struct Segments {
    u64 key;     // key64 of the seed with a tag
    u64 n;
    u64 mean;
    u32 lengths;  // one of the codes above
    u32 unused;
};

static_assert(sizeof(Segments) == 32, "the layout of the host");

LAB u64 random_head(const Segments& s, u64 j) {
    const u64 start = j * s.mean, left = s.n - start;
    return j == 0 ? 0 : start + scale(word64(s.key, j), left < s.mean ? left : s.mean);
}

LAB bool is_head(const Segments& s, u64 i) {
    if (s.lengths == CONSTANT) return i % s.mean == 0;
    if (s.lengths == RANDOM) return random_head(s, i / s.mean) == i;
    return i == 0 || word64(s.key, i) <= ~0ull / s.mean;
}

// The first element of segment j, or n past the last segment. Not for geometric lengths, whose heads are drawn element
// by element.
LAB u64 pointer(const Segments& s, u64 j) {
    if (j * s.mean >= s.n) return s.n;
    return s.lengths == CONSTANT ? j * s.mean : random_head(s, j);
}

// ---- operators on elements -----------------------------------------------------------------

template <typename T> LAB u64 combined(u32 op, u64 x, u64 y) {
    Any<T> any;
    any.code = op;
    if constexpr (sizeof(T) == 4) {
        return cast<u32>(any(cast<T>((u32)x), cast<T>((u32)y)));
    } else {
        return cast<u64>(any(cast<T>(x), cast<T>(y)));
    }
}

template <typename T> LAB u64 neutral(u32 op) {
    Any<T> any;
    any.code = op;
    if constexpr (sizeof(T) == 4) {
        return cast<u32>(any.identity());
    } else {
        return cast<u64>(any.identity());
    }
}

template <typename W> LAB Element composed(Element x, Element y) {
    const Affine<W> both = Compose<W>()({(W)x.a, (W)x.b}, {(W)y.a, (W)y.b});
    return {both.a, both.b};
}

LAB Element combine(u32 op, u32 type, Element x, Element y) {
    if (op == AFFINE) return wide(type) ? composed<u64>(x, y) : composed<u32>(x, y);
    if (type == U32 || (type == I32 && op == ADD)) return {combined<u32>(op, x.a, y.a), 0};
    if (type == I32) return {combined<int>(op, x.a, y.a), 0};
    if (type == U64) return {combined<u64>(op, x.a, y.a), 0};
    if (type == F32) return {combined<float>(op, x.a, y.a), 0};
    return {combined<double>(op, x.a, y.a), 0};
}

LAB Element identity_of(u32 op, u32 type) {
    if (op == AFFINE) return {1, 0};
    if (type == U32) return {neutral<u32>(op), 0};
    if (type == I32) return {neutral<int>(op), 0};
    if (type == U64) return {neutral<u64>(op), 0};
    if (type == F32) return {neutral<float>(op), 0};
    return {neutral<double>(op), 0};
}

// ---- elements in memory ----------------------------------------------------------------------

LAB Element element_at(const void* all, const Inputs& in, u64 i) {
    const u64 at = in.op == AFFINE ? 2 * i : i;
    const bool pair = in.op == AFFINE;
    if (wide(in.type)) return {((const u64*)all)[at], pair ? ((const u64*)all)[at + 1] : 0};
    return {((const u32*)all)[at], pair ? ((const u32*)all)[at + 1] : 0};
}

LAB void put_element(void* all, const Inputs& in, u64 i, Element x) {
    const u64 at = in.op == AFFINE ? 2 * i : i;
    if (wide(in.type)) ((u64*)all)[at] = x.a;
    else ((u32*)all)[at] = (u32)x.a;
    if (in.op != AFFINE) return;
    if (wide(in.type)) ((u64*)all)[at + 1] = x.b;
    else ((u32*)all)[at + 1] = (u32)x.b;
}

// Operators of the scans: associative, with an identity. In op(x, y), x precedes y in scan order: composition of
// affine maps does not commute.
#pragma once

#include "../common/certify.cuh"

// The map v → a·v + b, modulo 2^32 or 2^64.
template <typename W> struct Affine {
    W a, b;
};

// Least and greatest value of a type; ∓infinity for floats.
template <typename T> struct Limits;
template <> struct Limits<u32> {
    static LAB_MEMBER u32 low() { return 0u; }
    static LAB_MEMBER u32 high() { return ~0u; }
};
template <> struct Limits<int> {
    static LAB_MEMBER int low() { return -0x7FFFFFFF - 1; }
    static LAB_MEMBER int high() { return 0x7FFFFFFF; }
};
template <> struct Limits<u64> {
    static LAB_MEMBER u64 low() { return 0ull; }
    static LAB_MEMBER u64 high() { return ~0ull; }
};
template <> struct Limits<float> {
    static LAB_MEMBER float low() { return -high(); }
    static LAB_MEMBER float high() { return __builtin_huge_valf(); }
};
template <> struct Limits<double> {
    static LAB_MEMBER double low() { return -high(); }
    static LAB_MEMBER double high() { return __builtin_huge_val(); }
};

// ---- known when the kernel is compiled ---------------------------------------------------

// FLIPPED: elements are XORed with a mask as they are loaded and stored. A mask turns min into max, and into or, and
// u32 into i32, so that these need no kernels of their own.
template <typename T_> struct Add {
    typedef T_ T;
    static const bool FLIPPED = false;
    LAB_MEMBER T identity() const { return T(0); }
    LAB_MEMBER T operator()(T x, T y) const { return x + y; }
};

template <typename T_> struct Min {
    typedef T_ T;
    static const bool FLIPPED = true;
    LAB_MEMBER T identity() const { return Limits<T>::high(); }
    LAB_MEMBER T operator()(T x, T y) const { return y < x ? y : x; }
};

template <typename T_> struct And {
    typedef T_ T;
    static const bool FLIPPED = true;
    LAB_MEMBER T identity() const { return ~T(0); }
    LAB_MEMBER T operator()(T x, T y) const { return x & y; }
};

template <typename W> struct Compose {
    typedef Affine<W> T;
    static const bool FLIPPED = false;
    LAB_MEMBER T identity() const { return {W(1), W(0)}; }
    LAB_MEMBER T operator()(T x, T y) const { return {y.a * x.a, y.a * x.b + y.b}; }
};

// ---- chosen by an argument ------------------------------------------------------------------

#define ADD 0u
#define MIN 1u
#define MAX 2u
#define AND 3u
#define OR 4u
#define AFFINE 5u

template <typename T> LAB T bitwise_and(T x, T y) { return x & y; }
template <typename T> LAB T bitwise_or(T x, T y) { return x | y; }
LAB float bitwise_and(float x, float) { return x; }  // floats have no bitwise operators; only lets Any compile
LAB float bitwise_or(float x, float) { return x; }
LAB double bitwise_and(double x, double) { return x; }
LAB double bitwise_or(double x, double) { return x; }
LAB float complement(float) { return 0.0f; }
LAB double complement(double) { return 0.0; }
template <typename T> LAB T complement(T x) { return ~x; }

template <typename T_> struct Any {
    typedef T_ T;
    u32 code;
    LAB_MEMBER T identity() const {
        if (code == MIN) return Limits<T>::high();
        if (code == MAX) return Limits<T>::low();
        return code == AND ? complement(T(0)) : T(0);
    }
    LAB_MEMBER T operator()(T x, T y) const {
        if (code == MIN) return y < x ? y : x;
        if (code == MAX) return x < y ? y : x;
        if (code == AND) return bitwise_and(x, y);
        if (code == OR) return bitwise_or(x, y);
        return x + y;
    }
};

// ---- values as words -------------------------------------------------------------------

template <typename To, typename From> LAB To cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

LAB u32 flipped(u32 x, u64 mask) { return x ^ (u32)mask; }
LAB u64 flipped(u64 x, u64 mask) { return x ^ mask; }
LAB float flipped(float x, u64 mask) { return cast<float>(cast<u32>(x) ^ (u32)mask); }
LAB double flipped(double x, u64 mask) { return cast<double>(cast<u64>(x) ^ mask); }
template <typename W> LAB Affine<W> flipped(Affine<W> x, u64) { return x; }

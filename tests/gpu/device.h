// The parts of CUDA that the kernels need, for a C++ compiler. Each thread of a block is a fiber; barriers and
// warp exchanges let other fibers run. Blocks run one after another, except while one sleeps.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#define __global__ static
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct Dim {
    unsigned x, y, z;
};
inline Dim threadIdx, blockIdx, blockDim, gridDim;

// Waits until all threads of the block, or the lanes of `mask` in the thread's warp, have arrived
// (driver.cpp).
void __syncthreads();
void __syncwarp(unsigned mask = 0xFFFFFFFFu);
// Also tells all threads of the block whether any of them gave something other than 0.
int __syncthreads_or(int v);
// Waits for the launch before this one, if the loader gave the kernel the instruction (driver.cpp).
void wait_for_earlier_grid();
// Lets the block's other threads run, and other blocks.
void __nanosleep(unsigned);
// What the lanes of a warp gave each other, and which of them gave something other than 0.
struct WarpVote {
    uint64_t values[32];
    unsigned votes;
};
// Gives `value` to the lanes of `mask` and returns what each of them gave, to be read before anything else.
const WarpVote &exchange(unsigned mask, uint64_t value);

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline double2 make_double2(double x, double y) { return {x, y}; }

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(v); }
inline unsigned __brev(unsigned v) {
    unsigned reversed = 0;
    for (unsigned k = 0; k < 32; k++) reversed |= (v >> k & 1u) << (31 - k);
    return reversed;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (by & 31));
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline long long __double_as_longlong(double v) {
    long long bits;
    memcpy(&bits, &v, 8);
    return bits;
}
inline float __int_as_float(int bits) {
    float v;
    memcpy(&v, &bits, 4);
    return v;
}
// Rounds towards zero: the double holds the exact product.
inline float __fmul_rz(float a, float b) {
    const double exact = (double)a * b;
    const float near = (float)exact;
    return fabs((double)near) > fabs(exact) ? nextafterf(near, 0.0f) : near;
}
// The quotient, where the device has an approximation.
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline void __threadfence() {}
template <typename T> T __ldcg(const T *p) { return *p; }
template <typename T> T __ldcs(const T *p) { return *p; }
template <typename T> void __stcs(T *p, T value) { *p = value; }
template <typename T> T __ldg(const T *p) { return *p; }

template <typename T> T atomicAdd(T *p, T v) { return std::exchange(*p, *p + v); }
template <typename T> T atomicMin(T *p, T v) { return std::exchange(*p, *p < v ? *p : v); }
template <typename T> T atomicMax(T *p, T v) { return std::exchange(*p, *p > v ? *p : v); }
template <typename T> T atomicOr(T *p, T v) { return std::exchange(*p, *p | v); }
template <typename T> T atomicExch(T *p, T v) { return std::exchange(*p, v); }
template <typename T> T atomicCAS(T *p, T expected, T v) { return std::exchange(*p, *p == expected ? v : *p); }
inline unsigned atomicInc(unsigned *p, unsigned top) { return std::exchange(*p, *p >= top ? 0u : *p + 1u); }

inline unsigned lane() { return threadIdx.x % 32; }

template <typename T> uint64_t bits_of(T v) {
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
template <typename T> T pick(unsigned mask, T mine, unsigned from) {
    const WarpVote &all = exchange(mask, bits_of(mine));
    T value = mine;
    if (from < 32 && (mask >> from & 1)) memcpy(&value, &all.values[from], sizeof value);
    return value;
}
template <typename T> T __shfl_sync(unsigned mask, T v, int from) { return pick(mask, v, from & 31); }
template <typename T> T __shfl_down_sync(unsigned mask, T v, int by) { return pick(mask, v, lane() + by); }
template <typename T> T __shfl_up_sync(unsigned mask, T v, int by) { return pick(mask, v, lane() - by); }
template <typename T> T __shfl_xor_sync(unsigned mask, T v, int by) { return pick(mask, v, lane() ^ by); }
inline unsigned __ballot_sync(unsigned mask, bool v) { return exchange(mask, v).votes & mask; }
template <typename T> unsigned __match_any_sync(unsigned mask, T v) {
    const uint64_t mine = bits_of(v), *given = exchange(mask, mine).values;
    unsigned same = 0;
    for (unsigned l = 0; l < 32; l++) same |= (unsigned)(given[l] == mine) << l;
    return same & mask;
}

// The kernels by name, each called with the addresses of its arguments.
void add_kernel(const char *name, void (*call)(void **), std::vector<size_t> sizes);
template <typename... A, size_t... I> void spread(void (*f)(A...), void **v, std::index_sequence<I...>) {
    f(*(A *)v[I]...);
}
template <typename... A> void call(void (*f)(A...), void **v) { spread(f, v, std::index_sequence_for<A...>()); }
template <typename... A> std::vector<size_t> sizes_of(void (*)(A...)) { return {sizeof(A)...}; }
#define KERNEL(name)                 \
    static const bool added_##name = \
        (add_kernel(#name, [](void **v) { call(name, v); }, sizes_of(name)), true);

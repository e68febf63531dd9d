// Loads and stores with cache hints.
#pragma once

#include "inputs.cuh"

#define NO_HINT 0
#define STREAMING 1  // not needed again: evict first
#define NO_L1 2      // not worth a place in the first-level cache; loads only

// For timed kernels with `items` loads in flight. Given only the largest block size, the compiler limits
// registers so that as many blocks as possible fit; if that leaves too few registers for all loads, it waits
// for the first loads before it issues the last. Requiring only one resident block keeps the loads together.
#define IN_FLIGHT(items) __launch_bounds__((items) <= 4 ? 1024 : 512, 1)

struct alignas(16) Tuple32 {
    uint4 low, high;
};

template <typename T> LAB T load_streaming(const T* at) { return __ldcs(at); }
LAB Tuple32 load_streaming(const Tuple32* at) { return {__ldcs(&at->low), __ldcs(&at->high)}; }

template <typename T> LAB void store_streaming(T* at, T value) { __stcs(at, value); }
LAB void store_streaming(Tuple32* at, Tuple32 value) {
    __stcs(&at->low, value.low);
    __stcs(&at->high, value.high);
}

#if defined(__CUDACC__)
// Data read this way must not be written by the same launch.
LAB u32 load_no_l1(const u32* at) {
    u32 v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
LAB u64 load_no_l1(const u64* at) {
    u64 v;
    asm("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(v) : "l"(at));
    return v;
}
LAB uint4 load_no_l1(const uint4* at) {
    uint4 v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(at));
    return v;
}
LAB Tuple32 load_no_l1(const Tuple32* at) { return {load_no_l1(&at->low), load_no_l1(&at->high)}; }

// Loads whose miss makes L2 fetch 128 bytes, for words whose neighbors will soon be read. The first may hit in L1, and
// leaves its sector in L1. The second (.cg) bypasses L1, so it sees what other blocks have written. If the same launch
// writes the words, the reader must tolerate an old value.
LAB u32 load_l2_128b(const u32* at) {
    u32 v;
    asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
LAB u32 load_cg_l2_128b(const u32* at) {
    u32 v;
    asm volatile("ld.global.cg.L2::128B.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}

// Keeps a load alive whose only purpose is to bring a sector into L1: on an H100 prefetch.global.L1 brings nothing,
// and the assembler drops a load without a use. The use is an L2 prefetch predicated on word == 0, so it needs no
// branch.
LAB void wait_for(u32 word, const void* at) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %0, 0;\n\t@p prefetch.global.L2 [%1];\n\t}" ::"r"(word), "l"(at));
}
#else
template <typename T> LAB T load_no_l1(const T* at) { return *at; }
LAB u32 load_l2_128b(const u32* at) { return *at; }
LAB u32 load_cg_l2_128b(const u32* at) { return *at; }
LAB void wait_for(u32, const void*) {}
#endif

template <int HINT, typename T> LAB T load(const T* at) {
    if constexpr (HINT == STREAMING) return load_streaming(at);
    if constexpr (HINT == NO_L1) return load_no_l1(at);
    return *at;
}

template <int HINT, typename T> LAB void store(T* at, T value) {
    if constexpr (HINT == STREAMING) {
        store_streaming(at, value);
    } else {
        *at = value;
    }
}

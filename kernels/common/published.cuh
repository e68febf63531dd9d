// Words by which blocks tell each other values while they run. A word is stored and loaded whole: if it holds a state
// beside the value, a reader that sees the state sees the value, without a fence.
#pragma once

#include "inputs.cuh"

#define PATIENCE 20u  // nanoseconds between two polls

#if defined(__CUDACC__)
LAB void publish(u32* at, u32 word) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
LAB u32 published(const u32* at) {
    u32 word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}
LAB void publish(u64* at, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
LAB u64 published(const u64* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
#else
LAB void publish(u32* at, u32 word) { *at = word; }
LAB u32 published(const u32* at) { return *at; }
LAB void publish(u64* at, u64 word) { *at = word; }
LAB u64 published(const u64* at) { return *at; }
#endif

// Words by which blocks tell each other values while they run. A word is stored and loaded whole: if it holds a state
// beside the value, a reader that sees the state sees the value, without a fence.
#pragma once

#include "inputs.cuh"

#if defined(__CUDACC__)
LAB void publish(u64* at, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
LAB u64 published(const u64* at) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
#else
LAB void publish(u64* at, u64 word) { *at = word; }
LAB u64 published(const u64* at) { return *at; }
#endif

// Untimed kernels that fill arrays, included by several modules: words of the inputs, and poison.
#pragma once

#include "certify.cuh"

// out[i] = word64(seed, i); `key` is key64(seed).
extern "C" __global__ void fill_words64(u64* __restrict__ out, u64 key, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = word64(key, i);
}

// out[i] = word, for part of an array, since a memset would fill all of it.
extern "C" __global__ void fill_constant(u64* __restrict__ out, u64 word, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = word;
}

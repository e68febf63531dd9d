// The kernels around the sort of a reduced-bit multisplit (ashkiani2017 §3.4): rb_label writes each key's bucket as
// its label, passes of fused.cuh sort the labels with a payload, then rb_unpack or rb_permute places keys and values.
#pragma once

#include "inputs.cuh"

// The payload of a label: the key, the key and its value packed in 64 bits, or the key's index.
#define WITH_KEY 0u
#define WITH_PAIR 1u
#define WITH_NUMBER 2u

extern "C" __global__ void rb_label(const u32* __restrict__ keys, const u32* __restrict__ values, u32 n, BucketFunction f,
                                    u32 with, u32* __restrict__ labels, void* __restrict__ packed) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 key = __ldcs(keys + i);
        __stcs(labels + i, bucket_of(f, key));
        if (with == WITH_PAIR) __stcs((u64*)packed + i, (u64)key << 32 | __ldcs(values + i));
        if (with == WITH_NUMBER) __stcs((u32*)packed + i, (u32)i);
    }
}

extern "C" __global__ void rb_unpack(const u64* __restrict__ packed, u32 n, u32* __restrict__ keys, u32* __restrict__ values) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u64 pair = __ldcs(packed + i);
        __stcs(keys + i, (u32)(pair >> 32));
        __stcs(values + i, (u32)pair);
    }
}

// Gathers keys, and values of `words` words, in the order of the sorted indices.
extern "C" __global__ void rb_permute(const u32* __restrict__ numbers, u32 n, const u32* __restrict__ keys, const u32* __restrict__ values,
                                      u32 words, u32* __restrict__ keys_out, u32* __restrict__ values_out) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const u32 from = __ldcs(numbers + i);
        __stcs(keys_out + i, __ldg(keys + from));
        if (words == 1u) __stcs(values_out + i, __ldg(values + from));
        else __stcs((u64*)values_out + i, __ldg((const u64*)values + from));
    }
}

// offsets[b] = first i with labels[i] ≥ b, for sorted labels: position i sets every b in (labels[i - 1], labels[i]].
extern "C" __global__ void rb_offsets(const u32* __restrict__ labels, u32 n, u32 m, u32* __restrict__ offsets) {
    const u32 step = gridDim.x * blockDim.x;
    for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) {
        const u32 from = i == 0 ? 0u : labels[i - 1u] + 1u, to = i == n ? m : labels[i];
        for (u32 b = from; b <= to; ++b) offsets[b] = (u32)i;
    }
}

// Sums over the counts of a multisplit's groups of tiles; runs between the counting kernel and the pass.
#pragma once

#include "fused.cuh"

#define SCAN_THREADS 256u
#define SCAN_ITEMS 8u

// Returns the sum of the values of all earlier threads in the block; `sum` receives the block's total.
LAB u32 sum_block(u32 mine, u32* warps, u32& sum) {
    const u32 warp = threadIdx.x / 32u, end = sum_lanes(mine);
    if (lane_of() == 31u) warps[warp] = end;
    __syncthreads();
    u32 before = end - mine;
    sum = 0;
    for (u32 w = 0; w < SCAN_THREADS / 32u; ++w) {
        before += w < warp ? warps[w] : 0u;
        sum += warps[w];
    }
    __syncthreads();
    return before;
}

// For bucket blockIdx.x, computes the keys before each group and the total. The first tiles belong to the
// blocks of the pass by block number; tickets start behind those.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) fused_scan(Fused s) {
    __shared__ u32 warps[SCAN_THREADS / 32u];
    const u32* counts = s.groups + (u64)blockIdx.x * s.all;
    u32 carry = 0;
    for (u32 at = 0; at < s.all; at += SCAN_THREADS * SCAN_ITEMS) {
        const u32 first = at + threadIdx.x * SCAN_ITEMS;
        u32 v[SCAN_ITEMS], mine = 0, sum;
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            v[k] = first + k < s.all ? counts[first + k] : 0u;
            mine += v[k];
        }
        u32 before = carry + sum_block(mine, warps, sum);
#pragma unroll
        for (u32 k = 0; k < SCAN_ITEMS; ++k) {
            if (first + k < s.all) s.before[(u64)(first + k) * gridDim.x + blockIdx.x] = before;
            before += v[k];
        }
        carry += sum;
    }
    if (threadIdx.x == 0) s.totals[blockIdx.x] = carry;
    if (threadIdx.x == 0 && blockIdx.x == 0) *s.ticket = s.blocks;
}

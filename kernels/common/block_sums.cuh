// Exclusive scan of 64-bit words by a single block, in place: each thread sums 4 items, warps scan by shuffles, and
// the 32 warp sums are added serially. Arrays longer than 4096 items take several rounds with a carry.
#pragma once

#include "inputs.cuh"

// data[k] = data[0] + … + data[k-1], by one block of 1024 threads.
LAB void sum_in_place(u64* data, u64 n) {
    __shared__ u64 warps[32];
    const u32 lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    u64 carry = 0;
    for (u64 base = 0; base < n; base += 4096u) {
        const u64 first = base + threadIdx.x * 4u;
        u64 item[4], sum = 0;
#pragma unroll
        for (u32 k = 0; k < 4u; ++k) {
            item[k] = first + k < n ? data[first + k] : 0;
            sum += item[k];
        }
        u64 before = sum;  // the warp's inclusive scan of the threads' sums; exclusive after -= sum
        for (u32 step = 1; step < 32u; step *= 2) {
            const u64 other = __shfl_up_sync(0xFFFFFFFFu, before, step);
            if (lane >= step) before += other;
        }
        if (lane == 31u) warps[warp] = before;
        before -= sum;
        __syncthreads();
        u64 total = 0;
        for (u32 w = 0; w < 32u; ++w) {
            if (w == warp) before += total;
            total += warps[w];
        }
        u64 running = carry + before;
#pragma unroll
        for (u32 k = 0; k < 4u; ++k) {
            if (first + k < n) data[first + k] = running;
            running += item[k];
        }
        carry += total;
        __syncthreads();  // the next round overwrites warps[]
    }
}

// The lanes of a warp.
#pragma once

#include "inputs.cuh"

#define EVERYONE 0xFFFFFFFFu

LAB u32 lane_of() { return threadIdx.x & 31u; }

// The lanes below this one.
LAB u32 lanes_below() { return (1u << lane_of()) - 1u; }

// The sum over the lanes up to this one. All lanes must call this.
LAB u32 sum_lanes(u32 v) {
#pragma unroll
    for (u32 by = 1; by < 32u; by *= 2) {
        const u32 other = __shfl_up_sync(EVERYONE, v, by);
        if (lane_of() >= by) v += other;
    }
    return v;
}

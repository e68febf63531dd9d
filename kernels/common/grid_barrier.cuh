// A barrier for all blocks of a grid, of which every block must be resident: launch no more than the device holds at once.
#pragma once

#include "inputs.cuh"

#define BARRIER_PATIENCE 20u  // nanoseconds between two polls

// Two words in global memory, 0 before the first launch: blocks that have arrived, and the times that all have. The last
// block to arrive sets the first word back, so that the next launch finds it as this one did.
struct GridBarrier {
    u32* words;
    u32 met;  // times that all have arrived

    LAB_MEMBER explicit GridBarrier(u32* in_memory) : words(in_memory), met(__ldcg(&in_memory[1])) {}

    // Returns when all threads of the grid have called it; what they wrote before is visible to all after it.
    LAB_MEMBER void meet() {
        __syncthreads();
        ++met;
        if (threadIdx.x == 0) {
            __threadfence();
            if (atomicInc(&words[0], gridDim.x - 1u) == gridDim.x - 1u) {
                atomicExch(&words[1], met);
            } else {
                while (*(volatile u32*)&words[1] != met) __nanosleep(BARRIER_PATIENCE);
            }
            __threadfence();
        }
        __syncthreads();
    }
};

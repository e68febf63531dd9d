// A barrier across the blocks of a grid. All blocks must be resident at once, so launch no more than the device holds.
#pragma once

#include "inputs.cuh"

#define BARRIER_PATIENCE 20u  // nanoseconds between two polls

// Two words in global memory, 0 before the first launch: words[0] counts the blocks that have arrived, words[1] the
// barriers passed. The last block to arrive resets words[0] to 0, so that the next launch needs no clearing.
struct GridBarrier {
    u32* words;
    u32 met;  // barriers passed, as this thread knows

    LAB_MEMBER explicit GridBarrier(u32* in_memory) : words(in_memory), met(__ldcg(&in_memory[1])) {}

    // Returns when all threads of the grid have called it. Writes before the call are visible to all threads after it.
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

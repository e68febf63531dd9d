// Launches that overlap: blocks of a kernel may begin while the launch before it ends, so that its launch takes no time of
// its own (programmatic dependent launch, compute capability 9.0).
//
// A kernel that calls after_earlier_launches() overlaps; nothing else declares it. The call leaves a mark in the PTX, which
// the loader (src/core/device/cuda/live/ptx.rs) replaces by instructions on devices that have them. On other devices it stays
// a comment, and the launches of a stream follow each other.
#pragma once

#include "inputs.cuh"

// Waits until the launch before this one is complete and its stores are visible, and then lets the next one begin. All
// threads must call this before they touch global memory: what the earlier launch has yet to write is stale, and what it has
// yet to read must not be overwritten. The order of the two steps keeps launches from overlapping by threes: when the next
// one begins, the one before this is complete.
//
// What an overlapping kernel reads may be written while it waits, so it must not use __ldg, whose loads compilers may move to
// before the wait.
LAB void after_earlier_launches() {
#if defined(__CUDACC__)
    asm volatile("// scatterlab: overlap" ::: "memory");
#else
    wait_for_earlier_grid();
#endif
}

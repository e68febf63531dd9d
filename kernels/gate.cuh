// What holds a stream back until the host has queued all that is to be timed. Launches of kernels
// that are shorter than it takes to launch one would else be timed as the host's.
#pragma once

#include "inputs.cuh"

// Returns once *open is set, or after `limit` nanoseconds: the host cannot queue more launches than
// the driver holds, and then waits for the device. On a host there is nobody to open it.
LAB void wait_at_gate(const volatile u32* open, u64 limit) {
#if defined(__CUDA_ARCH__)
    u64 from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (*open == 0u && now - from < limit);
#endif
}

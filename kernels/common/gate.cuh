// A gate holds a stream back until the host has queued all timed work. Without it, kernels that run shorter than their
// launch takes would be timed at the host's launch rate.
#pragma once

#include "inputs.cuh"

// Returns once *open is set, or after `limit` nanoseconds. The limit breaks a deadlock: if the host queues more
// launches than the driver's queue holds, it waits for the device and so never opens the gate. In a host build nobody
// would open the gate, so the function returns at once.
LAB void wait_at_gate(const volatile u32* open, u64 limit) {
#if defined(__CUDA_ARCH__)
    u64 from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (*open == 0u && now - from < limit);
#endif
}

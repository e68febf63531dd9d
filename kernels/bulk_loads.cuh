// Bulk copies from memory into shared memory (compute capability 9.0), and the barrier that counts their bytes.
//
//   init(barrier)                  by one thread; a barrier of the block after it
//   expect(barrier, bytes)         by one thread: the next phase ends when so many bytes have come
//   load(barrier, to, from, bytes) addresses and bytes are multiples of 16
//   await(barrier, parity)         by all: until the phase of this parity has ended; phases count from 0
//
// An executing host has copied when `load` returns, so a barrier of the block must stand between a `load` and its `await`.
#pragma once

#include "inputs.cuh"

struct LoadBarrier {
    u64 word;
};

#if defined(__CUDACC__)
LAB u32 shared_address(const void* at) { return (u32)__cvta_generic_to_shared(at); }

LAB void init(LoadBarrier* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

LAB void expect(LoadBarrier* barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

LAB void load(LoadBarrier* barrier, void* to, const void* from, u32 bytes) {
    if (bytes == 0) return;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

LAB void await(LoadBarrier* barrier, u32 parity) {
    u32 ended = 0;
    while (ended == 0) {
        asm volatile("{ .reg .pred ended;\n"
                     "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
                     "  selp.u32 %0, 1, 0, ended; }"
                     : "=r"(ended) : "r"(shared_address(barrier)), "r"(parity) : "memory");
    }
}
#else
LAB void init(LoadBarrier*) {}
LAB void expect(LoadBarrier*, u32) {}
LAB void load(LoadBarrier*, void* to, const void* from, u32 bytes) { memcpy(to, from, bytes); }
LAB void await(LoadBarrier*, u32) {}
#endif

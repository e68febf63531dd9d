// gate: the stream's next work waits until the host opens it (gate.cuh).
#include "gate.cuh"

extern "C" __global__ void gate(const volatile u32* open, u64 limit) { wait_at_gate(open, limit); }

// The kernel that holds back a stream until the host opens the gate (gate.cuh).
#include "gate.cuh"

extern "C" __global__ void gate(const volatile u32* open, u64 limit) { wait_at_gate(open, limit); }

// The sorts of he2007 §4.1: bitonic sort of all keys (bitonic.cuh), and MSD radix sort (radix_he2007.cuh), whose
// leaves use the same network. Inputs and certificate are compiled with sort.cu.
#include "bitonic.cuh"
#include "radix_he2007.cuh"

BITONIC(32, keys) BITONIC(32, pairs)
BITONIC(64, keys) BITONIC(64, pairs)

extern "C" __global__ void bitonic_values_4(u32* out, const u32* in, const u32* places, u32 n) { network_values(out, in, places, n); }
extern "C" __global__ void bitonic_values_8(u64* out, const u64* in, const u32* places, u32 n) { network_values(out, in, places, n); }

PHASES(32) PHASES(64)

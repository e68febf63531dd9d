// sssp: distances from one vertex of a graph. One launch, whose blocks are all resident at once, runs the whole loop:
// each step relaxes the arcs of the frontier, and ends with a barrier of the grid. src/core/primitives/sssp/mod.rs
// says what the methods defer.
//
// An entry of the frontier is a vertex with the distance that it has fallen to, and counts only until it falls
// further. A vertex in a pile carries no distance; it has a bit for each pile that holds it.
#include "search.cuh"
#include "sorting.cuh"
#include "certify.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 2) sssp_near_far(Search s) { search<BY_WARPS, false>(s); }

extern "C" __global__ void __launch_bounds__(THREADS, 2) sssp_bucketing(Search s) { search<ONE_BY_ONE, false>(s); }

extern "C" __global__ void __launch_bounds__(THREADS, 2) sssp_bucketing_sort(Search s) { search_sorted(s); }

extern "C" __global__ void __launch_bounds__(THREADS, 2) sssp_multisplit(Search s) { search<BY_BLOCKS, false>(s); }

// near-far, with warps that go on alone (alone.cuh).
extern "C" __global__ void __launch_bounds__(THREADS, 1) sssp_fusion(Search s) { search<BY_WARPS, true>(s); }

extern "C" __global__ void sssp_relaxes(Paths p, u32* supported, Finding* finding) { relaxes(p, supported, finding); }

extern "C" __global__ void sssp_supports(Paths p, u32* supported, u32* any) { supports(p, supported, any); }

extern "C" __global__ void sssp_reached(Paths p, const u32* supported, Finding* finding) {
    reached(p, supported, finding);
}

// Shared by all certificates (untimed kernels that check an output): the record of the first mistake, poison, bitmaps.
#pragma once

#include "inputs.cuh"

#define POISON 0xDEADBEEFDEADBEEFull

// The report of a certificate. The host sets `first` to ~0 and all other words to 0 before the launch, and reads only
// these eight words after it.
struct Finding {
    u64 first;     // least index with a mistake, ~0 without one
    u64 checked;   // elements checked
    u64 touched;   // a second count, by certificate (distinct locations, valid slots)
    u64 sum;       // a checksum, by certificate
    u64 what;      // the kind of mistake, one of the codes below
    u64 at;        // position of the mistake (a location, a word's index)
    u64 expected;
    u64 found;
};

// Kinds of mistake; src/core/primitives/cuda/check_report.rs has their messages.
#define WRONG_VALUE 1ull     // a value differs
#define WRONG_LOCATION 2ull  // an entry of L differs from its closed form
#define OUT_OF_RANGE 3ull    // an entry of L lies outside its partition
#define NOT_WRITTEN 4ull     // a word that must be written holds poison
#define STRAY_WRITE 5ull     // a word that must not be written does not hold poison
#define WRONG_WRITER 6ull    // a word holds a value that none of its writers stores
#define MISPLACED 7ull       // a word holds a value that belongs at another position or nowhere
#define WRONG_PAIR 8ull      // the key is right, but its value differs
#define WRONG_OFFSET 9ull    // a bucket does not begin at its offset
#define OUT_OF_ORDER 10ull   // a key is less than the previous key
#define WRONG_ORIGIN 11ull   // a value was not paired with such a key in the input
#define NOT_STABLE 12ull     // equal keys have left the order of the input
#define TOO_FAR 13ull        // a distance that an arc would lower
#define NO_PATH 14ull        // a distance that no path attains
#define WRONG_RESIDUAL 15ull  // a row whose equation the solution does not satisfy
#define WRONG_HEIGHT 16ull  // a water height outside its bounds

// Records a mistake at element `index`. `first` ends as the least such index, but the other fields may come from a
// slower thread with another mistake. After a mistake the host therefore runs the certificate again with `first` set
// to the least index + 1, so that only that element is recorded.
LAB void mistake(Finding* finding, u64 index, u64 what, u64 at, u64 expected, u64 found) {
    if (atomicMin(&finding->first, index) > index) {
        finding->what = what;
        finding->at = at;
        finding->expected = expected;
        finding->found = found;
    }
}

// Adds each thread's count to *total: a warp reduction, then one atomic per warp. All threads of the warp must call
// this.
LAB void add_count(u64* total, u32 mine) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(total, (u64)mine);
}

// The same for 64-bit values.
LAB void add_sum(u64* total, u64 mine) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(total, mine);
}

// Sets bit `at`; returns 1 if it was clear, else 0.
LAB u32 set_bit(u32* bitmap, u64 at) {
    const u32 bit = 1u << (at & 31u);
    return (atomicOr(&bitmap[at >> 5], bit) & bit) == 0 ? 1u : 0u;
}

// Sets bit `at`. Reading the word first saves most atomics when many threads set the same bits. __ldcg, because L1
// would keep returning a stale word.
LAB void mark(u32* bitmap, u64 at) {
    const u32 bit = 1u << (at & 31u);
    if ((__ldcg(&bitmap[at >> 5]) & bit) == 0) atomicOr(&bitmap[at >> 5], bit);
}

LAB bool marked(const u32* bitmap, u64 at) { return (bitmap[at >> 5] >> (at & 31u)) & 1u; }

// Index and stride of the grid-stride loops of all untimed kernels.
LAB u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
LAB u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

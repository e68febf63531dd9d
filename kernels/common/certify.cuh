// Code shared by the certificates: the report of the first mistake, poison, bitmaps.
#pragma once

#include "inputs.cuh"

#define POISON 0xDEADBEEFDEADBEEFull

// The report of a certificate. The host sets `first` to ~0 and the other words to 0 before the launch, and
// reads only these eight words after it.
struct Finding {
    u64 first;     // least index with a mistake, ~0 without one
    u64 checked;   // elements looked at
    u64 touched;   // a second count of the certificate (distinct locations, valid slots)
    u64 sum;       // a checksum of the certificate
    u64 what;      // the kind of mistake, one of the codes below
    u64 at;        // where the mistake lies (a location, a word's index)
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
#define MISPLACED 7ull       // a word holds a value that belongs elsewhere or nowhere
#define WRONG_PAIR 8ull      // the key is right, but its value differs
#define WRONG_OFFSET 9ull    // a bucket begins at another offset
#define OUT_OF_ORDER 10ull   // a key is less than the one before it
#define WRONG_ORIGIN 11ull   // a value belongs to no key like the one beside it
#define NOT_STABLE 12ull     // equal keys are not in the order of the input
#define TOO_FAR 13ull        // a distance that an arc could lower
#define NO_PATH 14ull        // a distance without a path that is as long
#define WRONG_RESIDUAL 15ull  // a row of a system that is not solved
#define WRONG_HEIGHT 16ull  // water too high or too low

// Records a mistake at element `index`. `first` ends as the least index, but the other fields may come from a
// slower thread with another mistake. After a mistake the host therefore runs the certificate again with
// `first` set to the least index + 1, so that only that element is recorded.
LAB void mistake(Finding* finding, u64 index, u64 what, u64 at, u64 expected, u64 found) {
    if (atomicMin(&finding->first, index) > index) {
        finding->what = what;
        finding->at = at;
        finding->expected = expected;
        finding->found = found;
    }
}

// Adds each thread's count to *total with one atomic operation per warp. All threads of the warp must call
// this.
LAB void add_count(u64* total, u32 mine) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(total, (u64)mine);
}

// Adds each thread's 64-bit value to *total with one atomic operation per warp.
LAB void add_sum(u64* total, u64 mine) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(total, mine);
}

// Sets bit `at` and returns 1 where it was clear before.
LAB u32 set_bit(u32* bitmap, u64 at) {
    const u32 bit = 1u << (at & 31u);
    return (atomicOr(&bitmap[at >> 5], bit) & bit) == 0 ? 1u : 0u;
}

// Sets bit `at`. Testing first saves most atomic operations where many threads set the same bits; __ldcg
// because L1 would keep returning the stale word.
LAB void mark(u32* bitmap, u64 at) {
    const u32 bit = 1u << (at & 31u);
    if ((__ldcg(&bitmap[at >> 5]) & bit) == 0) atomicOr(&bitmap[at >> 5], bit);
}

LAB bool marked(const u32* bitmap, u64 at) { return (bitmap[at >> 5] >> (at & 31u)) & 1u; }

// Grid-stride loop of all untimed kernels.
LAB u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
LAB u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

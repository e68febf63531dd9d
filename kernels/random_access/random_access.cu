// random-access: elements of one array read or written in random order: access i goes to place_of(order, i), a
// bijection of [0, m), m a power of two. Nothing else is loaded or stored, so this is an upper bound for gathers and
// scatters.
#include "../common/fill.cuh"

#define BLOCK 256u

// The order of the visits (twin of src/core/inputs/scramble.rs).
struct Scramble {
    u64 key;
    u64 mask;
    u32 shift;
    u32 unused;
};

static_assert(sizeof(Scramble) == 24, "the layout of the host");

#define FIRST_FACTOR 0x9E3779B97F4A7C15ull
#define SECOND_FACTOR 0xD1B54A32D192ED03ull

LAB u64 place_of(const Scramble& s, u64 x) {
    x = (x + s.key) * FIRST_FACTOR & s.mask;
    x = (x ^ (x >> s.shift)) * SECOND_FACTOR & s.mask;
    return x ^ (x >> s.shift);
}

// Visits in sequence: a deliberately wrong order, which a certificate must reject.
struct InSequence : Scramble {};

LAB u64 place_of(const InSequence& s, u64 x) { return x & s.mask; }

LAB u64 visit_of(const Scramble& s, u64 y) {
    y = (y ^ (y >> s.shift)) * odd_inverse(SECOND_FACTOR) & s.mask;
    y = (y ^ (y >> s.shift)) * odd_inverse(FIRST_FACTOR);
    return (y - s.key) & s.mask;
}

// ---- the timed kernels ----------------------------------------------------------------

struct alignas(16) Pair {
    u64 low, high;
};

LAB u64 folded(u32 word) { return word; }
LAB u64 folded(u64 word) { return word; }
LAB u64 folded(const Pair& words) { return words.low + words.high; }

LAB void set_visit(u32& to, u64 i) { to = (u32)i; }
LAB void set_visit(u64& to, u64 i) { to = i; }
LAB void set_visit(Pair& to, u64 i) { to = Pair{2 * i, 2 * i + 1}; }

// Accesses that each thread has in flight. A block handles one tile of BLOCK · UNROLL accesses.
#define UNROLL 8u

// Number of partial sums, which the host adds up. One atomic add per block, spread over these addresses and without a
// fence, costs nothing on top of the reads.
#define PARTIALS 1024u

// Sums the words of accesses [first, first + count).
template <typename T, typename ORDER>
LAB void read_all(const T* __restrict__ array, ORDER order, u64 first, u64 count, u64* partials) {
    __shared__ u64 block;
    if (threadIdx.x == 0) block = 0;
    __syncthreads();
    const u64 at = (u64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    u64 sum = 0;
    if ((u64)(blockIdx.x + 1) * (BLOCK * UNROLL) <= count) {
        T element[UNROLL];
#pragma unroll
        for (u32 u = 0; u < UNROLL; ++u) element[u] = array[place_of(order, first + at + u * BLOCK)];
#pragma unroll
        for (u32 u = 0; u < UNROLL; ++u) sum += folded(element[u]);
    } else {
        for (u64 i = at; i < count; i += BLOCK) sum += folded(array[place_of(order, first + i)]);
    }
    __syncwarp();
    add_sum(&block, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&partials[blockIdx.x % PARTIALS], block);
}

// Writes to each element the number i of its visit, which shows the order of the visits. The place is computed from i,
// so that i costs nothing.
template <typename T, typename ORDER>
LAB void write_all(T* __restrict__ array, ORDER order, u64 first, u64 count) {
    const u64 at = (u64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (u32 u = 0; u < UNROLL; ++u) {
        if (at + u * BLOCK < count) {
            const u64 i = first + at + u * BLOCK;
            set_visit(array[place_of(order, i)], i);
        }
    }
}

// Pointer chase by one thread: each element holds the place of the next access.
template <typename T>
LAB void chase_all(const T* __restrict__ array, Scramble order, u64 first, u64 count, u64* partials) {
    if (thread_index() != 0) return;
    u64 at = place_of(order, first);
    u64 sum = 0;
    for (u64 i = 0; i < count; ++i) {
        at = folded(array[at]);
        sum += at + 1;
    }
    atomicAdd(&partials[0], sum);
}

#define ACCESSES(z, T)                                                                             \
    extern "C" __global__ void __launch_bounds__(BLOCK) random_read_##z(                           \
        const T* __restrict__ array, Scramble order, u64 first, u64 count, u64* partials) {        \
        read_all<T, Scramble>(array, order, first, count, partials);                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(32) random_chase_##z(                             \
        const T* __restrict__ array, Scramble order, u64 first, u64 count, u64* partials) {        \
        chase_all<T>(array, order, first, count, partials);                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        random_write_##z(T* __restrict__ array, Scramble order, u64 first, u64 count) {            \
        write_all<T, Scramble>(array, order, first, count);                                                  \
    }

ACCESSES(4, u32)
ACCESSES(8, u64)
ACCESSES(16, Pair)

#define IN_SEQUENCE(z, T)                                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK) random_read_##z##_in_sequence(             \
        const T* __restrict__ array, InSequence order, u64 first, u64 count, u64* partials) {      \
        read_all<T, InSequence>(array, order, first, count, partials);                             \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        random_write_##z##_in_sequence(T* __restrict__ array, InSequence order, u64 first, u64 count) { \
        write_all<T, InSequence>(array, order, first, count);                                      \
    }

IN_SEQUENCE(4, u32)
IN_SEQUENCE(8, u64)
IN_SEQUENCE(16, Pair)

// ---- inputs and certificates ----------------------------------------------------------

// The definition that an array is checked against: visits [first, first + accesses).
struct Claim {
    u64 key;       // key of the words that are read
    u64 elements;  // of the order; for a sum, a power of two of them, from visit `first` on
    u64 accesses;
    u64 first;
    u32 element;  // bytes
    u32 chained;  // nonzero if elements hold the places of a chain
    Scramble order;
};

static_assert(sizeof(Claim) == 64, "the layout of the host");

// The number of visits of the element of visit first + x.
LAB u64 visits(const Claim& c, u64 x) {
    return c.accesses / c.elements + ((c.accesses & (c.elements - 1)) > x ? 1u : 0u);
}

// The 4-byte elements: out[i] = word32(seed, i).
extern "C" __global__ void random_fill_4(u32* __restrict__ out, u64 key, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = word32(key, (u32)i);
}

// Element h(x) holds h(x + 1), for the n elements of the array with its guard.
extern "C" __global__ void random_fill_chain(void* __restrict__ out, Scramble order, u32 element, u64 n) {
    for (u64 j = thread_index(); j < n; j += thread_count()) {
        const u64 next = place_of(order, visit_of(order, j) + 1);
        if (element == 4u) ((u32*)out)[j] = (u32)next;
        else if (element == 8u) ((u64*)out)[j] = next;
        else ((Pair*)out)[j] = Pair{next, 0};
    }
}

// The contribution of element j to the sum; `next` is the element that a chain visits after it.
LAB u64 sum_of(const Claim& c, u64 j, u64 next) {
    const u64 words = c.element / 8u;
    if (c.chained) return next + 1;
    u64 sum = words == 0 ? word32(c.key, (u32)j) : 0;
    for (u64 w = 0; w < words; ++w) sum += word64(c.key, j * words + w);
    return sum;
}

// finding->sum = the expected sum of all reads: each element times its number of visits.
extern "C" __global__ void random_expected_sum(Claim c, Finding* finding) {
    u64 sum = 0;
    u32 checked = 0;
    for (u64 x = thread_index(); x < c.elements; x += thread_count()) {
        const u64 i = c.first + x;
        sum += visits(c, x) * sum_of(c, place_of(c.order, i), place_of(c.order, i + 1));
        checked += 1;
    }
    __syncwarp();
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// expected[k] = what the blocks of random_read, with the same grid, add to partials[k].
extern "C" __global__ void __launch_bounds__(BLOCK) random_expected_partials(Claim c, u64* expected) {
    u64 sum = 0;
    for (u32 u = 0; u < UNROLL; ++u) {
        const u64 i = (u64)blockIdx.x * (BLOCK * UNROLL) + u * BLOCK + threadIdx.x;
        if (i < c.accesses) sum += sum_of(c, place_of(c.order, c.first + i), 0);
    }
    __syncwarp();
    add_sum(&expected[blockIdx.x % PARTIALS], sum);
}

// True if `found` is a word that visits at position x of the order write to an element of `bytes` bytes: their number
// i, one of x, x + m, … with m = mask + 1. Several of them may be under way at once, so any may remain. Only an array
// of 4-byte elements has visits whose number is the poison.
LAB bool is_written(u32 bytes, u64 found, u64 x, u64 w, u64 mask, u64 most) {
    if (bytes == 4u) return (found != (u64)(u32)POISON || most > found) && (((found ^ x) & mask & 0xFFFFFFFFull) == 0);
    if (found == POISON) return false;
    if (bytes == 16u) return (found & 1u) == w && (((found >> 1) ^ x) & mask) == 0;
    return ((found ^ x) & mask) == 0;
}

// Checks that every visited element holds the number of a visit, and every other element poison.
extern "C" __global__ void random_certify(const void* __restrict__ array, Claim c, Finding* finding) {
    const u64 words = c.element == 4u ? 1u : c.element / 8u;
    const u64 poison = c.element == 4u ? (u64)(u32)POISON : POISON;
    const u64 mask = c.elements - 1;
    u32 checked = 0;
    for (u64 j = thread_index(); j < c.elements; j += thread_count()) {
        const u64 x = visit_of(c.order, j);
        const bool visited = visits(c, (x - c.first) & mask) > 0;
        for (u64 w = 0; w < words; ++w) {
            const u64 k = j * words + w;
            const u64 found = c.element == 4u ? ((const u32*)array)[k] : ((const u64*)array)[k];
            if (visited ? is_written(c.element, found, x, w, mask, mask + c.accesses) : found == poison) continue;
            const u64 what = !visited ? STRAY_WRITE : found == poison ? NOT_WRITTEN : WRONG_VALUE;
            mistake(finding, j, what, j, visited ? x : poison, found);
        }
        checked += 1;
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

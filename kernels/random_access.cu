// random-access: elements of one array read or written in random order. Nothing else is loaded or stored, so
// this is an upper bound for gathers and scatters.
#include "fill.cuh"

#define BLOCK 256u

// The order of the visits (src/inputs/scramble.rs).
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

LAB void set_place(u32& to, u64 j) { to = (u32)j; }
LAB void set_place(u64& to, u64 j) { to = j; }
LAB void set_place(Pair& to, u64 j) { to = Pair{2 * j, 2 * j + 1}; }

// Accesses that each thread has in flight. A block handles one tile of BLOCK·UNROLL accesses.
#define UNROLL 8u

// Partial sums shared by the blocks. One atomic add per block, spread over this many places and without a
// fence, costs nothing on top of the reads. The host adds them up.
#define PARTIALS 1024u

// Reads accesses [first, first + count).
template <typename T>
LAB void read_all(const T* __restrict__ array, Scramble order, u64 first, u64 count, u64* partials) {
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

template <typename T> LAB void write_all(T* __restrict__ array, Scramble order, u64 first, u64 count) {
    const u64 at = (u64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
#pragma unroll
    for (u32 u = 0; u < UNROLL; ++u) {
        if (at + u * BLOCK < count) {
            const u64 j = place_of(order, first + at + u * BLOCK);
            set_place(array[j], j);
        }
    }
}

// A pointer chase by one thread: each element holds the place of the next access.
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
        read_all<T>(array, order, first, count, partials);                                         \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(32) random_chase_##z(                             \
        const T* __restrict__ array, Scramble order, u64 first, u64 count, u64* partials) {        \
        chase_all<T>(array, order, first, count, partials);                                        \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
        random_write_##z(T* __restrict__ array, Scramble order, u64 first, u64 count) {            \
        write_all<T>(array, order, first, count);                                                  \
    }

ACCESSES(4, u32)
ACCESSES(8, u64)
ACCESSES(16, Pair)

// ---- inputs and certificates ----------------------------------------------------------

// The definition that an array is checked against.
struct Claim {
    u64 key;       // key of the words that are read
    u64 elements;  // a power of two
    u64 accesses;
    u32 element;  // bytes
    u32 chained;  // whether elements hold the places of a chain
    Scramble order;
};

static_assert(sizeof(Claim) == 56, "the layout of the host");

// The number of visits to the xth element in the order of visits.
LAB u64 visits(const Claim& c, u64 x) {
    return c.accesses / c.elements + ((c.accesses & (c.elements - 1)) > x ? 1u : 0u);
}

// out[i] = word32(seed, i): 4-byte elements.
extern "C" __global__ void random_fill_4(u32* __restrict__ out, u64 key, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) out[i] = word32(key, (u32)i);
}

// Element h(x) holds h(x + 1), in n elements of the array and its guard.
extern "C" __global__ void random_fill_chain(void* __restrict__ out, Scramble order, u32 element, u64 n) {
    for (u64 j = thread_index(); j < n; j += thread_count()) {
        const u64 next = place_of(order, visit_of(order, j) + 1);
        if (element == 4u) ((u32*)out)[j] = (u32)next;
        else if (element == 8u) ((u64*)out)[j] = next;
        else ((Pair*)out)[j] = Pair{next, 0};
    }
}

// Adds the expected sum of all reads to finding->sum: element by element, each times its number of visits.
extern "C" __global__ void random_expected_sum(Claim c, Finding* finding) {
    const u64 words = c.element / 8u;
    u64 sum = 0;
    u32 checked = 0;
    for (u64 x = thread_index(); x < c.elements; x += thread_count()) {
        const u64 j = place_of(c.order, x);
        u64 element = 0;
        if (c.chained) {
            element = place_of(c.order, x + 1) + 1;
        } else {
            if (words == 0) element = word32(c.key, (u32)j);
            for (u64 w = 0; w < words; ++w) element += word64(c.key, j * words + w);
        }
        sum += visits(c, x) * element;
        checked += 1;
    }
    __syncwarp();
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// Checks that every visited element holds its own place, and every other element poison.
extern "C" __global__ void random_certify(const void* __restrict__ array, Claim c, Finding* finding) {
    const u64 words = c.element == 4u ? 1u : c.element / 8u;
    const u64 poison = c.element == 4u ? (u64)(u32)POISON : POISON;
    u32 checked = 0;
    for (u64 j = thread_index(); j < c.elements; j += thread_count()) {
        const bool visited = visits(c, visit_of(c.order, j)) > 0;
        for (u64 w = 0; w < words; ++w) {
            const u64 k = j * words + w;
            const u64 found = c.element == 4u ? ((const u32*)array)[k] : ((const u64*)array)[k];
            const u64 expected = !visited ? poison : c.element == 4u ? (u64)(u32)j : k;
            if (found == expected) continue;
            mistake(finding, j, !visited ? STRAY_WRITE : found == poison ? NOT_WRITTEN : WRONG_VALUE, j, expected, found);
        }
        checked += 1;
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// reduce: the sum, minimum or maximum of n elements, or of the products of two arrays
// (src/core/primitives/reduce/mod.rs). Terms are combined as words: integers as they are, floats to be summed as
// doubles, floats to be compared as integer keys with the same order.
//
// The grid has as many blocks as are resident at once. Each thread loops over tiles with ITEMS vectors of 16 bytes in
// flight, and each block reduces its threads' words to one. The block that draws the last ticket reduces the words of
// all blocks in a fixed order, so that results are reproducible. Converting a float to double takes a quarter of the
// time that memory takes to deliver it.
#include "../common/certify.cuh"
#include "../common/hints.cuh"
#include "../common/overlap.cuh"

#define SUM 0
#define MIN 1
#define MAX 2

// 16-byte vectors that each thread has in flight, of one array or of both together.
#define ITEMS 8u

template <typename To, typename From> LAB To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// ---- words -------------------------------------------------------------------------------

template <int OP> LAB u32 key_of(float v) {
    const u32 bits = bits_of<u32>(v);
    if (v != v) return OP == MAX ? ~0u : 0u;
    return bits ^ ((u32)((int)bits >> 31) | 0x80000000u);
}

template <int OP> LAB u64 key_of(double v) {
    const u64 bits = bits_of<u64>(v);
    if (v != v) return OP == MAX ? ~0ull : 0ull;
    return bits ^ ((u64)((long long)bits >> 63) | 0x8000000000000000ull);
}

template <int OP, typename W> struct Joined {
    LAB_MEMBER static W of(W a, W b) { return OP == MIN ? (b < a ? b : a) : (a < b ? b : a); }
};
template <typename W> struct Joined<SUM, W> {
    LAB_MEMBER static W of(W a, W b) { return a + b; }
};

// Fold: the word type W, its identity, and the words of terms. General case: integers.
template <int OP, typename T> struct Fold {
    typedef T W;
    LAB_MEMBER static W none() { return OP == MIN ? ~W(0) : W(0); }
    LAB_MEMBER static W of(T x) { return x; }
    LAB_MEMBER static W of(T x, T y) { return x * y; }
};
template <int OP> struct Fold<OP, float> {
    typedef u32 W;
    LAB_MEMBER static W none() { return OP == MIN ? 0xFF800000u : 0x007FFFFFu; }
    LAB_MEMBER static W of(float x) { return key_of<OP>(x); }
    LAB_MEMBER static W of(float x, float y) { return key_of<OP>(x * y); }
};
template <int OP> struct Fold<OP, double> {
    typedef u64 W;
    LAB_MEMBER static W none() { return OP == MIN ? 0xFFF0000000000000ull : 0x000FFFFFFFFFFFFFull; }
    LAB_MEMBER static W of(double x) { return key_of<OP>(x); }
    LAB_MEMBER static W of(double x, double y) { return key_of<OP>(x * y); }
};
template <typename T> struct SumOfFloats {
    typedef double W;
    LAB_MEMBER static W none() { return 0.0; }
    LAB_MEMBER static W of(T x) { return (double)x; }
    LAB_MEMBER static W of(T x, T y) { return (double)x * (double)y; }
};
template <> struct Fold<SUM, float> : SumOfFloats<float> {};
template <> struct Fold<SUM, double> : SumOfFloats<double> {};

LAB u64 word_of(u32 w) { return w; }
LAB u64 word_of(u64 w) { return w; }
LAB u64 word_of(double w) { return bits_of<u64>(w); }
LAB void of_word(u64 word, u32& w) { w = (u32)word; }
LAB void of_word(u64 word, u64& w) { w = word; }
LAB void of_word(u64 word, double& w) { w = bits_of<double>(word); }

// ---- the timed kernels -------------------------------------------------------------------

template <typename T> struct alignas(16) Vector {
    T of[16 / sizeof(T)];
};

// No cache hint: evict-first loads leave other, stale lines in L2, and on an H200 the first ten or so executions after
// the arrays were written took up to 8 % longer.
template <typename T> LAB Vector<T> vector_at(const T* at, u64 vector) {
    return bits_of<Vector<T>>(((const uint4*)at)[vector]);
}

// The word of the thread's share of the terms: tiles [0, tiles) by vectors, `tiled` elements in all, and [tiled, n)
// one by one.
template <int OP, bool PRODUCTS, typename T>
LAB typename Fold<OP, T>::W thread_word(const T* x, const T* y, u64 tiles, u64 tiled, u64 n) {
    typedef Fold<OP, T> F;
    typedef Joined<OP, typename F::W> Join;
    const u32 items = PRODUCTS ? ITEMS / 2u : ITEMS;
    typename F::W word = F::none();
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const u64 at = tile * (blockDim.x * items) + threadIdx.x;
        Vector<T> a[items], b[items];
#pragma unroll
        for (u32 u = 0; u < items; ++u) {
            a[u] = vector_at(x, at + u * blockDim.x);
            if (PRODUCTS) b[u] = vector_at(y, at + u * blockDim.x);
        }
#pragma unroll
        for (u32 u = 0; u < items; ++u) {
#pragma unroll
            for (u32 k = 0; k < 16u / sizeof(T); ++k) {
                word = Join::of(word, PRODUCTS ? F::of(a[u].of[k], b[u].of[k]) : F::of(a[u].of[k]));
            }
        }
    }
    for (u64 i = tiled + thread_index(); i < n; i += thread_count()) {
        word = Join::of(word, PRODUCTS ? F::of(x[i], y[i]) : F::of(x[i]));
    }
    return word;
}

// Reduces the block's words; the result is valid in thread 0.
template <int OP, typename W> LAB W block_word(W mine, W none) {
    __shared__ W warps[32];
    for (int step = 16; step > 0; step /= 2) mine = Joined<OP, W>::of(mine, __shfl_down_sync(0xFFFFFFFFu, mine, step));
    __syncthreads();
    if ((threadIdx.x & 31u) == 0) warps[threadIdx.x / 32u] = mine;
    __syncthreads();
    if (threadIdx.x >= 32u) return none;
    mine = threadIdx.x < blockDim.x / 32u ? warps[threadIdx.x] : none;
    for (int step = 16; step > 0; step /= 2) mine = Joined<OP, W>::of(mine, __shfl_down_sync(0xFFFFFFFFu, mine, step));
    return mine;
}

// `further`: also combine with the result that an earlier launch left in *all.
template <int OP, bool PRODUCTS, typename T>
LAB void reduce(const T* x, const T* y, u64 tiles, u64 tiled, u64 n, u32 further, u64* parts, u32* ticket, u64* all) {
    typedef typename Fold<OP, T>::W W;
    const W none = Fold<OP, T>::none();
    __shared__ bool last;
    after_earlier_launches();
    W word = block_word<OP>(thread_word<OP, PRODUCTS>(x, y, tiles, tiled, n), none);
    if (gridDim.x > 1u) {
        if (threadIdx.x == 0) {
            parts[blockIdx.x] = word_of(word);
            __threadfence();
            last = atomicInc(ticket, gridDim.x - 1u) == gridDim.x - 1u;
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        word = none;
        for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
            W part;
            of_word(__ldcg(&parts[b]), part);
            word = Joined<OP, W>::of(word, part);
        }
        word = block_word<OP>(word, none);
    }
    if (threadIdx.x != 0) return;
    W before = none;
    if (further) of_word(*all, before);
    *all = word_of(Joined<OP, W>::of(before, word));
}

#define REDUCE(name, OP, PRODUCTS, T)                                                                      \
    extern "C" __global__ void IN_FLIGHT(ITEMS)                                                            \
        name(const T* x, const T* y, u64 tiles, u64 tiled, u64 n, u32 further, u64* parts, u32* ticket,    \
             u64* all) {                                                                                   \
        reduce<OP, PRODUCTS, T>(x, y, tiles, tiled, n, further, parts, ticket, all);                       \
    }
#define OF_TYPE(name, OP, type, T)                       \
    REDUCE(reduce_##name##_##type, OP, false, T)         \
    REDUCE(reduce_##name##_##type##_products, OP, true, T)
#define OF_OPERATOR(name, OP)      \
    OF_TYPE(name, OP, u32, u32)    \
    OF_TYPE(name, OP, u64, u64)    \
    OF_TYPE(name, OP, f32, float)  \
    OF_TYPE(name, OP, f64, double)

OF_OPERATOR(sum, SUM)
OF_OPERATOR(min, MIN)
OF_OPERATOR(max, MAX)

// ---- the elements, and the certificate ----------------------------------------------------

#define U32 0u
#define U64 1u
#define F32 2u
#define F64 3u
#define ZEROS 1u
#define WITH_NAN 2u

// Closed form of x and y; keys[0] and keys[1] are the keys of their seeds.
struct Terms {
    u64 keys[2], n, planted;
    u32 op, type, contents, products;
};

static_assert(sizeof(Terms) == 48, "the layout of the host");

// Bits of element i of x, or of y if `second`: twin of `Spec::bits` (src/core/primitives/reduce/mod.rs).
LAB u64 element_of(const Terms& t, u32 second, u64 i) {
    const u64 w = word64(t.keys[second], i), all_ones = t.type == U32 ? 0xFFFFFFFFull : ~0ull;
    const u64 beyond = i == t.n ? 2u : i == t.planted ? 1u : 0u;
    const bool special = beyond == 2u || (beyond == 1u && t.op != SUM);
    const double sign = (w & 1u) == 0 ? 1.0 : -1.0;
    u64 integer = t.type == U32 ? w >> 32 : w;
    integer = t.op == MAX ? integer & ~3ull : integer | 1ull;
    double number = sign * (double)((1ull << 23) + (w >> 41)) / (double)(1 << 24);
    if (t.contents == WITH_NAN && beyond == 1u) {
        number = bits_of<double>(0x7FF8000000000000ull);
    } else if (t.contents == ZEROS) {
        number = second ? 1.0 : sign * 0.0;
    } else if (special) {
        const double far = 1.25 + 0.25 * (double)beyond;
        integer = second ? 1u : t.op == SUM ? 0u : t.op == MIN ? 2u - beyond : all_ones - 2u + beyond;
        number = second ? 1.0 : t.op == SUM ? 0.0 : t.op == MIN ? -far : far;
    }
    return t.type < F32 ? integer : t.type == F32 ? (u64)bits_of<u32>((float)number) : bits_of<u64>(number);
}

// Elements [0, n]. Element n lies past the array; only a deliberate mistake reads it.
extern "C" __global__ void reduce_fill(u32* out, Terms t, u32 second) {
    for (u64 i = thread_index(); i <= t.n; i += thread_count()) {
        const u64 bits = element_of(t, second, i);
        if (t.type == U64 || t.type == F64) ((u64*)out)[i] = bits;
        else out[i] = (u32)bits;
    }
}

template <int OP, typename T> LAB u64 expected_of(const Terms& t) {
    typedef Fold<OP, T> F;
    typename F::W word = F::none();
    for (u64 i = thread_index(); i < t.n; i += thread_count()) {
        T x, y = T(1);
        const u64 of_x = element_of(t, 0, i);
        memcpy(&x, &of_x, sizeof x);
        if (t.products) {
            const u64 of_y = element_of(t, 1, i);
            memcpy(&y, &of_y, sizeof y);
        }
        word = Joined<OP, typename F::W>::of(word, t.products ? F::of(x, y) : F::of(x));
    }
    return word_of(word);
}

template <int OP> LAB u64 expected(const Terms& t) {
    if (t.type == U32) return expected_of<OP, u32>(t);
    if (t.type == U64) return expected_of<OP, u64>(t);
    if (t.type == F32) return expected_of<OP, float>(t);
    return expected_of<OP, double>(t);
}

// words[t] = the word of thread t's share of the terms, from their closed form.
extern "C" __global__ void reduce_expected(u64* words, Terms t) {
    words[thread_index()] = t.op == SUM ? expected<SUM>(t) : t.op == MIN ? expected<MIN>(t) : expected<MAX>(t);
}

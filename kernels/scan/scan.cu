// The kernels of scan and segmented-scan: by look-back, with a spine, and as in sengupta2007 (§2.1, §2.2), each for
// every operator and type, forward and backward; the conversion of head flags to bits; the inputs; the certificate.
#include "../common/overlap.cuh"
#include "look_back.cuh"
#include "inputs.cuh"
#include "sengupta2007.cuh"
#include "spine.cuh"

// The operators by type. Max, or, and i32 are these on XORed elements (operators.cuh).
#define FAMILIES(KERNELS)                \
    KERNELS(add_u32, Add<u32>)           \
    KERNELS(add_u64, Add<u64>)           \
    KERNELS(add_f32, Add<float>)         \
    KERNELS(add_f64, Add<double>)        \
    KERNELS(min_u32, Min<u32>)           \
    KERNELS(min_u64, Min<u64>)           \
    KERNELS(min_f32, Min<float>)         \
    KERNELS(min_f64, Min<double>)        \
    KERNELS(and_u32, And<u32>)           \
    KERNELS(and_u64, And<u64>)           \
    KERNELS(affine_u32, Compose<u32>)    \
    KERNELS(affine_u64, Compose<u64>)

// ---- one pass ----------------------------------------------------------------------------

// Threads per block, vectors per thread, and resident blocks per multiprocessor (as many as the registers allow), as in
// src/core/primitives/scan/shape.rs. On an H200, tiles of 7 vectors took 4 to 5 % longer from 2^22 elements to 2^25,
// and 1 to 3 % less time from 2^27 on; short tiles took 0.4 to 0.6 µs less for up to 2^17.
#define TILE_THREADS 256
#define TILE_VECTORS 5
#define TILE_BLOCKS(O) (sizeof(O::T) > 8 ? 4 : 6)
#define SHORT_THREADS 512
#define SHORT_VECTORS 1

#define ONE_PASS_OF(kernel, function, O, SEGMENTED, SIZE, BLOCKS)                                 \
    extern "C" __global__ void __launch_bounds__(SIZE##_THREADS, BLOCKS) kernel(const Scan s) {   \
        after_earlier_launches();                                                               \
        function<O, SEGMENTED, SIZE##_THREADS, SIZE##_VECTORS>(O(), s);                           \
    }

#define ONE_PASS(name, O)                                                                     \
    ONE_PASS_OF(short_##name, scan_by_look_back, O, false, SHORT, 2)                          \
    ONE_PASS_OF(lookback_##name, scan_by_look_back, O, false, TILE, TILE_BLOCKS(O))           \
    ONE_PASS_OF(segmented_lookback_##name, scan_by_look_back, O, true, TILE, TILE_BLOCKS(O))  \
    ONE_PASS_OF(spine_##name, scan_with_spine, O, false, TILE, TILE_BLOCKS(O))                \
    ONE_PASS_OF(segmented_spine_##name, scan_with_spine, O, true, TILE, TILE_BLOCKS(O))

FAMILIES(ONE_PASS)

// ---- heads as one pass reads them ----------------------------------------------------------

// Packs four bytes that are 0 or 1 into four bits.
LAB u32 nibble(u32 bytes) { return bytes * 0x01020408u >> 24 & 15u; }

// bits: word w from bytes [32 w, 32 w + 32), by thread w; the last word may have fewer bytes.
extern "C" __global__ void heads_of_bytes(u32* __restrict__ bits, const unsigned char* __restrict__ bytes, u64 n) {
    const u64 word = thread_index();
    if (word * 32u >= n) return;
    u32 mine = 0;
    if (word * 32u + 32u <= n) {
        const uint4* from = (const uint4*)(bytes + word * 32u);
        const uint4 low = __ldg(from), high = __ldg(from + 1);
        mine = nibble(low.x) | nibble(low.y) << 4 | nibble(low.z) << 8 | nibble(low.w) << 12 | nibble(high.x) << 16 |
               nibble(high.y) << 20 | nibble(high.z) << 24 | nibble(high.w) << 28;
    } else {
        for (u64 i = word * 32u; i < n; ++i) mine |= (u32)bytes[i] << (i % 32u);
    }
    bits[word] = mine;
}

// One warp per chunk of 128 striped flags (see flag_at); chunks are stored whole. `words` is the number of words of
// bits.
extern "C" __global__ void heads_of_stripes(u32* __restrict__ bits, const u32* __restrict__ stripes, u64 words) {
    const u64 chunk = thread_index() / 32u;
    const u32 lane = threadIdx.x & 31u;
    if (chunk * 4u >= words) return;
    const u32 mine = __ldg(stripes + chunk * 32u + lane);
    u32 word = 0;
#pragma unroll
    for (u32 k = 0; k < 4u; ++k) {
        const u32 flags = __ballot_sync(EVERYONE, (mine >> (8u * k) & 1u) != 0);
        if (lane == k) word = flags;
    }
    if (lane < 4u && chunk * 4u + lane < words) bits[chunk * 4u + lane] = word;
}

// Sets bit pointers[j] for each of `count` segments; all bits must be 0 before.
extern "C" __global__ void heads_of_pointers(u32* bits, const u32* pointers, u64 count, u64 n) {
    after_earlier_launches();
    const u64 j = thread_index();
    if (j >= count) return;
    const u32 i = pointers[j];
    if (i < n) atomicOr(&bits[i / 32u], 1u << (i % 32u));
}

// ---- sengupta2007 ------------------------------------------------------------------------

#define SCAN_BLOCK(name, O, ELEMENTS)                                                              \
    extern "C" __global__ void __launch_bounds__(TREE_THREADS) sengupta2007_scan_##name##_e##ELEMENTS( \
        const O::T* in, O::T* out, O::T* sums, u64 n, u32 backward, u32 inclusive, u64 flip) {       \
        scan_block<O, ELEMENTS / 2>(O(), in, out, sums, n, backward, inclusive, flip);               \
    }

#define ON_LEVEL(kernel, function, O)                                                              \
    extern "C" __global__ void __launch_bounds__(TREE_THREADS) kernel(const Level level) { function(O(), level); }

#define SENGUPTA2007(name, O)                                                                      \
    SCAN_BLOCK(name, O, 2)                                                                         \
    SCAN_BLOCK(name, O, 8)                                                                         \
    extern "C" __global__ void __launch_bounds__(TREE_THREADS) sengupta2007_add_##name(              \
        O::T* out, const O::T* before, u64 n, u32 elements, u32 backward, u64 flip) {                \
        add_uniformly(O(), out, before, n, elements, backward, flip);                              \
    }                                                                                              \
    ON_LEVEL(sengupta2007_reduce_##name, segmented_reduce, O)                                      \
    ON_LEVEL(sengupta2007_down_sweep_##name, segmented_sweep_down, O)                              \
    ON_LEVEL(sengupta2007_block_##name, segmented_block, O)

FAMILIES(SENGUPTA2007)

// ---- inputs and certificate -------------------------------------------------------------------

// Elements [0, in.n).
extern "C" __global__ void scan_fill(void* out, const Inputs in) {
    for (u64 i = thread_index(); i < in.n; i += thread_count()) put_element(out, in, i, input(in, i));
}

#define LENGTHS 3u
#define POINTERS 4u

// The description of the segments, by form: words of bits, bytes, striped words, lengths, or pointers.
extern "C" __global__ void scan_fill_heads(void* out, u32 form, const Segments s, u64 entries) {
    for (u64 e = thread_index(); e < entries; e += thread_count()) {
        u32 word = 0;
        if (form == BYTES) {
            ((unsigned char*)out)[e] = is_head(s, e);
            continue;
        }
        if (form == BITS) {
            for (u64 i = 32 * e; i < 32 * e + 32 && i < s.n; ++i) word |= (u32)is_head(s, i) << (i % 32u);
        } else if (form == STRIPED) {
            for (u32 k = 0; k < 4u; ++k) {
                const u64 i = e / 32u * 128u + k * 32u + e % 32u;
                word |= (u32)(i < s.n && is_head(s, i)) << (8u * k);
            }
        } else {
            word = (u32)(form == POINTERS ? pointer(s, e) : pointer(s, e + 1) - pointer(s, e));
        }
        ((u32*)out)[e] = word;
    }
}

// Checks out[0..n) by the definition's recurrence, within a segment:
//   exclusive: out[i] = out[previous] ⊕ x[previous]      inclusive: out[i] = out[previous] ⊕ x[i]
extern "C" __global__ void scan_certify(const void* out, const Inputs in, const Segments s, u32 inclusive, Finding* finding) {
    const u64 poison = wide(in.type) ? POISON : POISON & 0xFFFFFFFFull;
    u32 checked = 0;
    for (u64 i = thread_index(); i < in.n; i += thread_count()) {
        const bool backward = in.backward != 0, first = backward ? i == in.n - 1 || is_head(s, i + 1) : is_head(s, i);
        const u64 previous = backward ? i + 1 : i - 1;
        Element expected = first ? identity_of(in.op, in.type) : element_at(out, in, previous);
        if (inclusive != 0) expected = combine(in.op, in.type, expected, input(in, i));
        else if (!first) expected = combine(in.op, in.type, expected, input(in, previous));
        const Element found = element_at(out, in, i);
        if (!(found == expected)) {
            const bool second = found.a == expected.a;
            const u64 wanted = second ? expected.b : expected.a, word = second ? found.b : found.a;
            mistake(finding, i, word == poison ? NOT_WRITTEN : WRONG_VALUE, i, wanted, word);
        }
        checked += 1;
    }
    add_count(&finding->checked, checked);
}

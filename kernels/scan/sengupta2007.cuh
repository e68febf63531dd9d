// Scan and segmented scan as in sengupta2007: a block of 128 threads runs the upsweep and downsweep of a balanced tree
// in shared memory (Algorithms 1 to 4). Longer arrays take levels of such blocks, with one or two launches per level
// (§2.1, Algorithm 5).
//
// All indices are in scan order: a backward scan reads and writes memory in reverse (§2.1), and shifts the flags by
// one (§2.2.2). The paper adds the right child to the left; here the left operand comes first, since not all operators
// commute.
#pragma once

#include "operators.cuh"

#define TREE_THREADS 128u

extern __shared__ u64 dense[];

// Index of a leaf in shared memory: a gap after every 32 leaves avoids bank conflicts (the paper leaves such details
// to its reference [HSO07]).
LAB u32 padded(u32 leaf) { return leaf + leaf / 32u; }

// The position in memory of element j in scan order.
LAB u64 placed(u64 j, u64 n, u32 backward) { return backward != 0 ? n - 1 - j : j; }

// Applies the operator's XOR mask (operators.cuh): to elements read from `in`, and to those written to `out`.
template <class O> LAB typename O::T turned(typename O::T x, u64 flip) { return O::FLIPPED ? flipped(x, flip) : x; }

// ---- scan ----------------------------------------------------------------------------------

// Algorithm 1: x[k + 2d - 1] becomes the sum of the leaves [k, k + 2d).
template <class O> LAB void up_sweep(O op, typename O::T* x, u32 leaves) {
#pragma unroll 1
    for (u32 d = 1; d < leaves; d *= 2) {
        __syncthreads();
#pragma unroll 1
        for (u32 node = threadIdx.x; node < leaves / (2 * d); node += TREE_THREADS) {
            const u32 left = padded(node * 2 * d + d - 1), right = padded(node * 2 * d + 2 * d - 1);
            x[right] = op(x[left], x[right]);
        }
    }
    __syncthreads();
}

// Algorithm 2 from its second line on: the caller has set the last leaf to the identity.
template <class O> LAB void down_sweep(O op, typename O::T* x, u32 leaves) {
#pragma unroll 1
    for (u32 d = leaves / 2; d > 0; d /= 2) {
        __syncthreads();
#pragma unroll 1
        for (u32 node = threadIdx.x; node < leaves / (2 * d); node += TREE_THREADS) {
            const u32 left = padded(node * 2 * d + d - 1), right = padded(node * 2 * d + 2 * d - 1);
            const typename O::T t = x[left];
            x[left] = x[right];
            x[right] = op(x[right], t);
        }
    }
    __syncthreads();
}

// Scans each block's elements on their own, and stores the block's sum for the next level. A leaf is a group of GROUP
// elements, which one thread scans. 2 elements per thread: each is a leaf ('scan' in Fig. 5). 8 per thread: two leaves
// of 4 ('fast').
template <class O, u32 GROUP>
LAB void scan_block(O op, const typename O::T* in, typename O::T* out, typename O::T* sums, u64 n, u32 backward,
                    u32 inclusive, u64 flip) {
    typedef typename O::T T;
    const u32 leaves = 2 * TREE_THREADS;
    T* const x = (T*)dense;
    T mine[2][GROUP];
#pragma unroll
    for (u32 h = 0; h < 2; ++h) {
        const u32 leaf = threadIdx.x + h * TREE_THREADS;
        const u64 first = ((u64)blockIdx.x * leaves + leaf) * GROUP;
        T sum = op.identity();
#pragma unroll
        for (u32 g = 0; g < GROUP; ++g) {
            mine[h][g] = first + g < n ? turned<O>(in[placed(first + g, n, backward)], flip) : op.identity();
            sum = op(sum, mine[h][g]);
        }
        x[padded(leaf)] = sum;
    }
    up_sweep(op, x, leaves);
    if (threadIdx.x == 0) {
        T& last = x[padded(leaves - 1)];
        if (sums != nullptr) sums[blockIdx.x] = last;
        last = op.identity();
    }
    down_sweep(op, x, leaves);
#pragma unroll
    for (u32 h = 0; h < 2; ++h) {
        const u32 leaf = threadIdx.x + h * TREE_THREADS;
        const u64 first = ((u64)blockIdx.x * leaves + leaf) * GROUP;
        T sum = x[padded(leaf)];
#pragma unroll
        for (u32 g = 0; g < GROUP; ++g) {
            const T next = op(sum, mine[h][g]);
            if (first + g < n) out[placed(first + g, n, backward)] = turned<O>(inclusive != 0 ? next : sum, flip);
            sum = next;
        }
    }
}

// Uniform addition (§2.1): prepends the sum before each block to all of the block's elements.
template <class O>
LAB void add_uniformly(O op, typename O::T* out, const typename O::T* before, u64 n, u32 elements, u32 backward, u64 flip) {
    const typename O::T sum = before[blockIdx.x];
#pragma unroll 1
    for (u32 e = 0; e < elements; ++e) {
        const u64 j = ((u64)blockIdx.x * elements + e) * TREE_THREADS + threadIdx.x;
        if (j >= n) return;
        const u64 at = placed(j, n, backward);
        out[at] = turned<O>(op(sum, turned<O>(out[at], flip)), flip);
    }
}

// ---- segmented scan ------------------------------------------------------------------------

#define BITS 0u
#define BYTES 1u
#define STRIPED 2u

// Head flags in one of the layouts above (§2.2.2).
struct Flags {
    const void* at;
    u32 form;
    u32 unused;
};

LAB bool flag_at(const Flags& f, u64 i) {
    if (f.form == BITS) return ((const u32*)f.at)[i / 32] >> (i % 32) & 1u;
    // STRIPED: chunks of 32 words with four flags each; the flags of a word are 32 elements apart.
    const u64 at = f.form == BYTES ? i : i / 128 * 128 + i % 32 * 4 + i % 128 / 32;
    return ((const unsigned char*)f.at)[at] != 0;
}

// True if a segment begins at element j in scan order.
LAB bool begins(const Flags& f, u64 j, u64 n, u32 backward) {
    if (j >= n) return false;
    return j == 0 || flag_at(f, backward != 0 ? n - j : j);
}

// One level of a segmented scan. `in` is read; `out` holds the tree of partial sums, then the result. Above the first
// level, both are the block sums of the level below.
struct Level {
    const void* in;
    void* out;
    unsigned char* or_tree;      // [element]: OR tree; above the first level, initially the ORs of the level below
    const unsigned char* flags;  // [element]: OR tree's leaves above the first level; null where they are the heads
    Flags heads;                 // f_i of Algorithm 4: where segments begin
    void* sums;                  // [block]: sum since its last head; later the sum before the block
    unsigned char* ors;          // [block]: 1 if it contains a head
    unsigned char* firsts;       // [block]: 1 if its first element is a head
    u64 n;
    u64 flip;                    // XOR mask of the elements of `in` and of the result; 0 above the first level
    u32 elements;                // per thread
    u32 backward, inclusive;
    u32 unused;
};

static_assert(sizeof(Flags) == 16 && sizeof(Level) == 104, "the layout of the host");

// A block's shared memory: the trees of sums (x) and of ORs (f), and the heads.
template <typename T> struct Trees {
    T* x;
    unsigned char *f, *heads;
    u32 leaves;
    u64 base;  // element of leaf 0, in scan order
};

template <typename T> LAB Trees<T> trees(const Level& level) {
    Trees<T> t;
    t.leaves = level.elements * TREE_THREADS;
    t.base = (u64)blockIdx.x * t.leaves;
    t.x = (T*)dense;
    t.f = (unsigned char*)(t.x + padded(t.leaves));
    t.heads = t.f + t.leaves;
    return t;
}

template <class O> LAB void load_heads(const Level& level, const Trees<typename O::T>& t) {
#pragma unroll 1
    for (u32 k = threadIdx.x; k < t.leaves; k += TREE_THREADS) {
        t.heads[k] = begins(level.heads, t.base + k, level.n, level.backward);
    }
}

template <class O> LAB typename O::T leaf(const Level& level, u64 at) {
    return turned<O>(((const typename O::T*)level.in)[at], level.flip);
}

// Loads the leaves: elements, and flags.
template <class O> LAB void load_leaves(O op, const Level& level, const Trees<typename O::T>& t) {
#pragma unroll 1
    for (u32 k = threadIdx.x; k < t.leaves; k += TREE_THREADS) {
        const u64 j = t.base + k;
        const bool there = j < level.n;
        t.x[padded(k)] = there ? leaf<O>(level, placed(j, level.n, level.backward)) : op.identity();
        t.f[k] = there && level.flags != nullptr ? level.flags[j] : t.heads[k];
    }
}

// Algorithm 3, starting at d = 0 (the paper prints 1).
template <class O> LAB void segmented_up_sweep(O op, const Trees<typename O::T>& t) {
#pragma unroll 1
    for (u32 d = 1; d < t.leaves; d *= 2) {
        __syncthreads();
#pragma unroll 1
        for (u32 node = threadIdx.x; node < t.leaves / (2 * d); node += TREE_THREADS) {
            const u32 left = node * 2 * d + d - 1, right = left + d;
            if (!t.f[right]) t.x[padded(right)] = op(t.x[padded(left)], t.x[padded(right)]);
            t.f[right] |= t.f[left];
        }
    }
    __syncthreads();
}

// Algorithm 4; `before` is the sum before all leaves (lines 5 and 6 of Algorithm 5).
template <class O> LAB void segmented_down_sweep(O op, const Trees<typename O::T>& t, typename O::T before) {
    typedef typename O::T T;
    if (threadIdx.x == 0) t.x[padded(t.leaves - 1)] = before;
#pragma unroll 1
    for (u32 d = t.leaves / 2; d > 0; d /= 2) {
        __syncthreads();
#pragma unroll 1
        for (u32 node = threadIdx.x; node < t.leaves / (2 * d); node += TREE_THREADS) {
            const u32 left = node * 2 * d + d - 1, right = left + d;
            const T parent = t.x[padded(right)], sum = t.x[padded(left)];
            t.x[padded(left)] = parent;
            t.x[padded(right)] = t.heads[left + 1] ? op.identity() : t.f[left] ? sum : op(parent, sum);
            t.f[left] = 0;
        }
    }
    __syncthreads();
}

template <class O> LAB void store_leaves(O op, const Level& level, const Trees<typename O::T>& t) {
    typedef typename O::T T;
#pragma unroll 1
    for (u32 k = threadIdx.x; k < t.leaves && t.base + k < level.n; k += TREE_THREADS) {
        const u64 at = placed(t.base + k, level.n, level.backward);
        const T sum = t.x[padded(k)];
        ((T*)level.out)[at] = turned<O>(level.inclusive != 0 ? op(sum, leaf<O>(level, at)) : sum, level.flip);
    }
}

// Lines 1 and 2 of Algorithm 5: upsweep in each block; stores its trees, and its sums for the next level.
template <class O> LAB void segmented_reduce(O op, const Level& level) {
    typedef typename O::T T;
    const Trees<T> t = trees<T>(level);
    load_heads<O>(level, t);
    load_leaves(op, level, t);
    segmented_up_sweep(op, t);
#pragma unroll 1
    for (u32 k = threadIdx.x; k < t.leaves && t.base + k < level.n; k += TREE_THREADS) {
        ((T*)level.out)[placed(t.base + k, level.n, level.backward)] = t.x[padded(k)];
        level.or_tree[t.base + k] = t.f[k];
    }
    if (threadIdx.x == 0) {
        ((T*)level.sums)[blockIdx.x] = t.x[padded(t.leaves - 1)];
        level.ors[blockIdx.x] = t.f[t.leaves - 1];
        level.firsts[blockIdx.x] = t.heads[0];
    }
}

// Lines 4 to 6 of Algorithm 5: downsweep in each block, from the scanned `sums` of line 3. Tree nodes past the last
// element were not saved; they affect only sums to the right of all elements.
template <class O> LAB void segmented_sweep_down(O op, const Level& level) {
    typedef typename O::T T;
    const Trees<T> t = trees<T>(level);
    load_heads<O>(level, t);
#pragma unroll 1
    for (u32 k = threadIdx.x; k < t.leaves; k += TREE_THREADS) {
        const u64 j = t.base + k;
        const bool there = j < level.n;
        t.x[padded(k)] = there ? ((const T*)level.out)[placed(j, level.n, level.backward)] : op.identity();
        t.f[k] = there ? level.or_tree[j] : 0;
    }
    __syncthreads();
    segmented_down_sweep(op, t, ((const T*)level.sums)[blockIdx.x]);
    store_leaves(op, level, t);
}

// Both sweeps in a level of one block: line 3 of Algorithm 5, where the recursion ends.
template <class O> LAB void segmented_block(O op, const Level& level) {
    typedef typename O::T T;
    const Trees<T> t = trees<T>(level);
    load_heads<O>(level, t);
    load_leaves(op, level, t);
    segmented_up_sweep(op, t);
    segmented_down_sweep(op, t, op.identity());
    store_leaves(op, level, t);
}

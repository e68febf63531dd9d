// pattern: arrays whose uses start at positions read from an array instead of δ·i, or whose stores are atomic.
#pragma once

#include "walk.cuh"

// The start of use i; for untimed kernels.
LAB u64 start_of(const Side& side, u64 i) {
    return side.starts == nullptr ? side.delta * i : index_at(side.starts, side.start_bytes, i);
}

LAB void store(u64* to, u64 value, u32 atomic) {
    if (atomic != 0) atomicExch(to, value);
    else *to = value;
}

// A sparse array whose uses start at starts[i]. P is u64* or const u64* __restrict__, S the type of a start: as a
// template parameter, so that without a branch on it all loads of a tile are in flight together. __ldg lets the loads
// of starts pass the stores.
template <typename P, typename S> struct Visited {
    P word;  // the thread's word of a use that starts at 0
    const S* starts;
    u32 atomic;
    LAB_MEMBER u64 take(u32, u64 i, u32) const { return word[__ldg(starts + i)]; }
    LAB_MEMBER void put(u32, u64 i, u32, u64 value) const { store(word + __ldg(starts + i), value, atomic); }
    LAB_MEMBER void advance() {}
};

template <typename S, typename P>
LAB Visited<P, S> visited(P words, const Side& side, const Place& at, u32 atomic) {
    Visited<P, S> v;
    v.word = words + entry(side, at.j);
    v.starts = (const S*)side.starts;
    v.atomic = atomic;
    return v;
}

// Calls move(array), instantiated for the size of the starts.
template <typename P, typename Move>
LAB void visiting(P words, const Side& side, const Place& at, u32 atomic, Move move) {
    if (side.start_bytes == 4u) {
        auto array = visited<u32>(words, side, at, atomic);
        move(array);
    } else {
        auto array = visited<u64>(words, side, at, atomic);
        move(array);
    }
}

// A sparse array that advances by a delta and whose stores are atomic exchanges with unused results.
struct Exchanged {
    Sparse<u64*> array;
    LAB_MEMBER void put(u32 u, u64, u32, u64 value) const { atomicExch(array.word + u * array.row, value); }
    LAB_MEMBER void advance() { array.advance(); }
};

LAB Exchanged exchanged(u64* words, const Side& side, const Walk& w, const Place& at) {
    Exchanged e;
    e.array = sparse(words, side, w, at);
    return e;
}

// Any sparse array, with the case decided word by word; for untimed kernels.
template <typename P> struct Anywhere {
    P word;
    Side side;
    u32 atomic;
    LAB_MEMBER u64 take(u32, u64 i, u32) const { return word[start_of(side, i)]; }
    LAB_MEMBER void put(u32, u64 i, u32, u64 value) const { store(word + start_of(side, i), value, atomic); }
    LAB_MEMBER void advance() {}
};

template <typename P> LAB Anywhere<P> anywhere(P words, const Side& side, const Place& at, u32 atomic) {
    Anywhere<P> a;
    a.word = words + entry(side, at.j);
    a.side = side;
    a.atomic = atomic;
    return a;
}

// Closed form of the starts: use k starts at total · ⌊k / length⌋ + sums[k mod length].
struct Starts {
    const u64* sums;    // prefix sums: of the first 0, 1, … deltas
    u64 length;         // number of sums
    u64 total;          // sum of all deltas
    Permutation order;  // order of the uses
    u32 shuffled;       // nonzero if uses are visited in that order
    u32 unused;
};

static_assert(sizeof(Starts) == 72, "the layout of the host");

LAB u64 start_by(const Starts& s, u64 i) {
    const u64 use = s.shuffled != 0 ? permutation_apply(s.order, i) : i;
    return s.total * (use / s.length) + s.sums[use % s.length];
}

// The array of starts.
extern "C" __global__ void pattern_starts(void* out, u32 bytes, Starts s, u64 n) {
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        if (bytes == 4u) ((u32*)out)[i] = (u32)start_by(s, i);
        else ((u64*)out)[i] = start_by(s, i);
    }
}

// Checks that the array of starts is unchanged.
extern "C" __global__ void pattern_check_starts(const void* starts, u32 bytes, Starts s, u64 n, Finding* finding) {
    u32 checked = 0;
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        const u64 found = index_at(starts, bytes, i), expected = start_by(s, i);
        if (found != expected) mistake(finding, i, WRONG_VALUE, i, expected, found);
        checked += 1;
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

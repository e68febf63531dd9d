// pattern: the certificate kernels. They handle one iteration at a time, except pattern_mark_left.
#pragma once

#define KEPT_ITEMS 8u  // items of the walks of pattern_gather_keep and pattern_scatter_keep

// A gather that keeps every word: kept[(i − first)·P + j].
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_gather_keep(Walk w, Side side, const u64* __restrict__ source, u64* __restrict__ kept) {
    const Place at = place_of(w);
    if (!at.active) return;
    Kept to;
    to.word = kept + at.j;
    to.first = w.first;
    to.length = w.length;
    if (side.starts == nullptr) {
        auto from = sparse(source, side, w, at);
        move_words<KEPT_ITEMS>(w, at, from, to);
    } else {
        auto from = anywhere(source, side, at, 0);
        move_words<KEPT_ITEMS>(w, at, from, to);
    }
}

// A scatter with a distinct word for each (i, j).
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_scatter_keep(Walk w, Side side, u64* __restrict__ destination, u64 key, u32 atomic) {
    const Place at = place_of(w);
    if (!at.active) return;
    Computed from;
    from.key = key;
    from.j = at.j;
    from.length = w.length;
    if (side.starts == nullptr && atomic == 0) {
        auto to = sparse(destination, side, w, at);
        move_words<KEPT_ITEMS>(w, at, from, to);
    } else {
        auto to = anywhere(destination, side, at, atomic);
        move_words<KEPT_ITEMS>(w, at, from, to);
    }
}

// Checks the words that pattern_gather_keep kept.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_check_kept(Walk w, Side side, u64 key, const u64* __restrict__ kept, Finding* finding) {
    const Place at = place_of(w);
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            const u64 expected = word64(key, e + start_of(side, i));
            const u64 found = kept[(i - w.first) * w.length + at.j];
            const u64 which = i * w.length + at.j;
            if (found != expected) {
                mistake(finding, which, found == POISON ? NOT_WRITTEN : WRONG_VALUE, which, expected, found);
            }
            checked += 1;
        }
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Checks what the timed gather's blocks left in D: each written word is S[p[j] + δ·i], for the j and the i mod wrap
// that its place stands for. The walk is that of pattern_gather, or one with D as its only block. finding->touched =
// the number of words.
extern "C" __global__ void pattern_check_left(Walk w, Side side, u64 key, const u64* __restrict__ left,
                                              u64 n, Finding* finding) {
    const u64 words = (u64)w.slots * w.wrap;
    u32 touched = 0;
    for (u64 k = thread_index(); k < n; k += thread_count()) {
        const u64 found = left[k];
        if (found == POISON) continue;
        const u64 block = k / words;
        const u64 slot = k % words;
        const u64 j = (block % w.tiles) * w.columns + slot % w.slots % w.columns;
        const u64 from = index_of_word64(key, found);
        bool right = j < w.length;
        if (right) {
            const u64 e = entry(side, j);
            if (side.delta == 0) {
                right = from == e;
            } else {
                const u64 i = (from - e) / side.delta;
                right = from >= e && (from - e) % side.delta == 0 && i < w.last && i % w.wrap == slot / w.slots;
            }
        }
        if (!right) mistake(finding, k, WRONG_VALUE, k, 0, found);
        touched += 1;
    }
    add_count(&finding->touched, touched);
}

// Checks D if uses start at positions read from an array: marks each word of D that a block stores to in `touched`,
// and in `explained` if the word holds what one of the block's iterations stores. Bit k of the bitmaps, initially 0,
// stands for left[k]; pattern_check_region compares them. The walk is that of the gather. `shared`: all blocks share
// one D.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_mark_left(Walk w, Side side, u64 key, const u64* __restrict__ left, u32* touched,
                      u32* explained, u32 shared) {
    const Place at = place_of(w);
    if (!at.active) return;
    const u64 e = entry(side, at.j), rows = w.rows, tile = rows * w.items;
    const u64 mine = shared != 0 ? at.j : (u64)blockIdx.x * w.slots * w.wrap + at.slot;
    for (u64 first = at.i; first < w.last; first += tile * w.workers) {
        for (u64 i = first; i < first + tile && i < w.last; i += rows) {
            const u64 k = mine + i % w.wrap * w.slots;
            mark(touched, k);
            if (left[k] == word64(key, e + start_of(side, i))) mark(explained, k);
        }
    }
}

// finding->sum = the sum of all words of a gather.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_expected_fold(Walk w, Side side, u64 key, Finding* finding) {
    const Place at = place_of(w);
    u64 sum = 0;
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            sum += word64(key, e + start_of(side, i));
            checked += 1;
        }
    }
    __syncwarp();
    add_sum(&finding->sum, sum);
    add_count(&finding->checked, checked);
}

// The sources of the words that a scatter's certificate expects.
#define FROM_DENSE 0u     // pattern_scatter: word64(seed, j + P·(i mod wrap))
#define FROM_COMPUTED 1u  // pattern_scatter_keep: word64(seed, i·P + j)
#define FROM_SPARSE 2u    // pattern_gs: word64(seed, p_g[j] + δ_g·i)

// For each (i, j), marks the word that it must write in `touched`, and in `explained` if the word holds what (i, j)
// stores. A word may have several writers; it is right if it holds what any of them stores. Bit k of the bitmaps,
// initially 0, stands for word begin + k. `source_side` is gs's p_g.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    pattern_mark(Walk w, Side side, Side source_side, u32 kind, u64 key,
                 const u64* __restrict__ destination, u64 begin, u32* touched, u32* explained,
                 Finding* finding) {
    const Place at = place_of(w);
    u32 checked = 0;
    if (at.active) {
        const u64 e = entry(side, at.j);
        const u64 g = kind == FROM_SPARSE ? entry(source_side, at.j) : 0;
        for (u64 i = at.i; i < w.last; i += (u64)w.rows * w.workers) {
            const u64 number = kind == FROM_DENSE      ? at.j + w.length * (i % w.wrap)
                               : kind == FROM_COMPUTED ? i * w.length + at.j
                                                       : g + start_of(source_side, i);
            const u64 k = e + start_of(side, i);
            mark(touched, k - begin);
            if (destination[k] == word64(key, number)) mark(explained, k - begin);
            checked += 1;
        }
    }
    __syncwarp();
    add_count(&finding->checked, checked);
}

// Checks `words` words from word `begin` on: a touched word must be explained, any other must hold poison.
// finding->touched = the number of touched words.
extern "C" __global__ void pattern_check_region(const u64* __restrict__ destination, u64 begin, u64 words,
                                                const u32* __restrict__ touched,
                                                const u32* __restrict__ explained, Finding* finding) {
    u32 count = 0;
    for (u64 k = thread_index(); k < words; k += thread_count()) {
        const u64 at = begin + k, found = destination[at];
        if (marked(touched, k)) {
            count += 1;
            if (!marked(explained, k)) mistake(finding, at, found == POISON ? NOT_WRITTEN : WRONG_WRITER, at, 0, found);
        } else if (found != POISON) {
            mistake(finding, at, STRAY_WRITE, at, 0, found);
        }
    }
    add_count(&finding->touched, count);
}

// How the lanes of a warp learn who of them has which number below 2^BITS: by voting on each bit
// (ashkiani2017 §5.4), which takes BITS ballots however many numbers there are.
#pragma once

#include "certify.cuh"
#include "warp.cuh"

// Registers in which the lanes of a warp keep a word for each number: that of lane + 32·r lies in
// word r (ashkiani2017 §5.7).
template <u32 BITS> struct Ballot {
    static const u32 NUMBERS = 1u << BITS;
    static const u32 WORDS = BITS > 5 ? 1u << (BITS - 5) : 1u;
};

// Who voted, and who of them has a 1 in each bit of his number.
template <u32 BITS> struct Votes {
    u32 valid;
    u32 ones[BITS];
};

// All lanes of the warp call it; `valid` are those whose numbers count.
template <u32 BITS> LAB Votes<BITS> voted(u32 number, u32 valid) {
    Votes<BITS> votes;
    votes.valid = valid;
#pragma unroll
    for (u32 k = 0; k < BITS; ++k) votes.ones[k] = __ballot_sync(EVERYONE, (number >> k & 1u) != 0);
    return votes;
}

// The lanes with the number `wanted` (Algorithm 3 with the lane's own number, and with the
// erratum: it tests the number's bits).
template <u32 BITS> LAB u32 voters(const Votes<BITS>& votes, u32 wanted) {
    u32 those = votes.valid;
#pragma unroll
    for (u32 k = 0; k < BITS; ++k) those &= (wanted >> k & 1u) != 0 ? votes.ones[k] : ~votes.ones[k];
    return those;
}

// counts[r] = how many lanes have the number lane + 32·r (Algorithm 2, and §5.5.1 above 32). What
// the lane's own bits exclude is found once for all of its numbers.
template <u32 BITS> LAB void tally(const Votes<BITS>& votes, u32 (&counts)[Ballot<BITS>::WORDS]) {
    u32 low = votes.valid;
#pragma unroll
    for (u32 k = 0; k < BITS && k < 5; ++k) low &= (lane_of() >> k & 1u) != 0 ? votes.ones[k] : ~votes.ones[k];
#pragma unroll
    for (u32 r = 0; r < Ballot<BITS>::WORDS; ++r) {
        u32 those = low;
#pragma unroll
        for (u32 k = 5; k < BITS; ++k) those &= (r >> (k - 5) & 1u) != 0 ? votes.ones[k] : ~votes.ones[k];
        counts[r] = __popc(those);
    }
}

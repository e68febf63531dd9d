// Helpers for the lanes of a warp: inclusive scan, and the warp-level multisplit of ashkiani2017 (§5.4 to §5.7).
#pragma once

#include "inputs.cuh"

#define EVERYONE 0xFFFFFFFFu

LAB u32 lane_of() { return threadIdx.x & 31u; }

// Mask of the lanes below this one.
LAB u32 lanes_below() { return (1u << lane_of()) - 1u; }

// The warp's inclusive scan by addition. All lanes must call this.
LAB u32 sum_lanes(u32 v) {
#pragma unroll
    for (u32 by = 1; by < 32u; by *= 2) {
        const u32 other = __shfl_up_sync(EVERYONE, v, by);
        if (lane_of() >= by) v += other;
    }
    return v;
}

// ---- multisplit in a warp ----------------------------------------------------------------------
// One ballot per bit of the bucket number tells every lane which lanes hold which number below 2^BITS (ashkiani2017
// §5.4): BITS ballots, however many buckets there are.

// Layout of one word per number, spread over a warp: number lane + 32·r is word r of a lane (ashkiani2017 §5.7).
template <u32 BITS> struct Ballot {
    static const u32 NUMBERS = 1u << BITS;
    static const u32 WORDS = BITS > 5 ? 1u << (BITS - 5) : 1u;
};

// The ballots: the valid lanes, and for each bit the lanes whose number has it set.
template <u32 BITS> struct Votes {
    u32 valid;
    u32 ones[BITS];
};

// Takes the ballots; only lanes in the mask `valid` count. All lanes of the warp must call this.
template <u32 BITS> LAB Votes<BITS> voted(u32 number, u32 valid) {
    Votes<BITS> votes;
    votes.valid = valid;
#pragma unroll
    for (u32 k = 0; k < BITS; ++k) votes.ones[k] = __ballot_sync(EVERYONE, (number >> k & 1u) != 0);
    return votes;
}

// Mask of the valid lanes whose number is `wanted`: Algorithm 3 if `wanted` is the lane's own number (with an erratum
// applied: the algorithm must test the bits of the number).
template <u32 BITS> LAB u32 voters(const Votes<BITS>& votes, u32 wanted) {
    u32 those = votes.valid;
#pragma unroll
    for (u32 k = 0; k < BITS; ++k) those &= (wanted >> k & 1u) != 0 ? votes.ones[k] : ~votes.ones[k];
    return those;
}

// counts[r] = number of lanes whose number is lane + 32·r (Algorithm 2; §5.5.1 for more than 32 buckets). The mask of
// the five low bits is the same for all words of a lane, so it is computed once.
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

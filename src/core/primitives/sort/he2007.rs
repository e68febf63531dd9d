//! The phases of he2007 §4.1's radix sort, and how its kernels divide the keys. Pure.
//!
//! Phase i splits each part by bits i · b … (i + 1) · b − 1 of the field, counted from the highest. A part of at most
//! [`FITS`] keys is split no further, but sorted in fast memory. Uniform keys therefore take
//! P = ⌈log₂(n / [`FITS`]) / b⌉ phases, the paper's log_f(n / S) for f = 2^b. The paper stops there. Parts of skewed keys
//! that do not fit then take further phases: on GPUs more of the same, which end at once where no such part is left,
//! and on CPUs those of a sort by the lowest digit first.

use super::Spec;
use super::digits::{Digit, Digits};
use super::spec::{Method, Optimised};

/// Keys of a part that fits: 32 KiB of the paper's 8-byte records; `NETWORK_TILE` in the kernels.
pub const FITS: u64 = super::bitonic::TILE;

/// The paper's S, bytes of shared memory: a block has at most as many threads as their counters fit in.
const SHARED: u32 = 16 << 10;

/// Threads per block at most, and keys per thread (`SHARE` in the kernels), few enough for counters of one byte.
const THREADS: u32 = 256;
const SHARE: u32 = 16;

/// Bits of a phase that the paper uses on GPUs and on CPUs.
const PAPERS_BITS: [u64; 2] = [5, 6];

/// The phases of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// The field that keys are sorted by.
    field: Digits,
    /// Bits of a phase.
    pub bits: u32,
    /// Phases that uniform keys take.
    pub count: u32,
}

impl Phases {
    /// The phases of a case; without the optimisation for caches, one with the bits of all.
    pub fn of(spec: &Spec) -> Phases {
        let (asked, optimised) = match spec.method {
            Method::He2007Msd { bits, optimised, .. } => (bits, optimised),
            _ => (None, Optimised::Cache),
        };
        let bits = asked.unwrap_or(PAPERS_BITS[usize::from(spec.backend.is_cpu())]) as u32;
        let field = spec.digits(bits);
        let levels = spec.keys.div_ceil(FITS).next_power_of_two().ilog2();
        let count = levels.div_ceil(bits).clamp(1, field.count());
        match optimised {
            Optimised::None if spec.backend.is_cpu() => Phases { field, bits: bits * count, count: 1 },
            _ => Phases { field, bits, count },
        }
    }

    /// Phases until no bits are left.
    pub fn all(self) -> u32 {
        (self.field.end - self.field.begin).div_ceil(self.bits)
    }

    /// Phases that are launched on a GPU for `n` keys: one if all of its parts fit.
    pub fn launched(self, n: u64) -> u32 {
        if Phases::large(n) == 0 { 1 } else { self.all() }
    }

    /// The digit of a phase, which is one of `all`; the last one may have fewer bits.
    pub fn digit(self, phase: u32) -> Digit {
        let end = self.field.end - phase * self.bits;
        let bits = self.bits.min(end - self.field.begin);
        Digit { shift: end - bits, bits }
    }

    /// The bits that are left after a phase, in digits of 8.
    pub fn rest(self, phase: u32) -> Digits {
        Digits { end: self.digit(phase).shift, radix: 8, ..self.field }
    }

    /// Threads of a block that have a counter of one byte for each part.
    pub fn threads(self) -> u32 {
        (SHARED >> self.bits).min(THREADS)
    }

    /// Keys of a block.
    pub fn tile(self) -> u64 {
        u64::from(self.threads() * SHARE)
    }

    /// Bytes of dynamic shared memory per block: `PhaseRoom` in the kernels.
    pub fn shared(self) -> u32 {
        let (parts, threads) = (1 << self.bits, self.threads());
        // Places and sums over lanes, counters, and the ranks and parts of a thread's keys in rows.
        parts * (4 + 2 * 32 + threads) + threads * (2 * (SHARE + 2) + SHARE + 4)
    }

    /// Parts of more than [`FITS`] keys, at most.
    pub fn large(n: u64) -> u64 {
        n / (FITS + 1)
    }

    /// Tiles of a phase, at most.
    pub fn tiles(self, n: u64, phase: u32) -> u64 {
        if phase == 0 { n.div_ceil(self.tile()) } else { n / self.tile() + Phases::large(n) }
    }

    /// Counts of a phase, at most: one for each tile and each value of the digit.
    pub fn counts(self, n: u64, phase: u32) -> u64 {
        self.tiles(n, phase) << self.digit(phase).bits
    }

    /// The largest number of counts of any phase.
    pub fn most_counts(self, n: u64) -> u64 {
        (0..self.launched(n).min(2)).map(|phase| self.counts(n, phase)).max().unwrap_or(0).max(1)
    }

    /// Parts that fit, at most.
    pub fn leaves(self, n: u64) -> u64 {
        let large = 1 + u64::from(self.launched(n) - 1) * Phases::large(n);
        (large << self.bits).min(n).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    fn phases(words: &str) -> Phases {
        Phases::of(&spec(&format!("method=he2007-msd {words}")))
    }

    /// The paper's phases of 5 bits, for 16 Mi records of 8 bytes.
    #[test]
    fn the_paper_has_three() {
        let gpu = phases("keys=16777216 values=4B backend=cuda");
        assert_eq!((gpu.bits, gpu.count, gpu.all(), gpu.threads()), (5, 3, 7, 256));
        assert_eq!([0, 5, 6].map(|k| gpu.digit(k).shift), [27, 2, 0]);
        assert_eq!((gpu.digit(6).bits, gpu.rest(2)), (2, Digits { begin: 0, end: 17, radix: 8 }));
    }

    #[test]
    fn processors_have_one_phase_without_the_optimisation() {
        let words = "keys=16777216 backend=cpu method.he2007-msd.optimised";
        assert_eq!(phases(&format!("{words}=cache")).bits, 6);
        let single = phases(&format!("{words}=none"));
        assert_eq!((single.bits, single.count, single.digit(0).shift), (12, 1, 20));
        assert_eq!(phases("keys=9 backend=cpu begin=3 end=5").digit(0), Digit { shift: 3, bits: 2 });
    }

    #[test]
    fn a_block_fits_and_its_counters_hold_a_byte() {
        for bits in 1..=8 {
            let phases = phases(&format!("keys=9 backend=cuda method.he2007-msd.bits={bits}"));
            let lane = phases.threads() / 32 * SHARE;
            assert!(phases.threads().is_multiple_of(32) && lane <= 255 && phases.tile() <= FITS, "{bits}");
            assert!(phases.threads() << bits <= SHARED && phases.shared() <= 48 << 10, "{bits}");
        }
    }
}

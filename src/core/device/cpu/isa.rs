//! Instruction sets of the data path.

use std::fmt;

/// An instruction set available to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// No vector gather, scatter or arithmetic on the data path.
    Scalar,
    /// 256-bit vectors with gathers but no scatters.
    Avx2,
    /// 512-bit vectors with gathers, scatters and masks (AVX-512 F, VL, BW and DQ, and BMI2).
    Avx512,
}

impl Isa {
    /// All instruction sets, widest last.
    pub const ALL: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The instruction set with this name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// True if this CPU supports the instruction set.
    #[cfg(target_arch = "x86_64")]
    pub fn present(self) -> bool {
        match self {
            Isa::Scalar => true,
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
            Isa::Avx512 => {
                Isa::Avx2.present()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("bmi2")
            }
        }
    }

    /// True if this CPU supports the instruction set.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn present(self) -> bool {
        self == Isa::Scalar
    }

    /// The widest instruction set of this CPU.
    pub fn widest() -> Isa {
        Isa::ALL.into_iter().rev().find(|isa| isa.present()).unwrap_or(Isa::Scalar)
    }

    /// The choice of `isa: auto` for a kernel whose data path consists of gather instructions: the widest instruction
    /// set, but scalar on AMD CPUs.
    ///
    /// AMD CPUs microcode gathers and scatters, and keep few of their loads in flight: scalar loads and stores of
    /// single words are faster unless the kernel prefetches. Measured on a Zen 5 server (EPYC, two virtual CPUs, both
    /// threads; medians in GB/s on a machine shared with others, so only ratios within a row are meaningful):
    ///
    /// | | scalar | avx2 | avx512 |
    /// |---|---|---|---|
    /// | pattern gather, UNIFORM:8:1, 1.6 GB | 29 | 27 | 30 |
    /// | pattern gather, UNIFORM:8:8, 1.6 GB | 4.1 | 2.2 | 2.3 |
    /// | pattern gather, UNIFORM:16:24, delta 1, cached | 112 | 66 | 66 |
    /// | pattern scatter, UNIFORM:8:1, 1.6 GB | 26 | – | 6.0 |
    /// | pattern scatter, UNIFORM:8:8, 1.6 GB | 1.9 | – | 1.7 |
    /// | pattern scatter, UNIFORM:16:24, delta 1, cached | 62 | – | 58 |
    /// | gather, sequential L, 2^26 tuples of 8 bytes | 8.1 | 3.8 | 3.7 |
    /// | gather, random L, 2^21 tuples of 8 bytes | 7.8 | 5.8 | 6.0 |
    /// | scatter, random L, 2^26 tuples of 8 bytes | 2.8 | – | 2.6 |
    pub fn for_gathers() -> Isa {
        if amd() { Isa::Scalar } else { Isa::widest() }
    }

    /// The choice of `isa: auto` for a kernel whose data path consists of scatter instructions: AVX-512 if
    /// available, except on AMD CPUs (see [`for_gathers`](Isa::for_gathers)); otherwise scalar.
    pub fn for_scatters() -> Isa {
        match Isa::widest() {
            Isa::Avx512 if !amd() => Isa::Avx512,
            _ => Isa::Scalar,
        }
    }
}

fn amd() -> bool {
    matches!(super::vendor().as_str(), "AuthenticAMD" | "HygonGenuine")
}

/// Selects an item by instruction set from the caller's modules `scalar`, `avx2` and `avx512`.
macro_rules! of_isa {
    ($isa:expr, $($item:tt)+) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            $crate::device::cpu::Isa::Avx2 => avx2::$($item)+,
            #[cfg(target_arch = "x86_64")]
            $crate::device::cpu::Isa::Avx512 => avx512::$($item)+,
            _ => scalar::$($item)+,
        }
    };
}

pub(crate) use of_isa;

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        assert!(Isa::ALL.iter().all(|&isa| Isa::named(isa.name()) == Some(isa)));
        assert_eq!(Isa::named("auto"), None);
        assert!(Isa::widest().present() && Isa::Scalar.present());
        assert!(Isa::for_gathers().present() && Isa::for_scatters().present());
        assert_ne!(Isa::for_scatters(), Isa::Avx2);
    }
}

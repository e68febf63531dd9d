//! Instruction sets of the data path.

use std::fmt;

/// What a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// No vector gather, scatter or arithmetic on the data path.
    Scalar,
    /// 256-bit vectors with gathers, without scatters.
    Avx2,
    /// 512-bit vectors with gathers, scatters and masks (AVX-512 F, VL, BW and DQ).
    Avx512,
}

impl Isa {
    /// All of them, the widest last.
    pub const ALL: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// Whether this processor has it.
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
            }
        }
    }

    /// Whether this processor has it.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn present(self) -> bool {
        self == Isa::Scalar
    }

    /// The widest that this processor has.
    pub fn widest() -> Isa {
        Isa::ALL.into_iter().rev().find(|isa| isa.present()).unwrap_or(Isa::Scalar)
    }

    /// Whether gathers and scatters are microcode that scalar loads and stores may
    /// outrun: true for AMD's processors.
    pub fn gathers_in_microcode() -> bool {
        super::facts::vendor() == "AuthenticAMD"
    }
}

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
    }
}

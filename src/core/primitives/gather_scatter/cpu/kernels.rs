//! The timed kernels by name: `gather`, `gather_streaming`, `scatter`, `gather_pass` and `scatter_pass`, in one
//! module per instruction set.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;

use super::body::{self, Move};
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::{Avx2, Avx512};
use crate::device::cpu::simd::{Index, Scalar};
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::cpu::tuple::{Halves, Quad};
use crate::primitives::gather_scatter::spec::{Kernel, Method, Spec};

/// A timed kernel.
///
/// # Safety
/// The launch's pointers are valid for all accesses of the definition, and the processor has the instruction set.
pub type Timed = unsafe fn(&Move);

/// A kernel with one body per tuple size, selected at compile time.
macro_rules! kernel {
    ([$($feature:literal)?] $name:ident: $four:expr, $eight:expr, $sixteen:expr, $thirty_two:expr) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        unsafe fn $name<I: Index, const Z: usize>(m: &Move) {
            unsafe {
                match Z {
                    4 => $four(m),
                    8 => $eight(m),
                    16 => $sixteen(m),
                    _ => $thirty_two(m),
                }
            }
        }
    };
}

/// The five kernels of an instruction set; `$wide` is the type that moves 32 bytes.
macro_rules! kernels {
    ($isa:ident, $features:tt, $simd:ty, $wide:ty,
     gather: [$g4:expr, $g8:expr], streaming: [$n4:expr, $n8:expr], scatter: [$s4:expr, $s8:expr]) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            kernel!($features gather: $g4, $g8,
                body::moves::<Quad, I, false, false>, body::moves::<$wide, I, false, false>);
            kernel!($features gather_streaming: $n4, $n8,
                body::moves::<Quad, I, false, true>, body::moves::<$wide, I, false, true>);
            kernel!($features scatter: $s4, $s8,
                body::moves::<Quad, I, true, false>, body::moves::<$wide, I, true, false>);
            kernel!($features gather_pass:
                body::filtered::<$simd, u32, I, false>, body::filtered::<$simd, u64, I, false>,
                body::filtered::<$simd, Quad, I, false>, body::filtered::<$simd, $wide, I, false>);
            kernel!($features scatter_pass:
                body::filtered::<$simd, u32, I, true>, body::filtered::<$simd, u64, I, true>,
                body::filtered::<$simd, Quad, I, true>, body::filtered::<$simd, $wide, I, true>);

            pub(super) fn select<I: Index, const Z: usize>(spec: &Spec) -> Timed {
                let passes = spec.method.segments_and_passes().1;
                match (spec.kernel, passes) {
                    (Kernel::Gather, 1) if spec.method == Method::Streaming => gather_streaming::<I, Z>,
                    (Kernel::Gather, 1) => gather::<I, Z>,
                    (Kernel::Scatter, 1) => scatter::<I, Z>,
                    (Kernel::Gather, _) => gather_pass::<I, Z>,
                    (Kernel::Scatter, _) => scatter_pass::<I, Z>,
                }
            }
        }
    };
}

kernels!(scalar, [], Scalar, Halves,
    gather: [body::moves::<u32, I, false, false>, body::moves::<u64, I, false, false>],
    streaming: [body::moves::<u32, I, false, true>, body::moves::<u64, I, false, true>],
    scatter: [body::moves::<u32, I, true, false>, body::moves::<u64, I, true, false>]);

// AVX2 has no scatter instruction; the substitute below is never selected, because such a case is `n/a`.
#[cfg(target_arch = "x86_64")]
kernels!(avx2, ["avx2,popcnt"], Avx2, __m256i,
    gather: [body::gather::<Avx2, u32, I, false>, body::gather::<Avx2, u64, I, false>],
    streaming: [body::gather::<Avx2, u32, I, true>, body::gather::<Avx2, u64, I, true>],
    scatter: [body::moves::<u32, I, true, false>, body::moves::<u64, I, true, false>]);

#[cfg(target_arch = "x86_64")]
kernels!(avx512, ["avx512f,avx512vl,avx512bw,avx512dq,popcnt"], Avx512, __m256i,
    gather: [body::gather::<Avx512, u32, I, false>, body::gather::<Avx512, u64, I, false>],
    streaming: [body::gather::<Avx512, u32, I, true>, body::gather::<Avx512, u64, I, true>],
    scatter: [body::scatter::<Avx512, u32, I>, body::scatter::<Avx512, u64, I>]);

/// The timed kernel of a case, for an instruction set that is present.
pub fn timed(spec: &Spec, isa: Isa) -> Timed {
    match spec.index {
        4 => by_tuple::<u32>(spec, isa),
        _ => by_tuple::<u64>(spec, isa),
    }
}

fn by_tuple<I: Index>(spec: &Spec, isa: Isa) -> Timed {
    match spec.tuple {
        4 => by_isa::<I, 4>(spec, isa),
        8 => by_isa::<I, 8>(spec, isa),
        16 => by_isa::<I, 16>(spec, isa),
        _ => by_isa::<I, 32>(spec, isa),
    }
}

fn by_isa<I: Index, const Z: usize>(spec: &Spec, isa: Isa) -> Timed {
    of_isa!(isa, select::<I, Z>(spec))
}

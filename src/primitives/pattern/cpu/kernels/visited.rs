//! The timed loops where an array says where each use starts: a list of deltas, or uses in
//! an order of their own. The loops over the entries of a use are those of the other kernels.

use super::*;

/// One launch whose uses start where arrays say; the steps of its `uses` are not used.
#[derive(Clone, Copy, Debug)]
pub struct Visits {
    pub uses: Uses,
    /// Where this launch's uses start in the sparse array, and in the destination of gs (of
    /// other kernels anything that may be read).
    pub starts: [*const u8; 2],
    /// Whether a start has 8 bytes, and not 4.
    pub wide: bool,
}

impl Visits {
    #[inline(always)]
    unsafe fn start(&self, side: usize, i: usize) -> usize {
        let starts = self.starts[side];
        unsafe {
            match self.wide {
                true => starts.cast::<u64>().add(i).read() as usize,
                false => starts.cast::<u32>().add(i).read() as usize,
            }
        }
    }
}

/// A timed kernel, as [`super::Timed`].
///
/// # Safety
/// The launch's pointers are valid for what the definition accesses, its arrays of starts
/// for `uses.count` of them, and the processor has the instruction set.
pub type Timed = unsafe fn(&Visits) -> u64;

/// All uses of a launch.
#[inline(always)]
unsafe fn run<S: Lanes<u64>, K: Step<S>, I: Index>(v: &Visits) -> u64 {
    unsafe {
        let u = &v.uses;
        let (mut state, mut turn, mut i) = (K::start(), u.phase, 0);
        while i < u.count {
            let c = Cursor {
                sparse: u.sparse.wrapping_add(v.start(0, i)),
                target: u.target.wrapping_add(v.start(1, i)),
                dense: u.dense.wrapping_add(turn * u.length),
            };
            entries::<S, K, I, false>(u, &c, &mut state);
            turn = if turn + 1 == u.wrap { 0 } else { turn + 1 };
            i += 1;
        }
        K::end(state)
    }
}

/// Named kernels of an instruction set, and which of them a case takes.
macro_rules! visited {
    (@fn [$($feature:literal)?], $name:ident, $simd:ty, $step:ty) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn $name<I: Index>(v: &Visits) -> u64 {
            unsafe { run::<$simd, $step, I>(v) }
        }
    };
    ($isa:ident, $simd:ty, $features:tt, $($kernel:pat, $method:pat => $name:ident $step:ty),+) => {
        mod $isa {
            use super::*;

            $(visited!(@fn $features, $name, $simd, $step);)+

            pub(super) fn select<I: Index>(spec: &Spec) -> Option<Timed> {
                match (spec.kernel, spec.method) {
                    $(($kernel, $method) => Some($name::<I>),)+
                    #[allow(unreachable_patterns, reason = "not every instruction set scatters")]
                    _ => None,
                }
            }
        }
    };
}

macro_rules! complete {
    ($isa:ident, $simd:ty, $features:tt) => {
        visited! { $isa, $simd, $features,
            Kernel::Gather, Method::Direct => gather Gather,
            Kernel::Multigather, Method::Direct => multigather Multigather,
            Kernel::Gather, Method::ReadOnly => read_only ReadOnly<false>,
            Kernel::Multigather, Method::ReadOnly => multi_read_only ReadOnly<true>,
            Kernel::Scatter, _ => scatter Scattering,
            Kernel::Multiscatter, _ => multiscatter Multiscatter,
            Kernel::Gs, _ => gs GatherScatter
        }
    };
}

complete!(scalar, Scalar, []);
#[cfg(target_arch = "x86_64")]
complete!(avx512, Avx512, ["avx512f,avx512vl,avx512bw,avx512dq,popcnt"]);
#[cfg(target_arch = "x86_64")]
visited! { avx2, Avx2, ["avx2,popcnt"],
    Kernel::Gather, Method::Direct => gather Gather,
    Kernel::Multigather, Method::Direct => multigather Multigather,
    Kernel::Gather, Method::ReadOnly => read_only ReadOnly<false>,
    Kernel::Multigather, Method::ReadOnly => multi_read_only ReadOnly<true>
}

/// The timed kernel of a case, for an instruction set that is present; `None` where that
/// cannot scatter.
pub fn timed(spec: &Spec, isa: Isa) -> Option<Timed> {
    match spec.index {
        4 => by_isa::<u32>(spec, isa),
        _ => by_isa::<u64>(spec, isa),
    }
}

fn by_isa<I: Index>(spec: &Spec, isa: Isa) -> Option<Timed> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::select::<I>(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::select::<I>(spec),
        _ => scalar::select::<I>(spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts of 8 bytes are for arrays that no test allocates.
    #[test]
    fn starts_have_4_bytes_or_8() {
        let words: Vec<u64> = (100..140).collect();
        let pattern = [1u32, 0, 2];
        let (narrow, wide) = ([0u32, 30, 7, 7], [0u64, 30, 7, 7]);
        for (wide, starts) in [(false, narrow.as_ptr().cast()), (true, wide.as_ptr().cast())] {
            let mut dense = [0u64; 6];
            let uses = Uses {
                sparse: words.as_ptr().cast_mut(),
                step: 0,
                target: std::ptr::null_mut(),
                target_step: 0,
                dense: dense.as_mut_ptr(),
                pattern: pattern.as_ptr().cast(),
                second: std::ptr::null(),
                length: 3,
                count: 4,
                phase: 1,
                wrap: 2,
            };
            // SAFETY: the largest start and index are inside the words, and the tiles of D
            // are two.
            unsafe { scalar::gather::<u32>(&Visits { uses, starts: [starts; 2], wide }) };
            assert_eq!(dense, [108, 107, 109, 108, 107, 109], "wide: {wide}");
        }
    }
}

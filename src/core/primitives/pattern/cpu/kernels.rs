//! The timed loops: one generic body, and a named function for each kernel and instruction set. The same
//! functions run in the timed region and for the certificate; only the size of the dense side differs.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::collections::BTreeSet;

use crate::device::cpu::memory::prefetch;
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::{Avx2, Avx512};
use crate::device::cpu::simd::{Fold, Index, Lanes, Scalar, Scatter, Simd, inlined};
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::pattern::spec::{Kernel, Method, Spec};

/// One launch: consecutive uses of a pattern. Pointers to patterns point to indices of the case's width.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    /// The sparse array at this launch's first use; the source of gs.
    pub sparse: *mut u64,
    /// Words by which the sparse array advances from use to use (δ, or δ_g of gs).
    pub step: usize,
    /// The sparse destination of gs.
    pub target: *mut u64,
    /// Words by which the destination of gs advances (δ_s).
    pub target_step: usize,
    /// The dense side: P·wrap words.
    pub dense: *mut u64,
    /// p; p_g or p_s of the multi-kernels; p_g of gs.
    pub pattern: *const u8,
    /// The outer pattern of the multi-kernels; p_s of gs.
    pub second: *const u8,
    /// P.
    pub length: usize,
    /// Uses in this launch.
    pub count: usize,
    /// First tile of the dense side, below wrap.
    pub phase: usize,
    /// Tiles of the dense side.
    pub wrap: usize,
    /// Where this launch's uses start, if that is read from arrays: in the sparse array, and in the destination of gs
    /// (for other kernels any readable memory). The steps are then unused.
    pub starts: [*const u8; 2],
    /// Whether a start has 8 bytes instead of 4.
    pub wide: bool,
}

impl Uses {
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

/// A timed kernel. Kernels that store nothing return the fold of the words read.
///
/// # Safety
/// The launch's pointers are valid for all accesses of the definition, its arrays of starts, if read, hold
/// `count` starts, and the processor has the instruction set.
pub type Timed = unsafe fn(&Uses) -> u64;

/// The position of a use: the launch's pointers, advanced.
struct Cursor {
    sparse: *mut u64,
    target: *mut u64,
    dense: *mut u64,
}

/// A kernel's action on all lanes of one vector, and on the first `n` lanes.
trait Step<S: Lanes<u64>> {
    /// The state carried from vector to vector.
    type State;
    unsafe fn start() -> Self::State;
    unsafe fn all<I: Index>(u: &Uses, c: &Cursor, j: usize, at: S::At, s: &mut Self::State);
    unsafe fn some<I: Index>(u: &Uses, c: &Cursor, j: usize, n: usize, s: &mut Self::State);
    unsafe fn end(state: Self::State) -> u64;
}

/// The positions in the sparse array; with `MULTI` an index goes through the second pattern.
#[inline(always)]
unsafe fn through<S: Simd, I: Index, const MULTI: bool>(u: &Uses, at: S::At) -> S::At {
    if MULTI { unsafe { S::through(u.second.cast::<I>(), at) } } else { at }
}

/// `step!` defines a stateless [`Step`] by its two moves.
macro_rules! step {
    ($name:ident, $bound:ident, |$u:ident, $c:ident, $j:ident, $at:ident| $all:expr, |$n:ident| $some:expr) => {
        struct $name<const MULTI: bool>;
        impl<S: $bound<u64>, const MULTI: bool> Step<S> for $name<MULTI> {
            type State = ();

            inlined! {
                fn start() {}
                fn all<I: Index>($u: &Uses, $c: &Cursor, $j: usize, at: S::At, _: &mut ()) {
                    let $at = through::<S, I, MULTI>($u, at);
                    $all
                }
                fn some<I: Index>($u: &Uses, $c: &Cursor, $j: usize, $n: usize, _: &mut ()) {
                    let $at = through::<S, I, MULTI>($u, S::at_some($u.pattern.cast::<I>().add($j), $n));
                    $some
                }
                fn end(_: ()) -> u64 { 0 }
            }
        }
    };
}

step!(Gather, Lanes, |u, c, j, at| S::store(c.dense.add(j), S::gather(c.sparse, at)), |n| S::store_some(
    c.dense.add(j),
    S::gather_some(c.sparse, at, n),
    n
));
step!(Scattering, Scatter, |u, c, j, at| S::scatter(c.sparse, at, S::load(c.dense.add(j))), |n| {
    S::scatter_some(c.sparse, at, S::load_some(c.dense.add(j), n), n)
});
step!(
    GatherScatter,
    Scatter,
    |u, c, j, at| {
        let to = S::at(u.second.cast::<I>().add(j));
        S::scatter(c.target, to, S::gather(c.sparse, at))
    },
    |n| {
        let to = S::at_some(u.second.cast::<I>().add(j), n);
        S::scatter_some(c.target, to, S::gather_some(c.sparse, at, n), n)
    }
);

/// Folds the gathered words.
struct ReadOnly<const MULTI: bool>;

impl<S: Fold, const MULTI: bool> Step<S> for ReadOnly<MULTI> {
    type State = S::Data;

    inlined! {
        fn start() -> S::Data { S::zero() }
        fn all<I: Index>(u: &Uses, c: &Cursor, _j: usize, at: S::At, s: &mut S::Data) {
            *s = S::fold(*s, S::gather(c.sparse, through::<S, I, MULTI>(u, at)))
        }
        fn some<I: Index>(u: &Uses, c: &Cursor, j: usize, n: usize, s: &mut S::Data) {
            let at = through::<S, I, MULTI>(u, S::at_some(u.pattern.cast::<I>().add(j), n));
            *s = S::fold(*s, S::gather_some(c.sparse, at, n));
        }
        fn end(state: S::Data) -> u64 { S::total(state) }
    }
}

/// Entries per iteration of the inner loop over a long pattern.
const GROUP: usize = 8;

/// Prefetch distance of a gather in bytes: far enough to hide the latency of memory, near enough to stay in the
/// L1 cache. For UNIFORM:8:1 from memory, 1 KiB was too near, and 2 to 8 KiB were alike.
const AHEAD: usize = 4096;

/// All uses of a launch. `P` is the pattern's length if it is fixed (8 or 16: the indices then stay in
/// registers), otherwise 0. With `FETCH` the loop prefetches: once per [`GROUP`] of entries, for the line of
/// the group's first entry (only in kernels that go through one pattern).
///
/// Uses are not unrolled, because the compiler would then keep an address for each entry of each use, which
/// exceeds the registers.
#[inline(always)]
unsafe fn run<S: Lanes<u64>, K: Step<S>, I: Index, const P: usize, const FETCH: bool>(u: &Uses) -> u64 {
    unsafe {
        let pattern = u.pattern.cast::<I>();
        let length = if P > 0 { P } else { u.length };
        let fixed = Fixed::<S, P>::new::<I>(pattern);
        let (mut state, mut turn) = (K::start(), u.phase);
        let mut c = Cursor { sparse: u.sparse, target: u.target, dense: u.dense.add(turn * length) };
        let mut left = u.count;
        while left > 0 {
            // A lap ends at the end of the dense side; with one tile the dense pointer never moves.
            let (lap, tile) = if u.wrap == 1 { (left, 0) } else { (left.min(u.wrap - turn), length) };
            let mut uses = lap;
            while uses > 0 {
                if P > 0 {
                    fixed.entries::<K, I, FETCH>(u, &c, &mut state);
                } else {
                    entries::<S, K, I, FETCH>(u, &c, &mut state);
                }
                c.sparse = c.sparse.wrapping_add(u.step);
                c.target = c.target.wrapping_add(u.target_step);
                c.dense = c.dense.wrapping_add(tile);
                uses -= 1;
            }
            (turn, c.dense) = (0, u.dense);
            left -= lap;
        }
        K::end(state)
    }
}

/// The indices of a pattern of fixed length, in registers.
struct Fixed<S: Simd, const P: usize>([S::At; 16]);

impl<S: Lanes<u64>, const P: usize> Fixed<S, P> {
    #[inline(always)]
    unsafe fn new<I: Index>(pattern: *const I) -> Self {
        unsafe {
            let mut at = [S::at_some(pattern, 0); 16];
            let mut k = 0;
            while k < P / S::LANES {
                at[k] = S::at(pattern.add(k * S::LANES));
                k += 1;
            }
            Fixed(at)
        }
    }

    /// Executes one use.
    #[inline(always)]
    unsafe fn entries<K: Step<S>, I: Index, const FETCH: bool>(
        &self,
        u: &Uses,
        c: &Cursor,
        state: &mut K::State,
    ) {
        unsafe {
            let mut k = 0;
            while k < P / S::LANES {
                if FETCH && (k * S::LANES).is_multiple_of(GROUP) {
                    fetch(c.sparse, S::first(self.0[k]));
                }
                K::all::<I>(u, c, k * S::LANES, self.0[k], state);
                k += 1;
            }
        }
    }
}

/// Prefetches the line [`AHEAD`] bytes after a word, which later uses will load. A prefetch moves no data to a
/// register, so it belongs to every instruction set; past the end of the array it has no effect.
#[inline(always)]
fn fetch(sparse: *mut u64, at: usize) {
    prefetch(sparse.wrapping_add(at).wrapping_byte_add(AHEAD));
}

/// One use of a pattern of any length.
#[inline(always)]
unsafe fn entries<S: Lanes<u64>, K: Step<S>, I: Index, const FETCH: bool>(
    u: &Uses,
    c: &Cursor,
    state: &mut K::State,
) {
    unsafe {
        let pattern = u.pattern.cast::<I>();
        let mut j = 0;
        while j + GROUP <= u.length {
            let mut k = 0;
            while k < GROUP {
                let at = S::at(pattern.add(j + k));
                if FETCH && k == 0 {
                    fetch(c.sparse, S::first(at));
                }
                K::all::<I>(u, c, j + k, at, state);
                k += S::LANES;
            }
            j += GROUP;
        }
        while j + S::LANES <= u.length {
            K::all::<I>(u, c, j, S::at(pattern.add(j)), state);
            j += S::LANES;
        }
        if j < u.length {
            K::some::<I>(u, c, j, u.length - j, state);
        }
    }
}

/// All uses of a launch whose starts are read from an array: a list of deltas, or uses in shuffled order.
#[inline(always)]
unsafe fn run_visits<S: Lanes<u64>, K: Step<S>, I: Index>(u: &Uses) -> u64 {
    unsafe {
        let (mut state, mut turn, mut i) = (K::start(), u.phase, 0);
        while i < u.count {
            let c = Cursor {
                sparse: u.sparse.wrapping_add(u.start(0, i)),
                target: u.target.wrapping_add(u.start(1, i)),
                dense: u.dense.wrapping_add(turn * u.length),
            };
            entries::<S, K, I, false>(u, &c, &mut state);
            turn = if turn + 1 == u.wrap { 0 } else { turn + 1 };
            i += 1;
        }
        K::end(state)
    }
}

/// Named kernels of an instruction set, and the selection of a case's kernel.
macro_rules! kernels {
    (@fn [$($feature:literal)?], $name:ident [$($generic:tt)+] $run:expr) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(in crate::primitives::pattern::cpu::kernels) unsafe fn $name<$($generic)+>(u: &Uses) -> u64 {
            unsafe { $run(u) }
        }
    };
    (
        $isa:ident, $simd:ty, $features:tt,
        $($kernel:pat, $method:pat => $name:ident $step:ty, $fetch:tt;)+
    ) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            $(kernels!(@fn $features, $name [I: Index, const P: usize, const FETCH: bool]
                run::<$simd, $step, I, P, FETCH>);)+

            /// The kernels of uses whose starts are read from arrays.
            pub mod visited {
                use super::*;

                $(kernels!(@fn $features, $name [I: Index] run_visits::<$simd, $step, I>);)+
            }

            pub(super) fn select<I: Index, const P: usize, const FETCH: bool>(spec: &Spec) -> Option<Timed> {
                Some(match (spec.kernel, spec.method) {
                    $(
                        ($kernel, $method) if spec.based() => visited::$name::<I>,
                        ($kernel, $method) => $name::<I, P, $fetch>,
                    )+
                    #[allow(unreachable_patterns, reason = "not every instruction set scatters")]
                    _ => return None,
                })
            }
        }
    };
}

/// The kernels of an instruction set with gathers only.
macro_rules! gathering {
    ($isa:ident, $simd:ty, $features:tt, $($scattering:tt)*) => {
        kernels! { $isa, $simd, $features,
            Kernel::Gather, Method::ReadOnly => read_only ReadOnly<false>, FETCH;
            Kernel::Multigather, Method::ReadOnly => multi_read_only ReadOnly<true>, false;
            Kernel::Gather, _ => gather Gather<false>, FETCH;
            Kernel::Multigather, _ => multigather Gather<true>, false;
            $($scattering)*
        }
    };
}

/// The kernels of an instruction set that also has scatters.
macro_rules! complete {
    ($isa:ident, $simd:ty, $features:tt) => {
        gathering! { $isa, $simd, $features,
            Kernel::Scatter, _ => scatter Scattering<false>, false;
            Kernel::Multiscatter, _ => multiscatter Scattering<true>, false;
            Kernel::Gs, _ => gs GatherScatter<false>, false;
        }
    };
}

complete!(scalar, Scalar, []);
#[cfg(target_arch = "x86_64")]
complete!(avx512, Avx512, ["avx512f,avx512vl,avx512bw,avx512dq,popcnt"]);
#[cfg(target_arch = "x86_64")]
gathering!(avx2, Avx2, ["avx2,popcnt"],);

/// The timed kernel of a case, for an instruction set that is present; `None` if the instruction set cannot
/// scatter.
pub fn timed(spec: &Spec, isa: Isa) -> Option<Timed> {
    if spec.index == 4 { by_length::<u32>(spec, isa) } else { by_length::<u64>(spec, isa) }
}

fn by_length<I: Index>(spec: &Spec, isa: Isa) -> Option<Timed> {
    match (spec.length(), worth_fetching(spec)) {
        (8, false) => selected::<I, 8, false>(spec, isa),
        (8, true) => selected::<I, 8, true>(spec, isa),
        (16, false) => selected::<I, 16, false>(spec, isa),
        (16, true) => selected::<I, 16, true>(spec, isa),
        (_, false) => selected::<I, 0, false>(spec, isa),
        (_, true) => selected::<I, 0, true>(spec, isa),
    }
}

fn selected<I: Index, const P: usize, const FETCH: bool>(spec: &Spec, isa: Isa) -> Option<Timed> {
    of_isa!(isa, select::<I, P, FETCH>(spec))
}

/// Whether prefetching pays: if each use advances by half a line or more, so that its lines are new, and its
/// entries lie close together, so that one prefetched line serves several. A loop in the cache has no cycle to
/// spare for it, and if every entry has its own line, the hardware finds the lines better by itself: for
/// UNIFORM:8:8 from memory, a Zen 4 server gathered 2.6 GB/s without and 1.4 with prefetching; for UNIFORM:8:1,
/// 20 and 28.
fn worth_fetching(spec: &Spec) -> bool {
    let lines = |group: &[u64]| group.iter().map(|p| p / 8).collect::<BTreeSet<_>>().len();
    let close = spec.pattern.chunks(GROUP).all(|group| lines(group) <= 2);
    spec.kernel == Kernel::Gather && spec.delta >= 4 && close
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts of 8 bytes occur only in arrays that no other test allocates.
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
                starts: [starts; 2],
                wide,
            };
            // SAFETY: the largest start and index are inside the words, and D has two tiles.
            unsafe { scalar::visited::gather::<u32>(&uses) };
            assert_eq!(dense, [108, 107, 109, 108, 107, 109], "wide: {wide}");
        }
    }
}

//! The timed loops: one generic body, and a named function for each kernel and
//! instruction set. The same functions run for the clock and for the certificate; only
//! the size of the dense side differs.

use std::collections::BTreeSet;

use crate::device::cpu::Isa;
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::{Avx2, Avx512};
use crate::device::cpu::simd::{Fold, Index, Lanes, Scalar, Scatter, Simd};
use crate::primitives::pattern::spec::{Kernel, Method, Spec};

/// One launch: consecutive uses of a pattern. Pointers to patterns are to indices of
/// the case's width.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    /// The sparse array at this launch's first use; the source of gs.
    pub sparse: *mut u64,
    /// Words by which it moves from use to use (δ, or δ_g of gs).
    pub step: usize,
    /// The sparse destination of gs.
    pub target: *mut u64,
    /// Words by which that moves (δ_s).
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
}

/// A timed kernel. Those that store nothing return the fold of what they read.
///
/// # Safety
/// The launch's pointers are valid for what the definition accesses, and the processor
/// has the instruction set.
pub type Timed = unsafe fn(&Uses) -> u64;

/// Where a use stands: the launch's pointers, moved on.
struct Cursor {
    sparse: *mut u64,
    target: *mut u64,
    dense: *mut u64,
}

/// What a kernel does with the lanes of one vector, and with the first `n` of them.
trait Step<S: Lanes<u64>> {
    /// What it carries from vector to vector.
    type State;
    unsafe fn start() -> Self::State;
    unsafe fn all<I: Index>(u: &Uses, c: &Cursor, j: usize, at: S::At, s: &mut Self::State);
    unsafe fn some<I: Index>(u: &Uses, c: &Cursor, j: usize, n: usize, s: &mut Self::State);
    unsafe fn end(state: Self::State) -> u64;
}

/// `step!` writes a [`Step`] without state: how it resolves an index, then its two moves.
macro_rules! step {
    ($name:ident, $bound:ident, |$u:ident, $c:ident, $j:ident, $at:ident| $all:expr, |$n:ident| $some:expr) => {
        struct $name;
        impl<S: $bound<u64>> Step<S> for $name {
            type State = ();

            #[inline(always)]
            unsafe fn start() {}

            #[inline(always)]
            unsafe fn all<I: Index>($u: &Uses, $c: &Cursor, $j: usize, $at: S::At, _: &mut ()) {
                unsafe { $all }
            }

            #[inline(always)]
            unsafe fn some<I: Index>($u: &Uses, $c: &Cursor, $j: usize, $n: usize, _: &mut ()) {
                unsafe {
                    let $at = S::at_some($u.pattern.cast::<I>().add($j), $n);
                    $some
                }
            }

            #[inline(always)]
            unsafe fn end(_: ()) -> u64 {
                0
            }
        }
    };
}

step!(Gather, Lanes, |_u, c, j, at| S::store(c.dense.add(j), S::gather(c.sparse, at)), |n| S::store_some(
    c.dense.add(j),
    S::gather_some(c.sparse, at, n),
    n
));
step!(
    Multigather,
    Lanes,
    |u, c, j, at| {
        let at = S::through(u.second.cast::<I>(), at);
        S::store(c.dense.add(j), S::gather(c.sparse, at))
    },
    |n| {
        let at = S::through(u.second.cast::<I>(), at);
        S::store_some(c.dense.add(j), S::gather_some(c.sparse, at, n), n)
    }
);
step!(Scattering, Scatter, |_u, c, j, at| S::scatter(c.sparse, at, S::load(c.dense.add(j))), |n| {
    S::scatter_some(c.sparse, at, S::load_some(c.dense.add(j), n), n)
});
step!(
    Multiscatter,
    Scatter,
    |u, c, j, at| {
        let at = S::through(u.second.cast::<I>(), at);
        S::scatter(c.sparse, at, S::load(c.dense.add(j)))
    },
    |n| {
        let at = S::through(u.second.cast::<I>(), at);
        S::scatter_some(c.sparse, at, S::load_some(c.dense.add(j), n), n)
    }
);
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

/// Folds what it gathers; `MULTI` goes through the second pattern.
struct ReadOnly<const MULTI: bool>;

impl<S: Fold, const MULTI: bool> Step<S> for ReadOnly<MULTI> {
    type State = S::Data;

    #[inline(always)]
    unsafe fn start() -> S::Data {
        unsafe { S::zero() }
    }

    #[inline(always)]
    unsafe fn all<I: Index>(u: &Uses, c: &Cursor, _j: usize, at: S::At, s: &mut S::Data) {
        unsafe {
            let at = if MULTI { S::through(u.second.cast::<I>(), at) } else { at };
            *s = S::fold(*s, S::gather(c.sparse, at));
        }
    }

    #[inline(always)]
    unsafe fn some<I: Index>(u: &Uses, c: &Cursor, j: usize, n: usize, s: &mut S::Data) {
        unsafe {
            let at = S::at_some(u.pattern.cast::<I>().add(j), n);
            let at = if MULTI { S::through(u.second.cast::<I>(), at) } else { at };
            *s = S::fold(*s, S::gather_some(c.sparse, at, n));
        }
    }

    #[inline(always)]
    unsafe fn end(state: S::Data) -> u64 {
        unsafe { S::total(state) }
    }
}

/// Entries in one turn of the inner loop over a long pattern.
const GROUP: usize = 8;

/// Bytes by which a gather asks ahead of its loads: far enough to hide the latency of
/// memory, near enough to stay in the first cache. Of UNIFORM:8:1 from memory, 1 KiB was
/// too near, and 2 to 8 KiB were alike.
const AHEAD: usize = 4096;

/// All uses of a launch. `P` is the pattern's length where it is fixed (8 or 16: the
/// indices then stay in registers), otherwise 0. With `FETCH` it asks for memory ahead
/// of its loads: once for each [`GROUP`] of entries, for the line of the first of them
/// (in kernels that go through one pattern only).
///
/// Uses are not unrolled: the compiler then keeps an address for each entry of each of
/// them, which are more than there are registers.
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
            // A lap ends where the dense side does; with one tile it never moves.
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

    /// One use.
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

/// Asks for the line [`AHEAD`] of a word, which later uses will load. It moves no data to
/// a register, so it belongs to every instruction set; past the end of the array it does
/// nothing.
#[inline(always)]
fn fetch(sparse: *mut u64, at: usize) {
    let word = sparse.wrapping_add(at).wrapping_byte_add(AHEAD);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch accesses nothing that a program could notice, at any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(word.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
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

/// Named kernels of an instruction set.
macro_rules! named {
    (@fn [$($feature:literal)?], $name:ident, $simd:ty, $step:ty) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        unsafe fn $name<I: Index, const P: usize, const FETCH: bool>(u: &Uses) -> u64 {
            unsafe { run::<$simd, $step, I, P, FETCH>(u) }
        }
    };
    ($isa:ident, $simd:ty, $features:tt, $($name:ident $step:ty),+; $select:item) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            $(named!(@fn $features, $name, $simd, $step);)+

            $select
        }
    };
}

/// The kernels of an instruction set that can scatter.
macro_rules! complete {
    ($isa:ident, $simd:ty, $features:tt) => {
        named! { $isa, $simd, $features,
            gather Gather, multigather Multigather, scatter Scattering, multiscatter Multiscatter,
            gs GatherScatter, read_only ReadOnly<false>, multi_read_only ReadOnly<true>;
            pub(super) fn select<I: Index, const P: usize, const FETCH: bool>(spec: &Spec) -> Timed {
                match (spec.kernel, spec.method) {
                    (Kernel::Gather, Method::Direct) => gather::<I, P, FETCH>,
                    (Kernel::Multigather, Method::Direct) => multigather::<I, P, false>,
                    (Kernel::Gather, Method::ReadOnly) => read_only::<I, P, FETCH>,
                    (Kernel::Multigather, Method::ReadOnly) => multi_read_only::<I, P, false>,
                    (Kernel::Scatter, _) => scatter::<I, P, false>,
                    (Kernel::Multiscatter, _) => multiscatter::<I, P, false>,
                    (Kernel::Gs, _) => gs::<I, P, false>,
                }
            }
        }
    };
}

pub mod visited;

complete!(scalar, Scalar, []);
#[cfg(target_arch = "x86_64")]
complete!(avx512, Avx512, ["avx512f,avx512vl,avx512bw,avx512dq,popcnt"]);
#[cfg(target_arch = "x86_64")]
named! { avx2, Avx2, ["avx2,popcnt"],
    gather Gather, multigather Multigather, read_only ReadOnly<false>, multi_read_only ReadOnly<true>;
    pub(super) fn select<I: Index, const P: usize, const FETCH: bool>(spec: &Spec) -> Option<Timed> {
        match (spec.kernel, spec.method) {
            (Kernel::Gather, Method::Direct) => Some(gather::<I, P, FETCH>),
            (Kernel::Multigather, Method::Direct) => Some(multigather::<I, P, false>),
            (Kernel::Gather, Method::ReadOnly) => Some(read_only::<I, P, FETCH>),
            (Kernel::Multigather, Method::ReadOnly) => Some(multi_read_only::<I, P, false>),
            _ => None,
        }
    }
}

/// The timed kernel of a case, for an instruction set that is present; `None` where
/// that cannot scatter.
pub fn timed(spec: &Spec, isa: Isa) -> Option<Timed> {
    match spec.index {
        4 => by_length::<u32>(spec, isa),
        _ => by_length::<u64>(spec, isa),
    }
}

fn by_length<I: Index>(spec: &Spec, isa: Isa) -> Option<Timed> {
    match spec.length() {
        8 => by_isa::<I, 8>(spec, isa),
        16 => by_isa::<I, 16>(spec, isa),
        _ => by_isa::<I, 0>(spec, isa),
    }
}

fn by_isa<I: Index, const P: usize>(spec: &Spec, isa: Isa) -> Option<Timed> {
    match worth_fetching(spec) {
        true => selected::<I, P, true>(spec, isa),
        false => selected::<I, P, false>(spec, isa),
    }
}

fn selected<I: Index, const P: usize, const FETCH: bool>(spec: &Spec, isa: Isa) -> Option<Timed> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::select::<I, P, FETCH>(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => Some(avx512::select::<I, P, FETCH>(spec)),
        _ => Some(scalar::select::<I, P, FETCH>(spec)),
    }
}

/// Whether asking ahead pays: where each use moves on by half a line or more, so that its
/// lines are new, and its entries lie close together, so that one line asked for serves
/// several. A loop in the cache has no cycle to spare for it, and where every entry has a
/// line of its own the processor finds them better alone: of UNIFORM:8:8 from memory, a
/// Zen 4 server gathered 2.6 GB/s without and 1.4 with it; of UNIFORM:8:1, 20 and 28.
fn worth_fetching(spec: &Spec) -> bool {
    let lines = |group: &[u64]| group.iter().map(|p| p / 8).collect::<BTreeSet<_>>().len();
    let close = spec.pattern.chunks(GROUP).all(|group| lines(group) <= 2);
    spec.kernel == Kernel::Gather && spec.delta >= 4 && close
}

//! Scans on the CPU, tile by tile.
//!
//! The total of a segmented range depends only on the elements from its last head on, so only those are
//! reduced. Every representation of the segment heads becomes one bit per element, tile by tile, in the
//! worker's cache. Arrays that exceed the caches are written with non-temporal stores.

pub(in crate::primitives) mod chain;
pub(in crate::primitives) mod heads;
pub mod kernels;
mod lanes;

use std::cell::UnsafeCell;

use super::operator::{Bits, combine, identity};
use super::{Kind, Spec, methods};
use crate::device::cpu::{caches, check, fence};
use crate::primitives::cpu::prelude::*;
use chain::Total;
use kernels::{Arrays, Kernels};

/// Upper limit on the bytes of a tile of in: a quarter of a small second-level cache.
const TILE_BYTES: usize = 256 << 10;
/// Lower limit on the elements of a tile; the flags of a tile fill whole cache lines.
const LEAST_TILE: usize = 512;
/// Tiles per worker, if there are enough elements.
const TILES: usize = 8;

/// A scan with its arrays.
pub struct Scan {
    pub spec: Spec,
    n: usize,
    input: Buffer,
    output: Buffer,
    heads: Option<heads::Array>,
    kernels: Kernels,
    tile: usize,
    /// True if the arrays exceed the caches.
    pub streaming: bool,
    fault: Option<Fault>,
    method: PoolMethod<Scan>,
    /// For each worker, the flags of a tile as bits.
    rooms: Vec<Room>,
}

/// Used by one worker alone.
struct Room(UnsafeCell<Vec<u64>>);

// SAFETY: each worker touches its own.
unsafe impl Sync for Room {}

/// The instruction set requested, or else the widest one if kernels exist for it, or else scalar.
/// `NotApplicable` if no kernel exists for a requested one.
pub(in crate::primitives) fn isa(
    context: &Context,
    what: &str,
    has: impl Fn(Isa) -> bool,
) -> Result<Isa, Failure> {
    let isa = context.isa_or(|| Some(Isa::widest()).filter(|&isa| has(isa)).unwrap_or(Isa::Scalar))?;
    let without = || Failure::NotApplicable(format!("{what} is computed without {isa}"));
    has(isa).then_some(isa).ok_or_else(without)
}

/// Elements per tile, a power of two.
fn tile(n: usize, threads: usize, element: usize) -> usize {
    (n / (TILES * threads)).next_power_of_two().clamp(LEAST_TILE, TILE_BYTES / element)
}

/// True if `bytes` exceeds the capacity of the largest cache.
fn exceeds_caches(bytes: u64, pool: &Pool) -> bool {
    const UNKNOWN: u64 = 32 << 20;
    bytes > caches::of(pool.cpus()).iter().map(|cache| cache.bytes).max().unwrap_or(UNKNOWN)
}

impl Scan {
    fn fill(&mut self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let (inputs, element, buffer) = (self.spec.inputs(), self.spec.element(), &mut self.input);
        let bits = |i: usize| inputs.bits(i as u64);
        match (self.spec.operator.words(), element) {
            (1, _) => pool.fill_words(buffer, element, self.n, cancel, |i| bits(i)[0])?,
            (_, 8) => pool.fill(buffer, self.n, cancel, |i| bits(i).map(|word| word as u32))?,
            _ => pool.fill(buffer, self.n, cancel, bits)?,
        }
        self.clear(pool, cancel)
    }

    /// The number of elements that are scanned: all, unless a fault drops the last one.
    fn handled(&self) -> usize {
        if self.fault == Some(Fault::MissingTail) { self.n - self.n.min(1) } else { self.n }
    }

    pub fn tiles(&self) -> usize {
        self.handled().div_ceil(self.tile)
    }

    /// The elements of the tile at place `t` in the order of the scan.
    pub fn tile_at(&self, t: usize) -> Range<usize> {
        let k = if self.spec.backward() { self.tiles() - 1 - t } else { t };
        k * self.tile..((k + 1) * self.tile).min(self.handled())
    }

    /// The arrays for a range of one tile.
    pub fn arrays(&self, range: &Range<usize>, worker: Worker) -> Arrays {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.element() as usize } else { 0 };
        let bits = |heads: &heads::Array| {
            // SAFETY: each worker has its own.
            let room = unsafe { &mut *self.rooms[worker.index].0.get() };
            heads.bits(range.clone(), room)
        };
        Arrays {
            from: self.input.ptr(),
            to: self.output.ptr::<u8>().wrapping_add(beside),
            heads: self.heads.as_ref().map_or(std::ptr::null(), bits),
            exclusive: self.spec.kind == Kind::Exclusive,
            streaming: self.streaming,
            ahead: 0,
        }
    }

    /// The total of a range of one tile.
    pub fn total(&self, arrays: &Arrays, range: Range<usize>) -> Total {
        let from = self.heads.as_ref().and_then(|_| self.last_begin(arrays, &range));
        let rest = match from {
            Some(head) if self.spec.backward() => range.start..head,
            Some(head) => head..range.end,
            None => range,
        };
        // SAFETY: inside the arrays.
        Total { value: unsafe { (self.kernels.reduce)(arrays, rest) }, begun: from.is_some() }
    }

    /// The head that bounds the segment in which a scan leaves the range. A backward scan begins a segment
    /// before the head of the segment behind it.
    fn last_begin(&self, arrays: &Arrays, range: &Range<usize>) -> Option<usize> {
        if self.spec.backward() {
            heads::first(arrays.heads, range.start + 1..(range.end + 1).min(self.n).max(range.start + 1))
        } else {
            heads::last(arrays.heads, range.clone())
        }
    }

    /// The prefix behind a range.
    pub fn behind(&self, prefix: Bits, total: Total) -> Bits {
        match total.begun {
            true => total.value,
            false => self.combine(prefix, total.value),
        }
    }

    /// p ⊕ q.
    pub fn combine(&self, p: Bits, q: Bits) -> Bits {
        combine(self.spec.operator, self.spec.ty, p, q)
    }

    pub fn identity(&self) -> Bits {
        identity(self.spec.operator, self.spec.ty)
    }

    /// Scans consecutive tiles from their prefix.
    pub fn scan_tiles(&self, tiles: Range<usize>, mut prefix: Bits, worker: Worker) {
        for t in tiles {
            let range = self.tile_at(t);
            let arrays = self.arrays(&range, worker);
            prefix = self.scan(&arrays, range, t, prefix, worker);
        }
    }
}

/// Scans of tiles, with the mistakes that a certificate must find.
impl Scan {
    /// Scans the tile at place `t` from its prefix and returns the prefix behind the tile.
    pub fn scan(&self, arrays: &Arrays, range: Range<usize>, t: usize, prefix: Bits, worker: Worker) -> Bits {
        match self.fault {
            Some(Fault::SkippedStore) if range.contains(&(self.n / 2)) => {
                self.skipping(arrays, range, prefix)
            }
            Some(Fault::WrongChunk) if t + 1 == self.tiles() => self.elsewhere(range, t, prefix, worker),
            // SAFETY: the range lies inside the arrays, or with a fault one element behind, in the guard.
            _ => unsafe { (self.kernels.scan)(arrays, range, prefix) },
        }
    }

    /// Scans without storing the element in the middle of the array, which still counts in the sums.
    fn skipping(&self, arrays: &Arrays, range: Range<usize>, prefix: Bits) -> Bits {
        let middle = self.n / 2;
        let (mut first, mut second) = (range.start..middle, middle + 1..range.end);
        if self.spec.backward() {
            std::mem::swap(&mut first, &mut second);
        }
        // SAFETY: as in `scan`.
        let before = unsafe { (self.kernels.scan)(arrays, first, prefix) };
        let total = self.total(arrays, middle..middle + 1);
        // SAFETY: as in `scan`.
        unsafe { (self.kernels.scan)(arrays, second, self.behind(before, total)) }
    }

    /// The worker of the last tile scans the tile before it instead, or half of the tile if there is only one.
    fn elsewhere(&self, range: Range<usize>, t: usize, prefix: Bits, worker: Worker) -> Bits {
        let half = range.len() / 2;
        let tile = if t == 0 { range.clone() } else { self.tile_at(t - 1) };
        let other = match (t, self.spec.backward()) {
            (0, false) => range.start..range.start + half,
            (0, true) => range.end - half..range.end,
            _ => tile.clone(),
        };
        let arrays = self.arrays(&tile, worker);
        // SAFETY: as in `scan`.
        unsafe { (self.kernels.scan)(&arrays, other, prefix) }
    }
}

/// The proof of a scan: each element of out follows from the one before it.
impl Scan {
    /// The value that out\[i\] must have: inclusive, out[i−1] ⊕ in[i], or in[i] where a segment begins;
    /// exclusive, out[i−1] ⊕ in[i−1], or the identity where a segment begins. Backward, i + 1 takes the place
    /// of i − 1. in and the heads are recomputed from the seed.
    #[inline(always)]
    fn wanted(&self, i: usize) -> Bits {
        let (spec, inputs, segments) = (&self.spec, self.spec.inputs(), self.spec.segments());
        let (inclusive, backward) = (spec.kind == Kind::Inclusive, spec.backward());
        let begins = backward && i + 1 == self.n || segments.head(i as u64 + u64::from(backward));
        match (begins, inclusive) {
            (true, true) => inputs.bits(i as u64),
            (true, false) => self.identity(),
            (false, _) => {
                let before = if backward { i + 1 } else { i - 1 };
                let element = if inclusive { i } else { before };
                combine(spec.operator, spec.ty, self.found(before), inputs.bits(element as u64))
            }
        }
    }

    #[inline(always)]
    fn found(&self, i: usize) -> Bits {
        let pair = self.spec.operator.words() == 2;
        // SAFETY: nobody writes while this is checked.
        unsafe {
            match self.spec.element() {
                4 => [self.output.ptr::<u32>().add(i).read().into(), 0],
                8 if pair => self.output.ptr::<[u32; 2]>().add(i).read().map(u64::from),
                8 => [self.output.ptr::<u64>().add(i).read(), 0],
                _ => self.output.ptr::<Bits>().add(i).read(),
            }
        }
    }
}

impl PoolJob for Scan {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Scan, Isa), Failure> {
        let isa = isa(context, spec.operator.name(), |isa| kernels::has(isa, spec.operator))?;
        let (pool, n) = (&context.pool, spec.elements as usize);
        let tile = tile(n, pool.threads(), spec.element() as usize);
        let array = |heads| heads::Array::new(heads, &spec.segments(), tile, pool, context.cancel);
        let mut job = Scan {
            spec,
            n,
            input: Buffer::new(spec.bytes() as usize)?,
            output: Buffer::new(spec.bytes() as usize)?,
            heads: spec.heads().map(array).transpose()?,
            kernels: kernels::kernels(&spec, isa),
            tile,
            streaming: context.fault.is_none() && exceeds_caches(2 * spec.bytes(), pool),
            fault: context.fault,
            method: methods::cpu::method(&spec, pool.threads())?,
            rooms: (0..pool.threads()).map(|_| Room(UnsafeCell::new(vec![0; heads::room(tile)]))).collect(),
        };
        job.fill(pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        if let Some(heads) = &self.heads {
            heads.begin(worker);
        }
        (self.method)(self, worker);
        if self.streaming {
            fence();
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.output, self.spec.element())]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = check::find(pool, self.n, cancel, |mut block| {
            block.find_map(|i| {
                let (found, wanted) = (self.found(i), self.wanted(i));
                (found != wanted).then(|| format!("out[{i}] is {found:x?}, not {wanted:x?}"))
            })
        })?;
        Ok(Verdict::of(mistake, self.n as u64))
    }
}

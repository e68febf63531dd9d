//! sort on the CPU: keys and values as the loops see them, and a case with the arrays that methods share.

mod certificate;
pub(crate) mod he2007;
pub(crate) mod in_cache;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
pub(crate) mod ranges;
pub(crate) mod tiles;

use super::keys::Keys;
use super::{Spec, methods};
use crate::device::cpu::caches;
use crate::primitives::cpu::write_combining::Labels;
use prelude::*;

/// The names that loops and methods need.
pub(crate) mod prelude {
    pub(crate) use super::by_types;
    pub use super::{Key, Made, Pair, Place, Room, Run, Sort};
    pub use crate::device::cpu::fence;
    pub use crate::primitives::cpu::Pairs;
    pub use crate::primitives::cpu::prelude::*;
    pub use crate::primitives::cpu::tuple::Tuple;
    pub use crate::primitives::sort::keys::{DIGIT_BITS, Digit, Digits};
}

/// A key as the loops see it.
pub trait Key: Tuple + Ord {
    /// The key in 64 bits.
    fn wide(self) -> u64;
}

impl Key for u32 {
    #[inline(always)]
    fn wide(self) -> u64 {
        self.into()
    }
}

impl Key for u64 {
    #[inline(always)]
    fn wide(self) -> u64 {
        self
    }
}

impl<K: Key> Labels<K> for Digit {
    #[inline(always)]
    fn label(&self, key: K) -> usize {
        self.of(key.wide())
    }
}

/// Room for keys and their values: an array of each or, since these follow each other, one of records.
#[derive(Debug)]
pub struct Room {
    pub buffer: Buffer,
    /// Keys and values that it holds, and bytes of a key.
    pub n: usize,
    key: usize,
}

impl Room {
    pub fn new(spec: &Spec, n: u64) -> Result<Room, Failure> {
        let (n, key) = (n as usize, spec.key_bytes() as usize);
        let values = n * spec.value() as usize;
        Ok(Room { buffer: Buffer::new((n * key).next_multiple_of(LINE) + values)?, n, key })
    }

    pub fn place(&self) -> Place {
        let keys = self.buffer.ptr::<u8>();
        Place { keys, values: keys.wrapping_add((self.n * self.key).next_multiple_of(LINE)) }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Where keys and values lie.
#[derive(Clone, Copy)]
pub struct Place {
    pub keys: *mut u8,
    pub values: *mut u8,
}

impl Pairs {
    pub fn place(&self) -> Place {
        Place { keys: self.keys.ptr(), values: self.values.ptr() }
    }
}

impl Place {
    /// The place `count` keys further.
    pub fn further<K, V>(self, count: usize) -> Place {
        Place {
            keys: self.keys.wrapping_add(count * size_of::<K>()),
            values: self.values.wrapping_add(count * size_of::<V>()),
        }
    }

    /// Key `i`.
    ///
    /// # Safety
    /// There are more keys.
    #[inline(always)]
    pub unsafe fn key<K: Key>(self, i: usize) -> K {
        // SAFETY: by the caller's promise that there are more keys.
        unsafe { K::take(self.keys.cast::<K>().add(i)) }
    }

    /// Key `i` with its value.
    ///
    /// # Safety
    /// There are more keys and values.
    #[inline(always)]
    pub unsafe fn take<K: Key, V: Tuple>(self, i: usize) -> Pair<K, V> {
        // SAFETY: by the caller's promise that there are more keys and values.
        unsafe { Pair { key: self.key(i), value: V::take(self.values.cast::<V>().add(i)) } }
    }
}

/// A key and its value.
#[derive(Clone, Copy)]
pub struct Pair<K, V> {
    pub key: K,
    pub value: V,
}

impl<K: Key, V: Tuple> Pair<K, V> {
    /// Writes key and value `i`.
    ///
    /// # Safety
    /// There is room for more keys and values, which nobody else uses.
    #[inline(always)]
    pub unsafe fn put(self, to: Place, i: usize) {
        // SAFETY: by the caller's promise that there is room for more keys and values.
        unsafe {
            self.key.put(to.keys.cast::<K>().add(i));
            self.value.put(to.values.cast::<V>().add(i));
        }
    }
}

/// A worker's share of one execution, with what the method has for all workers.
///
/// # Safety
/// All workers of the pool call it with the same case, and the processor has the instruction set.
pub type Run<Own> = unsafe fn(&Own, &Sort, Worker);

/// An expression for the types of a case's keys and values.
macro_rules! by_types {
    ($spec:expr, |$key:ident, $value:ident| $of:expr) => {
        by_types!(
            $spec, |$key, $value| $of,
            [4, 0] => u32, $crate::primitives::cpu::tuple::None; [4, 4] => u32, u32; [4, _] => u32, u64;
            [_, 0] => u64, $crate::primitives::cpu::tuple::None; [_, 4] => u64, u32; [_, _] => u64, u64
        )
    };
    ($spec:expr, |$key:ident, $value:ident| $of:expr, $($sizes:pat => $k:ty, $v:ty);+) => {
        match $spec.sizes() { $($sizes => { type $key = $k; type $value = $v; $of })+ }
    };
}

pub(crate) use by_types;

/// A case for which a method is made.
pub struct Made<'a> {
    pub spec: &'a Spec,
    pub isa: Isa,
    pub workers: usize,
    /// Bytes of the second-level caches of the workers.
    pub caches: u64,
}

impl Made<'_> {
    /// One for each worker.
    pub fn each<T>(&self, new: impl Fn() -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
        (0..self.workers).map(|_| new()).collect()
    }
}

/// A case with its arrays.
pub struct Sort {
    pub spec: Spec,
    /// What the input holds.
    pub keys: Keys,
    /// One key and value more than the case has, which only a deliberate mistake reads.
    pub input: Pairs,
    pub between: Room,
    pub output: Pairs,
    method: PoolMethod<Sort>,
    pub fault: Option<Fault>,
}

impl Sort {
    pub fn n(&self) -> usize {
        self.spec.keys as usize
    }

    /// The parts of the input that a worker has.
    pub fn pieces(&self, worker: Worker) -> [Range<usize>; 2] {
        pieces(self.n(), 64, worker, self.fault)
    }

    /// The parts of the input that all workers have, one behind the other: all of it, unless there is a mistake.
    pub fn given(&self, mut worker: Worker) -> impl Iterator<Item = Range<usize>> {
        (0..worker.count).flat_map(move |index| {
            worker.index = index;
            self.pieces(worker)
        })
    }

    /// The keys that all workers take: `n` of them, or fewer with a fault.
    pub fn taken(&self, worker: Worker) -> usize {
        self.share(worker, worker.count).0
    }

    /// Where the keys of worker `index` begin if those of all workers follow each other, and its pieces, as far as there
    /// is room.
    pub fn share(&self, mut worker: Worker, index: usize) -> (usize, [Range<usize>; 2]) {
        let before = self.given(worker).take(2 * index).map(|piece| piece.len()).sum();
        let start = self.n().min(before);
        worker.index = index;
        let mut room = self.n() - start;
        let fit = |piece: Range<usize>| {
            let keys = piece.len().min(room);
            room -= keys;
            piece.start..piece.start + keys
        };
        (start, if index < worker.count { self.pieces(worker).map(fit) } else { [0..0, 0..0] })
    }

    /// The input; with a fault, from its second key on.
    pub fn source<K, V>(&self) -> Place {
        self.input.place().further::<K, V>(usize::from(self.fault == Some(Fault::OffByOne)))
    }
}

impl PoolJob for Sort {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Sort, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let caches = caches::of(context.pool.cpus()).into_iter();
        let caches = caches.filter(|cache| cache.level == 2).map(|cache| cache.bytes).sum();
        let made = Made { spec: &spec, isa, workers: context.pool.threads(), caches };
        let (n, sizes) = (spec.keys, spec.sizes());
        let between = if methods::uses_between(&spec) { n } else { 0 };
        let mut sort = Sort {
            input: Pairs::new(n + 1, sizes)?,
            between: Room::new(&spec, between)?,
            output: Pairs::new(n, sizes)?,
            method: methods::cpu::method(&made)?,
            fault: context.fault,
            keys: spec.source_with(context.stored)?,
            spec,
        };
        let source = &sort.keys;
        let value = |i| source.value(i, spec.value());
        sort.input.fill(&context.pool, context.cancel, |i| source.at(i), value)?;
        sort.clear(&context.pool, context.cancel)?;
        Ok((sort, isa))
    }

    fn execute(&self, worker: Worker) {
        (self.method)(self, worker);
        fence();
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        self.output.outputs()
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input.keys).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = certificate::judge(self, pool, cancel)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}

//! sort on the CPU.
//!
//! *lsd*: every worker counts all digits of its part; then, for each digit that differs between keys, all workers split
//! all keys (counting their part again, but for the first), with the writes combined of each value of the digit; so does
//! *split-radix* of all keys, by digits of one bit.
//! *msd*: the workers split all keys by the highest digit, and then take the parts, one after another, and sort each
//! alone.
//! *split-radix* of blocks and *quicksort*: each worker sorts tiles that fit in its cache, which all workers then merge.
//! *he2007-msd* and *bitonic*: see there.

mod bitonic;
mod certificate;
mod he2007;
mod lsd;
mod msd;
#[cfg(target_arch = "x86_64")]
mod network;
mod quicksort;
mod tiles;

use std::sync::atomic::AtomicUsize;

use super::Spec;
use super::digits::{Digit, Digits};
use super::onesweep::DIGIT_BITS;
use super::spec::{Method, Scope};
use super::work;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::simd::Scalar;
use crate::device::cpu::{Buffer, Context, Isa, OutputArray, Pool, PoolJob, Worker, fence};
use crate::primitives::cpu::combine::{Labels, WorkerPart, WorkerTables};
use crate::primitives::cpu::pairs::Pairs;
use crate::primitives::cpu::tuple::{None, Tuple};
use crate::primitives::groups;
use crate::primitives::multisplit::Values;
use msd::{ByDigits, ByRecords};

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
struct Room {
    buffer: Buffer,
    /// Keys and values that it holds, and bytes of a key.
    n: usize,
    key: usize,
}

impl Room {
    fn new(spec: &Spec, n: u64) -> Result<Room, Failure> {
        let (n, key) = (n as usize, spec.key_bytes() as usize);
        let values = n * spec.value() as usize;
        Ok(Room { buffer: Buffer::new((n * key).next_multiple_of(LINE) + values)?, n, key })
    }

    fn place(&self) -> Place {
        let keys = self.buffer.ptr::<u8>();
        Place { keys, values: keys.wrapping_add((self.n * self.key).next_multiple_of(LINE)) }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Where keys and values lie.
#[derive(Clone, Copy)]
struct Place {
    keys: *mut u8,
    values: *mut u8,
}

impl Pairs {
    fn place(&self) -> Place {
        Place { keys: self.keys.ptr(), values: self.values.ptr() }
    }
}

impl Place {
    /// The place `count` keys further.
    fn further<K, V>(self, count: usize) -> Place {
        Place {
            keys: self.keys.wrapping_add(count * size_of::<K>()),
            values: self.values.wrapping_add(count * size_of::<V>()),
        }
    }

    /// Key `i`.
    #[inline(always)]
    unsafe fn key<K: Key>(self, i: usize) -> K {
        // SAFETY: by the caller's promise that there are more keys.
        unsafe { K::take(self.keys.cast::<K>().add(i)) }
    }

    /// Key `i` with its value.
    #[inline(always)]
    unsafe fn take<K: Key, V: Tuple>(self, i: usize) -> Pair<K, V> {
        // SAFETY: by the caller's promise that there are more keys and values.
        unsafe { Pair { key: self.key(i), value: V::take(self.values.cast::<V>().add(i)) } }
    }
}

/// A key and its value.
#[derive(Clone, Copy)]
struct Pair<K, V> {
    key: K,
    value: V,
}

impl<K: Key, V: Tuple> Pair<K, V> {
    /// Writes key and value `i`.
    #[inline(always)]
    unsafe fn put(self, to: Place, i: usize) {
        // SAFETY: by the caller's promise that there is room for more keys and values.
        unsafe {
            self.key.put(to.keys.cast::<K>().add(i));
            self.value.put(to.values.cast::<V>().add(i));
        }
    }
}

/// A worker's share of one execution.
///
/// # Safety
/// All workers of the pool call it with the same case, and the processor has the instruction set.
type Run = unsafe fn(&Sort, Worker);

/// A case with its arrays.
pub struct Sort {
    spec: Spec,
    /// One key and value more than the case has, which only a deliberate mistake reads.
    input: Pairs,
    between: Room,
    output: Pairs,
    own: Vec<WorkerTables>,
    /// Per worker: the counts of all digits.
    counts: Vec<Buffer>,
    /// Per worker: room in its cache for a part of msd.
    rooms: Vec<Room>,
    /// The next part of msd that a worker takes.
    next: AtomicUsize,
    /// Per worker: room for a tile, if the method has tiles.
    tile_rooms: Vec<tiles::Room>,
    /// Keys of a value of a digit that leave their group together.
    group: usize,
    run: Run,
    fault: Option<Fault>,
}

/// The digits of the passes over all keys; those of multisplits are as many as the recipe says.
fn digits(spec: &Spec) -> Digits {
    match spec.method {
        Method::MultisplitLsd { radix, .. } => spec.digits(radix as u32),
        Method::SplitRadix { .. } => spec.digits(1),
        _ => spec.digits(DIGIT_BITS),
    }
}

/// Whether the method sorts tiles and merges them.
fn has_tiles(spec: &Spec) -> bool {
    matches!(spec.method, Method::SplitRadix { scope: Scope::Block } | Method::Quicksort { .. })
}

/// The most values that a digit has whose keys are moved with combined writes.
fn most_values(spec: &Spec) -> usize {
    let most = digits(spec).all().map(Digit::values).max().unwrap_or(1);
    if spec.method == Method::Msd { most.max(spec.high_digit().values()) } else { most }
}

/// The loops of a case.
fn run(spec: &Spec, isa: Isa) -> Run {
    match (spec.key_bytes(), spec.values) {
        #[cfg(target_arch = "x86_64")]
        (4, Values::None)
            if spec.method == Method::Msd && isa == Isa::Avx512 && !spec.digits(DIGIT_BITS).is_field(32) =>
        {
            avx512::msd::<network::ByNetworks, u32, None>
        }
        #[cfg(target_arch = "x86_64")]
        (4, Values::Four) if spec.method == Method::Msd && isa == Isa::Avx512 => {
            avx512::msd::<ByRecords, u32, u32>
        }
        (4, Values::Four) if spec.method == Method::Msd => msd::run::<Scalar, ByRecords, u32, u32>,
        (4, Values::None) => of::<u32, None>(spec, isa),
        (4, Values::Four) => of::<u32, u32>(spec, isa),
        (4, Values::Eight) => of::<u32, u64>(spec, isa),
        (_, Values::None) => of::<u64, None>(spec, isa),
        (_, Values::Four) => of::<u64, u32>(spec, isa),
        (_, Values::Eight) => of::<u64, u64>(spec, isa),
    }
}

fn of<K: Key, V: Tuple>(spec: &Spec, isa: Isa) -> Run {
    match (spec.method, isa) {
        (Method::Library, _) => library::<K>,
        _ if has_tiles(spec) => tiles::run::<K, V>,
        (Method::He2007Msd { .. }, _) => he2007::run::<K, V>,
        (Method::Bitonic, _) => bitonic::run::<K, V>,
        #[cfg(target_arch = "x86_64")]
        (Method::Msd, Isa::Avx512) => avx512::msd::<ByDigits, K, V>,
        #[cfg(target_arch = "x86_64")]
        (_, Isa::Avx512) => avx512::lsd::<K, V>,
        (Method::Msd, _) => msd::run::<Scalar, ByDigits, K, V>,
        _ => lsd::run::<Scalar, K, V>,
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::msd::InCache;
    use super::{Key, Sort, Tuple, Worker, lsd, msd};
    use crate::device::cpu::simd::Avx512;

    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
    pub unsafe fn lsd<K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
        // SAFETY: by the caller's promise.
        unsafe { lsd::run::<Avx512, K, V>(sort, worker) }
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
    pub unsafe fn msd<C: InCache<K, V>, K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
        // SAFETY: by the caller's promise.
        unsafe { msd::run::<Avx512, C, K, V>(sort, worker) }
    }
}

/// One for each worker.
fn each<T>(workers: usize, new: impl Fn() -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    (0..workers).map(|_| new()).collect()
}

/// The standard library's sort of a copy: all workers copy, and the first one sorts.
unsafe fn library<K: Key>(sort: &Sort, worker: Worker) {
    let (first, beside) = (worker.index == 0, usize::from(sort.fault == Some(Fault::OffByOne)));
    for piece in sort.pieces(worker) {
        // SAFETY: by the caller's promise; the workers' pieces are disjoint, and the input has a further key.
        let (from, to) = unsafe {
            let from = sort.input.keys.read::<K>(piece.start + beside..piece.end + beside);
            (from, sort.output.keys.write::<K>(piece))
        };
        to.copy_from_slice(from);
    }
    worker.meet();
    if first {
        // SAFETY: the others have copied, and wait for the end of the execution.
        unsafe { sort.output.keys.write::<K>(0..sort.n()) }.sort_unstable();
    }
}

impl Sort {
    fn n(&self) -> usize {
        self.spec.keys as usize
    }

    /// The parts of the input that a worker has.
    fn pieces(&self, worker: Worker) -> [std::ops::Range<usize>; 2] {
        crate::device::cpu::pieces(self.n(), 64, worker, self.fault)
    }

    /// The keys that all workers take: `n` of them, or fewer with a fault.
    fn taken(&self, worker: Worker) -> usize {
        self.share(worker, worker.count).0
    }

    /// Where the keys of worker `index` begin if those of all workers follow each other, and its pieces, as far as there
    /// is room.
    fn share(&self, mut worker: Worker, index: usize) -> (usize, [std::ops::Range<usize>; 2]) {
        let mut start = 0;
        for before in 0..index {
            worker.index = before;
            start = self.n().min(start + self.pieces(worker).iter().map(std::ops::Range::len).sum::<usize>());
        }
        worker.index = index;
        let mut room = self.n() - start;
        let fit = |piece: std::ops::Range<usize>| {
            let keys = piece.len().min(room);
            room -= keys;
            piece.start..piece.start + keys
        };
        (start, if index < worker.count { self.pieces(worker).map(fit) } else { [0..0, 0..0] })
    }

    /// The input; with a fault, from its second key on.
    fn source<K, V>(&self) -> Place {
        self.input.place().further::<K, V>(usize::from(self.fault == Some(Fault::OffByOne)))
    }

    /// A worker's part of a split into `values` streams; the caller sets the range, and `next` after counting.
    fn part(&self, own: &WorkerTables, values: usize, from: Place, to: Place) -> WorkerPart {
        own.part(values, (from.keys, from.values), (to.keys, to.values), self.group)
    }
}

impl PoolJob for Sort {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Sort, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (n, sizes) = (spec.keys, [spec.key_bytes(), spec.value()]);
        let pair = sizes.iter().sum::<u64>() as usize;
        let values = most_values(&spec);
        let group = groups::group(values, spec.key_bytes().max(spec.value()) as usize, pair);
        let counts = match spec.method {
            Method::He2007Msd { .. } => he2007::table_bytes(&spec),
            _ => digits(&spec).count() as usize * values * 8,
        };
        let workers = context.pool.threads();
        let room = if spec.method == Method::Msd { msd::room(&spec) } else { 0 };
        let mut sort = Sort {
            input: Pairs::new(n + 1, sizes)?,
            between: Room::new(&spec, if work::arrays(&spec) == 2 { 0 } else { n })?,
            output: Pairs::new(n, sizes)?,
            own: each(workers, || WorkerTables::new(values, values * group * pair))?,
            counts: each(workers, || Buffer::new(counts))?,
            rooms: each(workers, || Room::new(&spec, room))?,
            tile_rooms: each(if has_tiles(&spec) { workers } else { 0 }, || tiles::Room::new(&spec))?,
            next: AtomicUsize::new(0),
            group,
            run: run(&spec, isa),
            fault: context.fault,
            spec,
        };
        let source = spec.source();
        let value = |i| source.value(i, spec.value());
        sort.input.fill(&context.pool, context.cancel, |i| source.at(i), value)?;
        sort.clear(&context.pool, context.cancel)?;
        Ok((sort, isa))
    }

    fn execute(&self, worker: Worker) {
        // SAFETY: the pool's workers all execute, and `run` is for an instruction set that is present.
        unsafe { (self.run)(self, worker) }
        fence();
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        self.output.outputs()
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = certificate::judge(self, pool, cancel)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}

//! The method `partitioned` of a scatter: first the pairs (L\[i\], R_in\[i\]) are partitioned by the high bits
//! of L, then the tuples of one partition after another are written. All tuples of a partition go to one chunk
//! of R_out, which is small enough for fast memory.
//!
//! A location below n has w = ⌈log2 n⌉ bits. With `bits` of them, chunk c is the tuples [c·2^(w−bits),
//! (c+1)·2^(w−bits)) of R_out. On CPUs, partitioning is a least-significant-digit radix sort of those bits:
//! each pass counts the values of its digit and then moves every pair, in order, to its value's place. Each
//! pass is therefore stable, and all passes have the same access pattern. A GPU begins with the highest bits
//! instead ([`super::levels`]); its pairs end up in no defined order, which matters only for places that receive
//! several tuples, and there any tuple may win.
//!
//! Bytes per tuple, for tuples of z bytes, indices of x bytes and one pass: x to count, x + z read and written
//! to partition, x + z read and z written at the end, 4x + 4z in all, and z more if a line is read before it is
//! written. `direct` reads x + z and writes z, but each write costs a line or sector of s bytes twice: x + z +
//! 2s. With z = 8, x = 4 and the s = 64 of a CPU that is 56 for `partitioned` against 140 for `direct`.
//!
//! A gather has no such method, because its R_out must be put back into the order of L: partition L (3x),
//! gather chunk by chunk (x + 2z, and z for the line of R_in), and read those partial results through L again
//! (x + 2z), i.e. 5x + 4z with the method's own stores streaming. `direct` fetches one line per tuple and
//! writes none back: x + z + s. With z = 8 and x = 4 that is 52 bytes for the partitioned gather against 76 for
//! `direct` on a CPU and, with s = 32, against 44 on a GPU.

use super::super::{Kernel, Locations, Spec};
use super::Method;
use super::passes::confined;
use crate::case::work::{Access, Order, Pass};
use crate::case::{Refusal, Value};
use crate::primitives::{Costs, write_combining_group};

/// Full key of the parameter `bits`.
const BITS_KEY: &str = "method.partitioned.bits";

/// Full key of the parameter `passes`.
const PASSES_KEY: &str = "method.partitioned.passes";

/// Maximum number of high bits of a location by which tuples are partitioned.
pub const MAX_BITS: u64 = 24;

/// Maximum number of partitioning passes.
pub const MAX_PASSES: u64 = 4;

/// Maximum bits per pass: the counts of each thread and value must fit in fast memory.
pub const MAX_DIGIT: u64 = 16;

/// Maximum bits by which one pass on a GPU divides: the counters and addresses of 2048 bins share a multiprocessor's
/// memory with the pairs of a tile.
const MAX_GPU_DIGIT: u64 = 11;

/// Maximum bytes of a chunk that is assembled in shared memory: a GPU of compute capability 9.0 has 227 KiB per
/// block, which also hold a bit per place.
pub const MAX_GPU_CHUNK: u64 = 128 << 10;

/// Capacity of a backend's fast memories.
#[derive(Clone, Copy, Debug)]
struct Sizing {
    /// Bytes per chunk.
    chunk: u64,
    /// Maximum bits by which one pass sorts.
    digit: u64,
}

/// A chunk is a core's share of the last-level cache of today's servers, and two huge pages. The buffers that
/// combine the writes of 2^12 values are at least 1 MiB, an L2 cache (see [`cpu`]). On a Zen 5, 8 to
/// 10 bits take the same processor time within 2% at 2^28 tuples of 8 bytes, and 11 bits an eighth more.
const CPU: Sizing = Sizing { chunk: 4 << 20, digit: 12 };

/// The largest chunk that can be assembled in shared memory. With more than 1024 bins a pass writes fewer than
/// a dozen tuples contiguously, and a second pass costs less (H200).
const GPU: Sizing = Sizing { chunk: MAX_GPU_CHUNK, digit: 10 };

fn within(key: &str, value: u64, most: u64) -> Result<u64, Refusal> {
    match value <= most {
        true => Ok(value),
        false => Err(Refusal::invalid(key, format!("{value} is more than {most}"))),
    }
}

/// Bits of a number below n: ⌈log2 n⌉.
fn width(n: u64) -> u64 {
    u64::from(u64::BITS - n.saturating_sub(1).leading_zeros())
}

/// Division of a case's locations into digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// High bits of a location that select the chunk.
    pub bits: u64,
    /// A chunk has 2^shift tuples.
    pub shift: u64,
    /// Number of chunks of R_out.
    pub chunks: u64,
    /// The passes, in the order in which they are performed.
    pub digits: Vec<Digit>,
}

impl Cut {
    /// The cut of a case; `None` for other methods. Values that the recipe leaves open follow from the backend
    /// and the size of R_out alone: the fewest bits for which a chunk fits in fast memory, at least one, and
    /// the fewest passes for which a digit's buffers do.
    ///
    /// # Errors
    /// More bits than a location has, and more passes than bits.
    pub fn of(spec: &Spec) -> Result<Option<Cut>, Refusal> {
        let Method::Partitioned { bits, passes } = spec.method else { return Ok(None) };
        let sizing = if spec.backend.is_cuda() { GPU } else { CPU };
        let bits_of_all = width(spec.tuples);
        let most = bits_of_all.clamp(1, MAX_BITS);
        // The smallest number with `chunk`·2^bits ≥ the bytes of R_out.
        let open = width((spec.tuples * spec.tuple).div_ceil(sizing.chunk)).clamp(1, most);
        let bits = within(BITS_KEY, bits.unwrap_or(open), most)?;
        let passes = within(PASSES_KEY, passes.unwrap_or(bits.div_ceil(sizing.digit)), bits)?;
        if bits.div_ceil(passes) > MAX_DIGIT {
            let message =
                format!("{bits} bits in {passes} passes; accepted: at most {MAX_DIGIT} bits a pass");
            return Err(Refusal::invalid(PASSES_KEY, message));
        }
        let shift = bits_of_all.saturating_sub(bits);
        let edge = |pass: u64| bits * pass / passes;
        let digit = |pass| Digit { shift: shift + edge(pass), bits: edge(pass + 1) - edge(pass) };
        let (chunks, digits) = (spec.tuples.div_ceil(1 << shift), (0..passes).map(digit).collect());
        Ok(Some(Cut { bits, shift, chunks, digits }))
    }

    /// Refuses what partitions on no backend, or not on the case's.
    ///
    /// # Errors
    /// A gather, and on GPUs digits and pairs beyond what the kernels handle.
    pub fn check(&self, spec: &Spec) -> Result<(), Refusal> {
        let on_cuda = spec.backend.is_cuda();
        let reason = match () {
            () if spec.kernel == Kernel::Gather => {
                "a gather's tuples would have to be put back into the order of L".to_owned()
            }
            () if on_cuda && self.digits.iter().any(|digit| digit.bits > MAX_GPU_DIGIT) => {
                format!("a pass on a GPU partitions by at most {MAX_GPU_DIGIT} bits")
            }
            () if on_cuda && spec.index == 4 && spec.moves() > 1 << 32 => {
                "more than 2^32 pairs need positions wider than 4 bytes".to_owned()
            }
            () => return Ok(()),
        };
        Err(Refusal::NotApplicable(reason))
    }

    /// The values chosen for open parameters, for the record.
    pub fn resolved(&self) -> Vec<(String, Value)> {
        let passes = self.digits.len() as u64;
        vec![(BITS_KEY.to_owned(), Value::Int(self.bits)), (PASSES_KEY.to_owned(), Value::Int(passes))]
    }
}

/// The digit by which a pass sorts: `(location >> shift) & (2^bits − 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    pub shift: u64,
    pub bits: u64,
}

impl Digit {
    /// The number of values of the digit.
    pub fn values(self) -> u64 {
        1 << self.bits
    }

    /// The digit of a location.
    #[inline(always)]
    pub fn of(self, location: u64) -> usize {
        (location >> self.shift & (self.values() - 1)) as usize
    }
}

/// Each partitioning pass counts and then moves; the very last pass writes R_out. There is one copy of L and R_in and, with
/// more than one pass, a second one, between which the passes alternate. (Counts are in fast memory.)
pub fn costs<'a>(spec: &Spec, cut: &Cut) -> Costs<'a> {
    if spec.moves() == 0 {
        return Costs::of(Vec::new());
    }
    let mut all = Vec::new();
    for (k, &digit) in cut.digits.iter().enumerate() {
        let [locations, tuples] = pairs(spec, k, spec.index, Access::reads).map(Access::indexed);
        let order = staged(spec, digit);
        let sorted =
            pairs(spec, k + 1, spec.index, Access::writes).map(|to| to.ordered(order.clone()).indexed());
        all.push(Pass::once([locations.clone()]));
        all.push(Pass::once([locations, tuples]).and(sorted));
    }
    let [locations, tuples] = pairs(spec, cut.digits.len(), spec.index, Access::reads);
    let placed = placed(spec, confined(spec, cut.chunks)).indexed();
    all.push(Pass::once([locations, tuples.indexed(), placed]));
    Costs::of(all).beside((cut.digits.len() as u64).min(2) * spec.moves() * (spec.index + spec.tuple))
}

/// The streams of a digit, whose groups wait near the processor until they fill whole lines.
fn staged(spec: &Spec, digit: Digit) -> Order {
    let values = digit.values();
    sorted_near(streams(spec, digit), values * group(spec, values as usize) as u64)
}

/// Streams into which tiles of `tile` pairs are sorted near the processor.
pub fn sorted_near(order: Order, tile: u64) -> Order {
    match order {
        Order::Partitions { partitions } => Order::Staged { partitions, tile },
        other => other,
    }
}

/// L and R_in if `copies` is 0, else their copies after that many passes, read or written; locations have `bytes` bytes.
pub fn pairs(spec: &Spec, copies: usize, bytes: u64, access: fn(&str, u64, u64) -> Access) -> [Access; 2] {
    let ticks = "'".repeat(copies);
    let tuples = if copies == 0 { "R_in".to_owned() } else { format!("R{ticks}") };
    [(format!("L{ticks}"), bytes), (tuples, spec.tuple)]
        .map(|(array, element)| access(&array, element, spec.moves()))
}

/// R_out, where each location may lead to any place.
pub fn placed(spec: &Spec, order: Order) -> Access {
    Access::writes("R_out", spec.tuple, spec.moves()).within(spec.tuples * spec.tuple).ordered(order)
}

/// The write order of a pass that sorts by a digit: one stream per value that occurs.
pub fn streams(spec: &Spec, digit: Digit) -> Order {
    match spec.locations {
        // The digit's value is the same for as many tuples as a chunk has.
        Locations::Sequential => Order::Sequential,
        Locations::Partitions { count } => Order::Partitions { partitions: digit.values().min(count) },
        _ => Order::Partitions { partitions: digit.values() },
    }
}

/// Pairs per digit value that a CPU keeps until it writes them contiguously: as many as keep the pairs of all
/// values in an L2 cache.
fn group(spec: &Spec, values: usize) -> usize {
    write_combining_group(values, spec.tuple as usize, (spec.tuple + spec.index) as usize)
}

pub mod cpu {
    use super::{Cut, Digit, group};
    use crate::device::cpu::check::poison;
    use crate::device::cpu::fence;
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::cpu::write_combining::{WorkerPart, WorkerTables, begin};
    use crate::primitives::gather_scatter::Spec;
    use crate::primitives::gather_scatter::cpu::GatherScatter;
    use crate::primitives::gather_scatter::cpu::partition::{Last, loops};

    /// Whole lines are stored, for which the widest registers are best.
    pub fn isa() -> Isa {
        if Isa::widest() == Isa::Avx512 { Isa::Avx512 } else { Isa::Scalar }
    }

    /// Tables and groups of a worker.
    fn tables(spec: &Spec, digits: &[Digit]) -> Result<WorkerTables, Failure> {
        let values = digits.iter().map(|digit| digit.values() as usize);
        let pair = (spec.tuple + spec.index) as usize;
        let staging = values.clone().map(|values| values * group(spec, values) * pair).max().unwrap_or(0);
        WorkerTables::new(values.max().unwrap_or(0), staging)
    }

    /// In each pass every worker counts the digit values of its part of L. Exclusive sums over values and, within a
    /// value, over workers give the start of each worker's pairs of each value, so the pass is stable; then every
    /// worker moves its part. The last pass scatters the pairs in their final order, each worker its part, and
    /// prefetches the lines of the next chunk meanwhile. The pairs' memory is first touched by the workers that read it.
    pub fn method(
        spec: &Spec,
        cut: &Cut,
        isa: Isa,
        context: &Context,
    ) -> Result<PoolMethod<GatherScatter>, Failure> {
        let buffer = |bytes: u64| {
            let buffer = Buffer::new((spec.moves() * bytes) as usize)?;
            poison(&context.pool, &buffer, bytes as usize, context.cancel)?;
            Ok::<_, Failure>(buffer)
        };
        let pairs = |_| Ok::<_, Failure>((buffer(spec.index)?, buffer(spec.tuple)?));
        let pairs = (0..cut.digits.len().min(2)).map(pairs).collect::<Result<Vec<_>, _>>()?;
        let tables = |_| tables(spec, &cut.digits);
        let tables = (0..context.pool.threads()).map(tables).collect::<Result<Vec<_>, _>>()?;
        let (loops, cut) = (loops(spec, isa), cut.clone());
        Ok(Box::new(move |moves, worker| {
            let (n, own) = (moves.spec.moves() as usize, &tables[worker.index]);
            let mut from: (*const u8, *const u8) = (moves.locations.ptr(), moves.from.ptr());
            for (&digit, (locations, tuples)) in cut.digits.iter().zip(pairs.iter().cycle()) {
                let (to, values) = ((locations.ptr::<u8>(), tuples.ptr::<u8>()), digit.values() as usize);
                let range = part(n, worker.index, worker.count);
                let mut part = WorkerPart { range, ..own.part(values, from, to, group(&moves.spec, values)) };
                // SAFETY: the arrays are as long as the case, the tables have one entry per digit value, and the parts
                // of workers are disjoint, in the input and, by their counts, in the output.
                unsafe {
                    own.counts.write::<u64>(0..values).fill(0);
                    (loops.count)(digit, &part);
                    worker.meet();
                    begin(&tables, worker.index, values);
                    part.next = own.next.ptr();
                    (loops.sort)(digit, &part);
                }
                fence();
                worker.meet();
                from = (to.0, to.1);
            }
            let (locations, tuples) = from;
            for range in pieces(n, 64, worker, moves.fault) {
                let to = moves.to.ptr::<u8>().wrapping_add(moves.beside());
                let (places, chunk) = (moves.spec.output() as usize, 1 << cut.shift);
                // SAFETY: as for the passes of the other methods.
                unsafe { (loops.write)(&Last { range, locations, tuples, to, places, chunk }) };
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Params;
    use proptest::prelude::*;

    fn spec(tuples: u64, tuple: u64, more: &[(&str, u64)]) -> Result<Spec, Refusal> {
        let params = Params::default()
            .with("method", Value::Text("partitioned".into()))
            .with("tuples", Value::Int(tuples))
            .with("tuple", Value::Int(tuple))
            .with("index", Value::Int(8));
        let params = more.iter().fold(params, |p, (key, value)| p.with(key, Value::Int(*value)));
        Spec::from_params(Kernel::Scatter, &params, 1)
    }

    #[test]
    fn what_is_open_follows_from_the_size() {
        let of = |tuples, tuple| {
            let cut = spec(tuples, tuple, &[]).expect("a case").cut.expect("partitioned");
            (cut.bits, cut.digits.len())
        };
        assert_eq!(of(1 << 26, 8), (7, 1));
        assert_eq!(of(1 << 28, 8), (9, 1));
        assert_eq!(of(1 << 31, 8), (12, 1));
        assert_eq!(of((1 << 31) + 1, 8), (13, 2));
        for tuples in [0, 1, 2, 1000] {
            assert_eq!(of(tuples, 4), (1, 1));
        }
    }

    #[test]
    fn too_much_is_refused_at_its_key() {
        let refused = |tuples, more: &[(&str, u64)]| spec(tuples, 8, more).expect_err("refused").to_string();
        assert_eq!(refused(32, &[(BITS_KEY, 6)]), "method.partitioned.bits: 6 is more than 5");
        assert_eq!(refused(1 << 30, &[(BITS_KEY, 25)]), "method.partitioned.bits: 25 is not from 1 to 24");
        assert!(refused(1 << 20, &[(BITS_KEY, 0)]).starts_with(BITS_KEY));
        let passes = |bits, passes| [(BITS_KEY, bits), (PASSES_KEY, passes)];
        assert!(refused(1 << 20, &passes(2, 3)).starts_with(PASSES_KEY));
        assert!(refused(1 << 20, &passes(17, 1)).ends_with("at most 16 bits a pass"));
        assert!(spec(1 << 20, 8, &passes(17, 2)).is_ok());
    }

    proptest! {
        /// The digits cover the high bits, each bit once, the lowest digit first.
        #[test]
        fn the_digits_are_all_of_the_bits(
            tuples in any::<u64>().prop_map(|v| v >> (v % 64)).prop_map(|v| v.min(1 << 40)),
            bits in 1u64..25, passes in 1u64..5,
        ) {
            let Ok(spec) = spec(tuples, 8, &[(BITS_KEY, bits), (PASSES_KEY, passes)]) else { return Ok(()) };
            let cut = spec.cut.expect("partitioned");
            prop_assert_eq!(cut.digits.len() as u64, passes);
            let mut shift = cut.shift;
            for digit in &cut.digits {
                prop_assert!(digit.shift == shift && (1..=MAX_DIGIT).contains(&digit.bits));
                shift += digit.bits;
            }
            prop_assert!(tuples <= 1 << shift);
            prop_assert!(cut.chunks <= 1 << bits && cut.chunks << cut.shift >= tuples);
        }
    }
}

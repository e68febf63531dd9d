//! random-access: independent reads or writes of an array's elements in random order and nothing else: no
//! location array, no second data array. This is an upper bound for gathers and scatters in a footprint.
//!
//! With m = footprint / element a power of two and h a random-looking bijection of [0, m)
//! that is computed on the fly ([`Scramble`]), access i goes to
//! a\[h(i mod m)\]:
//!
//! ```text
//! read    Σ words of a[h(i mod m)], modulo 2^64      write   a[h(i mod m)] = i
//! ```
//!
//! Every element is visited once before the first is visited again, in the same order each time. An execution
//! continues where the previous one ended, so that, if the footprint is larger than the part that one execution
//! visits, it is not always the same part that is found in a cache. The effective bytes are element · accesses.
//!
//! With `method: chained`, element h(x) holds h(x + 1 mod m), and each access goes to the place read by the
//! previous one: the result is the latency. On CPUs each thread follows a chain of its own through its share of
//! the accesses; on a GPU one thread follows one chain.

pub mod cpu;
pub mod cuda;
mod oracle;

use super::Range;
use super::{Definition, Primitive, Problem};
use crate::case::table::{bytes, choice, count, parameters, sizes, words};
use crate::case::work::{Access, Concurrency, Order, Pass, Work};
use crate::case::{Params, Refusal};
use crate::inputs::Scramble;
use crate::inputs::mix::{word32, word64};

/// What untouched words hold.
const POISON: u64 = 0xDEAD_BEEF_DEAD_BEEF;

/// Maximum bytes of the array.
const MAX_BYTES: u64 = 1 << 45;

words! {
    /// Whether elements are read or written.
    pub enum Kernel {
        Read = "read",
        Write = "write",
    }
}

choice! {
    /// How accesses follow each other.
    #[derive(Eq)]
    pub enum Method {
        /// independent accesses
        Direct = "direct",
        /// a chain of reads, each of which returns the place of the next
        Chained = "chained",
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// read: the sum of the elements visited; write: each element is set to the number of its visit
        kernel: Kernel,
        /// size of the array: the size of an element times a power of two
        footprint: u64 [bytes(4, MAX_BYTES)],
        /// number of elements visited, in random order; none is visited twice before all have been visited once
        accesses: u64 [count(1, 1 << 40)],
        /// size of an element
        element: u64 [sizes(&[4, 8, 16])] = "8B",
        /// how the accesses depend on each other
        method: Method = "direct",
    }
    with {
        /// log2 of the elements.
        bits: u32 = 0,
    }
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        let (footprint, element) = (spec.footprint, spec.element);
        if !footprint.is_multiple_of(element) || !(footprint / element).is_power_of_two() {
            let message =
                format!("{footprint} bytes is not a power-of-two number of {element}-byte elements");
            return Err(Refusal::invalid("footprint", message));
        }
        spec.bits = (footprint / element).ilog2();
        spec.check_chain().map(|()| spec)
    }

    fn check_chain(&self) -> Result<(), Refusal> {
        if self.method != Method::Chained {
            return Ok(());
        }
        if self.kernel == Kernel::Write {
            return Err(Refusal::NotApplicable(
                "write cannot be chained: a written element does not lead to a next one".to_owned(),
            ));
        }
        if self.element == 4 && self.bits > 32 {
            return Err(Refusal::invalid("footprint", "4 bytes cannot address more than 2^32 elements"));
        }
        Ok(())
    }

    /// m: the number of elements.
    pub fn elements(&self) -> u64 {
        1 << self.bits
    }

    /// 64-bit words per element; a 4-byte element counts as one.
    pub fn words(&self) -> u64 {
        self.element.div_ceil(8)
    }

    /// h: the order of the visits.
    pub fn order(&self) -> Scramble {
        Scramble::new(self.bits, self.seed)
    }

    /// The position in the order of visits at which an execution begins, after `executions` earlier ones.
    pub fn begin(&self, executions: u64) -> u64 {
        executions.wrapping_mul(self.accesses) & (self.elements() - 1)
    }

    /// The element that is visited after element `j`; `j` = m, the guard, has a successor, too.
    pub fn next(&self, j: u64) -> u64 {
        let order = self.order();
        order.apply(order.invert(j) + 1)
    }

    /// The number of visits to the `x`th element in the order of visits.
    pub fn visits(&self, x: u64) -> u64 {
        (self.accesses >> self.bits) + u64::from(x < self.accesses & (self.elements() - 1))
    }

    /// Word `w` of element `j`: the value that read finds.
    #[inline(always)]
    pub fn word(&self, j: u64, w: u64) -> u64 {
        match self.element {
            _ if self.method == Method::Chained && w > 0 => 0,
            _ if self.method == Method::Chained => self.next(j),
            4 => u64::from(word32(self.seed, j as u32)),
            _ => word64(self.seed, j * self.words() + w),
        }
    }

    /// Whether word `w` of an element, `found` there, is what the visits of position `x` in the order of visits
    /// write: their number i, one of x, x + m, … Several of them may be under way at the same time, so any of
    /// them is right. `most` is beyond all numbers of visits.
    pub fn is_written(&self, found: u64, x: u64, w: u64, most: u64) -> bool {
        let (poison, mask) = match self.element {
            4 => (POISON & u64::from(u32::MAX), (self.elements() - 1) & u64::from(u32::MAX)),
            _ => (POISON, self.elements() - 1),
        };
        let (number, word) = if self.element == 16 { (found >> 1, found & 1) } else { (found, 0) };
        // A visit whose number is the poison exists in arrays of 4-byte elements only.
        (found != poison || most > poison) && word == w && (number ^ x) & mask == 0
    }

    /// Ranges of visits, each to be executed alone, so that its result shows which elements they went to: the
    /// first visits one by one, and ranges of 1, 2, 4, … visits, all together fewer than one execution's, from
    /// positions that the seed draws.
    pub fn probes(&self) -> Vec<Range> {
        let visited = self.accesses.min(self.elements());
        let alone = (0..visited.min(16)).map(|first| Range { first, count: 1 });
        let lengths = (0..40).map(|bit| 1 << bit).take_while(|length| 2 * length <= visited);
        alone.chain(lengths.map(|count| Range::probe(self.seed, count, visited))).collect()
    }

    /// Whether visits in sequence differ from those in order.
    pub fn differs_from_sequence(&self) -> bool {
        let (order, mask) = (self.order(), self.elements() - 1);
        (0..self.accesses.min(self.elements())).any(|i| match self.method {
            Method::Direct => order.apply(i) != i,
            Method::Chained => order.apply(i + 1) != (order.apply(i) + 1) & mask,
        })
    }

    /// The contribution of element `j` to the sum of reads: its words, plus 1 for each place that a chain
    /// visits, so that no missing visit goes unnoticed.
    #[inline(always)]
    pub fn sum_of(&self, j: u64) -> u64 {
        let chained = u64::from(self.method == Method::Chained);
        (0..self.words()).fold(chained, |sum, w| sum.wrapping_add(self.word(j, w)))
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "random-access",
        "elements of one array read or written in random order, without a location array",
        Spec::TABLE,
    )
    // 2: an element that is written becomes the number of its visit instead of its place.
    .with_version(|params| if params.text("kernel") == Some("write") { 2 } else { 1 })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let bytes = self.element * self.accesses;
        let visits = match self.kernel {
            Kernel::Read => Access::reads("a", self.element, self.accesses),
            Kernel::Write => Access::writes("a", self.element, self.accesses),
        };
        let concurrency = match self.method {
            Method::Direct => Concurrency::Independent,
            Method::Chained => Concurrency::Chained,
        };
        let visits = Access { concurrency, ..visits.within(self.footprint).ordered(Order::Random) };
        Work::of(self.accesses, bytes, [Pass::once([visits])]).footprint(self.footprint)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn is_ordered(&self) -> bool {
        self.differs_from_sequence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Direction, Value};
    use proptest::prelude::*;

    pub(super) fn params(kernel: &str, footprint: u64, accesses: u64, element: u64) -> Params {
        Params::default()
            .with("kernel", Value::Text(kernel.into()))
            .with("footprint", Value::Int(footprint))
            .with("accesses", Value::Int(accesses))
            .with("element", Value::Int(element))
    }

    #[test]
    fn what_counts_is_what_is_visited() {
        let work = Spec::from_params(&params("write", 1 << 20, 300, 8), 1).expect("a case").work();
        assert_eq!((work.effective_bytes, work.footprint, work.elements), (2400, 1 << 20, 300));
        assert_eq!(work.declared_bytes(), 2400);
        assert_eq!(work.passes[0].accesses[0].direction, Direction::Write);
    }

    #[test]
    fn chained_accesses_are_declared_as_such() {
        let chained = params("read", 1 << 20, 300, 8).with("method", Value::Text("chained".into()));
        let work = Spec::from_params(&chained, 1).expect("a case").work();
        assert_eq!(work.passes[0].accesses[0].concurrency, Concurrency::Chained);
        assert_eq!((work.effective_bytes, work.footprint), (2400, 1 << 20));
    }

    fn spec(footprint: u64, accesses: u64, element: u64) -> Result<Spec, Refusal> {
        Spec::from_params(&params("read", footprint, accesses, element), 1)
    }

    #[test]
    fn a_chain_visits_every_element_before_the_first_comes_again() {
        let chained = params("read", 256, 7, 8).with("method", Value::Text("chained".into()));
        let spec = Spec::from_params(&chained, 3).expect("a case");
        let walk = |from: u64| std::iter::successors(Some(from), |j| Some(spec.next(*j))).take(33);
        let places: Vec<u64> = walk(spec.order().apply(0)).collect();
        assert_eq!(places, (0..33).map(|x| spec.order().apply(x)).collect::<Vec<_>>());
        assert!(spec.next(spec.elements()) < spec.elements(), "the guard leads back into the array");
        assert_eq!((spec.begin(0), spec.begin(4), spec.begin(5)), (0, 28, 3));
    }

    #[test]
    fn chains_are_read_and_their_places_fit_an_element() {
        let chained = |kernel, footprint, element| {
            let params = params(kernel, footprint, 1, element).with("method", Value::Text("chained".into()));
            Spec::from_params(&params, 1).expect_err("refused").to_string()
        };
        assert!(chained("write", 64, 8).starts_with("n/a: "));
        assert!(chained("read", 1 << 35, 4).starts_with("footprint: "));
    }

    #[test]
    fn footprints_are_powers_of_two() {
        assert_eq!(spec(8, 1, 8).expect("one element").bits, 0);
        assert_eq!(spec(1 << 30, 1, 16).expect("many").elements(), 1 << 26);
        for footprint in [0, 4, 24, (1 << 30) + 8, MAX_BYTES * 2] {
            let refusal = spec(footprint, 1, 8).expect_err("refused").to_string();
            assert!(refusal.starts_with("footprint: "), "{footprint}: {refusal}");
        }
        assert!(spec(64, u64::MAX, 8).expect_err("refused").to_string().starts_with("accesses: "));
    }

    proptest! {
        #[test]
        fn all_visits_together_are_the_accesses(bits in 0u32..8, accesses in 0u64..2000) {
            let spec = spec(8 << bits, accesses, 8).expect("a case");
            let mut visits = vec![0; spec.elements() as usize];
            (0..accesses).for_each(|i| visits[spec.order().apply(i) as usize] += 1);
            for x in 0..spec.elements() {
                prop_assert_eq!(visits[spec.order().apply(x) as usize], spec.visits(x));
            }
        }
    }
}

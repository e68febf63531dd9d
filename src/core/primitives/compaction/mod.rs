//! enumerate, compact, distribute, split and split-and-segment: the primitives that sengupta2007
//! §2.3 builds atop scan.
//!
//! Each of n elements has a flag, true or false ([`inputs`]). Let t(i) be the number of trues before i in its
//! segment [s, e), and u(i) the number of trues from i on; without segments all elements form one:
//!
//! ```text
//! enumerate    out[i] = t(i)
//! compact      out has the elements that are true, in order; of segments also where each begins in out
//! distribute   out[i] = in[s], backward in[e − 1]
//! split        out[i − t(i)] = in[i] where i is false, out[e − u(i)] = in[i] where it is true
//! split-and-segment   the same, and each segment becomes two: the falses and the trues, each a
//!              segment unless it is empty
//! ```
//!
//! These are the paper's addresses: i − t(i) is its f within the segment, counted from s, and e − u(i) its
//! id − f + NF. So a split takes two scans, a forward one for t and a backward one for e and u. compact's t
//! counts over all segments, since the kept elements are contiguous; a segment that keeps nothing begins where
//! the next one does.
//!
//! Flags and heads take a bit per element, and only these bits are scanned: each part or tile is summed from
//! its bits alone, the sums are scanned, and every element finds its place from the sum before its part and the
//! bits beside its own. The effective bytes are the elements read (for distribute one per segment), the output,
//! and the bits, once each.
//!
//! The certificates: enumerate checks t by its recurrence; distribute uses the closed form of the segments; for
//! compact and the splits, the value of each element of out reveals its i. In every segment the falses and then
//! the trues must have rising i, which leaves no other order.

pub mod cpu;
pub mod cuda;
pub mod inputs;
mod oracle;
mod work;

use Operation::{Compact, Distribute, Enumerate, Split, SplitAndSegment};

use super::scan::Direction;
use super::scan::segments::{Heads, Lengths, Segments};

use super::{Definition, Primitive, Problem};
use crate::case::schema::{Kind, Param, ParamDefault, Variant};
use crate::case::table::{Described, choice, count, float, parameters, select, sizes, variants, words};
use crate::case::{BlockCost, Fault, Params, Refusal, Work, params};
use inputs::Inputs;

/// Upper limit on the number of elements: their indices and counts have 4 bytes.
const MAX_ELEMENTS: u64 = 1 << 31;

/// Elements that a warp of a GPU sums, and later places.
pub const TILE: u64 = 4096;

words! {
    /// Which of them (sengupta2007 §2.3).
    pub enum Operation {
        Enumerate = "enumerate",
        Compact = "compact",
        Distribute = "distribute",
        Split = "split",
        SplitAndSegment = "split-and-segment",
    }
}

choice! {
    /// The segments of a case.
    #[derive(Eq)]
    pub enum Segmentation {
        /// no segments: all elements together
        None = "none",
        /// segments of equal length, except for the last
        Constant = "constant" main "length" {
            /// elements of a segment
            length: u64 [count(1, MAX_ELEMENTS)],
        },
        /// one segment begins at a random place in every m elements: lengths from 1 to 2m − 1
        Random = "random" main "mean" {
            /// mean length m; there are ⌈elements/m⌉ segments
            mean: u64 [count(1, MAX_ELEMENTS)],
        },
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// the bits of each tile or part are summed, and the sums are scanned; then each tile places its elements from
        /// the sums before and after it
        TwoPass = "two-pass",
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// elements of in, each with a flag
        elements: u64 [count(1, MAX_ELEMENTS)],
        /// size of an element of in
        element: u64 [sizes(&[4, 8])] = "4B",
        /// fraction of the flags that are true: ⌊elements · trues⌋ flags, at random places
        part as "trues": f64 [float(0.0, 1.0)] = "0.5",
        /// forward: each segment gets its first element; backward: its last
        direction: Direction = "forward",
        /// the lengths of the segments, whose starts are stored as one bit per element
        segmentation as "segments": Segmentation = "none",
        /// how it is computed
        method: Method = "two-pass",
    }
    with {
        /// The operation.
        operation: Operation = Operation::Enumerate,
        /// How many flags are true.
        trues: u64 = 0,
    }
}

impl Operation {
    /// True if the operation reads the flags.
    pub fn flagged(self) -> bool {
        self != Operation::Distribute
    }

    /// True if the operation moves elements according to their flags.
    pub fn moves(self) -> bool {
        matches!(self, Operation::Compact | Operation::Split | Operation::SplitAndSegment)
    }

    /// True of the splits.
    pub fn splits(self) -> bool {
        matches!(self, Operation::Split | Operation::SplitAndSegment)
    }
}

impl Spec {
    /// The parameters of an operation.
    pub const fn params(operation: Operation) -> &'static [Param] {
        const ALL: &[Param] = Spec::TABLE;
        const SEGMENTS: &[Variant] = &variants(Segmentation::KIND, ["constant", "random"]);
        const MOVED: [Param; 5] = select(ALL, ["elements", "element", "trues", "segments", "method"]);
        const NEEDED: Param =
            Param { kind: Kind::Choice(SEGMENTS), default: ParamDefault::Required, ..MOVED[3] };
        match operation {
            Operation::Enumerate => const { &select(ALL, ["elements", "trues", "segments", "method"]) },
            Operation::Compact => &MOVED,
            Operation::Distribute => {
                const { &select(ALL, ["elements", "element", "direction", "segments", "method"]) }
            }
            Operation::Split => const { &select(ALL, ["elements", "element", "trues", "method"]) },
            Operation::SplitAndSegment => const { &[MOVED[0], MOVED[1], MOVED[2], NEEDED, MOVED[4]] },
        }
    }

    /// Reads and checks the parameters of an operation.
    pub fn from_params(operation: Operation, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        match (operation, spec.segmented()) {
            (Operation::Split, true) => {
                return Err(Refusal::invalid("segments", "split takes no segments; use split-and-segment"));
            }
            (Operation::SplitAndSegment, false) => {
                params::word(params, "segments", &[("constant", ()), ("random", ())])?;
            }
            _ => {}
        }
        // In f64 the product of a 32-bit integer and a number is rounded once, identically on every machine.
        (spec.operation, spec.trues) = (operation, (spec.elements as f64 * spec.part) as u64);
        Ok(spec)
    }

    /// True if the direction is from the last element to the first.
    pub fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// True if the elements are divided into segments.
    pub fn segmented(&self) -> bool {
        self.segmentation != Segmentation::None
    }

    /// The lengths of the segments; `None` if all elements form one segment.
    pub fn lengths(&self) -> Option<Lengths> {
        match self.segmentation {
            Segmentation::None => None,
            Segmentation::Constant { length } => Some(Lengths::Constant { length }),
            Segmentation::Random { mean } => Some(Lengths::Random { mean }),
        }
    }

    /// Where the segments begin; an unsegmented case has all elements as one segment.
    pub fn segments(&self) -> Segments {
        Segments::or_one(self.lengths(), self.elements, self.seed)
    }

    /// The number of segments; at least one if there are elements.
    pub fn segment_count(&self) -> u64 {
        self.segments().count().unwrap_or(0)
    }

    /// The elements of in, their flags and segments.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(self)
    }

    /// Bytes of one bit per element, in words of 4 bytes.
    pub fn bits(&self) -> u64 {
        let (entry, entries) = Heads::Bits.entries(self.elements, 0);
        entry * entries
    }

    /// Bytes per element of out.
    pub fn out_element(&self) -> u64 {
        if self.operation == Operation::Enumerate { 4 } else { self.element }
    }

    /// The number of elements of out.
    pub fn written(&self) -> u64 {
        if self.operation == Operation::Compact { self.trues } else { self.elements }
    }

    /// Bytes that a segmented case writes beside out: the start of each segment, 4 bytes each, or the heads of
    /// the new segments, a bit per element.
    pub fn beside(&self) -> u64 {
        match self.operation {
            Operation::Compact if self.segmented() => 4 * self.segment_count(),
            Operation::SplitAndSegment => self.bits(),
            _ => 0,
        }
    }

    /// Bytes of the whole output; compact also writes the number of elements of out, 8 bytes.
    pub fn output(&self) -> u64 {
        let number = if self.operation == Operation::Compact { 8 } else { 0 };
        number + self.written() * self.out_element() + self.beside()
    }

    /// The number of elements handled, from the first on: with [`Fault::MissingTail`] all but the last one written;
    /// with [`Fault::WrongChunk`], whose second half repeats the first, half of those written. The stores implement
    /// the other faults.
    pub fn handled(&self, fault: Option<Fault>) -> u64 {
        match fault {
            Some(Fault::MissingTail) => self.reaching(self.written().saturating_sub(1)),
            Some(Fault::WrongChunk) => self.reaching(self.written() / 2),
            _ => self.elements,
        }
    }

    /// The element of out that [`Fault::SkippedStore`] leaves unwritten.
    pub fn skipped(&self, fault: Option<Fault>) -> Option<u64> {
        (fault == Some(Fault::SkippedStore) && self.written() > 0).then_some(self.written() / 2)
    }

    /// The number of elements, from the first on, that gives exactly `written` elements of out; fewer than all are
    /// written.
    fn reaching(&self, written: u64) -> u64 {
        if self.operation != Operation::Compact {
            return written;
        }
        let inputs = self.inputs();
        let mut trues = (0..self.elements).filter(|&i| inputs.flag(i));
        trues.nth(written as usize).unwrap_or(self.elements)
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        primitive(Enumerate, "the number of true flags before each element (sengupta2007 §2.3.1)"),
        primitive(Compact, "the elements whose flags are true, stored contiguously (sengupta2007 §2.3.1)"),
        primitive(
            Distribute,
            "every element is replaced by the first or last element of its segment (sengupta2007 §2.3.2)",
        ),
        primitive(
            Split,
            "the elements whose flags are false, then those whose flags are true (sengupta2007 §2.3.3)",
        ),
        primitive(
            SplitAndSegment,
            "each segment is split into one of falses and one of trues (sengupta2007 §2.3.3)",
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let unknown = || Refusal::NotApplicable(format!("{name} is not built atop scan"));
        let &(_, operation) =
            Operation::NAMES.iter().find(|(known, _)| *known == name).ok_or_else(unknown)?;
        Spec::from_params(operation, params, seed)
    }
}

const fn primitive(operation: Operation, summary: &'static str) -> Primitive {
    Primitive::of::<Spec>(operation.name(), summary, Spec::params(operation))
}

impl Problem for Spec {
    fn work(&self) -> Work {
        work::work(self)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(if self.backend.is_cuda() { work::block_costs(self) } else { Vec::new() })
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    pub(super) const ALL: [Operation; 5] = [
        Operation::Enumerate,
        Operation::Compact,
        Operation::Distribute,
        Operation::Split,
        Operation::SplitAndSegment,
    ];

    /// A case of `elements` in segments of around `mean` elements; one segment if `mean` is 0.
    pub(super) fn spec(operation: Operation, elements: u64, mean: u64, seed: u64) -> Spec {
        Spec::from_params(operation, &params(operation, elements, mean), seed).expect("a case")
    }

    pub(super) fn params(operation: Operation, elements: u64, mean: u64) -> Params {
        let params = Params::default().with("elements", Value::Int(elements));
        if mean == 0 {
            return params;
        }
        let kind = if operation == Operation::Enumerate { "constant" } else { "random" };
        let key = if kind == "constant" { "segments.constant.length" } else { "segments.random.mean" };
        params.with("segments", Value::Text(kind.into())).with(key, Value::Int(mean))
    }

    fn refusal(operation: Operation, params: &Params) -> String {
        Spec::from_params(operation, params, 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_said() {
        let spec = spec(Operation::Compact, 9, 0, 1);
        assert_eq!((spec.element, spec.trues, spec.lengths(), spec.segment_count()), (4, 4, None, 1));
        assert_eq!((spec.output(), spec.written()), (8 + 16, 4));
        let bare = params(Operation::SplitAndSegment, 9, 0);
        assert_eq!(refusal(Operation::SplitAndSegment, &bare), "segments: is missing");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let segmented = params(Operation::Split, 9, 3);
        assert_eq!(
            refusal(Operation::Split, &segmented),
            "segments: split takes no segments; use split-and-segment"
        );
        let many = params(Operation::Enumerate, (1 << 31) + 1, 0);
        assert_eq!(refusal(Operation::Enumerate, &many), "elements: 2147483649 is not from 0 to 2147483648");
        let more = params(Operation::Enumerate, 9, 0).with("trues", Value::Float(1.5));
        assert_eq!(refusal(Operation::Enumerate, &more), "trues: 1.5 is not from 0 to 1");
    }

    #[test]
    fn outputs_have_their_sizes() {
        let output = |operation| spec(operation, 100, 7, 1).output();
        // 50 of 100 elements are true; 15 segments; 4 words of bits.
        assert_eq!(
            ALL.map(|o| if o == Operation::Split { 0 } else { output(o) }),
            [400, 8 + 200 + 60, 400, 0, 400 + 16]
        );
    }

    #[test]
    fn a_fault_leaves_something_out() {
        for operation in [Operation::Compact, Operation::Enumerate] {
            let spec = spec(operation, 100, 0, 3);
            let inputs = spec.inputs();
            let written = |n: u64| match operation {
                Operation::Compact => (0..n).filter(|&i| inputs.flag(i)).count() as u64,
                _ => n,
            };
            let all = spec.written();
            assert_eq!(written(spec.handled(None)), all);
            assert_eq!(written(spec.handled(Some(Fault::MissingTail))), all - 1);
            assert_eq!(written(spec.handled(Some(Fault::WrongChunk))), all / 2);
            assert_eq!(spec.skipped(Some(Fault::SkippedStore)), Some(all / 2));
        }
    }
}

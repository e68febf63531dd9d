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
pub mod spec;
mod work;

pub use spec::{Operation, Spec};

use super::{Definition, Primitive, Problem};
use crate::case::{BlockCost, Fault, Params, Refusal, Work};
use spec::Operation::{Compact, Distribute, Enumerate, Split, SplitAndSegment};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        primitive(Enumerate, "how many flags before each element are true (sengupta2007 §2.3.1)"),
        primitive(Compact, "the elements whose flags are true, side by side (sengupta2007 §2.3.1)"),
        primitive(
            Distribute,
            "the first or last element of each segment in place of all (sengupta2007 §2.3.2)",
        ),
        primitive(
            Split,
            "the elements whose flags are false, then those whose flags are true (sengupta2007 §2.3.3)",
        ),
        primitive(
            SplitAndSegment,
            "a split of each segment into a segment of falses and one of trues (sengupta2007 §2.3.3)",
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

    /// If nothing is kept, nothing is written, and no fault shows.
    fn fault_is_detectable(&self, _fault: Fault) -> bool {
        self.written() > 0
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

    #[test]
    fn a_mistake_shows_where_something_is_written() {
        let fault_is_detectable = |operation, trues: f64| {
            let params = params(operation, 9, 0).with("trues", Value::Float(trues));
            Spec::from_params(operation, &params, 1).expect("a case").fault_is_detectable(Fault::MissingTail)
        };
        assert!(
            fault_is_detectable(Operation::Compact, 0.2) && !fault_is_detectable(Operation::Compact, 0.1)
        );
        assert!(fault_is_detectable(Operation::Split, 0.0));
    }
}

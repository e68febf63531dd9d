//! What a primitive atop scan computes: its parameters, typed.

use super::inputs::Inputs;
use crate::case::{Params, Refusal, reader};
use crate::primitives::scan::segments::{Heads, Lengths, Segments};
use crate::primitives::scan::spec::Direction;

/// Most elements: their numbers and counts have 4 bytes.
pub const MAX_ELEMENTS: u64 = 1 << 31;

/// Elements that a warp of a GPU sums up, and then places.
pub const TILE: u64 = 4096;

/// Which of them (sengupta2007 §2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Enumerate,
    Compact,
    Distribute,
    Split,
    SplitAndSegment,
}

/// A case, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    pub operation: Operation,
    /// Of distribute.
    pub direction: Direction,
    /// n. A recipe asks for at least 1; `verify` runs 0 as well.
    pub elements: u64,
    /// Bytes of an element of in: 4 or 8.
    pub element: u64,
    /// How many flags are true.
    pub trues: u64,
    /// `None`: all elements together.
    pub lengths: Option<Lengths>,
    pub seed: u64,
    /// Whether it runs on a GPU, whose passes are others.
    pub on_cuda: bool,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 5] = [
        Operation::Enumerate,
        Operation::Compact,
        Operation::Distribute,
        Operation::Split,
        Operation::SplitAndSegment,
    ];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Enumerate => "enumerate",
            Operation::Compact => "compact",
            Operation::Distribute => "distribute",
            Operation::Split => "split",
            Operation::SplitAndSegment => "split-and-segment",
        }
    }

    /// Whether it looks at the flags.
    pub fn flagged(self) -> bool {
        self != Operation::Distribute
    }

    /// Whether it moves elements to where their flags say.
    pub fn moves(self) -> bool {
        matches!(self, Operation::Compact | Operation::Split | Operation::SplitAndSegment)
    }

    /// Whether it is a split.
    pub fn splits(self) -> bool {
        matches!(self, Operation::Split | Operation::SplitAndSegment)
    }
}

impl Spec {
    /// Reads and checks the parameters of an operation.
    pub fn from_params(operation: Operation, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let directions = [("forward", Direction::Forward), ("backward", Direction::Backward)];
        let elements = reader::int(params, "elements")?;
        if elements > MAX_ELEMENTS {
            return Err(Refusal::invalid("elements", "at most 2^31"));
        }
        reader::word_or(params, "method", &[("two-pass", ())], ())?;
        let spec = Spec {
            operation,
            direction: reader::word_or(params, "direction", &directions, Direction::Forward)?,
            elements,
            element: reader::one_of(params, "element", &[4, 8], 4)?,
            trues: trues(params, elements)?,
            lengths: lengths(operation, params)?,
            seed,
            on_cuda: reader::on_cuda(params),
        };
        Ok(spec)
    }

    /// Whether it goes from the last element to the first.
    pub fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// Whether the segments are given.
    pub fn segmented(&self) -> bool {
        self.lengths.is_some()
    }

    /// Where its segments begin; all elements are one where none are given.
    pub fn segments(&self) -> Segments {
        let whole = Lengths::Constant { length: self.elements.max(1) };
        Segments::new(self.lengths.unwrap_or(whole), self.elements, self.seed)
    }

    /// How many segments there are; at least one where there is an element.
    pub fn segment_count(&self) -> u64 {
        self.segments().count().unwrap_or(0)
    }

    /// The elements of in, their flags and segments.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(self)
    }

    /// Bytes of a bit an element, in words of 4.
    pub fn bits(&self) -> u64 {
        let (entry, entries) = Heads::Bits.entries(self.elements, 0);
        entry * entries
    }

    /// Bytes of an element of out.
    pub fn out_element(&self) -> u64 {
        if self.operation == Operation::Enumerate { 4 } else { self.element }
    }

    /// Elements of out.
    pub fn written(&self) -> u64 {
        if self.operation == Operation::Compact { self.trues } else { self.elements }
    }

    /// Bytes beside out that a segmented case writes: where each segment begins, 4 bytes, or the
    /// new segments' heads, a bit an element.
    pub fn beside(&self) -> u64 {
        match self.operation {
            Operation::Compact if self.segmented() => 4 * self.segment_count(),
            Operation::SplitAndSegment => self.bits(),
            _ => 0,
        }
    }

    /// Bytes of the whole output: of compact also the number of elements of out, 8 bytes.
    pub fn output(&self) -> u64 {
        let number = if self.operation == Operation::Compact { 8 } else { 0 };
        number + self.written() * self.out_element() + self.beside()
    }
}

/// ⌊n · trues⌋.
fn trues(params: &Params, elements: u64) -> Result<u64, Refusal> {
    const KEY: &str = "trues";
    let part = match params.get(KEY) {
        None => 0.5,
        Some(_) => params.float(KEY).unwrap_or(f64::NAN),
    };
    if !(0.0..=1.0).contains(&part) {
        return Err(Refusal::invalid(KEY, "must be a number from 0 to 1"));
    }
    // In f64 the product of 32 bits and a number is rounded once, alike on every machine.
    Ok((elements as f64 * part) as u64)
}

fn lengths(operation: Operation, params: &Params) -> Result<Option<Lengths>, Refusal> {
    let size = |key: &str| reader::positive(params, key);
    match params.text("segments") {
        Some("constant") if operation != Operation::Split => {
            Ok(Some(Lengths::Constant { length: size("segments.constant.length")? }))
        }
        Some("random") if operation != Operation::Split => {
            Ok(Some(Lengths::Random { mean: size("segments.random.mean")? }))
        }
        None | Some("none") if operation != Operation::SplitAndSegment => Ok(None),
        _ if operation == Operation::Split => {
            Err(Refusal::invalid("segments", "split has none: split-and-segment has"))
        }
        _ => reader::word::<Option<Lengths>>(params, "segments", &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{params, spec};
    use super::*;
    use crate::case::Value;

    fn refusal(operation: Operation, params: &Params) -> String {
        Spec::from_params(operation, params, 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_said() {
        let spec = spec(Operation::Compact, 9, 0, 1);
        assert_eq!((spec.element, spec.trues, spec.lengths, spec.segment_count()), (4, 4, None, 1));
        assert_eq!((spec.output(), spec.written()), (8 + 16, 4));
        let bare = params(Operation::SplitAndSegment, 9, 0);
        assert_eq!(refusal(Operation::SplitAndSegment, &bare), "segments: is missing");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let segmented = params(Operation::Split, 9, 3);
        assert_eq!(refusal(Operation::Split, &segmented), "segments: split has none: split-and-segment has");
        let many = params(Operation::Enumerate, (1 << 31) + 1, 0);
        assert_eq!(refusal(Operation::Enumerate, &many), "elements: at most 2^31");
        let more = params(Operation::Enumerate, 9, 0).with("trues", Value::Float(1.5));
        assert_eq!(refusal(Operation::Enumerate, &more), "trues: must be a number from 0 to 1");
    }

    #[test]
    fn outputs_have_their_sizes() {
        let output = |operation| spec(operation, 100, 7, 1).output();
        // Of 100 elements 50 are true; 15 segments; 4 words of bits.
        assert_eq!(
            Operation::ALL.map(|o| if o == Operation::Split { 0 } else { output(o) }),
            [400, 8 + 200 + 60, 400, 0, 400 + 16]
        );
    }
}

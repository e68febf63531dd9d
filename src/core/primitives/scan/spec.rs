//! The typed parameters of a scan.

use super::inputs::Inputs;
use super::operator::{Operator, Type};
use super::segments::{Heads, Lengths, Segments};
use crate::case::schema::{Param, ParamDefault};
use crate::case::table::{choice, count, parameters, select, words};
use crate::case::{Params, Refusal};

/// Upper limit on the number of elements.
pub const MAX_ELEMENTS: u64 = 1 << 40;

/// Upper limit on the number of elements where a segment's length or head is stored in 4 bytes.
const MAX_ADDRESSED: u64 = 1 << 32;

/// Threads per block of [`Method::Sengupta2007`].
pub const BLOCK: u64 = 128;

words! {
    /// The elements that out\[i\] combines.
    pub enum Kind {
        /// The elements before i.
        Exclusive = "exclusive",
        /// Those and i.
        Inclusive = "inclusive",
    }
}

words! {
    /// The direction of a scan.
    pub enum Direction {
        Forward = "forward",
        Backward = "backward",
    }
}

choice! {
    /// How it is computed. The look-back is decoupled (Merrill and Garland 2016).
    #[derive(Eq)]
    pub enum Method {
        /// ours: spine on GPUs, lookback on CPUs
        Best = "best",
        /// GPUs: one pass over memory: one block, the spine, scans the tiles' sums, while the others wait for one word
        /// each
        Spine = "spine",
        /// one pass over memory: each tile takes the prefix of the tiles before it, on GPUs by decoupled look-back
        Lookback = "lookback",
        /// CPUs: every thread reduces its part, then scans it from the sum of those before
        TwoPass = "two-pass",
        /// GPUs: reduce and down-sweep in blocks of 128 threads, level by level (sengupta2007 Algorithms 1 to 5)
        Sengupta2007 = "sengupta2007" {
            /// 2, or 8: Fig. 5's scan, and its fast scan
            elements_per_thread as "elements-per-thread": u64 [count(2, 8)] = "2",
        },
    }
}

parameters! {
    /// A scan, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// ⊕; and, or: bit by bit, of integers; affine: pairs (a, b) of integers, the functions x ↦ a·x + b one after
        /// the other: (a, b) ⊕ (c, d) = (c·a, c·b + d); integers wrap
        operator: Operator = "add",
        /// type of an element; affine: of a and of b
        ty as "type": Type = "u32",
        /// exclusive: out[i] is made of the elements before i, the first is the identity; inclusive: of i as well
        kind: Kind = "exclusive",
        /// backward: from the last element to the first, as if in and out were reversed
        direction: Direction = "forward",
        /// elements of in and of out
        elements: u64 [count(1, MAX_ELEMENTS)],
        /// the lengths of the segments
        lengths as "segments": Option<Lengths> = (ParamDefault::Required),
        /// what tells where segments begin: a flag an element as a bit, a byte, or a byte in the paper's stripes; or each
        /// segment's length or first element, 4 bytes
        heads: Heads = "bits",
        /// how it is computed
        method: Method = "best",
    }
    with {
        /// Whether the method was `best`.
        open: bool = false,
    }
}

impl Spec {
    /// Parameters of `scan`; `segmented-scan` takes the whole table.
    pub const PLAIN: &'static [Param] =
        &select(Spec::TABLE, ["operator", "type", "kind", "direction", "elements", "method"]);

    /// Reads and checks the parameters of `scan` or, with `segmented`, of `segmented-scan`.
    pub fn from_params(segmented: bool, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        if !segmented {
            spec.lengths = None;
        } else if spec.lengths.is_none() {
            return Err(Refusal::Missing { key: "segments".to_owned() });
        }
        if spec.method == Method::Best {
            spec.open = true;
            spec.method = if spec.backend.is_cuda() { Method::Spine } else { Method::Lookback };
        }
        spec.checked()
    }

    /// Checks the constraints between parameters.
    fn checked(self) -> Result<Spec, Refusal> {
        let per_segment = self.heads().is_some_and(Heads::per_segment);
        if per_segment && self.elements > MAX_ADDRESSED {
            return Err(Refusal::invalid("heads", "4 bytes cannot address more than 2^32 elements"));
        }
        let reason = match self.method {
            Method::Sengupta2007 { elements_per_thread: each } if ![2, 8].contains(&each) => {
                let key = "method.sengupta2007.elements-per-thread";
                return Err(Refusal::invalid(key, format!("{each} is not one of [2, 8]")));
            }
            _ if self.ty.is_float() && !self.operator.takes_floats() => {
                format!("{} is for integers, not for {}", self.operator.name(), self.ty.name())
            }
            _ if per_segment && matches!(self.lengths, Some(Lengths::Geometric { .. })) => {
                "the number of geometric segments is known only once they are drawn: use flags".to_owned()
            }
            Method::TwoPass if self.backend.is_cuda() => "two-pass is a method of CPUs".to_owned(),
            Method::Spine | Method::Sengupta2007 { .. } if self.backend.is_cpu() => {
                format!("{} is a method of GPUs", self.method.name())
            }
            _ => return Ok(self),
        };
        Err(Refusal::NotApplicable(reason))
    }

    /// Bytes per element (4 in the paper).
    pub fn element(&self) -> u64 {
        self.operator.words() * self.ty.bytes()
    }

    /// Bytes of in, which are also the bytes of out.
    pub fn bytes(&self) -> u64 {
        self.elements * self.element()
    }

    /// Whether the scan goes from the last element to the first.
    pub fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// Whether in is divided into segments, each scanned by itself.
    pub fn segmented(&self) -> bool {
        self.lengths.is_some()
    }

    /// The representation of the segment heads; `None` for an unsegmented scan.
    pub fn heads(&self) -> Option<Heads> {
        self.lengths.map(|_| self.heads)
    }

    /// The elements of in.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(self.operator, self.ty, self.backward(), self.elements, self.seed)
    }

    /// Where the segments begin; an unsegmented scan has all of in as one segment.
    pub fn segments(&self) -> Segments {
        Segments::or_one(self.lengths, self.elements, self.seed)
    }

    /// Bytes per entry of the segment heads, and the number of entries; (0, 0) for an unsegmented scan.
    pub fn head_entries(&self) -> (u64, u64) {
        let count = self.segments().count().unwrap_or(0);
        self.heads().map_or((0, 0), |heads| heads.entries(self.elements, count))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::*;
    use crate::case::Value;
    use crate::primitives::Problem;

    fn refusal(segmented: bool, params: Params) -> String {
        Spec::from_params(segmented, &params, 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_said_is_an_exclusive_sum_forward() {
        let bare = Params::default().with("elements", Value::Int(9));
        let spec = Spec::from_params(false, &bare, 1).expect("a case");
        assert_eq!((spec.operator, spec.ty, spec.kind), (Operator::Add, Type::U32, Kind::Exclusive));
        assert_eq!((spec.direction, spec.method, spec.element()), (Direction::Forward, Method::Lookback, 4));
        assert_eq!(refusal(true, bare), "segments: is missing");
    }

    #[test]
    fn what_has_no_meaning_does_not_apply() {
        let text = |key: &str, word: &str| params(true, 100).with(key, Value::Text(word.into()));
        let floats = text("type", "f64").with("operator", Value::Text("affine".into()));
        assert_eq!(refusal(true, floats), "n/a: affine is for integers, not for f64");
        let drawn = text("segments", "geometric")
            .with("segments.geometric.mean", Value::Int(4))
            .with("heads", Value::Text("lengths".into()));
        assert!(refusal(true, drawn).starts_with("n/a: the number of"));
        let on =
            |method: &str, backend: &str| text("method", method).with("backend", Value::Text(backend.into()));
        assert!(refusal(true, on("two-pass", "cuda")).starts_with("n/a"));
        assert!(refusal(true, on("sengupta2007", "cpu")).starts_with("n/a"));
        assert!(refusal(true, on("spine", "scalar")).starts_with("n/a"));
        assert!(Spec::from_params(true, &on("sengupta2007", "cuda"), 1).is_ok());
        let three = on("sengupta2007", "cuda").with("method.sengupta2007.elements-per-thread", Value::Int(3));
        assert!(refusal(true, three).contains("3 is not one of [2, 8]"));
    }

    #[test]
    fn the_best_method_is_the_backends() {
        for (backend, method, name) in
            [("cuda", Method::Spine, "spine"), ("cpu", Method::Lookback, "lookback")]
        {
            let on = |method: &str| params(false, 100).with("method", Value::Text(method.into()));
            let spec = |params: Params| {
                let params = params.with("backend", Value::Text(backend.into()));
                Spec::from_params(false, &params, 1).expect("a case")
            };
            let resolved = [("method".to_owned(), Value::Text(name.into()))];
            for open in [params(false, 100), on("best")] {
                assert_eq!((spec(open.clone()).method, &spec(open).resolved()[..]), (method, &resolved[..]));
            }
            assert_eq!(spec(on("lookback")).resolved(), []);
        }
    }

    #[test]
    fn sizes_are_limited() {
        assert!(refusal(false, params(false, (1 << 40) + 1)).starts_with("elements"));
        let wide = params(true, (1 << 32) + 1).with("heads", Value::Text("pointers".into()));
        assert!(refusal(true, wide).starts_with("heads"));
        let none = params(true, 5).with("segments.constant.length", Value::Int(0));
        assert_eq!(refusal(true, none), "segments.constant.length: must be at least 1");
    }

    #[test]
    fn a_pair_has_two_words() {
        let pairs = params(false, 5)
            .with("operator", Value::Text("affine".into()))
            .with("type", Value::Text("u64".into()));
        assert_eq!(
            Spec::from_params(false, &pairs, 1).map(|spec| (spec.element(), spec.bytes())),
            Ok((16, 80))
        );
    }
}

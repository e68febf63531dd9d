//! scan and segmented-scan (sengupta2007 §2.1 and §2.2): out\[i\] combines all elements before i with an
//! associative operator ⊕ that has an identity.
//!
//! ```text
//! inclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i]
//! exclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i−1], out[0] the identity
//! backward    in reversed, scanned, and the result reversed: in[n−1] comes first
//! segmented   each segment by itself
//! ```
//!
//! A backward scan has the same segments as a forward one, so its flags are shifted by one (§2.2.2). The
//! effective bytes are n elements read, n elements written, and the representation of the segment heads.
//!
//! The certificate is the recurrence: out\[i\] = out\[i−1\] ⊕ in\[i\] inside a segment, and in\[i\] (or the
//! identity) where a segment begins. [`inputs`] explains why this holds bit for bit for floats too.

pub mod cpu;
pub mod cuda;
pub mod inputs;
pub mod methods;
pub mod operator;
pub(in crate::primitives) mod oracle;
pub mod segments;
pub mod shape;

pub use methods::Method;

use super::{Definition, Primitive, Problem};
use crate::case::schema::{Param, ParamDefault};
use crate::case::table::{count, parameters, select, words};
use crate::case::{BlockCost, Params, Refusal, Value, Work};
use inputs::Inputs;
use operator::{Operator, Type};
use segments::{Heads, Lengths, Segments};

/// Upper limit on the number of elements.
pub const MAX_ELEMENTS: u64 = 1 << 40;

/// Upper limit on the number of elements where a segment's length or head is stored in 4 bytes.
const MAX_ADDRESSED: u64 = 1 << 32;

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

parameters! {
    /// A scan, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// ⊕; integers wrap; and, or: bitwise, integers only; affine: pairs (a, b) of integers that stand for x ↦ a·x +
        /// b, applied one after the other: (a, b) ⊕ (c, d) = (c·a, c·b + d)
        operator: Operator = "add",
        /// type of an element; affine: of a and of b
        ty as "type": Type = "u32",
        /// exclusive: out[i] combines the elements before i, and the first output is the identity; inclusive: out[i]
        /// includes element i
        kind: Kind = "exclusive",
        /// backward: from the last element to the first, as if in and out were reversed
        direction: Direction = "forward",
        /// elements of in and of out
        elements: u64 [count(1, MAX_ELEMENTS)],
        /// the lengths of the segments
        lengths as "segments": Option<Lengths> = (ParamDefault::Required),
        /// how the starts of segments are stored: one flag per element, as a bit, a byte, or a byte in the paper's
        /// striped order; or 4 bytes per segment, for its length or its first element
        heads: Heads = "bits",
        /// how it is computed
        method: Method = "best",
    }
    with {
        /// True if the method was `best`.
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
            spec.method = methods::best(&spec);
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

    /// True if the scan goes from the last element to the first.
    pub fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// True if in is divided into segments, each scanned by itself.
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

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        Primitive::of::<Spec>(
            "scan",
            "prefix sums, and scans with other associative operators (sengupta2007)",
            Spec::PLAIN,
        ),
        Primitive::of::<Spec>(
            "segmented-scan",
            "a separate scan of each segment of an array (sengupta2007)",
            Spec::TABLE,
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(name == "segmented-scan", params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let (entry, entries) = self.head_entries();
        let (bytes, costs) = (2 * self.bytes() + entry * entries, methods::costs(self));
        let footprint = bytes + costs.own_bytes;
        Work::of(self.elements, bytes, costs.passes()).footprint(footprint)
    }

    /// The method that `best` resolved to.
    fn resolved(&self) -> Vec<(String, Value)> {
        let method = || ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        self.open.then(method).into_iter().collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() { methods::costs(self).block_costs() } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn params(segmented: bool, elements: u64) -> Params {
        let params = Params::default().with("elements", Value::Int(elements));
        if !segmented {
            return params;
        }
        params
            .with("segments", Value::Text("constant".into()))
            .with("segments.constant.length", Value::Int(7))
    }

    pub(super) fn spec(segmented: bool, elements: u64, method: &str) -> Spec {
        let params = params(segmented, elements).with("method", Value::Text(method.into()));
        Spec::from_params(segmented, &params, 1).expect("a case")
    }

    fn refusal(segmented: bool, params: Params) -> String {
        Spec::from_params(segmented, &params, 1).expect_err("refused").to_string()
    }

    #[test]
    fn the_oracle_accepts_the_definition_and_nothing_else() {
        let params = params(true, 20).with("kind", Value::Text("inclusive".into()));
        let [segmented, whole] = [true, false].map(|of| Spec::from_params(of, &params, 5).expect("a case"));
        let inputs = segmented.inputs();
        let mut total = 0u32;
        let sums = (0..20u64).map(|i| {
            total = if i % 7 == 0 { 0 } else { total }.wrapping_add(inputs.bits(i)[0] as u32);
            total
        });
        let mut output: Vec<u8> = sums.flat_map(u32::to_le_bytes).collect();
        assert_eq!(segmented.check(&output), Ok(()));
        assert!(whole.check(&output).is_err_and(|e| e.starts_with("out[7]")));
        output[79] ^= 1;
        let mistake = segmented.check(&output);
        assert!(mistake.is_err_and(|e| e.starts_with("out[19]")));
        assert!(segmented.check(&output[..76]).is_err());
    }

    #[test]
    fn a_scan_reads_and_writes_each_element_once() {
        let w = spec(false, 1000, "lookback").work();
        assert_eq!(
            (w.elements, w.effective_bytes, w.footprint, w.declared_bytes()),
            (1000, 8000, 8000, 8000)
        );
        let flagged = spec(true, 1000, "lookback").work();
        assert_eq!((flagged.effective_bytes, flagged.declared_bytes()), (8128, 8128));
        for method in ["best", "spine"] {
            assert_eq!(spec(true, 1000, method).work(), flagged);
        }
        assert_eq!(spec(false, 1000, "two-pass").work().declared_bytes(), 12_000);
        assert_eq!(spec(true, 1000, "two-pass").work().declared_bytes(), 8128 + 4 * 7);
        let told = Spec { heads: Heads::Lengths, ..spec(true, 1000, "lookback") }.work();
        assert_eq!((told.effective_bytes, told.declared_bytes()), (8000 + 4 * 143, 8000 + 3 * 4 * 143));
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
        for (backend, elements, method, name) in [
            ("cuda", 1 << 22, Method::Lookback, "lookback"),
            ("cuda", (1 << 22) + 1, Method::Spine, "spine"),
            ("cpu", 1 << 30, Method::Lookback, "lookback"),
        ] {
            let on = |method: &str| params(false, elements).with("method", Value::Text(method.into()));
            let spec = |params: Params| {
                let params = params.with("backend", Value::Text(backend.into()));
                Spec::from_params(false, &params, 1).expect("a case")
            };
            let resolved = [("method".to_owned(), Value::Text(name.into()))];
            for open in [params(false, elements), on("best")] {
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

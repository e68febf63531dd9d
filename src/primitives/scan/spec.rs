//! What a scan computes: its parameters, typed.

use super::inputs::Inputs;
use super::operator::{Operator, Type};
use super::segments::{Heads, Lengths, Segments};
use crate::case::{Params, Refusal, Value, reader};

/// Most elements.
pub const MAX_ELEMENTS: u64 = 1 << 40;

/// Most elements where a segment's length or head has 4 bytes.
const MAX_ADDRESSED: u64 = 1 << 32;

/// Threads of a block of [`Method::Sengupta2007`].
pub const BLOCK: u64 = 128;

/// What out\[i\] is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The elements before i.
    Exclusive,
    /// Those and i.
    Inclusive,
}

/// From where a scan goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One pass: one block scans the tiles' sums and tells each tile what comes before it.
    Spine,
    /// One pass: a tile takes the prefix of those before it (decoupled look-back, Merrill and
    /// Garland 2016).
    Lookback,
    /// Every thread reduces its part, then scans it.
    TwoPass,
    /// Reduce and down-sweep in blocks, level by level (sengupta2007 Algorithms 1 to 5).
    Sengupta2007 { elements_per_thread: u64 },
}

/// The segments of a case, and how they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmented {
    pub lengths: Lengths,
    pub heads: Heads,
}

/// A scan, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    pub operator: Operator,
    pub ty: Type,
    pub kind: Kind,
    pub direction: Direction,
    pub method: Method,
    /// Whether the method was `best`.
    pub open: bool,
    /// n. A recipe asks for at least 1; `verify` runs 0 as well.
    pub elements: u64,
    /// Of a segmented scan.
    pub segmented: Option<Segmented>,
    pub seed: u64,
    /// Whether a GPU computes it.
    pub on_cuda: bool,
}

impl Spec {
    /// Reads and checks the parameters of `scan` or, with `segmented`, of `segmented-scan`.
    pub fn from_params(segmented: bool, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let kinds = [("exclusive", Kind::Exclusive), ("inclusive", Kind::Inclusive)];
        let directions = [("forward", Direction::Forward), ("backward", Direction::Backward)];
        let spec = Spec {
            operator: reader::word_or(params, "operator", &Operator::NAMES, Operator::Add)?,
            ty: reader::word_or(params, "type", &Type::NAMES, Type::U32)?,
            kind: reader::word_or(params, "kind", &kinds, Kind::Exclusive)?,
            direction: reader::word_or(params, "direction", &directions, Direction::Forward)?,
            method: method(params)?,
            open: matches!(params.text("method"), None | Some("best")),
            elements: reader::int(params, "elements")?,
            segmented: if segmented { Some(read_segments(params)?) } else { None },
            seed,
            on_cuda: reader::on_cuda(params),
        };
        spec.check_sizes()?;
        spec.check_meaning()?;
        spec.check_backend(params)?;
        Ok(spec)
    }

    /// Bytes of an element (the paper's 4).
    pub fn element(&self) -> u64 {
        self.operator.words() * self.ty.bytes()
    }

    /// Bytes of in, and of out.
    pub fn bytes(&self) -> u64 {
        self.elements * self.element()
    }

    /// Whether it goes from the last element to the first.
    pub fn backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// The elements of in.
    pub fn inputs(&self) -> Inputs {
        Inputs::new(self.operator, self.ty, self.backward(), self.elements, self.seed)
    }

    /// Where its segments begin; all of in is one segment where it is not segmented.
    pub fn segments(&self) -> Segments {
        let whole = Lengths::Constant { length: self.elements.max(1) };
        let lengths = self.segmented.map_or(whole, |segmented| segmented.lengths);
        Segments::new(lengths, self.elements, self.seed)
    }

    /// Bytes of an entry of what tells the segments, and entries; none where it is not segmented.
    pub fn head_entries(&self) -> (u64, u64) {
        let count = self.segments().count().unwrap_or(0);
        self.segmented.map_or((0, 0), |segmented| segmented.heads.entries(self.elements, count))
    }

    /// What `best` became, for the record.
    pub fn resolved(&self) -> Vec<(String, Value)> {
        let name = if self.method == Method::Spine { "spine" } else { "lookback" };
        let method = ("method".to_owned(), Value::Text(name.to_owned()));
        if self.open { vec![method] } else { Vec::new() }
    }

    fn check_sizes(&self) -> Result<(), Refusal> {
        if self.elements > MAX_ELEMENTS {
            return Err(Refusal::invalid("elements", "at most 2^40"));
        }
        let per_segment = self.segmented.is_some_and(|segmented| segmented.heads.per_segment());
        if per_segment && self.elements > MAX_ADDRESSED {
            return Err(Refusal::invalid("heads", "4 bytes cannot address more than 2^32 elements"));
        }
        Ok(())
    }

    fn check_meaning(&self) -> Result<(), Refusal> {
        let drawn = |s: Segmented| matches!(s.lengths, Lengths::Geometric { .. }) && s.heads.per_segment();
        let reason = if self.ty.is_float() && !self.operator.takes_floats() {
            format!("{} is for integers, not for {}", self.operator.name(), self.ty.name())
        } else if self.segmented.is_some_and(drawn) {
            "how many geometric segments there are is known only when they are drawn: flags tell them"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Refusal::NotApplicable(reason))
    }

    fn check_backend(&self, params: &Params) -> Result<(), Refusal> {
        let on_cuda = reader::on_cuda(params);
        let on_cpus = matches!(params.text("backend"), Some("scalar" | "cpu"));
        match self.method {
            Method::TwoPass if on_cuda => {
                Err(Refusal::NotApplicable("two-pass is a method of CPUs".to_owned()))
            }
            Method::Spine if on_cpus => Err(Refusal::NotApplicable("spine is a method of GPUs".to_owned())),
            Method::Sengupta2007 { .. } if on_cpus => {
                Err(Refusal::NotApplicable("sengupta2007 is a method of GPUs".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

fn method(params: &Params) -> Result<Method, Refusal> {
    match params.text("method") {
        Some("sengupta2007") => {
            let key = "method.sengupta2007.elements-per-thread";
            Ok(Method::Sengupta2007 { elements_per_thread: reader::one_of(params, key, &[2, 8], 2)? })
        }
        _ => {
            let best = if reader::on_cuda(params) { Method::Spine } else { Method::Lookback };
            let plain = [
                ("best", best),
                ("spine", Method::Spine),
                ("lookback", Method::Lookback),
                ("two-pass", Method::TwoPass),
            ];
            reader::word_or(params, "method", &plain, best)
        }
    }
}

fn read_segments(params: &Params) -> Result<Segmented, Refusal> {
    let size = |key: &str| reader::positive(params, key);
    let lengths = match params.text("segments") {
        Some("constant") => Lengths::Constant { length: size("segments.constant.length")? },
        Some("random") => Lengths::Random { mean: size("segments.random.mean")? },
        Some("geometric") => Lengths::Geometric { mean: size("segments.geometric.mean")? },
        _ => reader::word::<Lengths>(params, "segments", &[])?,
    };
    Ok(Segmented { lengths, heads: reader::word_or(params, "heads", &Heads::NAMES, Heads::Bits)? })
}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::*;

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
        assert!(refusal(true, drawn).starts_with("n/a: how many"));
        let on =
            |method: &str, backend: &str| text("method", method).with("backend", Value::Text(backend.into()));
        assert!(refusal(true, on("two-pass", "cuda")).starts_with("n/a"));
        assert!(refusal(true, on("sengupta2007", "cpu")).starts_with("n/a"));
        assert!(refusal(true, on("spine", "scalar")).starts_with("n/a"));
        assert!(Spec::from_params(true, &on("sengupta2007", "cuda"), 1).is_ok());
        let three = on("sengupta2007", "cuda").with("method.sengupta2007.elements-per-thread", Value::Int(3));
        assert!(refusal(true, three).contains("3 is none of [2, 8]"));
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

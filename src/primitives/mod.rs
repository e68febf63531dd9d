//! The primitives: their definitions, parameters and accesses (pure), and beside
//! them their implementations, which the engine alone imports.

pub mod atop_scan;
mod copies;
mod cpu;
pub mod cuda;
pub mod gather_scatter;
mod groups;
pub mod histogram;
pub mod multisplit;
pub mod near;
mod oracle;
pub mod pattern;
pub mod random_access;
pub(crate) mod reader;
pub mod scan;
pub mod schema;
pub mod stream;
#[cfg(test)]
mod words;

use serde::{Deserialize, Serialize};

use crate::backend::Fault;
use crate::plan::{Params, Value};
pub use copies::{alternatives, check, held, work};
pub use near::Near;
use schema::Param;

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Read,
    Write,
}

/// The order in which an access visits its footprint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Every element once, ascending.
    Sequential,
    /// Every `stride`-th element, ascending.
    Strided { stride: u64 },
    /// Each element of the footprint once, in random order.
    Random,
    /// The footprint in `chunks` equal parts, one after another, each element of a part once, in
    /// random order.
    Chunks { chunks: u64 },
    /// `partitions` ascending streams, the next element's stream chosen at random
    /// (he2007 §3.3.2, Case II).
    Partitions { partitions: u64 },
    /// The same streams, but `tile` elements at a time are put in order by their streams near the
    /// processor, so that those of a stream leave side by side.
    Staged { partitions: u64, tile: u64 },
    /// Independent draws with Zipf-distributed ranks, exponent `exponent`.
    Zipf { exponent: f64 },
    /// As an index array says that somebody brought.
    Given,
    /// A pattern moved by `delta` elements after each of its uses (lavin2020 §3.1).
    Pattern { indices: Vec<u64>, delta: u64 },
    /// A pattern whose next use starts one of `deltas` elements further, which are repeated;
    /// the uses may be visited in random order.
    Visits { indices: Vec<u64>, deltas: Vec<u64>, shuffled: bool },
}

/// How many of an access's operations may be in flight together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// All are independent of each other.
    Independent,
    /// So are these, but each goes with an element of an index array, so that neighbours are
    /// moved one by one wherever they lie.
    Led,
    /// Each needs the one before it.
    Chained,
}

/// One array's part in one pass of a method: what the models, the declared bytes
/// and the time estimate evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// The array in the definition's own letters: `R_in`, `R_out`, `L`, `a` …
    pub array: String,
    pub direction: Direction,
    /// Bytes of one element (he2007's z).
    pub element: u64,
    /// Accesses in the pass (he2007's n).
    pub count: u64,
    /// Bytes from which they are drawn.
    pub footprint: u64,
    pub order: Order,
    pub concurrency: Concurrency,
}

impl Access {
    /// Bytes that the access asks for.
    pub fn bytes(&self) -> u64 {
        self.element * self.count
    }
}

/// A pass over memory, performed `times` times one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// How often (he2007's nChunk).
    pub times: u64,
    pub accesses: Vec<Access>,
}

/// What a case does to memory, known before it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The method's accesses, pass by pass.
    pub passes: Vec<Pass>,
    /// Elements that the definition handles (tuples, pattern entries, keys).
    pub elements: u64,
    /// Bytes that count for the effective bandwidth.
    pub effective_bytes: u64,
    /// Bytes of the data tuples both ways and of the locations, each once.
    pub system_bytes: u64,
    /// Bytes of memory the timed arrays occupy on the device.
    pub footprint: u64,
    /// Further bytes that the certificate or the generation needs at its peak.
    pub scratch: u64,
}

impl Work {
    /// Bytes that the method asks for over all its passes.
    pub fn declared_bytes(&self) -> u64 {
        self.passes.iter().map(|p| p.times * p.accesses.iter().map(Access::bytes).sum::<u64>()).sum()
    }
}

/// A case's way through memory: the indices of one side, in the order of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Which side, in the definition's own letters: `L`, `p`, `p_g` …
    pub side: &'static str,
    /// Bytes of an element.
    pub element: u64,
    /// The first of them.
    pub indices: Vec<u64>,
    /// All there are.
    pub total: u64,
}

/// The speed of light of a primitive: what its parallel model moves, while nothing else takes time
/// (ashkiani2017 §6.2.2).
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// What is moved, and the source.
    pub moves: &'static str,
    /// Bytes of one execution.
    pub bytes: fn(&Params) -> Result<u64, Refusal>,
}

/// Why a primitive cannot do what its parameters say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The recipe is wrong: the full key and what is wrong with it.
    #[error("{key}: {message}")]
    Invalid { key: String, message: String },
    /// The recipe must give this key.
    #[error("{key}: is missing")]
    Missing { key: String },
    /// The recipe is fine, but this combination does not exist (`n/a: reason`).
    #[error("n/a: {0}")]
    NotApplicable(String),
}

impl Refusal {
    /// An [`Refusal::Invalid`].
    pub fn invalid(key: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::Invalid { key: key.into(), message: message.into() }
    }
}

/// An operation with a mathematical definition: its pure half.
pub trait Primitive: Sync {
    /// Name in recipes and in the registry.
    fn name(&self) -> &'static str;

    /// The definition in one line.
    fn summary(&self) -> &'static str;

    /// Accepted parameters, `method` among them where there is more than one.
    fn params(&self) -> &'static [Param];

    /// Full keys of the methods' names, for the registry's completeness test.
    fn methods(&self) -> &'static [&'static str];

    /// The parameters with those that follow from them and that a recipe may leave out.
    fn completed(&self, params: Params) -> Params {
        params
    }

    /// Most indices of a file that a case carries in its parameters, as
    /// `….file.indices`; `None` where the engine opens the file itself.
    fn longest_carried(&self) -> Option<u64> {
        None
    }

    /// The ways through memory of a case, each of at most `most` indices; none for a
    /// primitive without indices. `stored` gives the array with a hash.
    ///
    /// # Errors
    /// A case that does not exist, and indices that would take too long to make.
    fn walks(
        &self,
        _params: &Params,
        _seed: u64,
        _most: u64,
        _stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        Ok(Vec::new())
    }

    /// What a method that is still to be chosen may become: the parameters with each method in
    /// its place, the simplest first. Nothing where the method is not open.
    fn alternatives(&self, _params: &Params) -> Vec<Params> {
        Vec::new()
    }

    /// Checks what no single parameter can know, and says what the case does to
    /// memory. Never allocates in proportion to the case.
    fn work(&self, params: &Params) -> Result<Work, Refusal>;

    /// What its own parallel model moves, where a paper has one: a ceiling of all its methods.
    fn light(&self) -> Option<Light> {
        None
    }

    /// Blocks of threads that an execution starts on a GPU, one after another in the order of
    /// addresses; `None` where there are no more than are at work at once, where it takes several
    /// launches, and on processors. Pure; what is open is what the kernels would choose.
    fn blocks(&self, _params: &Params) -> Option<u64> {
        None
    }

    /// What the blocks of each pass do near the processor on a GPU, in the order of
    /// [`work`](Primitive::work)'s passes; nothing on processors, and where streams and requests say all.
    ///
    /// # Errors
    /// What is not known of a method, so that no model may speak of it: to follow `n/a: `.
    fn near(&self, _params: &Params) -> Result<Vec<Near>, String> {
        Ok(Vec::new())
    }

    /// Compares an implementation's whole output, as
    /// [`Prepared::read_back`](crate::backend::Prepared::read_back) returns it, with
    /// the sequential oracle. For small cases: host memory, one thread.
    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String>;

    /// Whether this mistake can show in the result at all. Where several writers meet, any
    /// of their values is right, and one that is missing hides behind the others.
    fn shows(&self, _params: &Params, _fault: Fault) -> bool {
        true
    }

    /// Further columns that this primitive adds to a record (a pattern's class …).
    fn annotations(&self, _params: &Params) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// Every primitive, in the order of the documentation.
pub fn registry() -> &'static [&'static dyn Primitive] {
    &[
        &stream::Stream,
        &gather_scatter::Gather,
        &gather_scatter::Scatter,
        &pattern::Pattern,
        &random_access::RandomAccess,
        &scan::Scan,
        &scan::SegmentedScan,
        &atop_scan::AtopScan(atop_scan::Operation::Enumerate),
        &atop_scan::AtopScan(atop_scan::Operation::Compact),
        &atop_scan::AtopScan(atop_scan::Operation::Distribute),
        &atop_scan::AtopScan(atop_scan::Operation::Split),
        &atop_scan::AtopScan(atop_scan::Operation::SplitAndSegment),
        &histogram::Histogram,
        &multisplit::Multisplit,
    ]
}

/// The primitive of this name.
pub fn find(name: &str) -> Option<&'static dyn Primitive> {
    registry().iter().copied().find(|p| p.name() == name)
}

#[cfg(test)]
mod tests {
    use super::schema::{Kind, Variant};
    use super::*;

    fn variants(kind: &Kind) -> Option<&'static [Variant]> {
        match kind {
            Kind::Choice(variants) => Some(variants),
            _ => None,
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for primitive in registry() {
            assert_eq!(find(primitive.name()).map(|p| p.summary()), Some(primitive.summary()));
        }
        assert!(find("sort").is_none());
    }

    /// The methods that a primitive lists are the variants of its `method`.
    #[test]
    fn methods_are_those_of_the_schema() {
        for primitive in registry() {
            let method = primitive.params().iter().find(|p| p.name == "method").map(|p| &p.kind);
            let names: Vec<&str> =
                method.and_then(variants).unwrap_or_default().iter().map(|v| v.name).collect();
            assert_eq!(names, primitive.methods(), "{}", primitive.name());
        }
    }

    /// The smallest case of each primitive and method.
    fn smallest(primitive: &str, method: &str) -> Params {
        let kernel = if method == "atomic" { "scatter" } else { "gather" };
        let p = |key: &str, value: Value| Params::default().with(key, value);
        match primitive {
            "stream" => p("kernel", Value::Text("copy".into())).with("elements", Value::Int(4)),
            "pattern" => p("source", Value::Text("custom".into()))
                .with("kernel", Value::Text(kernel.into()))
                .with("source.custom.indices", Value::Indices(vec![0, 2]))
                .with("count", Value::Int(3)),
            "random-access" => {
                p("kernel", Value::Text(if method == "chained" { "read" } else { "write" }.into()))
                    .with("footprint", Value::Int(64))
                    .with("accesses", Value::Int(4))
            }
            "scan" | "enumerate" | "compact" | "distribute" | "split" => p("elements", Value::Int(4)),
            "segmented-scan" | "split-and-segment" => p("elements", Value::Int(4))
                .with("segments", Value::Text("constant".into()))
                .with("segments.constant.length", Value::Int(3)),
            "histogram" => p("elements", Value::Int(4)).with("bins", Value::Int(2)),
            "multisplit" => p("keys", Value::Int(4)).with("buckets", Value::Int(2)),
            _ => p("tuples", Value::Int(4)),
        }
    }

    /// What blocks do near the processor is declared for each pass, or for none.
    #[test]
    fn passes_have_what_is_near_the_processor() {
        for primitive in registry() {
            for method in primitive.methods() {
                for heads in ["bits", "striped", "lengths", "pointers"] {
                    let text = |word: &str| Value::Text(word.to_owned());
                    let params = smallest(primitive.name(), method)
                        .with("method", text(method))
                        .with("heads", text(heads))
                        .with("backend", text("cuda"));
                    let (Ok(work), Ok(near)) = (primitive.work(&params), primitive.near(&params)) else {
                        continue;
                    };
                    let declared = near.is_empty() || near.len() == work.passes.len();
                    assert!(declared, "{} by {method}, {heads}: {}", primitive.name(), near.len());
                    let on_cpus = params.with("backend", text("cpu"));
                    assert!(
                        primitive.near(&on_cpus).is_ok_and(|n| n.is_empty())
                            || primitive.work(&on_cpus).is_err()
                    );
                }
            }
        }
    }

    /// Each method declares accesses, and each primitive has an oracle that rejects
    /// an output of the wrong length.
    #[test]
    fn each_method_has_accesses_and_an_oracle() {
        for primitive in registry() {
            for method in primitive.methods() {
                let params = smallest(primitive.name(), method)
                    .with("method", Value::Text((*method).to_owned()))
                    .with("method.multipass.passes", Value::Int(2))
                    .with("method.segmented.passes", Value::Int(2))
                    .with("method.segmented.segments", Value::Int(2));
                let work = primitive.work(&params).expect("the smallest case exists");
                assert!(work.passes.iter().all(|p| p.times > 0 && !p.accesses.is_empty()), "{method}");
                assert!(work.effective_bytes > 0 && work.declared_bytes() >= work.effective_bytes);
                let verdict = primitive.check_against_oracle(&params, 1, &[0; 3]).unwrap_err();
                assert!(verdict.contains("3 bytes"), "{}: {verdict}", primitive.name());
            }
        }
    }
}

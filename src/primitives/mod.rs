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
mod oracle;
pub mod pattern;
pub mod random_access;
pub mod range;
pub mod scan;
pub mod stream;
mod walk;
#[cfg(test)]
mod words;

use crate::case::schema::Param;
use crate::case::{Fault, Light, Near, Params, Refusal, Value, Walk, Work};
pub use copies::{alternatives, check, held, work};
pub use walk::walks;

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

    /// Whether its cases go through indices, so that there are [`walks`](Primitive::walks).
    fn has_walks(&self) -> bool {
        false
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
    /// [`Prepared::read_back`](crate::device::Prepared::read_back) returns it, with
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
    use super::*;
    use crate::case::schema::{Kind, Variant};

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
                    assert!(primitive.near(&on_cpus).unwrap_or_default().is_empty());
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

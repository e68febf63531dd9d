//! The primitives by name.

use std::sync::LazyLock;

use super::{
    Definition, Primitive, atop_scan, gather_scatter, histogram, multisplit, pattern, random_access, scan,
    stream,
};

/// Every primitive, in the order of the documentation.
pub fn registry() -> &'static [&'static Primitive] {
    static ALL: LazyLock<Vec<&'static Primitive>> = LazyLock::new(|| {
        let definitions = [
            stream::Spec::PRIMITIVES,
            gather_scatter::Spec::PRIMITIVES,
            pattern::Spec::PRIMITIVES,
            random_access::Spec::PRIMITIVES,
            scan::Spec::PRIMITIVES,
            atop_scan::Spec::PRIMITIVES,
            histogram::Spec::PRIMITIVES,
            multisplit::Spec::PRIMITIVES,
        ];
        definitions.into_iter().flatten().collect()
    });
    &ALL
}

/// The primitive of this name.
pub fn find(name: &str) -> Option<&'static Primitive> {
    registry().iter().copied().find(|p| p.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Params, Value};

    #[test]
    fn names_are_unique_and_found() {
        for primitive in registry() {
            assert_eq!(find(primitive.name()).map(|p| p.summary()), Some(primitive.summary()));
        }
        assert!(find("sort").is_none());
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
                    let Ok(case) = primitive.case(&params, 1) else { continue };
                    let (work, Ok(near)) = (case.work(), case.near()) else { continue };
                    let declared = near.is_empty() || near.len() == work.passes.len();
                    assert!(declared, "{} by {method}, {heads}: {}", primitive.name(), near.len());
                    let on_cpus = params.with("backend", text("cpu"));
                    let on_cpus = primitive.case(&on_cpus, 1);
                    assert!(on_cpus.map_or(true, |case| case.near().unwrap_or_default().is_empty()));
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
                let case = primitive.case(&params, 1).expect("the smallest case exists");
                let work = case.work();
                assert!(work.passes.iter().all(|p| p.times > 0 && !p.accesses.is_empty()), "{method}");
                assert!(work.effective_bytes > 0 && work.declared_bytes() >= work.effective_bytes);
                let verdict = case.check(&[0; 3]).unwrap_err();
                assert!(verdict.contains("3 bytes"), "{}: {verdict}", primitive.name());
            }
        }
    }
}

//! The primitives by name.

use super::{
    Primitive, atop_scan, gather_scatter, histogram, multisplit, pattern, random_access, scan, stream,
};

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
    use crate::case::{Params, Value};

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

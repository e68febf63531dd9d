//! The primitives by name.

use std::sync::LazyLock;

use super::{
    Definition, Primitive, Problem, cg, compaction, gather_scatter, hash_search, histogram, multisplit,
    pattern, random_access, reduce, scan, shallow_water, sort, spmv, sssp, stream, tridiagonal,
};
use crate::case::{Case, IndexFile, Params, Walk};
use crate::inputs::indices;
use crate::inputs::sparse::Positions;

/// Every primitive, in the order of the documentation.
pub fn registry() -> &'static [&'static Primitive] {
    static ALL: LazyLock<Vec<&'static Primitive>> = LazyLock::new(|| {
        let definitions = [
            stream::Spec::PRIMITIVES,
            gather_scatter::Spec::PRIMITIVES,
            pattern::Spec::PRIMITIVES,
            random_access::Spec::PRIMITIVES,
            reduce::Spec::PRIMITIVES,
            scan::Spec::PRIMITIVES,
            compaction::Spec::PRIMITIVES,
            histogram::Spec::PRIMITIVES,
            multisplit::Spec::PRIMITIVES,
            sort::Spec::PRIMITIVES,
            hash_search::Search::PRIMITIVES,
            hash_search::Build::PRIMITIVES,
            spmv::Spec::PRIMITIVES,
            cg::Spec::PRIMITIVES,
            sssp::Spec::PRIMITIVES,
            tridiagonal::Spec::PRIMITIVES,
            shallow_water::Spec::PRIMITIVES,
        ];
        definitions.into_iter().flatten().collect()
    });
    &ALL
}

/// The primitive of this name.
pub fn find(name: &str) -> Option<&'static Primitive> {
    registry().iter().copied().find(|p| p.name() == name)
}

/// The version of the definition of these cases; 1 for a primitive that is not in the registry.
pub fn version(primitive: &str, params: &Params) -> u32 {
    find(primitive).map_or(1, |primitive| primitive.version(params))
}

/// Reads and checks the parameters of a plan's case, whatever its primitive.
///
/// # Errors
/// Those of [`Primitive::case`], as text, and a primitive that is not in the registry.
pub fn problem(case: &Case) -> Result<Box<dyn Problem>, String> {
    let primitive = find(&case.primitive).ok_or_else(|| format!("no primitive {}", case.primitive))?;
    primitive.case(&case.params, case.seed).map_err(|refused| refused.to_string())
}

/// The index sequences of a case, each of at most `most` indices. `files` are the index files of the case's
/// plan.
///
/// # Errors
/// A case that does not exist, a missing file, and indices that would take too long to generate.
pub fn walks(files: &[IndexFile], case: &Case, most: u64) -> Result<Vec<Walk>, String> {
    problem(case)?.walks(most, &|hash| stored(files, hash))
}

/// Where a case's sparse matrix has entries; `None` for a primitive without one. `files` are the index files of the case's
/// plan, matrices and graphs in files among them.
///
/// # Errors
/// A case that does not exist, a missing file, and a matrix that would take too long to look at.
pub fn positions(files: &[IndexFile], case: &Case) -> Result<Option<Positions>, String> {
    problem(case)?.positions(&|hash| stored(files, hash))
}

/// The name of the input in host memory that a case shares with others ([`Problem::shared_input`]); `None` without one.
pub fn shared_input(case: &Case) -> Option<String> {
    problem(case).ok()?.shared_input()
}

fn stored(files: &[IndexFile], hash: &str) -> Result<Vec<u64>, String> {
    let file = files.iter().find(|file| file.hash == hash).ok_or("no such file in the plan")?;
    indices::find(file).map_err(|missing| missing.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;
    use crate::case::schema::{Kind, Param, ParamDefault};

    #[test]
    fn names_are_unique_and_found() {
        for primitive in registry() {
            assert_eq!(find(primitive.name()).map(|p| p.summary()), Some(primitive.summary()));
        }
        assert!(find("quicksort").is_none());
    }

    /// Small values for the parameters that a recipe must give, below `place`.
    fn given(params: Params, place: &str, rows: &[Param]) -> Params {
        let required = |row: &&Param| {
            matches!(row.default, ParamDefault::Required | ParamDefault::RequiredUnless { .. })
        };
        rows.iter().filter(required).fold(params, |params, row| {
            let key = format!("{place}{}", row.name);
            match row.kind {
                Kind::Count { min, .. } => params.with(&key, Value::Int(min.max(2))),
                Kind::Bytes { .. } => params.with(&key, Value::Int(64)),
                Kind::Choice([first, ..]) => {
                    let params = params.with(&key, Value::Text(first.name.into()));
                    given(params, &format!("{key}.{}.", first.name), first.params)
                }
                _ => params,
            }
        })
    }

    /// A small case of the method. Where a recipe must choose among words, the first word that supports the
    /// method is taken.
    fn smallest(primitive: &Primitive, method: &str) -> Params {
        let text = |word: &str| Value::Text(word.to_owned());
        let mut params = given(Params::default().with("method", text(method)), "", primitive.params());
        if let Some(Kind::Choice(methods)) =
            primitive.params().iter().find(|p| p.name == "method").map(|p| p.kind)
        {
            let own = methods
                .iter()
                .find(|variant| variant.name == method)
                .map_or(&[][..], |variant| variant.params);
            params = given(params, &format!("method.{method}."), own);
        }
        if primitive.name() == "pattern" {
            let kernel = if method == "atomic" { "scatter" } else { "gather" };
            params = params
                .with("source", text("custom"))
                .with("kernel", text(kernel))
                .with("source.custom.indices", Value::Indices(vec![0, 2].into()))
                .with("count", Value::Int(3));
        }
        let open = primitive.params().iter().find_map(|row| match (row.kind, row.default) {
            (Kind::Word(words), ParamDefault::Required) => Some((row.name, words)),
            _ => None,
        });
        let Some((key, words)) = open else { return params };
        let mut all = words.iter().map(|word| params.clone().with(key, text(word)));
        all.find(|params| primitive.case(params, 1).is_ok()).expect("a word that has the method")
    }

    /// On-chip work of blocks is declared either for each pass or for none.
    #[test]
    fn passes_have_what_is_near_the_processor() {
        for primitive in registry() {
            for method in primitive.methods() {
                for heads in ["bits", "striped", "lengths", "pointers"] {
                    let text = |word: &str| Value::Text(word.to_owned());
                    let params = smallest(primitive, method)
                        .with("method", text(method))
                        .with("heads", text(heads))
                        .with("backend", text("cuda"));
                    let Ok(case) = primitive.case(&params, 1) else { continue };
                    let (work, Ok(block_costs)) = (case.work(), case.block_costs()) else { continue };
                    let declared = block_costs.is_empty() || block_costs.len() == work.passes.len();
                    assert!(declared, "{} by {method}, {heads}: {}", primitive.name(), block_costs.len());
                    let on_cpus = params.with("backend", text("cpu"));
                    let on_cpus = primitive.case(&on_cpus, 1);
                    assert!(on_cpus.map_or(true, |case| case.block_costs().unwrap_or_default().is_empty()));
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
                let params = smallest(primitive, method);
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

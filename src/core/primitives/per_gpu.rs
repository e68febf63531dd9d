//! Work and results of a case whose GPUs each have arrays of their own.

use super::find;
use crate::case::gpus::{Gpus, replicas};
use crate::case::{Case, Params, Ranking, Value, Work};

/// The memory accesses of a case on all its GPUs together. This is the only place that multiplies work by the
/// number of GPUs that have arrays of their own. `resolved` holds the values chosen for the case's open
/// parameters, as far as they are known.
pub fn work(case: &Case, resolved: &[(String, Value)]) -> Option<Work> {
    let alone = find(&case.primitive)?.work(&with_chosen(&case.params, resolved)).ok()?;
    Some(times(alone, replicas(&case.params, resolved)))
}

/// The keys that a case ranks on chip ([`super::Problem::ranking`]). `None` for peers, whose methods are their own, and for
/// several GPUs, because one is measured.
pub fn ranking(case: &Case) -> Option<Ranking> {
    if case.peer().is_some() || Gpus::of(&case.params).several() {
        return None;
    }
    find(&case.primitive)?.case(&case.params, case.seed).ok()?.ranking()
}

/// The candidates for a case whose method is open ([`super::Primitive::method_candidates`]).
pub fn method_candidates(case: &Case) -> Vec<Params> {
    find(&case.primitive).map_or_else(Vec::new, |primitive| primitive.method_candidates(&case.params))
}

/// The parameters with the values chosen for an open method, and for open buckets: stored runs have others than would be chosen
/// now.
fn with_chosen(params: &Params, resolved: &[(String, Value)]) -> Params {
    let open = |(key, _): &&(String, Value)| matches!(key.split('.').next(), Some("method" | "bucket"));
    let became = resolved.iter().filter(open);
    became.fold(params.clone(), |params, (key, value)| params.with(key, value.clone()))
}

/// Bytes that a case with this `work` on one GPU holds at a time on each of its devices: a device with arrays
/// of its own holds all bytes, a device that shares arrays holds its part.
pub fn bytes_per_device(case: &Case, work: &Work) -> u64 {
    (work.footprint / Gpus::of(&case.params).shares()).saturating_add(work.scratch)
}

/// `replicas` times the work, at the same time, each on arrays of its own.
fn times(mut work: Work, replicas: u64) -> Work {
    let accesses = work.passes.iter_mut().flat_map(|pass| &mut pass.accesses);
    let of_accesses = accesses.flat_map(|access| [&mut access.count, &mut access.footprint]);
    let own = [
        &mut work.elements,
        &mut work.effective_bytes,
        &mut work.system_bytes,
        &mut work.footprint,
        &mut work.scratch,
    ];
    of_accesses.chain(own).for_each(|number| *number = number.saturating_mul(replicas));
    work
}

/// Compares the whole output of a case's implementation, as returned by
/// [`Prepared::read_back`](crate::device::Prepared::read_back), with the sequential oracle.
///
/// # Errors
/// Describes the first mistake.
pub fn check(case: &Case, resolved: &[(String, Value)], output: &[u8]) -> Result<(), String> {
    let problem = super::problem(case)?;
    let replicas = replicas(&case.params, resolved).max(1) as usize;
    if !output.len().is_multiple_of(replicas) {
        return Err(format!("{} bytes are not {replicas} results", output.len()));
    }
    let one = output.len() / replicas;
    (0..replicas).try_for_each(|k| {
        problem.check(&output[k * one..(k + 1) * one]).map_err(|mistake| {
            if replicas > 1 { format!("GPU {} of the case: {mistake}", k + 1) } else { mistake }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    fn scatter(more: &[(&str, Value)]) -> Case {
        let params = Params::default()
            .with("backend", Value::Text("cuda".into()))
            .with("tuples", Value::Int(4))
            .with("tuple", Value::Int(8))
            .with("index", Value::Int(4))
            .with("locations", Value::Text("sequential".into()))
            .with("method", Value::Text("direct".into()));
        let params = more.iter().fold(params, |p, (key, value)| p.with(key, value.clone()));
        let primitive = "scatter".to_owned();
        Case { id: String::new(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
    }

    const TWO: (&str, Value) = ("backend.cuda.gpus", Value::Int(2));

    #[test]
    fn work_counts_for_each_gpu_that_has_arrays_of_its_own() {
        let of = |more: &[(&str, Value)]| work(&scatter(more), &[]).expect("a case that exists");
        let (one, own) = (of(&[]), of(&[TWO]));
        assert_eq!(own.declared_bytes(), 2 * one.declared_bytes());
        let of_it = |work: &Work| [work.elements, work.effective_bytes, work.system_bytes, work.footprint];
        assert_eq!(of_it(&own), of_it(&one).map(|number| 2 * number));
        assert_eq!(of(&[TWO, ("backend.cuda.memory", Value::Text("spanning".into()))]), one);
    }

    /// The declared bytes are those of the chosen method; the effective bytes stay the same.
    #[test]
    fn work_is_that_of_the_chosen_method() {
        let auto = scatter(&[("method", Value::Text("auto".into()))]);
        let chosen = [
            ("method".to_owned(), Value::Text("multipass".into())),
            ("method.multipass.passes".to_owned(), Value::Int(2)),
        ];
        let (open, closed) = (work(&auto, &[]).expect("a case"), work(&auto, &chosen).expect("a case"));
        assert_eq!(open, work(&scatter(&[]), &[]).expect("a case"));
        assert_eq!(closed.declared_bytes(), open.declared_bytes() + 4 * 4);
        assert_eq!(closed.effective_bytes, open.effective_bytes);
        let words = "records=1048576 keys=1024 backend=cuda method=direct";
        let search = Case { primitive: "hash-search".to_owned(), params: params(words), ..scatter(&[]) };
        let with = |bucket| work(&search, &[("bucket".to_owned(), Value::Int(bucket))]);
        assert!(with(32) == work(&search, &[]) && with(32).is_some() && with(64) != with(32));
    }

    #[test]
    fn each_gpus_result_is_checked() {
        let words: Vec<u64> = (0..4).map(|i| crate::inputs::mix::word64(1, i)).collect();
        let right: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(check(&scatter(&[]), &[], &right), Ok(()));
        let two = scatter(&[TWO]);
        assert_eq!(check(&two, &[], &[right.clone(), right.clone()].concat()), Ok(()));
        let mut wrong = [right.clone(), right].concat();
        wrong[63] ^= 1;
        assert!(check(&two, &[], &wrong).is_err_and(|mistake| mistake.starts_with("GPU 2 of the case: ")));
        assert!(check(&two, &[], &wrong[1..]).is_err_and(|mistake| mistake.contains("63 bytes")));
    }
}

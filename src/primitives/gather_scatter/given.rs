//! L as somebody brought it: in a file or in the recipe.
//!
//! `gather: R_out[i] = R_in[L[i]]` has as many tuples in R_out as L has locations, and
//! `tuples` of them in R_in; `scatter: R_out[L[i]] = R_in[i]` the other way round. Where
//! several tuples of a scatter go to one place, each 8-byte word there is that of one of
//! them; places to which none goes stay untouched.

use std::sync::Arc;

use super::spec::{Kernel, Locations, Source, Spec};
use crate::case::{Failure, Fault, Params, Refusal, Value, Walk, reader};
use crate::inputs::arrays::{END, MAX_COUNT};
use crate::inputs::mix::mix64;
use crate::inputs::partitions;

/// Parameters that the plan adds to `locations.file`: the array's identity, its length
/// and its largest index.
const HASH: &str = "locations.file.hash";
const LENGTH: &str = "locations.file.length";
const LARGEST: &str = "locations.file.largest";
const LIST: &str = "locations.list.indices";

/// L's length and end.
pub(super) fn locations(params: &Params) -> Result<Locations, Refusal> {
    let (key, count, largest) = match list(params) {
        Some(list) => (LIST, list.len() as u64, list.iter().copied().max().unwrap_or(0)),
        None if params.text("locations") == Some("list") => {
            return Err(Refusal::Missing { key: LIST.to_owned() });
        }
        None => (LENGTH, reader::positive(params, LENGTH)?, reader::int(params, LARGEST)?),
    };
    if count == 0 || count > MAX_COUNT || largest >= END {
        let accepted = format!("1 to {MAX_COUNT} locations below {END}");
        return Err(Refusal::invalid(
            key,
            format!("{count} locations up to {largest}; accepted: {accepted}"),
        ));
    }
    Ok(Locations::Given { count, end: largest + 1 })
}

/// The locations that stand in the recipe.
pub fn list(params: &Params) -> Option<&[u64]> {
    params.indices(LIST).filter(|_| params.text("locations") == Some("list"))
}

/// With `tuples`, where the recipe leaves it to the largest location.
pub(super) fn completed(params: Params) -> Params {
    match locations_given(&params) {
        Some(Locations::Given { end, .. }) if params.get("tuples").is_none() => {
            params.with("tuples", Value::Int(end))
        }
        _ => params,
    }
}

fn locations_given(params: &Params) -> Option<Locations> {
    let given = matches!(params.text("locations"), Some("file" | "list"));
    given.then(|| locations(params).ok()).flatten()
}

/// All of L, checked against what the plan knows of it; `None` where it is generated.
/// `stored` fetches the array with a hash.
///
/// # Errors
/// What `stored` answers, and an array that is not the plan's.
pub fn load(
    spec: &Spec,
    params: &Params,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
) -> Result<Option<Arc<Vec<u64>>>, Failure> {
    let Locations::Given { count, end } = spec.locations else { return Ok(None) };
    let all = match (list(params), params.text(HASH)) {
        (Some(list), _) => Arc::new(list.to_vec()),
        (None, Some(hash)) => stored(hash)?,
        (None, None) => return Err(Failure::Failed(format!("{HASH}: is missing"))),
    };
    let largest = all.iter().copied().max();
    if all.len() as u64 != count || largest != end.checked_sub(1) {
        return Err(Failure::Failed(
            "the index array has another length or end than the plan says".to_owned(),
        ));
    }
    Ok(Some(all))
}

/// L, as a way through the array that it addresses.
pub(super) fn walk(
    spec: &Spec,
    params: &Params,
    most: u64,
    stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
) -> Result<Walk, String> {
    let total = spec.moves();
    let count = total.min(most);
    let mut indices = match (spec.source().map_err(|e| e.to_string())?, list(params), params.text(HASH)) {
        (Source::Given, Some(list), _) => list.to_vec(),
        (Source::Given, None, Some(hash)) => stored(hash)?,
        (Source::Given, None, None) => return Err(format!("{HASH}: is missing")),
        // Where a tuple goes depends on all of those before and on how many follow.
        (Source::Partitions { .. }, ..) if total > MOST_PARTITIONED => {
            return Err(format!(
                "{total} locations in random partitions; accepted: at most {MOST_PARTITIONED}"
            ));
        }
        (Source::Partitions { count, seed }, ..) => partitions::locations(seed, total, count),
        (source, ..) => (0..count).filter_map(|i| source.location(i)).collect(),
    };
    indices.truncate(count as usize);
    Ok(Walk { side: "L", element: spec.tuple, indices, total })
}

/// Most locations in random partitions that a walk makes: 512 MiB of them.
const MOST_PARTITIONED: u64 = 64 << 20;

/// A sum over L that tells it from other arrays and orders: what a device can add up and
/// the host as well.
pub fn checksum(locations: &[u64]) -> u64 {
    let term = |(i, at): (u64, &u64)| mix64(at ^ mix64(i));
    (0..).zip(locations).map(term).fold(0, u64::wrapping_add)
}

/// Whether a mistake of an implementation shows in the result. A tuple that a scatter
/// leaves out may hide behind another that goes to the same place, and a chunk to which
/// no tuple goes is not missed.
pub(super) fn shows(spec: &Spec, params: &Params, fault: Fault) -> bool {
    let Some(list) = list(params) else { return true };
    let hidden = spec.kernel == Kernel::Scatter && repeats(list);
    let (_, passes) = spec.method.segments_and_passes();
    let last = (u128::from(spec.tuples) * u128::from(passes - 1) / u128::from(passes)) as u64;
    let missed = list.iter().any(|&at| at >= last);
    match fault {
        Fault::OffByOne => true,
        Fault::WrongChunk => !hidden && missed,
        Fault::MissingTail | Fault::SkippedStore => !hidden,
    }
}

fn repeats(list: &[u64]) -> bool {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::gather_scatter::spec::Method;

    fn params(list: &[u64]) -> Params {
        Params::default()
            .with("locations", Value::Text("list".into()))
            .with(LIST, Value::Indices(list.to_vec()))
    }

    fn spec(kernel: Kernel, params: &Params) -> Result<Spec, Refusal> {
        Spec::from_params(kernel, params, 1)
    }

    #[test]
    fn each_side_has_its_own_size() {
        let p = params(&[5, 2, 5]);
        let gather = spec(Kernel::Gather, &p).expect("a case");
        assert_eq!((gather.tuples, gather.moves(), gather.input(), gather.output()), (6, 3, 6, 3));
        let scatter = spec(Kernel::Scatter, &p).expect("a case");
        assert_eq!((scatter.input(), scatter.output(), scatter.overwrites()), (3, 6, true));
        assert_eq!(completed(p.clone()).int("tuples"), Some(6));
        let wide = p.clone().with("tuples", Value::Int(100));
        assert_eq!(spec(Kernel::Gather, &wide).map(|s| s.input()), Ok(100));
        assert_eq!(completed(wide).int("tuples"), Some(100));
        let narrow = spec(Kernel::Gather, &p.with("tuples", Value::Int(5))).expect_err("too few").to_string();
        assert_eq!(narrow, "tuples: 5 is too few: the largest location is 5");
    }

    #[test]
    fn files_are_known_by_what_the_plan_says_of_them() {
        let file = Params::default()
            .with("locations", Value::Text("file".into()))
            .with("locations.file.path", Value::Text("x.npy".into()));
        assert_eq!(spec(Kernel::Gather, &file), Err(Refusal::Missing { key: LENGTH.into() }));
        let known = file.with(LENGTH, Value::Int(10)).with(LARGEST, Value::Int(99));
        assert_eq!(spec(Kernel::Gather, &known).map(|s| (s.moves(), s.tuples)), Ok((10, 100)));
        let far = known.with(LARGEST, Value::Int(1 << 33));
        assert!(spec(Kernel::Gather, &far).expect_err("4 bytes").to_string().starts_with("index"));
    }

    #[test]
    fn the_checksum_tells_values_and_places() {
        let sums: Vec<u64> =
            [&[1u64, 2, 3][..], &[3, 2, 1], &[1, 2], &[0, 1, 2, 3], &[1, 2, 4]].map(checksum).to_vec();
        for (at, sum) in sums.iter().enumerate() {
            assert!(!sums[..at].contains(sum));
        }
    }

    #[test]
    fn mistakes_that_hide_are_known() {
        let spec_of = |kernel, list: &[u64], tuples| Spec {
            kernel,
            method: Method::Multipass { passes: 2 },
            ..spec(kernel, &params(list).with("tuples", Value::Int(tuples))).expect("a case")
        };
        let shown =
            |kernel, list: &[u64], tuples, fault| shows(&spec_of(kernel, list, tuples), &params(list), fault);
        assert!(shown(Kernel::Gather, &[3, 3], 4, Fault::SkippedStore));
        assert!(!shown(Kernel::Scatter, &[3, 3], 4, Fault::SkippedStore));
        assert!(shown(Kernel::Scatter, &[3, 3], 4, Fault::OffByOne));
        assert!(shown(Kernel::Scatter, &[3, 0], 4, Fault::WrongChunk));
        assert!(!shown(Kernel::Scatter, &[3, 0], 40, Fault::WrongChunk));
    }
}

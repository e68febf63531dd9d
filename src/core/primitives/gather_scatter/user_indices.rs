//! A user-provided L: in a file or in the recipe.
//!
//! `gather: R_out[i] = R_in[L[i]]` has as many tuples in R_out as L has locations, and `tuples` of them in
//! R_in; `scatter: R_out[L[i]] = R_in[i]` has them the other way round. If several tuples of a scatter go to
//! one place, each 8-byte word there comes from one of them; places that receive none stay untouched.

use std::sync::Arc;

use super::{COUNTING_CHUNKS, Locations, Source, Spec};
use crate::case::{Failure, Params, Refusal, Value, Walk, params};
use crate::inputs::arrays::{END, MAX_COUNT};
use crate::inputs::mix::mix64;
use crate::inputs::partitions;
use crate::primitives::IndexLookup;

/// Parameters that the plan adds to `locations.file`: the hash of the array, its length and its largest index.
const HASH: &str = "locations.file.hash";
const LENGTH: &str = "locations.file.length";
const LARGEST: &str = "locations.file.largest";
const LIST: &str = "locations.list.indices";

/// A user-provided L: `count` locations, all below `end`; the largest is `end` − 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub count: u64,
    pub end: u64,
    /// The locations, if the recipe lists them.
    pub list: Option<Arc<Vec<u64>>>,
    /// The hash of the locations, if they are in a file.
    hash: Option<String>,
}

impl Given {
    /// The L of a case; `None` if L is generated.
    pub fn of(params: &Params) -> Result<Option<Given>, Refusal> {
        let list = match params.text("locations") {
            Some("file") => None,
            Some("list") => {
                Some(params.indices(LIST).ok_or_else(|| Refusal::Missing { key: LIST.to_owned() })?)
            }
            _ => return Ok(None),
        };
        let (key, count, largest) = match list {
            Some(list) => (LIST, list.len() as u64, list.iter().copied().max().unwrap_or(0)),
            None => (LENGTH, params::positive(params, LENGTH)?, params::int(params, LARGEST)?),
        };
        if count == 0 || count > MAX_COUNT || largest >= END {
            let accepted = format!("1 to {MAX_COUNT} locations below {END}");
            let message = format!("{count} locations up to {largest}; accepted: {accepted}");
            return Err(Refusal::invalid(key, message));
        }
        let hash = params.text(HASH).map(str::to_owned);
        let list = list.map(|list| Arc::new(list.to_vec()));
        Ok(Some(Given { count, end: largest + 1, list, hash }))
    }

    /// Adds `tuples` if the recipe leaves it to the largest location.
    pub(super) fn completed(&self, params: Params) -> Params {
        let open = params.get("tuples").is_none();
        if open { params.with("tuples", Value::Int(self.end)) } else { params }
    }

    /// The hash of an array in a file.
    fn hash(&self) -> Result<&str, String> {
        self.hash.as_deref().ok_or_else(|| format!("{HASH}: is missing"))
    }
}

/// [`Given::completed`] for any case.
pub(super) fn completed(params: Params) -> Params {
    match Given::of(&params) {
        Ok(Some(user_indices)) => user_indices.completed(params),
        _ => params,
    }
}

/// All of L, checked against the plan's record of it; `None` if L is generated. `stored` fetches the array with
/// a given hash.
///
/// # Errors
/// Those of `stored`, and an array that is not the plan's.
pub fn load(
    spec: &Spec,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
) -> Result<Option<Arc<Vec<u64>>>, Failure> {
    let Some(user_indices) = &spec.user_indices else { return Ok(None) };
    let all = match &user_indices.list {
        Some(list) => list.clone(),
        None => stored(user_indices.hash().map_err(Failure::Failed)?)?,
    };
    if all.len() as u64 != user_indices.count || all.iter().max() != Some(&(user_indices.end - 1)) {
        let mistake = "the length or the largest index of the index array differs from the plan".to_owned();
        return Err(Failure::Failed(mistake));
    }
    Ok(Some(all))
}

/// L as the index sequence of the array that it addresses.
pub(super) fn walk(spec: &Spec, most: u64, stored: IndexLookup) -> Result<Walk, String> {
    let total = spec.moves();
    let first = total.min(most);
    let mut indices = match (spec.source().map_err(|e| e.to_string())?, &spec.user_indices) {
        (_, Some(Given { list: Some(list), .. })) => list.to_vec(),
        (_, Some(user_indices)) => stored(user_indices.hash()?)?,
        // A tuple's destination depends on all tuples before it and on the number of tuples after it.
        (Source::Partitions { .. }, _) if total > MOST_PARTITIONED => {
            return Err(format!(
                "{total} locations in random partitions; accepted: at most {MOST_PARTITIONED}"
            ));
        }
        (Source::Partitions { count, seed }, _) => partitions::locations(seed, total, count),
        (source, _) => (0..first).filter_map(|i| source.location(i)).collect(),
    };
    indices.truncate(first as usize);
    Ok(Walk { side: "L", element: spec.tuple, indices, total })
}

/// Maximum number of locations in random partitions that a walk generates: 512 MiB of them.
const MOST_PARTITIONED: u64 = 64 << 20;

/// Bytes needed for generating and checking L. An L without a closed form is generated from counts of each
/// partition in each chunk, and a bitmap proves that it is a permutation. A user-provided L comes from an array
/// of 8-byte words, and for a scatter a bitmap marks the places that L addresses.
pub(super) fn scratch(spec: &Spec) -> u64 {
    let bitmap = spec.tuples.div_ceil(8);
    match (spec.locations, &spec.user_indices) {
        (Locations::Partitions { count }, _) => 8 * count * COUNTING_CHUNKS + bitmap,
        (_, Some(user_indices)) => 8 * user_indices.count + if spec.overwrites() { bitmap } else { 0 },
        _ => 0,
    }
}

/// A checksum of L that depends on its values and their order, and that both a device and the host can compute.
pub fn checksum(locations: &[u64]) -> u64 {
    let term = |(i, at): (u64, &u64)| mix64(at ^ mix64(i));
    (0..).zip(locations).map(term).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::super::Kernel;
    use super::*;

    fn params(list: &[u64]) -> Params {
        Params::default()
            .with("locations", Value::Text("list".into()))
            .with(LIST, Value::Indices(list.to_vec().into()))
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
}

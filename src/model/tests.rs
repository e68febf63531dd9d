//! Properties of every model and every case.

use proptest::prelude::*;

use super::*;
use crate::case::{Case, Params, Value};
use crate::primitives;

/// A processor and a GPU with round figures.
const BOTH: &str = "
schema: 1
name: both
source: made up
device: {name: Both}
caches:
  - {name: L1, capacity: 65536, line: 128, sector: 32}
  - {name: L2, capacity: 50000000, line: 128, sector: 32}
rates:
  cpu:
    launch: 2.0e-8
    group: 1
    fetch: 64
    read: [[65536, 3.0e11], [1073741824, 3.0e10]]
    write: [[65536, 3.0e11], [1073741824, 2.0e10]]
    copy: [[65536, 3.0e11], [1073741824, 3.0e10]]
    scan: [[65536, 5.0e9]]
    latency: [[65536, 2.0e-9], [1073741824, 1.0e-7]]
    moves: [{direction: read, element: 8, rate: 3.0e9}, {direction: write, element: 8, rate: 2.5e9}]
    random:
      - {direction: read, element: 8, rate: [[65536, 2.0e9], [1073741824, 7.0e7]]}
      - {direction: write, element: 8, rate: [[65536, 7.0e8], [1073741824, 1.6e8]]}
  cuda:
    launch: 3.4e-6
    pass: 4.0e-6
    group: 32
    tile: 2048
    fetch: 64
    read: [[16777216, 3.7e12], [8589934592, 4.7e12]]
    write: [[16777216, 3.0e12], [8589934592, 4.7e12]]
    copy: [[16777216, 4.0e12], [33554432, 5.0e12], [67108864, 3.6e12], [17179869184, 4.3e12]]
    blocks: [{direction: read, seconds: 1.0e-9}, {direction: write, seconds: 1.2e-9}]
    scan: [[16777216, 5.0e11]]
    latency: [[16777216, 1.7e-7], [8589934592, 3.6e-7]]
    strided:
      - {direction: read, element: 8, footprint: 16384, rate: [[8, 3.6e12], [128, 2.5e11]]}
      - {direction: write, element: 8, footprint: 16384, rate: [[8, 4.0e12]]}
    random:
      - {direction: read, element: 8, rate: [[16777216, 1.6e11], [8589934592, 4.2e10]]}
      - {direction: write, element: 8, rate: [[16777216, 7.7e10], [8589934592, 1.6e10]]}
he2007:
  cuda: {b_seq: 63.9e9, cache: 401408, block: 256, transfer: 48, delta: 4.6e-10, warp: 32}
";

fn both() -> Profile {
    profiles::read("both", BOTH).expect("a profile")
}

fn case(primitive: &str, params: Params) -> Case {
    Case {
        id: String::new(),
        experiment: 0,
        primitive: primitive.to_owned(),
        params,
        seed: 1,
        not_applicable: None,
    }
}

/// A model's prediction for a case, if the case exists.
fn predicted(model: &str, case: &Case) -> Option<Result<Prediction, String>> {
    let work = primitives::work(case, &[])?;
    Some(find(model).expect("a model").predict(&both(), case, &work))
}

fn moved(primitive: &str, backend: &str, tuples: u64, locations: &str, p: u64, passes: u64) -> Case {
    let params = Params::default()
        .with("backend", Value::Text(backend.into()))
        .with("tuples", Value::Int(tuples))
        .with("tuple", Value::Int(8))
        .with("index", Value::Int(4))
        .with("locations", Value::Text(locations.into()))
        .with("locations.partitions.count", Value::Int(p))
        .with("locations.zipf.exponent", Value::Float(1.0))
        .with("method", Value::Text("multipass".into()))
        .with("method.multipass.passes", Value::Int(passes));
    case(primitive, params)
}

fn walked(kernel: &str, backend: &str, indices: Vec<u64>, delta: u64, count: u64, visits: &str) -> Case {
    let params = Params::default()
        .with("backend", Value::Text(backend.into()))
        .with("kernel", Value::Text(kernel.into()))
        .with("source", Value::Text("custom".into()))
        .with("source.custom.indices", Value::Indices(indices.into()))
        .with("delta", Value::Int(delta))
        .with("visits", Value::Text(visits.into()))
        .with("count", Value::Int(count));
    case("pattern", params)
}

fn sound(prediction: &Prediction) {
    assert!(prediction.seconds.is_finite() && prediction.seconds > 0.0, "{prediction:?}");
    assert!(prediction.terms.iter().all(|(_, s)| s.is_finite() && *s >= 0.0), "{prediction:?}");
    assert!(prediction.terms.iter().any(|(name, _)| *name == prediction.limit), "{prediction:?}");
}

proptest! {
    #[test]
    fn every_gather_and_scatter_has_a_sound_time(
        scatter: bool, cuda: bool, bits in 0..31u32, odd in 0..3u64, p in 1..5000u64, passes in 1..70u64,
        locations in prop::sample::select(vec!["sequential", "random", "partitions", "zipf"]),
    ) {
        let primitive = if scatter { "scatter" } else { "gather" };
        let backend = if cuda { "cuda" } else { "cpu" };
        let case = moved(primitive, backend, (1 << bits) + odd, locations, p, passes);
        for model in all() {
            if let Some(Ok(prediction)) = predicted(model.name(), &case) {
                sound(&prediction);
            }
        }
        let found = predicted("sector", &case);
        prop_assert!(found.as_ref().is_none_or(Result::is_ok), "{found:?}");
    }

    #[test]
    fn every_pattern_has_a_sound_time(
        scatter: bool, cuda: bool, shuffled: bool, delta in 0..3000u64, count in 1..1u64 << 24,
        indices in prop::collection::vec(0..5000u64, 1..20),
    ) {
        let kernel = if scatter { "scatter" } else { "gather" };
        let backend = if cuda { "cuda" } else { "cpu" };
        let visits = if shuffled { "random" } else { "sequential" };
        let case = walked(kernel, backend, indices, delta, count, visits);
        if let Some(found) = predicted("sector", &case) {
            sound(&found.expect("a prediction"));
        }
    }

    /// Twice the tuples take at least as long.
    #[test]
    fn more_tuples_take_longer(bits in 10..30u32, scatter: bool, cuda: bool) {
        let primitive = if scatter { "scatter" } else { "gather" };
        let backend = if cuda { "cuda" } else { "cpu" };
        let seconds = |bits: u32| {
            let case = moved(primitive, backend, 1 << bits, "random", 1, 1);
            predicted("sector", &case).expect("a case").expect("a prediction").seconds
        };
        prop_assert!(seconds(bits + 1) >= seconds(bits) * (1.0 - 1e-9));
    }
}

/// Cases like those that were calibrated are predicted at the profile's own figures.
#[test]
fn streams_and_random_accesses_are_the_profiles() {
    let params = |kernel: &str| {
        Params::default()
            .with("backend", Value::Text("cuda".into()))
            .with("kernel", Value::Text(kernel.into()))
    };
    let seconds = |primitive: &str, params: Params| {
        predicted("sector", &case(primitive, params)).expect("a case").expect("a prediction").seconds
    };
    let copy = seconds("stream", params("copy").with("elements", Value::Int(1 << 30)));
    assert!((copy * 4.3e12 / f64::from(1 << 30) / 16.0 - 1.0).abs() < 0.01, "{copy}");
    let random = params("read").with("footprint", Value::Int(8 << 30)).with("accesses", Value::Int(1 << 26));
    let random = seconds("random-access", random);
    assert!((random * 4.2e10 / f64::from(1 << 26) - 1.0).abs() < 0.01, "{random}");
}

#[test]
fn accuracy_is_one_less_the_error() {
    let found = [1.0, 0.5, 2.0, 3.0].map(|predicted| accuracy(1.0, predicted));
    assert_eq!(found, [1.0, 0.5, 0.0, -1.0]);
}

#[test]
fn names_are_unique_and_found() {
    for model in all() {
        assert!(std::ptr::addr_eq(find(model.name()).expect("its name"), *model), "{}", model.name());
    }
    assert!(find("none").is_none());
    assert!(all().iter().map(|model| model.name()).eq(crate::case::MODELS), "recipes name others");
}

#[test]
fn each_is_read_and_bears_its_name() {
    assert!(shipped().any(|name| name == "g80"));
    for name in shipped() {
        let text = shipped_text(name).expect("a text");
        let profile: Profile = profiles::read(name, text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((profile.name.as_str(), profile.schema), (name, SCHEMA));
        assert_eq!(shipped_profile(name), Some(profile));
    }
}

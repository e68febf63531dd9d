//! The time that a model expects of a case, and the choice of the method that it expects to be fastest.

use super::{Model, Prediction, Profile};
use crate::case::{Case, Params, Work};
use crate::primitives;

/// The method chosen for a case whose method is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The parameters of the case with the chosen method.
    pub params: Params,
    /// The prediction for that method.
    pub prediction: Prediction,
}

/// The alternative of a case that the model predicts to be fastest on the device; on a tie the first, which
/// is the simplest. Alternatives without a prediction are left out. `None` if the method is not open.
///
/// # Errors
/// The reason why the model predicts none of them, to follow `n/a: `.
pub fn choose(case: &Case, profile: &Profile, model: &dyn Model) -> Result<Option<Choice>, String> {
    let alternatives = primitives::method_candidates(case);
    let mut silence = None;
    let mut best: Option<Choice> = None;
    for params in alternatives {
        match candidate(case, &params, profile, model) {
            Ok(prediction) if best.as_ref().is_none_or(|b| prediction.seconds < b.prediction.seconds) => {
                best = Some(Choice { params, prediction });
            }
            Ok(_) => {}
            Err(why) => silence = silence.or(Some(why)),
        }
    }
    match (best, silence) {
        (None, Some(why)) => Err(why),
        (best, _) => Ok(best),
    }
}

fn candidate(
    case: &Case,
    params: &Params,
    profile: &Profile,
    model: &dyn Model,
) -> Result<Prediction, String> {
    let case = Case { params: params.clone(), ..case.clone() };
    let work = primitives::work(&case, &[]).ok_or("the case declares no accesses")?;
    if profile.device.memory.is_some_and(|memory| primitives::bytes_per_device(&case, &work) > memory) {
        return Err("it does not fit into the device's memory".to_owned());
    }
    expected(model, profile, &case, &work)
}

/// The model's prediction for a case, checked to be a positive, finite time.
pub(super) fn expected(
    model: &dyn Model,
    profile: &Profile,
    case: &Case,
    work: &Work,
) -> Result<Prediction, String> {
    let prediction = model.predict(profile, case, work)?;
    match prediction.seconds.is_finite() && prediction.seconds > 0.0 {
        true => Ok(prediction),
        false => Err(format!("{} predicts no time", model.name())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Curve, Random, Rates, SCHEMA};
    use super::*;
    use crate::case::Value;
    use crate::case::work::Order;
    use crate::case::{Access, Direction, Work};
    use std::collections::BTreeMap;

    /// A simple model: bytes over the bandwidth, and accesses over the rate at their footprint.
    struct Plain;

    fn seconds(rates: &Rates, access: &Access) -> f64 {
        let random = |footprint: f64| {
            let rate = rates.random.iter().find(|r| r.direction == access.direction).expect("a curve");
            access.count as f64 / rate.rate.at(footprint)
        };
        match access.order {
            Order::Random => random(access.footprint as f64),
            Order::Chunks { chunks } => random(access.footprint as f64 / chunks as f64),
            _ => access.bytes() as f64 / rates.copy.at(access.footprint as f64),
        }
    }

    impl Model for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }

        fn predict(&self, profile: &Profile, case: &Case, work: &Work) -> Result<Prediction, String> {
            let rates = profile.rates.get(case.backend()).ok_or("no rates")?;
            let pass = |p: &crate::case::Pass| -> f64 {
                p.times as f64 * p.accesses.iter().map(|a| seconds(rates, a)).sum::<f64>()
            };
            let seconds = work.passes.iter().map(pass).sum();
            Ok(Prediction { model: "plain", seconds, limit: "bytes", terms: vec![("bytes", seconds)] })
        }
    }

    /// A device whose random accesses are a hundred times cheaper within a cache of `cache` bytes.
    fn device(cache: f64) -> Profile {
        let flat = |value: f64| Curve::new(vec![(1.0, value)]).expect("a point");
        let rate = Curve::new(vec![(cache, 1e10), (cache * 1.01, 1e8)]).expect("ascending");
        let random = [Direction::Read, Direction::Write].map(|direction| Random {
            direction,
            element: 8,
            rate: rate.clone(),
        });
        let text = serde_json::json!({
            "launch": 1e-6, "group": 32, "fetch": 64, "read": [[1.0, 1e11]], "write": [[1.0, 1e11]], "copy": [[1.0, 1e11]],
        });
        let mut rates: Rates = serde_json::from_value(text).expect("the least that rates have");
        (rates.random, rates.copy) = (random.to_vec(), flat(1e11));
        let device = super::super::Device { name: "a".into(), driver: None, memory: None, processors: None };
        let text = serde_json::json!({
            "schema": SCHEMA, "name": "a", "source": "a test", "device": device,
        });
        let profile: Profile = serde_json::from_value(text).expect("the least that a profile has");
        Profile { rates: BTreeMap::from([("cpu".to_owned(), rates)]), ..profile }
    }

    fn case(primitive: &str, method: &str, tuples: u64) -> Case {
        let text = |v: &str| Value::Text(v.to_owned());
        let params = Params::default()
            .with("backend", text("cpu"))
            .with("method", text(method))
            .with("tuples", Value::Int(tuples))
            .with("locations", text("random"));
        let primitive = primitive.to_owned();
        Case { id: "a".into(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
    }

    fn chosen(primitive: &str, tuples: u64, cache: f64) -> Params {
        let case = case(primitive, "auto", tuples);
        choose(&case, &device(cache), &Plain).expect("predicted").expect("open").params
    }

    #[test]
    fn what_fits_the_cache_is_moved_directly() {
        for primitive in ["gather", "scatter"] {
            assert_eq!(chosen(primitive, 1 << 20, 1e9).text("method"), Some("direct"));
        }
    }

    #[test]
    fn what_does_not_is_partitioned_or_moved_in_passes() {
        let scatter = chosen("scatter", 1 << 28, 8e6);
        assert_eq!(scatter.text("method"), Some("partitioned"));
        let gather = chosen("gather", 1 << 24, 8e6);
        let passes = gather.int("method.multipass.passes");
        assert_eq!((gather.text("method"), passes), (Some("multipass"), Some(32)));
    }

    #[test]
    fn the_simplest_of_equals_is_chosen() {
        struct Same;
        impl Model for Same {
            fn name(&self) -> &'static str {
                "same"
            }
            fn predict(&self, _: &Profile, _: &Case, _: &Work) -> Result<Prediction, String> {
                Ok(Prediction { model: "same", seconds: 1.0, limit: "x", terms: Vec::new() })
            }
        }
        let choice = choose(&case("scatter", "auto", 1 << 20), &device(1e6), &Same).expect("predicted");
        assert_eq!(choice.expect("open").params.text("method"), Some("direct"));
        let closed = choose(&case("scatter", "direct", 1 << 20), &device(1e6), &Same);
        assert_eq!(closed, Ok(None));
    }

    #[test]
    fn a_model_that_says_nothing_chooses_nothing() {
        let other = Profile { rates: BTreeMap::new(), ..device(1e6) };
        assert_eq!(choose(&case("scatter", "auto", 8), &other, &Plain), Err("no rates".to_owned()));
    }
}

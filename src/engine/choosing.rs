//! Resolution of the method `auto`, on the machine that has the device and its profile.

use crate::case::{Case, Failure, Value};
use crate::model::choose::choose;
use crate::model::{Model, Profile};
use crate::primitives;

/// Returns the case with its method chosen, and the chosen parameters for the record. A case whose method is
/// not `auto` is returned unchanged.
///
/// # Errors
/// [`Failure::NotApplicable`] if the device has no profile or the model cannot choose.
pub fn chosen(
    case: &Case,
    profile: Option<&Profile>,
    model: Option<&dyn Model>,
) -> Result<(Case, Vec<(String, Value)>), Failure> {
    if primitives::method_candidates(case).is_empty() {
        return Ok((case.clone(), Vec::new()));
    }
    let missing = |what: &str| Failure::NotApplicable(what.to_owned());
    let profile = profile.ok_or_else(|| missing("no profile of this device; run scatterlab calibrate"))?;
    let model = model.ok_or_else(|| missing("this build has no model that chooses"))?;
    let choice = choose(case, profile, model).map_err(Failure::NotApplicable)?;
    let params = choice.map_or_else(|| case.params.clone(), |choice| choice.params);
    let method = |(key, _): &(&String, &Value)| key.as_str() == "method" || key.starts_with("method.");
    let resolved = params.0.iter().filter(method).map(|(key, value)| (key.clone(), value.clone())).collect();
    Ok((Case { params, ..case.clone() }, resolved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Params;
    use crate::model;

    fn case(method: &str) -> Case {
        let text = |v: &str| Value::Text(v.to_owned());
        let params = Params::default()
            .with("backend", text("cpu"))
            .with("method", text(method))
            .with("tuples", Value::Int(64));
        let primitive = "scatter".to_owned();
        Case { id: "a".into(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
    }

    #[test]
    fn a_method_that_is_not_open_stays() {
        let direct = case("direct");
        assert_eq!(chosen(&direct, None, None), Ok((direct.clone(), Vec::new())));
    }

    #[test]
    fn without_a_profile_nothing_is_chosen() {
        let reason = "no profile of this device; run scatterlab calibrate".to_owned();
        assert_eq!(
            chosen(&case("auto"), None, model::find(model::DEFAULT_MODEL)),
            Err(Failure::NotApplicable(reason))
        );
    }

    #[test]
    fn the_choice_is_for_the_record() {
        let profile = model::shipped_profile("g80");
        let model = model::find("he2007");
        let mut open = case("auto");
        open.params = open.params.with("backend", Value::Text("cuda".into()));
        let (case, resolved) = chosen(&open, profile.as_ref(), model).expect("chosen");
        assert_eq!((case.id.as_str(), case.params.text("method")), ("a", Some("direct")));
        assert_eq!(resolved, [("method".to_owned(), Value::Text("direct".into()))]);
    }
}

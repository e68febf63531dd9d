//! Cases that no model covers.

use super::Profile;
use crate::case::Case;
use crate::case::gpus::Gpus;

/// Checks that a profile can cover a case at all: one GPU, and the number of threads of the calibration.
///
/// # Errors
/// The reason, to follow `n/a: `.
pub fn covered(profile: &Profile, case: &Case) -> Result<(), String> {
    if Gpus::of(&case.params).several() {
        return Err("a profile covers a single GPU".to_owned());
    }
    let known = profile.rates.get(case.place().0).and_then(|rates| rates.threads);
    match (case.params.int("backend.cpu.threads"), known) {
        (Some(asked), Some(known)) if asked != known => {
            Err(format!("the profile {} is of {known} threads, not of {asked}", profile.name))
        }
        _ => Ok(()),
    }
}

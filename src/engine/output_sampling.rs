//! Which rounds' timed outputs are judged: all of them, unless that takes more than 5 % of a case's time.
//! Then each round is judged with a chance that keeps to that share, drawn from the seed.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::{Cancel, Case, Failure, Verdict};
use crate::device::Prepared;
use crate::inputs::mix::{mix64, word64};

/// Largest expected share of a round's time.
const SHARE: f64 = 0.05;

/// The verdict on the output that the last sample of a round has left, if it is wrong.
///
/// # Errors
/// As for [`Prepared::judge`].
pub fn wrong_output(prepared: &mut dyn Prepared, cancel: &Cancel) -> Result<Option<Verdict>, Failure> {
    Ok(match prepared.judge(cancel)? {
        Verdict::Wrong { mistake } => {
            Some(Verdict::Wrong { mistake: format!("after the last sample: {mistake}") })
        }
        Verdict::Certified { .. } => None,
    })
}

/// Whether the output of a round's last sample was judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The chance with which it was to be judged.
    pub chance: f64,
    /// Whether it was.
    pub drawn: bool,
}

/// The chances of the cases that this engine has judged.
#[derive(Debug, Default)]
pub struct OutputSampling(HashMap<String, f64>);

impl OutputSampling {
    /// Whether to judge an attempt at a round. The first time that an engine measures a case, it judges it.
    pub fn draw(&self, case: &Case, round: u32, attempt: u32) -> Judged {
        let chance = self.0.get(&case.id).copied().unwrap_or(1.0);
        let of_case = case.id.bytes().fold(case.seed, |key, byte| mix64(key ^ u64::from(byte)));
        let drawn = word64(of_case, u64::from(round) << 32 | u64::from(attempt));
        // The upper 53 bits as a fraction of 1.
        Judged { chance, drawn: ((drawn >> 11) as f64) < chance * (1u64 << 53) as f64 }
    }

    /// Records what judging a round of a case took, beside the rest of that round.
    pub fn took(&mut self, case: &Case, judging: Duration, rest: Duration) {
        let share = judging.as_secs_f64() / rest.as_secs_f64();
        let chance = if share > SHARE { SHARE / share } else { 1.0 };
        self.0.insert(case.id.clone(), chance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Params;

    fn case(id: &str) -> Case {
        let (id, primitive) = (id.to_owned(), "stream".to_owned());
        Case { id, experiment: 0, primitive, params: Params::default(), seed: 7, not_applicable: None }
    }

    #[test]
    fn what_is_cheap_is_always_judged() {
        let mut judging = OutputSampling::default();
        assert_eq!(judging.draw(&case("a"), 0, 0), Judged { chance: 1.0, drawn: true });
        judging.took(&case("a"), Duration::from_millis(5), Duration::from_millis(100));
        assert!((0..1000).all(|round| judging.draw(&case("a"), round, 0).drawn));
        judging.took(&case("a"), Duration::ZERO, Duration::ZERO);
        assert!(judging.draw(&case("a"), 1, 0).drawn, "a clock that stands still judges");
    }

    #[test]
    fn what_is_dear_is_judged_by_a_chance_that_keeps_to_the_share() {
        let mut judging = OutputSampling::default();
        judging.took(&case("a"), Duration::from_millis(200), Duration::from_millis(1000));
        let drawn = |id, attempt| -> Vec<u32> {
            (0..1000).filter(|round| judging.draw(&case(id), *round, attempt).drawn).collect()
        };
        let (first, second) = (drawn("a", 0), drawn("a", 1));
        assert_eq!(judging.draw(&case("a"), 0, 0).chance, 0.25);
        assert!((200..300).contains(&first.len()), "{}", first.len());
        assert_eq!(first, drawn("a", 0), "the same seed draws the same rounds");
        assert_ne!(first, second, "a second attempt is drawn anew");
        assert_eq!(drawn("b", 0).len(), 1000, "of another case nothing is known");
    }
}

//! The course of the water from its beginning, which the certificate follows on every backend.

use super::{Spec, scene};
use crate::case::Verdict;

/// The steps since the beginning and since the last clearing, and the drops of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceRun {
    /// Steps since the beginning.
    pub step: u64,
    cleared_at: u64,
    drops: u64,
    /// True once a drop has fallen since the last clearing.
    dropped: bool,
}

impl ReferenceRun {
    /// True while the water is as it was at the beginning.
    pub fn begins(&self) -> bool {
        self.step == 0 && self.drops == 0
    }

    /// The state is kept for the certificate.
    pub fn clear(&mut self) {
        (self.cleared_at, self.dropped) = (self.step, false);
    }

    /// A drop has fallen, and the state is kept with it.
    pub fn disturb(&mut self) {
        self.clear();
        (self.drops, self.dropped) = (self.drops + 1, true);
    }

    /// Steps that the certificate computes from the state that was kept: at least those of one execution, unless a drop has
    /// changed the water since.
    pub fn steps(&self, spec: &Spec) -> u64 {
        match self.step - self.cleared_at {
            0 if !self.dropped => spec.steps,
            steps => steps,
        }
    }

    /// The largest difference of a height that rounding explains.
    pub fn bound(&self, spec: &Spec) -> f64 {
        let size = spec.amplitude + self.drops as f64 * scene::drop_size(spec);
        spec.bound(size, self.steps(spec))
    }

    /// The verdict on a state, from whether the water is gone somewhere, the first mistake in a height, and the change of the
    /// mean height since the beginning.
    pub fn verdict(&self, spec: &Spec, dry: bool, mistake: Option<String>, drift: f64) -> Verdict {
        let dry = dry.then(|| format!("the water is gone somewhere after {} steps", self.step));
        // Drops of the user are water, too.
        let lost = spec.lost(drift, self.step).filter(|_| self.drops == 0);
        Verdict::of(dry.or(mistake).or(lost), spec.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    #[test]
    fn a_clearing_after_a_drop_expects_an_execution_again() {
        let spec = Spec::read("shallow-water", &params("columns=8 steps=5"), 1).expect("a case");
        let mut course = ReferenceRun::default();
        assert!(course.begins() && course.steps(&spec) == 5, "an execution that did nothing is wrong");
        course.step += 5;
        assert_eq!(course.steps(&spec), 5);
        let before = course.bound(&spec);
        course.disturb();
        assert_eq!(course.steps(&spec), 0, "the drop alone");
        course.step += 5;
        assert!(course.bound(&spec) > before && course.steps(&spec) == 5, "as many steps, higher water");
        course.clear();
        assert_eq!(course.steps(&spec), 5, "nothing may stay as it is");
        let lost =
            |course: &ReferenceRun| matches!(course.verdict(&spec, false, None, 1.0), Verdict::Wrong { .. });
        assert!(!lost(&course) && lost(&ReferenceRun::default()), "drops are water, too");
    }
}

//! The scheme in f64, line by line, and the course of the water from its beginning ([`ReferenceRun`]), which the certificate
//! follows on every backend.

use super::{Bounds, Spec, scene};
use crate::case::Verdict;
use crate::primitives::oracle::check_length;

/// Heights and their changes, row by row.
pub struct State {
    pub eta: Vec<f64>,
    pub w: Vec<f64>,
}

/// The cells of a row or a column.
#[derive(Clone, Copy)]
pub struct Line {
    pub begin: usize,
    pub step: usize,
    pub count: usize,
    pub along_rows: bool,
}

impl Line {
    /// Row or column `k` of a grid.
    pub fn of(spec: &Spec, along_rows: bool, k: usize) -> Line {
        let [columns, rows] = [spec.columns, spec.rows()].map(|cells| cells as usize);
        match along_rows {
            true => Line { begin: k * columns, step: 1, count: columns, along_rows },
            false => Line { begin: k, step: columns, count: rows, along_rows },
        }
    }

    /// Advances the cells of the line by their sweep.
    ///
    /// # Safety
    /// Both arrays hold the line, and nobody else reads or writes it meanwhile.
    pub unsafe fn sweep(self, eta: *mut f64, w: *mut f64, kappa: f64) {
        let at = |i: usize| self.begin + i * self.step;
        // SAFETY: by the caller's promise.
        let read = |array: *mut f64, i: usize| unsafe { array.add(at(i)).read() };
        // SAFETY: as above.
        let write = |array: *mut f64, i: usize, value: f64| unsafe { array.add(at(i)).write(value) };
        let n = self.count;
        let old: Vec<f64> = (0..n).map(|i| read(eta, i)).collect();
        let face = |i: usize| if i + 1 < n { kappa * (1.0 + 0.5 * (old[i] + old[i + 1])) } else { 0.0 };
        let (mut upper, mut y) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut c, mut d, mut left) = (0.0, 0.0, 0.0);
        for (i, height) in old.iter().enumerate() {
            let right = face(i);
            let pivot = 1.0 + left + right + left * c;
            let wanted = if self.along_rows { height + read(w, i) } else { *height };
            d = (wanted + left * d) / pivot;
            c = -right / pivot;
            upper.push(c);
            y.push(d);
            left = right;
        }
        for i in (1..n).rev() {
            y[i - 1] -= upper[i - 1] * y[i];
        }
        let mut from_left = 0.0;
        for i in 0..n {
            let to_right = if i + 1 < n { face(i) * (y[i + 1] - y[i]) } else { 0.0 };
            let change = to_right - from_left;
            from_left = to_right;
            let speed = read(w, i) + change;
            write(w, i, speed);
            write(eta, i, old[i] + if self.along_rows { speed } else { change });
        }
    }
}

impl State {
    /// Water of these heights at rest.
    pub fn begin(heights: Vec<f32>) -> State {
        let eta: Vec<f64> = heights.into_iter().map(f64::from).collect();
        State { w: vec![0.0; eta.len()], eta }
    }

    /// Advances all cells by a step.
    pub fn step(&mut self, spec: &Spec) {
        for along_rows in [true, false] {
            for k in 0..if along_rows { spec.rows() } else { spec.columns } as usize {
                let line = Line::of(spec, along_rows, k);
                // SAFETY: the arrays are exclusively borrowed, and hold all lines.
                unsafe { line.sweep(self.eta.as_mut_ptr(), self.w.as_mut_ptr(), spec.kappa()) };
            }
        }
    }
}

/// Compares a whole output, all heights and then all changes, with the scheme in f64.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 8 * spec.cells())?;
    let mut state = State::begin(spec.rippled());
    (0..spec.steps).for_each(|_| state.step(spec));
    let bounds = spec.bounds(spec.judged_size(), spec.steps);
    let values = output.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    for (k, (found, wanted)) in values.zip(state.eta.iter().chain(&state.w)).enumerate() {
        let height = k < state.eta.len();
        let bound = if height { bounds.height } else { bounds.change };
        // Also a NaN.
        let near = (found - wanted).abs() <= bound;
        if !near {
            let (array, at) = if height { ("η", k) } else { ("w", k - state.eta.len()) };
            return Err(format!("{array}[{at}] is {found:e} instead of {wanted:e} (± {bound:e})"));
        }
    }
    Ok(())
}

/// The steps since the water last began anew, and the drops of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceRun {
    /// Steps since the beginning.
    pub step: u64,
    kept_at: u64,
    drops: u64,
    /// True once a drop has fallen since the state was kept.
    dropped: bool,
}

impl ReferenceRun {
    /// A drop has fallen, and the state is kept with it.
    pub fn disturb(&mut self) {
        (self.kept_at, self.drops, self.dropped) = (self.step, self.drops + 1, true);
    }

    /// Steps that the certificate computes from the state that was kept: at least those of one execution, unless a drop has
    /// changed the water since.
    pub fn steps(&self, spec: &Spec) -> u64 {
        match self.step - self.kept_at {
            0 if !self.dropped => spec.steps,
            steps => steps,
        }
    }

    /// The largest differences that rounding explains.
    pub fn bounds(&self, spec: &Spec) -> Bounds {
        let size = spec.judged_size() + self.drops as f64 * scene::drop_size(spec);
        spec.bounds(size, self.steps(spec))
    }

    /// The verdict on a state, from whether the water is gone somewhere, the first mistake in a cell, and the change of the
    /// mean height since the state was kept.
    pub fn verdict(&self, spec: &Spec, dry: bool, mistake: Option<String>, drift: f64) -> Verdict {
        let dry = dry.then(|| format!("the water is gone somewhere after {} steps", self.step));
        let (bound, steps) = (self.bounds(spec).drift, self.steps(spec));
        // Also a NaN.
        let held = drift.abs() <= bound;
        let lost = (!held)
            .then(|| format!("the mean height has changed by {drift:e} in {steps} steps (± {bound:e})"));
        Verdict::of(dry.or(mistake).or(lost), spec.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    #[test]
    fn an_execution_is_expected_unless_a_drop_has_fallen() {
        let spec = Spec::read("shallow-water", &params("columns=8 steps=5"), 1).expect("a case");
        let mut course = ReferenceRun::default();
        assert_eq!(course.steps(&spec), 5, "an execution that did nothing is wrong");
        course.step += 5;
        assert_eq!(course.steps(&spec), 5);
        let before = course.bounds(&spec).height;
        course.disturb();
        assert_eq!(course.steps(&spec), 0, "the drop alone");
        course.step += 5;
        assert!(
            course.bounds(&spec).height > before && course.steps(&spec) == 5,
            "as many steps, higher water"
        );
        let lost = matches!(course.verdict(&spec, false, None, 1.0), Verdict::Wrong { .. });
        assert!(lost, "drops are part of the state that is kept");
    }

    /// Rounding is forgotten as waves die away: only that of the mean height adds up.
    #[test]
    fn bounds_do_not_grow_without_end() {
        let bounds = |courant: f64, steps| {
            let words = params(&format!("columns=64 courant={courant}"));
            Spec::read("shallow-water", &words, 1).expect("a case").bounds(0.1, steps)
        };
        for courant in [0.5, 2.0, 16.0] {
            let [many, more] = [10_000, 1 << 20].map(|steps| bounds(courant, steps));
            let grown = (more.height - more.drift) - (many.height - many.drift);
            assert!(many.height < 4e-4 && grown.abs() < 1e-12, "{courant}: {many:?}");
            assert!(more.drift < 0.1 / 32.0, "the mean of the ripples must show");
        }
        let slow = bounds(0.001, 1);
        assert!(
            slow.change < 1e-5 * slow.height,
            "a slow wave's change in a step is small, and so is its bound"
        );
    }
}

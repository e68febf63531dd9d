//! The scheme in f64, line by line.

use super::Spec;
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
    /// The state at the beginning.
    pub fn begin(spec: &Spec) -> State {
        let eta: Vec<f64> = spec.heights().into_iter().map(f64::from).collect();
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
    let mut state = State::begin(spec);
    (0..spec.steps).for_each(|_| state.step(spec));
    let bound = spec.bound(spec.amplitude, spec.steps);
    let values = output.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    for (k, (found, wanted)) in values.zip(state.eta.iter().chain(&state.w)).enumerate() {
        // Also a NaN.
        let near = (found - wanted).abs() <= bound;
        if !near {
            let (array, at) = if k < state.eta.len() { ("η", k) } else { ("w", k - state.eta.len()) };
            return Err(format!("{array}[{at}] is {found:e} instead of {wanted:e} (± {bound:e})"));
        }
    }
    Ok(())
}

//! Elimination in f64, one system after another, and the check of a whole output.

use super::{Inputs, Spec, Type, backward_error};
use crate::primitives::oracle::check_length;
use crate::primitives::real::Real;

/// x of all systems, in the order of memory.
pub fn solve(spec: &Spec) -> Vec<f64> {
    let mut all = vec![0.0; spec.count() as usize];
    let [row, system] = spec.strides();
    let n = spec.rows;
    for s in 0..spec.systems {
        let (mut upper, mut x) = (Vec::new(), Vec::new());
        let (mut c, mut d) = (0.0, 0.0);
        for i in 0..n {
            let [below, diagonal, above, right] = spec.elements(s, i);
            let below = if i == 0 { 0.0 } else { below };
            let pivot = diagonal - below * c;
            (c, d) = (above / pivot, (right - below * d) / pivot);
            upper.push(c);
            x.push(d);
        }
        for i in (1..x.len()).rev() {
            x[i - 1] -= upper[i - 1] * x[i];
        }
        for (i, x) in (0..).zip(x) {
            all[(i * row + s * system) as usize] = x;
        }
    }
    all
}

fn values<T: Real>(output: &[u8]) -> Vec<f64> {
    output.chunks_exact(size_of::<T>()).map(T::of_bytes).collect()
}

/// The backward error of the row at a place of the output.
fn error_at(spec: &Spec, x: &[f64], place: usize) -> f64 {
    let (s, i) = spec.at(place as u64);
    let far = spec.strides()[0] as usize;
    let left = if i == 0 { 0.0 } else { x[place - far] };
    let right = if i + 1 == spec.rows { 0.0 } else { x[place + far] };
    backward_error(spec.elements(s, i), [left, x[place], right])
}

/// Checks the residual of every row. Where b exceeds |a| + |c| by a quarter, ‖A⁻¹‖ ≤ 4 bounds how far x may be from that
/// of elimination, too.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.element() * spec.count())?;
    let x = if spec.ty == Type::F32 { values::<f32>(output) } else { values::<f64>(output) };
    let wanted = solve(spec);
    let largest = wanted.iter().filter(|x| x.is_finite()).fold(1.0, |most: f64, x| most.max(x.abs()));
    // Terms of a row are at most (|a| + |b| + |c|)·max|x| + |d| ≤ 5.25·max|x| + 1.
    let apart = 4.0 * spec.bound() * (5.25 * largest + 1.0);
    let (mut wrong, mut flagged) = (0, 0);
    for place in 0..x.len() {
        let (s, i) = spec.at(place as u64);
        let error = error_at(spec, &x, place);
        let close = spec.inputs == Inputs::Laplace || (x[place] - wanted[place]).abs() <= apart;
        let right = error <= spec.bound();
        if spec.planted() == Some(s) {
            wrong += u64::from(!right);
            flagged += u64::from(!x[place].is_finite());
        } else if !right || !close {
            let found = x[place];
            return Err(format!(
                "x[{i}] of system {s} is {found:e} instead of {:e}; the residual of its row is {error:e} of its terms",
                wanted[place]
            ));
        }
    }
    spec.silent(wrong, flagged).map_or(Ok(()), Err)
}

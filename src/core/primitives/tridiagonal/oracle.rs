//! Elimination in f64, one system after another, and the check of a whole output.

use super::{Inputs, Residual, Spec, Type};
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

/// The residual of the row at a place of the output.
fn residual_at(spec: &Spec, x: &[f64], place: usize) -> Residual {
    let (s, i) = spec.at(place as u64);
    spec.residual(place, spec.elements(s, i), |place| x[place])
}

/// The sizes of all systems. Rows that hold a value that is not a number have none.
fn sizes(spec: &Spec, x: &[f64]) -> Vec<f64> {
    let mut sizes = vec![0.0; spec.systems as usize];
    for place in 0..x.len() {
        let size = residual_at(spec, x, place).size;
        let most: &mut f64 = &mut sizes[spec.at(place as u64).0 as usize];
        if size.is_finite() {
            *most = most.max(size);
        }
    }
    sizes
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
    let sizes = sizes(spec, &x);
    let (mut wrong, mut flagged) = (0, 0);
    for place in 0..x.len() {
        let (s, i) = spec.at(place as u64);
        let residual = residual_at(spec, &x, place);
        let close = spec.inputs == Inputs::Laplace || (x[place] - wanted[place]).abs() <= apart;
        let error = residual.relative_to(sizes[s as usize]);
        let right = error <= spec.bound();
        if spec.planted() == Some(s) {
            wrong += u64::from(!right);
            flagged += u64::from(!x[place].is_finite());
        } else if !right || !close {
            return Err(format!(
                "x[{i}] of system {s} is {:e} instead of {:e}; the residual of its row is {error:e} of the system's largest terms",
                x[place], wanted[place]
            ));
        }
    }
    spec.silent(wrong, flagged).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    fn spec(words: &str, seed: u64) -> Spec {
        Spec::read("tridiagonal", &params(words), seed).expect("a case")
    }

    fn bytes(x: &[f32]) -> Vec<u8> {
        x.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// A row of coefficients and its right side, in f32.
    type Row = [f32; 4];

    /// The row `i` without its neighbours at a distance of `by`.
    fn step(rows: &[Row], i: usize, by: usize) -> Row {
        let [a, mut b, c, mut d] = rows[i];
        let mut without = |of: f32, row: Option<&Row>, far: fn(&Row) -> [f32; 2]| {
            row.map_or(0.0, |row| {
                let (by, [near, far]) = (of / row[1], far(row));
                b -= near * by;
                d -= row[3] * by;
                -far * by
            })
        };
        let left = without(a, i.checked_sub(by).map(|l| &rows[l]), |row| [row[2], row[0]]);
        let right = without(c, rows.get(i + by), |row| [row[0], row[2]]);
        [left, b, right, d]
    }

    /// The only system of a case, solved in f32 as GPUs do by parallel cyclic reduction.
    fn in_parallel(spec: &Spec) -> Vec<f32> {
        let mut rows: Vec<Row> = (0..spec.rows).map(|i| spec.elements(0, i).map(|v| v as f32)).collect();
        let mut by = 1;
        while by < rows.len() {
            rows = (0..rows.len()).map(|i| step(&rows, i, by)).collect();
            by *= 2;
        }
        rows.iter().map(|row| row[3] / row[1]).collect()
    }

    #[test]
    fn a_solution_may_be_less_exact_where_it_crosses_0() {
        let spec = spec("rows=1000 inputs=laplace", 36);
        let output = bytes(&in_parallel(&spec));
        let x = values::<f32>(&output);
        let of_row = |place| residual_at(&spec, &x, place);
        let by_rows = (0..x.len()).map(of_row).map(|residual| residual.relative_to(residual.size));
        assert!(by_rows.fold(0.0, f64::max) > 4.0 * spec.bound());
        assert_eq!(check(&spec, &output), Ok(()));
    }

    #[test]
    fn a_wrong_row_is_refused_wherever_it_is() {
        for inputs in ["dominant", "laplace"] {
            let spec = spec(&format!("rows=1000 systems=2 inputs={inputs}"), 7);
            let x = solve(&spec);
            let moved = |place: usize, bounds: f64| {
                let (s, i) = spec.at(place as u64);
                let mut moved = x.clone();
                moved[place] += bounds * spec.bound() * sizes(&spec, &x)[s as usize] / spec.elements(s, i)[1];
                check(&spec, &bytes(&moved.iter().map(|x| *x as f32).collect::<Vec<_>>()))
            };
            for place in [0, 999, 1000, 1500, 1999] {
                assert_eq!(moved(place, 0.5), Ok(()));
                let said = moved(place, 10.0).expect_err("wrong");
                assert!(said.contains(&format!("of system {} is", place / 1000)), "{said}");
            }
        }
    }
}

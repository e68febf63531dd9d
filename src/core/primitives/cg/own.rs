//! A matrix of one's own in place of a class's: A = I + E, where E has the pattern of a square matrix M, stored zeros and
//! duplicates included, and
//!
//! ```text
//! e[i][j] = ε · m[i][j] / √(s[i]·s[j])     s[i] = max(Σⱼ |m[i][j]|, Σⱼ |m[j][i]|)     ε = 1/64
//! ```
//!
//! Conjugate gradients need a symmetric positive definite matrix. After 25 steps most matrices leave a ζ that depends on the
//! order of the sums, so the values are made here; the time depends on the pattern alone. With them each pattern has a result,
//! an unsymmetric one too:
//!
//! - ‖|E|‖ ≤ ε (Schur's test with the weights √s), so that p·A·p ≥ (1 − ε)·p·p.
//! - r' ⟂ p after every step, of an unsymmetric A too, because p·r = r·r. The part of r' = r − α·A·p orthogonal to p is
//!   that of −β·p₋ − α·E·p; with sinh θ = ‖β·p₋‖/‖r‖ and e = ε/(1 − ε) it follows that θ grows by e a step at most, and
//!   ‖r'‖ ≤ (k + 1)·e·‖r‖ in step k. After 25 steps ‖x − A·z‖ ≤ 25!·e²⁵·‖x‖ < 2·10⁻²⁰·‖x‖: only rounding is left.
//! - Solutions of x and of x + d are A⁻¹d apart, and a solution is at least ‖x‖/(1 + ε) long: a deviation grows by
//!   (1 + ε)/(1 − ε) a solution at most, to 11 times itself in 75.
//!
//! So the last ζ and x are those of powers of A⁻¹, and the certificate has them without conjugate gradients, by a binomial
//! series:
//!
//! ```text
//! v = A⁻ⁿ·1 = Σ c[k]·(−E)ᵏ·1     c[0] = 1     c[k + 1] = c[k]·(n + k)/(k + 1)     w = A·v
//! ζ = shift + w·w/(w·v), and for n = 1, whose x is not of length 1, shift + 1/(w·v)     x = v/‖v‖
//! ```

use super::{inverse, quotient};
use crate::inputs::shared::Contents;
use crate::inputs::sparse::{Csr, SparseError, in_ranges};
use crate::memory::{self, NoMemory};

/// The bound of ‖E‖.
pub const NORM: f64 = 1.0 / 64.0;

/// The most solutions: a deviation grows to 23 times itself.
pub const MOST_SOLUTIONS: u64 = 100;

/// The most terms of the series: of 100 solutions, term 60 is below 2^-60 of the sum.
const TERMS: u64 = 100;

/// E of a square matrix, with the columns of each row in ascending order.
///
/// # Errors
/// Magnitudes of a row or a column whose sum is infinite, and missing memory.
pub fn scaled(mut matrix: Csr<f64>) -> Result<Csr<f64>, SparseError> {
    matrix.sort_columns();
    let n = matrix.rows() as usize;
    let (mut sums, mut of_columns) = (memory::filled(n, 0.0f64)?, memory::filled(n, 0.0f64)?);
    for (row, sum) in sums.iter_mut().enumerate() {
        for at in matrix.row(row) {
            *sum += matrix.values[at].abs();
            of_columns[matrix.indices[at] as usize] += matrix.values[at].abs();
        }
    }
    sums.iter_mut().zip(of_columns).for_each(|(sum, of_column)| *sum = sum.max(of_column).sqrt());
    if let Some(row) = sums.iter().position(|root| root.is_infinite()) {
        return Err(SparseError(format!(
            "the magnitudes of row or column {} of the matrix add up to more than f64 holds",
            row + 1
        )));
    }
    for (row, root) in sums.iter().enumerate() {
        for at in matrix.row(row) {
            let value = matrix.values[at];
            // A zero may stand in a row of zeros.
            let part = if value == 0.0 { 0.0 } else { value / root / sums[matrix.indices[at] as usize] };
            matrix.values[at] = NORM * part;
        }
    }
    Ok(matrix)
}

/// What the last solution leaves.
pub struct Last {
    /// ζ − shift.
    pub zeta: f64,
    /// The x that follows, of length 1.
    pub x: Vec<f64>,
}

impl Contents for Last {
    fn bytes(&self) -> u64 {
        self.x.bytes()
    }
}

/// What so many solutions leave.
///
/// # Errors
/// Vectors that do not fit into the memory.
pub fn last(matrix: &Csr<f64>, solutions: u64) -> Result<Last, SparseError> {
    let n = matrix.rows() as usize;
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut term = memory::filled(n, 1.0)?;
    let mut sum = memory::filled(n, 1.0)?;
    for k in 0..TERMS {
        let factor = -((solutions + k) as f64) / (k + 1) as f64;
        term = times(matrix, &term)?;
        term.iter_mut().for_each(|term| *term *= factor);
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
        if dot(&term, &term).sqrt() <= dot(&sum, &sum).sqrt() * 2f64.powi(-60) {
            break;
        }
    }
    let mut before = times(matrix, &sum)?;
    before.iter_mut().zip(&sum).for_each(|(before, sum)| *before += sum);
    let size = if solutions > 1 { dot(&before, &before) } else { 1.0 };
    let zeta = quotient(size, dot(&before, &sum));
    let scale = inverse(dot(&sum, &sum).sqrt());
    sum.iter_mut().for_each(|sum| *sum *= scale);
    Ok(Last { zeta, x: sum })
}

/// E·x, by all processors.
fn times(matrix: &Csr<f64>, x: &[f64]) -> Result<Vec<f64>, NoMemory> {
    let term = |at: usize| matrix.values[at] * x[matrix.indices[at] as usize];
    let parts = in_ranges(matrix.rows(), |rows| {
        let count = (rows.end - rows.start) as usize;
        memory::collected(count, rows.map(|row| matrix.row(row as usize).map(term).sum::<f64>()))
    });
    memory::joined(parts.into_iter().collect::<Result<_, NoMemory>>()?)
}

#[cfg(test)]
mod tests {
    use super::super::oracle::solve;
    use super::super::{Definition, Spec};
    use super::*;
    use crate::primitives::words::params;

    fn made(entries: &[(u32, u32, f64)], n: u64) -> Csr<f64> {
        scaled(Csr::from_entries(n, n, entries).expect("a matrix")).expect("finite")
    }

    /// A circle of arcs in one direction, skew, with one row and one column that outweigh all others, and of magnitudes of
    /// which f64 holds neither squares nor products.
    fn patterns() -> Vec<Csr<f64>> {
        let n = 60u32;
        let next = |i: u32| (i + 1) % n;
        let circle: Vec<_> = (0..n).map(|i| (i, next(i), if i % 3 == 0 { -2.0 } else { 1.0 })).collect();
        let skew: Vec<_> = (0..n).flat_map(|i| [(i, next(i), 1.5), (next(i), i, -1.5)]).collect();
        let heavy: Vec<_> = (0..n).flat_map(|i| [(i, 7, 1e3), (11, i, -1.0), (i, i, -4.0)]).collect();
        let extreme: Vec<_> = (0..n).map(|i| (i, next(i), if i % 2 == 0 { 1e300 } else { 1e-300 })).collect();
        [circle, skew, heavy, extreme, vec![(3, 3, 0.0), (5, 4, 1.0), (5, 4, 1.0)], Vec::new()]
            .iter()
            .map(|entries| made(entries, n.into()))
            .collect()
    }

    #[test]
    fn no_part_of_e_is_larger_than_its_bound() {
        for matrix in patterns() {
            let x: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17) - 8.0).collect();
            let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(size(&times(&matrix, &x).expect("memory")) <= 1.000001 * NORM * size(&x));
        }
    }

    /// The series has nothing in common with conjugate gradients, which are converged for each pattern.
    #[test]
    fn the_series_and_conjugate_gradients_agree() {
        for matrix in patterns() {
            for solutions in [1, 2, 75, MOST_SOLUTIONS] {
                let words = format!("matrix=random matrix.random.rows=60 solutions={solutions} type=f64");
                let spec = Spec::read("cg", &params(&words), 1).expect("a case");
                let all = solve::<f64>(&spec, &matrix);
                let (found, wanted) =
                    (*all.zetas.last().expect("one"), last(&matrix, solutions).expect("memory"));
                let zeta = wanted.zeta;
                assert!((found - zeta).abs() <= 1e-13 * zeta, "{solutions}: {found:e} {zeta:e}");
                assert!(all.x.iter().zip(&wanted.x).all(|(found, wanted)| (found - wanted).abs() <= 1e-13));
                assert!(all.residuals.iter().skip(1).all(|residual| *residual < 1e-14));
            }
        }
    }

    #[test]
    fn magnitudes_without_a_sum_are_refused() {
        let matrix = Csr::from_entries(2, 2, &[(0, 1, 1e308), (1, 1, 1e308)]).expect("a matrix");
        let told = "the magnitudes of row or column 2 of the matrix add up to more than f64 holds";
        assert_eq!(scaled(matrix), Err(SparseError(told.to_owned())));
    }
}

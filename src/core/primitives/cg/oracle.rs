//! The benchmark on one thread, as its definition has it.

use super::certificate::{Required, near};
use super::{Real, STEPS, Spec, Type, inverse, quotient};
use crate::case::Failure;
use crate::inputs::shared::Shared;
use crate::inputs::sparse::Csr;
use crate::primitives::oracle::{check_length, words64};
use crate::primitives::real::for_type;

/// The results of an execution.
pub struct Solution<T> {
    pub zetas: Vec<f64>,
    pub residuals: Vec<f64>,
    /// ‖z‖ of each solution.
    pub norms: Vec<f64>,
    pub x: Vec<T>,
}

fn dot<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x.wide() * y.wide()).sum()
}

/// The matrix, to which `diagonal` times the identity is added.
pub struct Matrix<'a, T> {
    pub entries: &'a Csr<f64>,
    pub diagonal: T,
}

impl<T: Real> Matrix<'_, T> {
    fn times(&self, x: &[T]) -> Vec<T> {
        let term = |at: usize| T::of(self.entries.values[at]) * x[self.entries.indices[at] as usize];
        let sum = |row: usize| self.entries.row(row).fold(T::default(), |sum, at| sum + term(at));
        x.iter().enumerate().map(|(row, x)| sum(row) + self.diagonal * *x).collect()
    }
}

/// y += a·x
fn add<T: Real>(y: &mut [T], a: f64, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = *y + T::of(a) * *x);
}

/// z ≈ A⁻¹·x
pub fn conjugate_gradients<T: Real>(matrix: &Matrix<T>, x: &[T]) -> Vec<T> {
    let mut z = vec![T::default(); x.len()];
    let (mut r, mut p) = (x.to_vec(), x.to_vec());
    let mut rho = dot(&r, &r);
    for _ in 0..STEPS {
        let q = matrix.times(&p);
        let alpha = quotient(rho, dot(&p, &q));
        add(&mut z, alpha, &p);
        add(&mut r, -alpha, &q);
        let before = std::mem::replace(&mut rho, dot(&r, &r));
        let beta = T::of(quotient(rho, before));
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = *r + beta * *p);
    }
    z
}

/// The solutions of a case with this matrix.
pub fn solve<T: Real>(spec: &Spec, matrix: &Csr<f64>) -> Solution<T> {
    let matrix = Matrix { entries: matrix, diagonal: T::of(spec.diagonal()) };
    let x = vec![T::of(1.0); spec.n() as usize];
    let mut all = Solution { zetas: Vec::new(), residuals: Vec::new(), norms: Vec::new(), x };
    for _ in 0..spec.solutions() {
        let z = conjugate_gradients(&matrix, &all.x);
        let left = matrix.times(&z);
        let residual = all.x.iter().zip(&left).map(|(x, az)| (x.wide() - az.wide()).powi(2)).sum::<f64>();
        let norm = dot(&z, &z).sqrt();
        all.residuals.push(residual.sqrt());
        all.zetas.push(spec.zeta_of(dot(&all.x, &z)));
        all.norms.push(norm);
        all.x = z.iter().map(|z| T::of(z.wide() * inverse(norm))).collect();
    }
    all
}

/// Compares a whole output: ζ and ‖z‖ of each solution and the last x to the digits that any order of sums leaves;
/// residuals, of which rounding leaves few digits, to the part of x that they are.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output_bytes())?;
    let in_file =
        |_: &str| Err(Failure::NotApplicable("a matrix in a file is checked on its device".to_owned()));
    let shared = Shared::default();
    let matrix = spec.matrix(in_file, &shared).map_err(|why| why.to_string())?;
    let required = Required::of(spec, &matrix, &shared).map_err(|why| why.to_string())?;
    for_type!(spec.ty, T => compare(&solve::<T>(spec, &matrix), output, &required))
}

fn compare<T: Real>(expected: &Solution<T>, output: &[u8], required: &Required) -> Result<(), String> {
    let (reports, x) = output.split_at(24 * expected.zetas.len());
    let found: Vec<f64> = words64(reports).map(f64::from_bits).collect();
    let all = [("ζ", &expected.zetas), ("‖x − A·z‖", &expected.residuals), ("‖z‖", &expected.norms)];
    for ((name, wanted), found) in all.into_iter().zip(found.chunks(expected.zetas.len().max(1))) {
        for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let of = if name.starts_with("‖x") { wanted.abs().max(1.0) } else { wanted.abs() };
            if !near(*found, *wanted, required.compared * of) {
                return Err(format!("{name} of solution {k} is {found:e} instead of {wanted:e}"));
            }
        }
    }
    for (i, (found, wanted)) in x.chunks_exact(size_of::<T>()).map(T::of_bytes).zip(&expected.x).enumerate() {
        if !near(found, wanted.wide(), required.of_x) {
            return Err(format!("x[{i}] is {found:e} instead of {:e}", wanted.wide()));
        }
    }
    Ok(())
}

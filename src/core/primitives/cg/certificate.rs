//! The verdict on what an execution has left: its report, sums that a device computes anew from its last x and z, and with a
//! matrix of one's own the x that follows.
//!
//! The benchmark judges the last ζ of a class alone. With a matrix of one's own, where A = I + E with a small E ([`own`]), the
//! last ζ tells little of the solutions before: one that is left out moves it by about (‖E·1‖/‖1‖)², which is 7·10⁻⁷ for random
//! values in rows of 399 entries, and f32 allows 2·10⁻⁴. So every solution must have reported a small ‖x − A·z‖, and
//! the last x is compared with the series'. A solution that is left out moves that x by about ‖E·1‖/‖1‖, 8·10⁻⁴ for such
//! rows. In f64 the bound of x is far below. In f32 it is 7·10⁻³ for such rows: x shows only that several solutions are missing.
//! Fewer are refused because they are missing in the report, which holds poison before an execution.

use std::sync::Arc;

use super::own::{self, NORM};
use super::{Spec, Type, inverse, oracle};
use crate::case::{Failure, Value};
use crate::inputs::shared::{Contents, Shared};
use crate::inputs::sparse::Csr;

/// The deviation of ζ that the benchmark allows, relative.
pub const TOLERANCE: f64 = 1e-10;

/// The deviation of ζ of a class in f32, relative: 25 steps leave about five digits.
const TOLERANCE_F32: f64 = 1e-3;

/// Sums over the rows, in f64, from the last solution z of A·z = x and the x' = z/‖z‖ that follows, in the order of the kernels:
///
/// - Σ (xᵢ − Σ aᵢⱼ·zⱼ)²
/// - Σ (|xᵢ| + Σ |aᵢⱼ·zⱼ|)², to which rounding errors are relative
/// - x·z
/// - z·z
/// - Σ (x'ᵢ − zᵢ/‖z‖)², with the reported ‖z‖
pub type Sums = [f64; 5];

/// The sums of all rows from those of shares.
pub fn total(shares: impl IntoIterator<Item = Sums>) -> Sums {
    shares.into_iter().fold([0.0; 5], |sums, share| std::array::from_fn(|at| sums[at] + share[at]))
}

/// True if the numbers differ by at most that much; a NaN differs from all.
pub fn near(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by
}

/// The results that an execution must have.
pub struct Required {
    /// The last ζ.
    pub zeta: f64,
    /// Its largest error that passes, relative.
    pub tolerance: f64,
    /// The largest deviations of any solution's numbers, relative, and of an element of the last x from the oracle's.
    pub compared: f64,
    pub of_x: f64,
    /// The length of the longest row.
    longest: u64,
    /// Bounds that the benchmark does not have.
    own: Option<Own>,
}

/// What is required with a matrix of one's own.
struct Own {
    /// The largest ‖x − A·z‖ of a solution that passes, relative to ‖z‖.
    residual: f64,
    /// What the last solution leaves.
    last: Arc<own::Last>,
}

impl Required {
    /// The ζ of the benchmark's table, or of the oracle.
    ///
    /// # Errors
    /// Missing memory.
    pub fn of(spec: &Spec, matrix: &Csr<f64>, shared: &Shared) -> Result<Required, Failure> {
        let longest = matrix.starts.windows(2).map(|ends| u64::from(ends[1] - ends[0])).max().unwrap_or(0);
        if spec.source.is_some() {
            let form = format!("x and ζ of {} solutions", spec.solutions());
            let last =
                shared.get(&spec.name(), &form, 32 * spec.n(), || own::last(matrix, spec.solutions()))?;
            return Ok(Required::of_own(spec, last, longest));
        }
        let computed = || oracle::solve::<f64>(spec, matrix).zetas.last().copied().unwrap_or(f64::NAN);
        let [tolerance, compared] = match spec.ty {
            Type::F32 => [TOLERANCE_F32; 2],
            Type::F64 => [TOLERANCE, 10.0 * TOLERANCE],
        };
        Ok(Required {
            zeta: spec.row().zeta.unwrap_or_else(computed),
            tolerance,
            compared,
            of_x: 100.0 * compared,
            longest,
            own: None,
        })
    }

    /// The bounds for I + E with ‖|E|‖ ≤ ε ([`own`]), twice what follows from Higham's (Accuracy and Stability, §3.1), for the
    /// oracle's errors. With rows of L entries and rounding errors u,
    ///
    /// - a product is off by u·(ε·(L + 2) + 1)·‖p‖, and the updates of z and r by u·(‖αp‖ + ‖z‖) and u·(‖αq‖ + ‖r‖). Over
    ///   25 steps, in which Σ‖α·p‖ ≤ 1.04·‖x‖ and ‖z‖ ≤ 1.02·‖x‖, the residual comes to u·(ε·L + 32), relative; the
    ///   certificate, which sums it in f64, may be off by u·ε·L more. Twice both are η = 4u·(ε·L + 16).
    /// - x, rounded to its type, is off by η and a few u after a solution, of which each later one makes
    ///   g = (1 + ε)/(1 − ε) times as much: δ = 2·(η + 6u)·(gⁿ − 1)/(g − 1) after n.
    /// - ζ = 1/(x·A⁻¹·x) with ‖A⁻¹ − I‖ ≤ ε/(1 − ε) is off by 2.1·ε·δ + δ² + η + 6u, relative, and by its own sums in f64.
    fn of_own(spec: &Spec, last: Arc<own::Last>, longest: u64) -> Required {
        let unit = epsilon(spec) / 2.0;
        let (residual, growth) = (4.0 * unit * (NORM * longest as f64 + 16.0), (1.0 + NORM) / (1.0 - NORM));
        let solution = residual + 6.0 * unit;
        let of_x = 2.0 * solution * (growth.powi(spec.solutions() as i32) - 1.0) / (growth - 1.0);
        let tolerance = 2.0 * (2.1 * NORM * of_x + of_x * of_x + solution + sums_of(spec));
        let compared = 2.0 * (of_x + sums_of(spec));
        Required {
            zeta: spec.shift() + last.zeta,
            tolerance,
            compared,
            of_x: 2.0 * of_x,
            longest,
            own: Some(Own { residual, last }),
        }
    }

    /// Bytes of what is compared with arrays.
    pub fn bytes(&self) -> u64 {
        self.own.as_ref().map_or(0, |own| own.last.bytes())
    }

    /// ζ and its deviation, for the record; nothing before an execution has left any.
    pub fn found(&self, spec: &Spec, report: &[f64]) -> Vec<(String, Value)> {
        let zeta = report.get((spec.solutions() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN);
        let error = super::quotient((zeta - self.zeta).abs(), self.zeta.abs());
        let all = [("zeta", zeta), ("zeta-error", error)];
        let known = all.into_iter().filter(|_| error <= 1.0);
        known.map(|(key, number)| (key.to_owned(), Value::Float(number))).collect()
    }

    /// The first mistake. `report` holds ζ, ‖x − A·z‖ and ‖z‖ of each solution; `x` fetches the x that the last one has left.
    ///
    /// # Errors
    /// Those of `x`.
    pub fn mistake(
        &self,
        spec: &Spec,
        report: &[f64],
        sums: Sums,
        x: impl FnOnce() -> Result<Vec<f64>, Failure>,
    ) -> Result<Option<String>, Failure> {
        let (solutions, found) = (spec.solutions() as usize, |k: usize| Reported::of(spec, report, k));
        let told = (0..solutions).find_map(|k| self.mistake_of(spec, k, found(k)));
        let last = || self.mistake_of_last(spec, found(solutions.saturating_sub(1)), sums);
        match (told.or_else(last), &self.own) {
            (None, Some(own)) => Ok(own.mistake_of_x(&x()?, self.of_x + sums_of(spec))),
            (mistake, _) => Ok(mistake),
        }
    }

    /// A mistake in what solution k has reported.
    fn mistake_of(&self, spec: &Spec, k: usize, found: Reported) -> Option<String> {
        let exists = |what: &str, number: f64| {
            let is_norm = (0.0..f64::INFINITY).contains(&number);
            (!is_norm).then(|| format!("{what} of solution {k} is {number:e}"))
        };
        let missing = exists("‖x − A·z‖", found.residual).or_else(|| exists("‖z‖", found.norm));
        missing.or_else(|| self.own.as_ref()?.mistake_of(spec, k, found))
    }

    /// A mistake in what the last solution has left.
    fn mistake_of_last(&self, spec: &Spec, found: Reported, sums: Sums) -> Option<String> {
        let [left, terms, xz, zz, next] = sums;
        let sum = sums_of(spec);
        // |fl(Σ) − Σ| ≤ γ·Σ|…|, which both sides may be off by (Higham: Accuracy and Stability, §3.1).
        let rounding = 2.0 * epsilon(spec) * (self.longest as f64 + 4.0) * terms.sqrt();
        let explicit = left.sqrt();
        let of_z = |own: &Own| off("‖x − A·z‖ of the last z", explicit, 0.0, own.residual * zz.sqrt());
        let checks = [
            off("‖x − A·z‖", found.residual, explicit, rounding + sum * explicit),
            self.own.as_ref().and_then(of_z),
            off("‖z‖", found.norm, zz.sqrt(), sum * found.norm.abs()),
            off("ζ from x·z", found.zeta, spec.zeta_of(xz), TOLERANCE * inverse(xz).abs()),
            off("the next x less z/‖z‖", next.sqrt(), 0.0, 4.0 * epsilon(spec)),
            off("ζ", found.zeta, self.zeta, self.zeta.abs() * self.tolerance),
        ];
        checks.into_iter().flatten().next()
    }
}

impl Own {
    /// A mistake in what solution k has reported. With e = ε and what rounding adds to it, z of an x is so long that
    ///
    /// - ‖x‖/(1 + e) ≤ ‖z‖ ≤ ‖x‖/(1 − e), because x = z + E·z
    /// - |x·z − x·x| ≤ ‖x‖·‖E·z‖ ≤ x·x·e/(1 − e), so that 1/(x·z) is 1/(x·x), off by e/(1 − 2e) at most, relative.
    ///
    /// ‖x − A·z‖ is summed in the case's type, which adds less than half of its bound. In rows so long that 2e ≥ 1 it alone is judged.
    fn mistake_of(&self, spec: &Spec, k: usize, found: Reported) -> Option<String> {
        let length = if k == 0 { (spec.n() as f64).sqrt() } else { spec.n().min(1) as f64 };
        let e = NORM + 2.0 * self.residual + 2.0 * epsilon(spec) + 4.0 * sums_of(spec);
        let (norm, zeta) = (length / (1.0 - e * e), spec.zeta_of(length * length));
        let told = |what: &str| format!("{what} of solution {k}");
        let of_residual = || off(&told("‖x − A·z‖"), found.residual, 0.0, 1.5 * self.residual * found.norm);
        let of_norm = || off(&told("‖z‖"), found.norm, norm, e * norm);
        let of_zeta = || off(&told("ζ"), found.zeta, zeta, e / (1.0 - 2.0 * e) * zeta.abs());
        let bounded = || (2.0 * e < 1.0).then(|| of_norm().or_else(of_zeta)).flatten();
        of_residual().or_else(bounded)
    }

    fn mistake_of_x(&self, x: &[f64], by: f64) -> Option<String> {
        let pairs = x.iter().zip(&self.last.x);
        let distance = pairs.map(|(found, wanted)| (found - wanted).powi(2)).sum::<f64>().sqrt();
        off("the distance of the last x from the series'", distance, 0.0, by)
    }
}

/// What a solution has reported.
struct Reported {
    zeta: f64,
    residual: f64,
    norm: f64,
}

impl Reported {
    /// That of solution k, in a report that has the numbers of all solutions one after another.
    fn of(spec: &Spec, report: &[f64], k: usize) -> Reported {
        let number =
            |column: usize| report.get(column * spec.solutions() as usize + k).copied().unwrap_or(f64::NAN);
        Reported { zeta: number(0), residual: number(1), norm: number(2) }
    }
}

/// What is told of a number that is further off than it may be.
fn off(what: &str, found: f64, wanted: f64, by: f64) -> Option<String> {
    (!near(found, wanted, by)).then(|| format!("{what} is {found:e} instead of {wanted:e} (± {by:e})"))
}

/// The distance from 1 to the next number of the case's type.
fn epsilon(spec: &Spec) -> f64 {
    if spec.ty == Type::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// The errors of sums of n terms in f64, in two orders.
fn sums_of(spec: &Spec) -> f64 {
    (spec.n() as f64 + 8.0) * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::super::Definition;
    use super::super::oracle::{Matrix, Solution, conjugate_gradients, solve};
    use super::*;
    use crate::device::cpu::POISON;
    use crate::primitives::real::{Real, for_type};
    use crate::primitives::words::params;

    /// What an execution leaves, and what it is judged by.
    struct Execution {
        spec: Spec,
        required: Required,
        report: Vec<f64>,
        sums: Sums,
        x: Vec<f64>,
    }

    impl Execution {
        /// An execution that computes so many solutions and reports the last of them in place of those that are missing.
        fn of(words: &str, computed: u64) -> Execution {
            let spec = Spec::read("cg", &params(words), 7).expect("a case");
            let (shared, no_file) = (Shared::default(), |_: &str| Err(Failure::Failed("no file".to_owned())));
            let matrix = spec.matrix(no_file, &shared).expect("a matrix");
            let required = Required::of(&spec, &matrix, &shared).expect("a reference");
            for_type!(spec.ty, T => Execution::left::<T>(spec, required, &matrix, computed))
        }

        fn left<T: Real>(spec: Spec, required: Required, matrix: &Csr<f64>, computed: u64) -> Execution {
            let short = Spec { niter: Some(computed), ..spec.clone() };
            let Solution { zetas, residuals, norms, x: next } = solve::<T>(&short, matrix);
            let a = Matrix { entries: matrix, diagonal: T::of(spec.diagonal()) };
            let (last, norm) = (norms.len() - 1, norms[norms.len() - 1]);
            let x = norms[..last].iter().fold(vec![T::of(1.0); next.len()], |x, norm| {
                let z = conjugate_gradients(&a, &x);
                z.iter().map(|z| T::of(z.wide() * inverse(*norm))).collect()
            });
            let z = conjugate_gradients(&a, &x);
            let sums = (0..x.len()).map(|row| {
                let (xi, zi) = (x[row].wide(), z[row].wide());
                let own = spec.diagonal() * zi;
                let (mut left, mut size) = (xi - own, xi.abs() + own.abs());
                for at in matrix.row(row) {
                    let term = T::of(matrix.values[at]).wide() * z[matrix.indices[at] as usize].wide();
                    (left, size) = (left - term, size + term.abs());
                }
                let off = next[row].wide() - zi / norm;
                [left * left, size * size, xi * zi, zi * zi, off * off]
            });
            let told = |numbers: Vec<f64>| -> Vec<f64> {
                (0..spec.solutions() as usize).map(|k| numbers[k.min(last)]).collect()
            };
            let report = [zetas, residuals, norms].map(told).concat();
            let x = next.iter().map(|x| x.wide()).collect();
            Execution { sums: total(sums), required, report, x, spec }
        }

        fn mistake(&self, report: &[f64]) -> Option<String> {
            let x = || Ok(self.x.clone());
            self.required.mistake(&self.spec, report, self.sums, x).expect("x is there")
        }
    }

    const OWN: &str = "matrix=random matrix.random.rows=100 matrix.random.entries";

    #[test]
    fn every_number_of_every_solution_is_judged() {
        for (words, own) in [
            (format!("{OWN}=399 type=f32"), true),
            (format!("{OWN}=3 type=f64 solutions=12"), true),
            (format!("{OWN}=0 type=f32 solutions=12"), true),
            ("class=T rows=65".to_owned(), false),
        ] {
            let solutions = Spec::read("cg", &params(&words), 7).expect("a case").solutions();
            let honest = Execution::of(&words, solutions);
            let count = solutions as usize;
            assert_eq!(honest.mistake(&honest.report), None, "{words}");
            let with = |column: usize, k: usize, number: f64| {
                let mut report = honest.report.clone();
                report[column * count + k] = number;
                honest.mistake(&report)
            };
            for at in 0..3 * count {
                let (column, k) = (at / count, at % count);
                let all = [f64::from_bits(POISON), f64::NAN, f64::INFINITY, -1.0];
                for number in all.into_iter().filter(|_| own || column > 0) {
                    assert!(with(column, k, number).is_some(), "{words}: {number} as {column} of {k}");
                }
                let larger = if column == 1 { 1e-3 } else { 1.1 * honest.report[at] };
                assert!(!own || with(column, k, larger).is_some(), "{words}: {larger} as {column} of {k}");
            }
        }
        let honest = Execution::of(&format!("{OWN}=399 type=f32"), 75);
        let report =
            |residual: f64| [&honest.report[..75 + 10], &[residual], &honest.report[75 + 11..]].concat();
        let told = honest.mistake(&report(1e-3)).expect("refused");
        assert!(told.starts_with("‖x − A·z‖ of solution 10 is 1e-3 instead of 0e0"), "{told}");
    }

    /// Neither ζ nor any sum shows in f32 that solutions are missing in rows of many entries, if their numbers are made up.
    #[test]
    fn solutions_that_are_left_out_show_in_x() {
        let refused = |words: &str, computed: u64| {
            let lazy = Execution::of(&format!("{OWN}={words}"), computed);
            lazy.mistake(&lazy.report).expect("refused")
        };
        let told = refused("399 type=f32", 2);
        assert!(told.starts_with("the distance of the last x"), "{told}");
        refused("399 type=f64", 74);
        refused("3 type=f32", 74);
    }

    /// The figures in the text above.
    #[test]
    fn in_f32_a_single_solution_does_not_show_in_x() {
        let lazy = Execution::of(&format!("{OWN}=399 type=f32"), 74);
        assert_eq!(lazy.mistake(&lazy.report), None);
        assert!((6.5e-3..7.5e-3).contains(&lazy.required.of_x), "{}", lazy.required.of_x);
        let missing = [&lazy.report[..40], &[f64::from_bits(POISON); 1], &lazy.report[41..]].concat();
        assert!(lazy.mistake(&missing).is_some());
    }
}

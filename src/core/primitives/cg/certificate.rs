//! The verdict on what an execution has left, from sums that a device computes anew from its last x and z.

use super::own::NORM;
use super::{Spec, Type, inverse, oracle, own};
use crate::case::{Failure, Value};
use crate::inputs::shared::Shared;
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

/// What an execution must come to.
pub struct Required {
    /// The last ζ.
    pub zeta: f64,
    /// Its largest error that passes, relative.
    pub tolerance: f64,
    /// The largest deviations of any solution's numbers, relative, and of an element of the last x from the oracle's.
    pub compared: f64,
    pub of_x: f64,
    /// The largest ‖x − A·z‖ that passes, relative to ‖z‖; the benchmark has none.
    residual: Option<f64>,
    /// The length of the longest row.
    longest: u64,
}

impl Required {
    /// The ζ of the benchmark's table, or of the oracle.
    ///
    /// # Errors
    /// Missing memory.
    pub fn of(spec: &Spec, matrix: &Csr<f64>, shared: &Shared) -> Result<Required, Failure> {
        let longest = matrix.starts.windows(2).map(|ends| u64::from(ends[1] - ends[0])).max().unwrap_or(0);
        if spec.source.is_some() {
            let form = format!("ζ of {} solutions", spec.solutions());
            let zeta = shared
                .get(&spec.name(), &form, 0, || own::zeta(matrix, spec.solutions()).map(|zeta| vec![zeta]))?;
            return Ok(Required::of_own(spec, spec.shift() + zeta[0], longest));
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
            residual: None,
            longest,
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
    fn of_own(spec: &Spec, zeta: f64, longest: u64) -> Required {
        let unit = epsilon(spec) / 2.0;
        let (residual, growth) = (4.0 * unit * (NORM * longest as f64 + 16.0), (1.0 + NORM) / (1.0 - NORM));
        let solution = residual + 6.0 * unit;
        let of_x = 2.0 * solution * (growth.powi(spec.solutions() as i32) - 1.0) / (growth - 1.0);
        let tolerance = 2.0 * (2.1 * NORM * of_x + of_x * of_x + solution + sums_of(spec));
        let compared = 2.0 * (of_x + sums_of(spec));
        Required { zeta, tolerance, compared, of_x: 2.0 * of_x, residual: Some(residual), longest }
    }

    /// ζ and its deviation, for the record; nothing before an execution has left any.
    pub fn found(&self, spec: &Spec, report: &[f64]) -> Vec<(String, Value)> {
        let zeta = report.get((spec.solutions() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN);
        let error = super::quotient((zeta - self.zeta).abs(), self.zeta.abs());
        let all = [("zeta", zeta), ("zeta-error", error)];
        let known = all.into_iter().filter(|_| error <= 1.0);
        known.map(|(key, number)| (key.to_owned(), Value::Float(number))).collect()
    }

    /// The first mistake. `report` holds ζ, ‖x − A·z‖ and ‖z‖ of each solution.
    pub fn mistake(&self, spec: &Spec, report: &[f64], sums: Sums) -> Option<String> {
        let last = |column: usize| {
            let solutions = spec.solutions() as usize;
            report.get((column + 1) * solutions - 1).copied().unwrap_or(f64::NAN)
        };
        let [zeta, residual, norm] = [0, 1, 2].map(last);
        let [left, terms, xz, zz, next] = sums;
        let sum = sums_of(spec);
        // |fl(Σ) − Σ| ≤ γ·Σ|…|, which both sides may be off by (Higham: Accuracy and Stability, §3.1).
        let rounding = 2.0 * epsilon(spec) * (self.longest as f64 + 4.0) * terms.sqrt();
        let explicit = left.sqrt();
        let bound = self.residual.map_or(f64::INFINITY, |bound| bound * zz.sqrt());
        let own = spec.zeta_of(xz);
        let checks = [
            (residual, explicit, rounding + sum * explicit, "‖x − A·z‖"),
            (explicit, 0.0, bound, "‖x − A·z‖ of the last z"),
            (norm, zz.sqrt(), sum * norm.abs(), "‖z‖"),
            (zeta, own, TOLERANCE * inverse(xz).abs(), "ζ from x·z"),
            (next.sqrt(), 0.0, 4.0 * epsilon(spec), "the next x less z/‖z‖"),
            (zeta, self.zeta, self.zeta.abs() * self.tolerance, "ζ"),
        ];
        let wrong = checks.into_iter().find(|(found, wanted, by, _)| !near(*found, *wanted, *by));
        wrong.map(|(found, wanted, by, what)| format!("{what} is {found:e} instead of {wanted:e} (± {by:e})"))
    }
}

/// The distance from 1 to the next number of the case's type.
fn epsilon(spec: &Spec) -> f64 {
    if spec.ty == Type::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// The errors of sums of n terms in f64, in two orders.
fn sums_of(spec: &Spec) -> f64 {
    (spec.n() as f64 + 8.0) * f64::EPSILON
}

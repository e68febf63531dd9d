//! The verdict on what an execution has left, from sums that a device computes anew from its last x and z.

use super::{Spec, Type, inverse};

/// The deviation of ζ that the benchmark allows, relative.
pub const TOLERANCE: f64 = 1e-10;

/// The deviation of ζ in f32, relative: 25 steps leave about five digits.
pub const TOLERANCE_F32: f64 = 1e-3;

/// The largest error of ζ that passes, relative.
pub fn tolerance(spec: &Spec) -> f64 {
    if spec.ty == Type::F32 { TOLERANCE_F32 } else { TOLERANCE }
}

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

/// The first mistake. `report` holds ζ, ‖x − A·z‖ and ‖z‖ of each solution, and `longest` is the length of the longest
/// row of A.
pub fn mistake(spec: &Spec, longest: u64, report: &[f64], sums: Sums) -> Option<String> {
    let last = |column: usize| {
        let solutions = spec.solutions() as usize;
        report.get((column + 1) * solutions - 1).copied().unwrap_or(f64::NAN)
    };
    let [zeta, residual, norm] = [0, 1, 2].map(last);
    let [left, terms, xz, zz, next] = sums;
    let single = spec.ty == Type::F32;
    let epsilon = if single { f64::from(f32::EPSILON) } else { f64::EPSILON };
    // Sums of n terms in f64, in two orders.
    let sum = (spec.n() as f64 + 8.0) * f64::EPSILON;
    // |fl(Σ) − Σ| ≤ γ·Σ|…|, which both sides may be off by (Higham: Accuracy and Stability, §3.1).
    let rounding = 2.0 * epsilon * (longest as f64 + 4.0) * terms.sqrt();
    let explicit = left.sqrt();
    let own = spec.zeta_of(xz);
    let reference = spec.zeta();
    let allowed = reference.abs() * tolerance(spec);
    let checks = [
        (residual, explicit, rounding + sum * explicit, "‖x − A·z‖"),
        (norm, zz.sqrt(), sum * norm.abs(), "‖z‖"),
        (zeta, own, TOLERANCE * inverse(xz).abs(), "ζ from x·z"),
        (next.sqrt(), 0.0, 4.0 * epsilon, "the next x less z/‖z‖"),
        (zeta, reference, allowed, "ζ"),
    ];
    let wrong = checks.into_iter().find(|(found, wanted, by, _)| !near(*found, *wanted, *by));
    wrong.map(|(found, wanted, by, what)| format!("{what} is {found:e} instead of {wanted:e} (± {by:e})"))
}

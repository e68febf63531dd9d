//! The sequential oracle: each row in f64, one entry after another.

use std::ops::Range;

use super::{Spec, Type};
use crate::inputs::sparse::Csr;
use crate::primitives::oracle::check_length;

/// Compares y with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    let element = spec.element() as usize;
    check_length(output, spec.shape.rows * spec.element())?;
    let matrix = spec.source().generated().ok_or("a matrix in a file is checked on its device")?;
    let matrix = matrix.map_err(|error| error.to_string())?;
    for (row, found) in output.chunks_exact(element).enumerate() {
        RowSum::of(spec, &matrix, row).judge(spec, row, number(found))?;
    }
    Ok(())
}

/// A number in the output.
fn number(bytes: &[u8]) -> f64 {
    let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    if bytes.len() == 4 { f64::from(f32::from_bits(word as u32)) } else { f64::from_bits(word) }
}

/// A row's sum in f64, z[i] included, and what its rounding errors depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowSum {
    pub sum: f64,
    /// The sum of the terms' magnitudes.
    pub size: f64,
    /// The sum of the terms' squares.
    squares: f64,
    /// The largest magnitude of a term.
    largest: f64,
    terms: u64,
}

impl RowSum {
    /// A sum with a further term.
    pub fn plus(self, term: f64) -> RowSum {
        RowSum {
            sum: self.sum + term,
            size: self.size + term.abs(),
            squares: self.squares + term * term,
            largest: self.largest.max(term.abs()),
            terms: self.terms + 1,
        }
    }

    /// A row of a matrix.
    pub fn of(spec: &Spec, matrix: &Csr<f64>, row: usize) -> RowSum {
        let held = |value: f64| if spec.ty == Type::F32 { f64::from(value as f32) } else { value };
        let z = RowSum::default().plus(if spec.beta == 1 { spec.z(row as u64) } else { 0.0 });
        let term = |at: usize| held(matrix.values[at]) * spec.x(matrix.indices[at].into());
        matrix.row(row).map(term).fold(z, RowSum::plus)
    }

    /// How far a sum of these terms in the case's type, in any order, may be from this one: not at all if all numbers are
    /// integers and the type represents every sum of them. Otherwise each of n additions rounds a partial sum, and the bound is
    /// that of n errors of the size Σ|a||x| (Higham 2002, §3.1) or, of long rows, [`LIKELY`] times that of independent
    /// errors: the signs of x are random, so that no partial sum exceeds [`LIKELY`]·√(Σ(a·x)²), and errors of either sign
    /// are as likely (Higham and Mary: A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019,
    /// §2). All of it twice, for this sum has errors, too.
    pub fn bound(&self, spec: &Spec) -> f64 {
        let unit = unit(spec);
        if spec.generator().is_some() && self.size * unit <= 1.0 {
            return 0.0;
        }
        let n = self.terms as f64 + 1.0;
        // The small factors first: sums near the end of the type's range have finite bounds, too.
        let likely = 2.0 * unit * LIKELY * (1.0 + LIKELY * n.sqrt()) * self.norm();
        likely.min(2.0 * unit * n * self.size)
    }

    /// √(Σ(a·x)²), or no less where the squares leave the range of f64.
    fn norm(&self) -> f64 {
        match HELD.contains(&self.squares) {
            true => self.squares.sqrt(),
            false => self.largest * (self.terms as f64).sqrt(),
        }
    }

    /// Compares y\[row\] with the sum.
    ///
    /// # Errors
    /// The mistake.
    pub fn judge(&self, spec: &Spec, row: usize, found: f64) -> Result<(), String> {
        // Also a NaN; the bound is finite, for the matrix is.
        let near = (found - self.sum).abs() <= self.bound(spec);
        if near { Ok(()) } else { Err(format!("y[{row}] is {found:e} instead of {:e}", self.sum)) }
    }
}

/// The largest relative error of a rounding to the case's type.
fn unit(spec: &Spec) -> f64 {
    if spec.ty == Type::F32 { 2f64.powi(-24) } else { 2f64.powi(-53) }
}

/// The largest error that the certificate lets pass, relative to the sum of the magnitudes of a row's terms.
pub(super) fn tolerance(spec: &Spec, matrix: &Csr<f64>) -> f64 {
    let rows = 0..spec.shape.rows as usize;
    let longest = rows.clone().map(|row| matrix.row(row).len()).max().unwrap_or(0);
    // Products of integers up to 8, and one such integer.
    let exact = spec.generator().is_some() && (64.0 * longest as f64 + 8.0) * unit(spec) <= 1.0;
    let of_row = |row: usize| {
        let sum = RowSum::of(spec, matrix, row);
        match sum.bound(spec) {
            0.0 => 0.0,
            // The kernel's own.
            _ if spec.backend.is_cuda() && !is_long(spec, sum.terms) => {
                2.0 * unit(spec) * (sum.terms as f64 + 1.0)
            }
            bound => bound / sum.size,
        }
    };
    if exact { 0.0 } else { rows.map(of_row).fold(0.0, f64::max) }
}

/// Standard deviations beyond which no error lies: one of 10^13 does.
const LIKELY: f64 = 8.0;

/// Sums of squares to which those that f64 rounds to 0 add nothing that counts.
const HELD: Range<f64> = 1e-280..f64::INFINITY;

/// Terms of a row from which on a certificate's own bound on GPUs, which grows with their number, is worth little in f32.
const LONG: u64 = 4096;

/// True of rows, with their element of z, at which the host looks.
fn is_long(spec: &Spec, terms: u64) -> bool {
    spec.ty == Type::F32 && terms > LONG
}

/// The rows of a matrix whose sums a GPU's certificate knows too loosely, with their sums.
pub(super) fn long_rows(spec: &Spec, matrix: &Csr<f64>) -> Vec<(usize, RowSum)> {
    let long = (0..spec.shape.rows as usize).filter(|row| is_long(spec, matrix.row(*row).len() as u64 + 1));
    long.map(|row| (row, RowSum::of(spec, matrix, row))).filter(|(_, sum)| sum.bound(spec) > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix::word64;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    /// A row of 4 Mi numbers in a file, and of integers whose sums f32 does not represent: the sum in f32, in two orders, is
    /// right; nothing, and the sum without the part that another thread carries over, are not.
    #[test]
    fn a_long_row_is_judged_by_what_its_rounding_can_be() {
        let dense = "matrix=dense-row matrix.dense-row.rows=4194304 backend=scalar";
        let file = "matrix=file matrix.file.path=a.mtx matrix.file.column=%matrix matrix.file.hash=x \
                    matrix.file.length=12 matrix.file.largest=9 matrix.file.rows=1 matrix.file.columns=4194304 \
                    matrix.file.entries=4194304";
        for (words, scale) in [(dense, 1.0), (file, 0.37)] {
            let spec = Spec::read("spmv", &params(words), 7).expect("a case");
            let value = |j: u64| scale * f64::from(1 + (word64(9, j) >> 61) as u32);
            let term = |j: u64| f64::from((value(j) * spec.x(j)) as f32);
            let n = 4_194_304;
            let right = (0..n).map(term).fold(RowSum::default(), RowSum::plus);
            assert!(right.bound(&spec) > 0.0 && right.bound(&spec) < 2e-2 * right.squares.sqrt());
            let single = |all: &mut dyn Iterator<Item = u64>| all.fold(0f32, |sum, j| sum + term(j) as f32);
            let lanes: f32 = (0..16).map(|lane| single(&mut (lane..n).step_by(16))).sum();
            for sum in [single(&mut (0..n)), single(&mut (0..n).rev()), lanes] {
                assert_eq!(right.judge(&spec, 0, sum.into()), Ok(()), "{words}");
            }
            let lost = single(&mut (0..n / 4 * 3));
            for wrong in [0.0, f64::from(lost), f64::NAN, f64::INFINITY] {
                assert!(right.judge(&spec, 0, wrong).is_err(), "{words}: {wrong}");
            }
        }
    }

    /// The sums of a row's terms in the case's type: forwards, backwards, and by several threads.
    fn sums(spec: &Spec, terms: &[f64]) -> Vec<f64> {
        let round = |value: f64| if spec.ty == Type::F32 { f64::from(value as f32) } else { value };
        let sum = |terms: &mut dyn Iterator<Item = f64>| terms.fold(0.0, |sum, term| round(sum + term));
        let lane = |k: usize| sum(&mut terms.iter().copied().skip(k).step_by(7));
        vec![
            sum(&mut terms.iter().copied()),
            sum(&mut terms.iter().rev().copied()),
            sum(&mut (0..7).map(lane)),
        ]
    }

    /// Terms that cancel, whose squares are 0 or infinite in f64, and of which one outweighs all others: every order of them is
    /// right, a missing quarter and what is no number are not.
    #[test]
    fn rows_of_every_magnitude_are_judged_by_their_own_rounding() {
        let part = |j: u64| 1.0 + f64::from((word64(11, j) >> 40) as u32) / f64::from(1 << 24);
        let sign = |j: u64| if word64(12, j) & 1 == 0 { 1.0 } else { -1.0 };
        let pairs = |j: u64| if j.is_multiple_of(2) { part(j / 2) } else { -part(j / 2) };
        type Term<'a> = &'a dyn Fn(u64) -> f64;
        let rows: [(&str, u64, Term); 9] = [
            ("f64", 500, &|j| 1e-200 * sign(j) * part(j)),
            ("f64", 20_000, &|j| 1e-306 * sign(j) * part(j)),
            ("f64", 3, &|j| 1e-170 * part(j)),
            ("f64", 4000, &|j| 1e303 * sign(j) * part(j)),
            ("f64", 100_000, &|j| 1e-160 * pairs(j)),
            ("f32", 10_000, &|j| 1e30 * pairs(j)),
            ("f32", 300_000, &|j| 1e-38 * sign(j) * part(j)),
            ("f32", 600, &|j| 1e-42 * sign(j) * part(j)),
            ("f32", 50_000, &|j| if j == 20_000 { 3e7 } else { 64.0 * sign(j) * part(j) }),
        ];
        for (ty, n, term) in rows {
            let file = format!(
                "matrix=file matrix.file.path=a.mtx matrix.file.column=%matrix matrix.file.hash=x \
                 matrix.file.length=12 matrix.file.largest=9 matrix.file.rows=1 matrix.file.columns={n} \
                 matrix.file.entries={n} type={ty}"
            );
            let spec = Spec::read("spmv", &params(&file), 7).expect("a case");
            let held = |value: f64| if ty == "f32" { f64::from(value as f32) } else { value };
            let terms: Vec<f64> = (0..n).map(|j| held(term(j))).collect();
            let right = terms.iter().copied().fold(RowSum::default(), RowSum::plus);
            for sum in sums(&spec, &terms) {
                assert_eq!(right.judge(&spec, 0, sum), Ok(()), "{ty}, {n} of {:e}", terms[0]);
            }
            // An odd number of terms, so that pairs do not cancel.
            let lost = ((terms.len() / 8 * 3) | 1)..terms.len() / 8 * 5;
            let lost = if n < 8 { 0..1 } else { lost };
            let rest = [&terms[..lost.start], &terms[lost.end..]].concat();
            for wrong in [sums(&spec, &rest)[0], f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(right.judge(&spec, 0, wrong).is_err(), "{ty}, {n} of {:e}: {wrong:e}", terms[0]);
            }
        }
    }
}

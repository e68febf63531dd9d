//! cg: the NAS benchmark CG, an inverse power iteration by conjugate gradients on a random sparse matrix.
//!
//! ```text
//! x = (1, …, 1); niter times:                      ζ = shift + 1 / (x·z)          x = z / ‖z‖
//!   z ≈ A⁻¹·x by 25 steps from z = 0, r = p = x, ρ = r·r:
//!     q = A·p    α = ρ / (p·q)    z += α·p    r −= α·q    ρ' = r·r    p = r + (ρ'/ρ)·p    ρ = ρ'
//!   ‖x − A·z‖ is computed and reported
//! ```
//!
//! (D. Bailey et al.: The NAS Parallel Benchmarks, RNR-94-007, §2.4.2; [`Nas`] makes A.) An execution is all that the
//! benchmark times: niter solutions from x = 1; its untimed solution before is the warm-up. The benchmark is verified if
//! |ζ − reference| ≤ 1e-10 · reference. Vectors and matrix are of one type, scalars and dot products of f64, and
//! in f32, as he2007 §4.3 computes, nothing is verified to that digit: the record says so.
//!
//! `elements` are floating-point operations as the benchmark counts them, from a nominal number of entries
//! ([`Spec::operations`]): the throughput is its Mop/s. The effective bytes are the entries and row starts once for each
//! product of A, and the vectors that each step reads and writes.

mod certificate;
pub mod cpu;
pub mod cuda;
mod methods;
mod oracle;

pub use methods::Method;

use std::sync::Arc;

use super::real::Real;
use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::table::{count, parameters, words};
use crate::case::work::{Access, Pass, Work};
use crate::case::{Params, Refusal, Value};
use crate::inputs::shared::Shared;
use crate::inputs::sparse::{Csr, Nas, Positions, SparseError};
use crate::memory;
use methods::product;

/// Steps of a solution.
pub const STEPS: u64 = 25;

/// Most rows of class T: its reference is computed where it is needed.
const MOST_ROWS: u64 = 4097;

words! {
    /// The classes of the benchmark, and one for tests, of any small number of rows.
    pub enum Class {
        S = "S",
        W = "W",
        A = "A",
        B = "B",
        C = "C",
        T = "T",
    }
}

words! {
    /// The type of the matrix and of the vectors.
    pub enum Type {
        F64 = "f64",
        F32 = "f32",
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// S, W, A, B or C of the benchmark; T: a small matrix for tests, positive definite and well conditioned,
        /// solved twice
        class: Class = "S",
        /// rows of class T; each of the other classes has a fixed number
        rows: Option<u64> [count(1, MOST_ROWS)] = unset,
        /// type of the matrix and of the vectors; f32 cannot be verified as the benchmark requires
        ty as "type": Type = "f64",
        /// how the matrix is multiplied
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for.
        method: Method = Method::Rows,
    }
}

/// The row of a class in the benchmark's tables.
struct Row {
    rows: u32,
    nonzer: u32,
    solutions: u64,
    shift: f64,
    /// Entries of the matrix; `None` where it must be made to know.
    entries: Option<u64>,
    zeta: Option<f64>,
}

const S: Row = row(1_400, 7, 15, 10.0, 78_148, 8.5971775078648);
const W: Row = row(7_000, 8, 15, 12.0, 508_402, 10.362595087124);
const A: Row = row(14_000, 11, 15, 20.0, 1_853_104, 17.130235054029);
const B: Row = row(75_000, 13, 75, 60.0, 13_708_072, 22.712745482631);
const C: Row = row(150_000, 15, 75, 110.0, 36_121_058, 28.973605592845);

const fn row(rows: u32, nonzer: u32, solutions: u64, shift: f64, entries: u64, zeta: f64) -> Row {
    Row { rows, nonzer, solutions, shift, entries: Some(entries), zeta: Some(zeta) }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "cg",
        "the NAS benchmark CG: conjugate gradients on a random sparse matrix, verified by its ζ",
        Spec::TABLE,
    )
    .with_matrix()
    .with_flops_per_element(1)];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        spec.method = methods::chosen(&spec)?;
        match (spec.class, spec.rows) {
            (Class::T, None) => Err(Refusal::Missing { key: "rows".to_owned() }),
            (Class::T, _) | (_, None) => Ok(spec),
            _ => Err(Refusal::invalid("rows", "only class T takes a number of rows")),
        }
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        work(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let method = Value::Text(if self.in_blocks() { "blocks" } else { "rows" }.to_owned());
        let chosen = [("method".to_owned(), method)].into_iter().filter(|_| self.asked == Method::Best);
        let columns = ("method.blocks.columns".to_owned(), Value::Int(self.columns()));
        chosen.chain([columns].into_iter().filter(|_| self.in_blocks())).collect()
    }

    fn shared_input(&self) -> Option<String> {
        Some(self.name())
    }

    fn positions(&self, _stored: IndexLookup) -> Result<Option<Positions>, String> {
        self.matrix().positions(self.entries()).map(Some).map_err(|error| error.to_string())
    }

    /// The part of the declared bytes that products of A move, and what ζ proves.
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        let verified = match (self.ty, self.class) {
            (_, Class::T) => "against the oracle",
            (Type::F64, _) => "|ζ − reference| ≤ 1e-10 reference",
            (Type::F32, _) => "unverified: f32",
        };
        vec![
            ("nas-verification", Value::Text(verified.to_owned())),
            ("spmv-share", Value::Float(spmv_share(self))),
        ]
    }

    /// ζ, and the benchmark's verdict.
    fn findings(&self, found: &[(String, Value)]) -> Option<String> {
        let number = |name: &str| {
            let (_, value) = found.iter().find(|(key, _)| key == name)?;
            if let Value::Float(number) = value { Some(*number) } else { None }
        };
        let (zeta, error) = (number("zeta")?, number("zeta-error")?);
        let verdict = match (self.ty, self.class) {
            (_, Class::T) => return None,
            (Type::F32, _) => "unverified, because the benchmark computes in f64",
            (Type::F64, _) if error <= certificate::TOLERANCE => "NAS verification successful",
            (Type::F64, _) => "NAS verification unsuccessful",
        };
        Some(format!("ζ = {zeta:.13}, {error:.1e} of the reference off: {verdict}"))
    }
}

impl Spec {
    fn row(&self) -> Row {
        match self.class {
            Class::S => S,
            Class::W => W,
            Class::A => A,
            Class::B => B,
            Class::C => C,
            Class::T => {
                let rows = self.rows.unwrap_or(0) as u32;
                Row { rows, nonzer: 3, solutions: 2, shift: -1.0, entries: None, zeta: None }
            }
        }
    }

    /// Rows and columns of A.
    pub fn n(&self) -> u64 {
        self.row().rows.into()
    }

    /// Solutions of an execution (niter).
    pub fn solutions(&self) -> u64 {
        self.row().solutions
    }

    pub fn shift(&self) -> f64 {
        self.row().shift
    }

    /// The matrix.
    pub fn matrix(&self) -> Nas {
        let Row { rows, nonzer, shift, .. } = self.row();
        Nas::new(rows, nonzer, shift)
    }

    /// The matrix in a type.
    ///
    /// # Errors
    /// One that does not fit into the memory.
    pub fn matrix_of<T: Real>(&self) -> Result<Csr<T>, SparseError> {
        let Csr { columns, starts, indices, values } = self.matrix().make()?;
        let values = memory::collected(values.len(), values.into_iter().map(T::of))?;
        Ok(Csr { columns, starts, indices, values })
    }

    /// The name of the matrix among the inputs that cases share: it depends on the class alone.
    fn name(&self) -> String {
        let Row { rows, nonzer, shift, .. } = self.row();
        format!("the matrix of NAS CG with {rows} rows of {nonzer}, shifted by {shift}")
    }

    /// The matrix in a type, as cases share it.
    ///
    /// # Errors
    /// One that does not fit into the memory.
    pub fn shared_matrix<T: Real>(&self, shared: &Shared) -> Result<Arc<Csr<T>>, SparseError> {
        let needs = 2 * (4 * (self.n() + 1) + 12 * self.entries());
        shared.get(&self.name(), "rows", needs, || self.matrix_of::<T>())
    }

    /// Entries of the matrix.
    pub fn entries(&self) -> u64 {
        self.row().entries.unwrap_or_else(|| self.matrix().entries())
    }

    /// Bytes per element.
    pub fn element(&self) -> u64 {
        if self.ty == Type::F32 { 4 } else { 8 }
    }

    /// 2·niter·n·(3 + z + 25·(5 + z) + 3) with z = nonzer·(nonzer + 1) nominal entries of a row.
    pub fn operations(&self) -> u64 {
        let Row { rows, nonzer, solutions, .. } = self.row();
        let z = u64::from(nonzer * (nonzer + 1));
        2 * solutions * u64::from(rows) * (3 + z + STEPS * (5 + z) + 3)
    }

    /// The ζ that is required.
    pub fn zeta(&self) -> f64 {
        let reference =
            || oracle::solve::<f64>(self).ok().and_then(|all| all.zetas.last().copied()).unwrap_or(f64::NAN);
        self.row().zeta.unwrap_or_else(reference)
    }

    /// ζ of a solution.
    pub fn zeta_of(&self, xz: f64) -> f64 {
        self.shift() + inverse(xz)
    }

    /// ζ and its deviation from the reference, for the record; nothing before an execution has left any.
    pub fn found(&self, report: &[f64]) -> Vec<(String, Value)> {
        let reference = self.zeta();
        let zeta = report.get((self.solutions() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN);
        let error = quotient((zeta - reference).abs(), reference.abs());
        let all = [("zeta", zeta), ("zeta-error", error)];
        let known = all.into_iter().filter(|_| error <= 1.0);
        known.map(|(key, number)| (key.to_owned(), Value::Float(number))).collect()
    }

    /// Bytes of the output: ζ, ‖x − A·z‖ and ‖z‖ of each solution, and the last x.
    pub fn output_bytes(&self) -> u64 {
        24 * self.solutions() + self.element() * self.n()
    }
}

/// 1/v, and 0 of 0: a matrix without rows has no solution, and a residual of 0 needs no further step.
pub fn inverse(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { 1.0 / v }
}

/// The quotient, and 0 if it is divided by 0.
pub fn quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// The passes of an execution; those with the matrix first.
fn passes(spec: &Spec) -> Vec<Pass> {
    let read = |array| Access::reads(array, spec.element(), spec.n());
    let written = |array| Access::writes(array, spec.element(), spec.n());
    let sums = Access::reads("q", spec.element(), spec.n() * spec.layers());
    let (solutions, steps) = (spec.solutions(), spec.solutions() * STEPS);
    vec![
        product(spec, "p").and([read("p")]).times(steps),
        product(spec, "z").times(solutions),
        Pass::once([sums.clone()]).and(["p", "z", "r"].map(read)).and(["z", "r"].map(written)).times(steps),
        Pass::once([read("r"), read("p"), written("p")]).times(steps),
        Pass::once([sums, read("x"), read("z")]).times(solutions),
        Pass::once([read("x"), written("z"), written("r"), written("p"), read("z"), written("x")])
            .times(solutions),
    ]
}

fn bytes(passes: &[Pass]) -> u64 {
    passes.iter().map(Pass::bytes).sum()
}

/// Bytes that the definition moves, whatever the method: with A in compressed rows, and each vector once for a product.
fn effective(spec: &Spec) -> u64 {
    let rows = Spec { method: Method::Rows, ..*spec };
    let gathered = spec.solutions() * (STEPS + 1) * spec.element() * (spec.entries() - spec.n());
    bytes(&passes(&rows)).saturating_sub(gathered)
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let passes = passes(spec);
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    let effective = effective(spec).min(bytes(&passes));
    let compressed = (element + 4) * entries + 4 * (n + 1);
    // Slices are made of compressed rows, which the certificate reads.
    let sliced = if spec.in_blocks() { (element + 2) * (entries + entries / 4) } else { 0 };
    let vectors = (5 + spec.layers()) * element * n;
    Work::of(spec.operations(), effective, passes).footprint(compressed + sliced + vectors)
}

/// The part of the declared bytes that products with A read and write.
pub fn spmv_share(spec: &Spec) -> f64 {
    let passes = passes(spec);
    bytes(&passes[..2]) as f64 / bytes(&passes).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_count_the_entries_of_the_matrices() {
        for row in [S, W] {
            let entries = Nas::new(row.rows, row.nonzer, row.shift).entries();
            assert_eq!(row.entries, Some(entries), "{} rows", row.rows);
        }
    }

    #[test]
    fn operations_are_counted_as_the_benchmark_does() {
        let class = |word: &str| Params::default().with("class", Value::Text(word.to_owned()));
        let operations = |word| Spec::read("cg", &class(word), 1).map(|spec| spec.operations());
        // 2·15·1400·(3 + 56 + 25·61 + 3)
        assert_eq!(operations("S"), Ok(66_654_000));
        assert_eq!(operations("C"), Ok(143_347_500_000));
    }

    #[test]
    fn only_tests_choose_the_number_of_rows() {
        let rows = Params::default().with("rows", Value::Int(33));
        assert!(matches!(Spec::read("cg", &rows, 1), Err(Refusal::Invalid { key, .. }) if key == "rows"));
        let class = Params::default().with("class", Value::Text("T".to_owned()));
        assert!(matches!(Spec::read("cg", &class, 1), Err(Refusal::Missing { key }) if key == "rows"));
    }

    /// The oracle is the benchmark: class S is verified, and in f32 it comes close.
    #[test]
    fn the_oracle_solves_class_s() {
        let spec = Spec::read("cg", &Params::default(), 1).expect("class S");
        let zeta = *oracle::solve::<f64>(&spec).expect("solutions").zetas.last().expect("15 solutions");
        let error = (zeta - spec.zeta()).abs() / spec.zeta();
        assert!(error <= 1e-10, "ζ = {zeta:.13}, off by {error:e}");
        let verdict = |zeta: f64| spec.findings(&spec.found(&[[0.0; 14].as_slice(), &[zeta]].concat()));
        assert!(verdict(zeta).is_some_and(|words| words.ends_with(": NAS verification successful")));
        let wrong = verdict(zeta + 1e-8).expect("a verdict");
        assert_eq!(wrong, "ζ = 8.5971775178648, 1.2e-9 of the reference off: NAS verification unsuccessful");
        let single = *oracle::solve::<f32>(&spec).expect("solutions").zetas.last().expect("15 solutions");
        let error = (single - spec.zeta()).abs() / spec.zeta();
        assert!(error > 1e-10 && error < 1e-5, "in f32 ζ = {single:.13}, off by {error:e}");
    }
}

//! cg: the NAS benchmark CG, an inverse power iteration by conjugate gradients on a random sparse matrix, or on one's own.
//!
//! ```text
//! x = (1, …, 1); niter times:                      ζ = shift + 1 / (x·z)          x = z / ‖z‖
//!   z ≈ A⁻¹·x by 25 steps from z = 0, r = p = x, ρ = r·r:
//!     q = A·p    α = ρ / (p·q)    z += α·p    r −= α·q    ρ' = r·r    p = r + (ρ'/ρ)·p    ρ = ρ'
//!   ‖x − A·z‖ is computed and reported
//! ```
//!
//! (D. Bailey et al.: The NAS Parallel Benchmarks, RNR-94-007, §2.4.2; [`Nas`](crate::inputs::sparse::Nas) makes A.) An
//! execution is all that the benchmark times: niter solutions from x = 1; its untimed solution before is the warm-up. The
//! benchmark is verified if |ζ − reference| ≤ 1e-10 · reference. Vectors and matrix are of one type, scalars and dot
//! products of f64, and in f32, as he2007 §4.3 computes, nothing is verified to that digit: the record says so.
//!
//! A matrix of one's own, as he2007's Figure 20 has, keeps its pattern and gets values with which every pattern has a
//! verified result, without a shift (`own.rs`): A = I + E, where E is stored and the identity is not.
//!
//! `elements` are floating-point operations as the benchmark counts them, from a nominal number of entries of a class
//! and from those of one's own matrix, whose identity does not count ([`Spec::operations`]): the throughput is Mop/s. The
//! effective bytes are the entries and row starts once for each product of A, and the vectors that each step reads and
//! writes.

mod certificate;
mod classes;
pub mod cpu;
pub mod cuda;
mod methods;
mod oracle;
mod own;

pub use classes::Class;
pub use methods::Method;

use std::sync::Arc;

use super::real::Real;
use super::spmv::{Matrix, Source};
use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::table::{count, parameters, words};
use crate::case::work::{Access, Pass, Work};
use crate::case::{Failure, Params, Refusal, Value};
use crate::inputs::shared::Shared;
use crate::inputs::sparse::{Csr, Positions, Shape};
use classes::Row;
use methods::product;
use own::MOST_SOLUTIONS;

/// Steps of a solution.
pub const STEPS: u64 = 25;

/// Most rows of class T: its reference is computed where it is needed.
const MOST_ROWS: u64 = 4097;

words! {
    /// The type of the matrix and of the vectors.
    pub enum Type {
        F64 = "f64",
        F32 = "f32",
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec {
        /// S, W, A, B or C of the benchmark; T: a small matrix for tests, positive definite and well conditioned,
        /// solved twice; unset: S, unless there is a matrix
        class: Option<Class> = unset,
        /// rows of class T; each of the other classes has a fixed number
        rows: Option<u64> [count(1, MOST_ROWS)] = unset,
        /// in place of a class: the pattern of a square matrix, symmetric or not. Its values are scaled and the identity,
        /// which is not stored, is added, so that every pattern has a verified ζ
        matrix: Option<Matrix> = unset,
        /// with a matrix: solutions of an execution (niter); unset: 75, as of class B
        niter as "solutions": Option<u64> [count(1, MOST_SOLUTIONS)] = unset,
        /// type of the matrix and of the vectors; f32 cannot be verified as the benchmark requires
        ty as "type": Type = "f64",
        /// how the matrix is multiplied
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for.
        method: Method = Method::Rows,
        /// The matrix in place of a class's, as the plan knows it.
        source: Option<Source> = None,
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "cg",
        "the NAS benchmark CG: conjugate gradients on a random sparse matrix or on one's own, verified by ζ",
        Spec::TABLE,
    )
    .with_matrix()
    .with_flops_per_element(1)];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        spec.source = spec.matrix.map(|matrix| Source::read(matrix, params, seed)).transpose()?;
        match (&spec.source, spec.class, spec.rows) {
            (Some(_), Some(_), _) => return Err(Refusal::invalid("class", "a case has a class or a matrix")),
            (_, class, Some(_)) if class != Some(Class::T) => {
                return Err(Refusal::invalid("rows", "only class T takes a number of rows"));
            }
            (Some(source), ..) if source.shape.rows != source.shape.columns => {
                let message = format!(
                    "{} rows and {} columns; accepted: a square matrix",
                    source.shape.rows, source.shape.columns
                );
                return Err(Refusal::invalid("matrix", message));
            }
            (None, Some(Class::T), None) => return Err(Refusal::Missing { key: "rows".to_owned() }),
            (None, ..) if spec.niter.is_some() => {
                return Err(Refusal::invalid("solutions", "a class has its own number of solutions"));
            }
            _ => {}
        }
        spec.method = methods::chosen(&spec)?;
        Ok(spec)
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
        let method = Value::Text(self.method.name().to_owned());
        let chosen = [("method".to_owned(), method)].into_iter().filter(|_| self.asked == Method::Best);
        let own = match self.method {
            Method::Blocks { .. } => Some(("method.blocks.columns".to_owned(), Value::Int(self.columns()))),
            Method::He2007 { passes: Some(passes) } if self.asked == (Method::He2007 { passes: None }) => {
                Some(("method.he2007.passes".to_owned(), Value::Int(passes)))
            }
            _ => None,
        };
        chosen.chain(own).collect()
    }

    fn shared_input(&self) -> Option<String> {
        Some(self.name())
    }

    fn positions(&self, stored: IndexLookup) -> Result<Option<Positions>, String> {
        match &self.source {
            Some(source) => source.positions(stored).map(Some),
            None => {
                let all = self.row().matrix().positions(self.entries());
                all.map(Some).map_err(|error| error.to_string())
            }
        }
    }

    /// The part of the declared bytes that products of A move, and what ζ proves.
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        let verified = match self.ty {
            _ if self.source.is_some() => "against a series; the pattern alone, values are made",
            _ if !self.is_benchmark() => "against the oracle",
            Type::F64 => "|ζ − reference| ≤ 1e-10 reference",
            Type::F32 => "unverified: f32",
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
        let verdict = match self.ty {
            _ if !self.is_benchmark() => return None,
            Type::F32 => "unverified, because the benchmark computes in f64",
            Type::F64 if error <= certificate::TOLERANCE => "NAS verification successful",
            Type::F64 => "NAS verification unsuccessful",
        };
        Some(format!("ζ = {zeta:.13}, {error:.1e} of the reference off: {verdict}"))
    }
}

impl Spec {
    /// The class, which a case with a matrix does not have.
    fn class(&self) -> Class {
        self.class.unwrap_or(Class::S)
    }

    /// The class's row in the benchmark's tables.
    fn row(&self) -> Row {
        self.class().row(self.rows)
    }

    /// True of the classes whose ζ the benchmark states.
    fn is_benchmark(&self) -> bool {
        self.source.is_none() && self.class() != Class::T
    }

    /// Rows and columns of A.
    pub fn n(&self) -> u64 {
        self.source.as_ref().map_or_else(|| self.row().rows.into(), |source| source.shape.rows)
    }

    /// Solutions of an execution (niter).
    pub fn solutions(&self) -> u64 {
        let given = || self.niter.unwrap_or(classes::B.solutions);
        self.source.as_ref().map_or_else(|| self.row().solutions, |_| given())
    }

    pub fn shift(&self) -> f64 {
        if self.source.is_some() { 0.0 } else { self.row().shift }
    }

    /// What is added to the stored matrix, times the identity.
    pub fn diagonal(&self) -> f64 {
        if self.source.is_some() { 1.0 } else { 0.0 }
    }

    /// The name of the matrix among the inputs that cases share.
    pub fn name(&self) -> String {
        match &self.source {
            Some(source) => source.name(),
            None => {
                let Row { rows, nonzer, shift, .. } = self.row();
                format!("the matrix of NAS CG with {rows} rows of {nonzer}, shifted by {shift}")
            }
        }
    }

    /// The stored matrix, which cases share. `stored` fetches the words of a file with a given hash.
    ///
    /// # Errors
    /// Those of `stored`, a matrix that cannot be scaled, and one that does not fit into the memory.
    pub fn matrix(
        &self,
        stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
        shared: &Shared,
    ) -> Result<Arc<Csr<f64>>, Failure> {
        let needs = Shape { rows: self.n(), columns: self.n(), entries: self.entries() }.making();
        // The matrix as a product has it is not kept beside this one.
        shared.get(&self.name(), "rows of cg", needs, || match &self.source {
            Some(source) => Ok(own::scaled(source.made(stored, shared)?)?),
            None => Ok(self.row().matrix().make()?),
        })
    }

    /// Stored entries of the matrix.
    pub fn entries(&self) -> u64 {
        let of_class = || {
            let row = self.row();
            row.entries.unwrap_or_else(|| row.matrix().entries())
        };
        self.source.as_ref().map_or_else(of_class, |source| source.shape.entries)
    }

    /// Bytes per element.
    pub fn element(&self) -> u64 {
        if self.ty == Type::F32 { 4 } else { 8 }
    }

    /// 2·niter·n·(3 + z + 25·(5 + z) + 3) with z entries of a row: nominal ones of a class, stored ones of one's own matrix.
    pub fn operations(&self) -> u64 {
        match &self.source {
            Some(source) => {
                let (n, entries) = (source.shape.rows, source.shape.entries);
                2 * self.solutions() * ((6 + 5 * STEPS) * n + (STEPS + 1) * entries)
            }
            None => self.row().operations(STEPS),
        }
    }

    /// ζ of a solution.
    pub fn zeta_of(&self, xz: f64) -> f64 {
        self.shift() + inverse(xz)
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

/// The passes of an execution that multiply A.
fn products(spec: &Spec) -> Vec<Pass> {
    let (solutions, steps) = (spec.solutions(), spec.solutions() * STEPS);
    let of_p = product(spec, "p", [Access::reads("p", spec.element(), spec.n())]);
    let of_steps = of_p.into_iter().map(|pass| pass.times(steps));
    of_steps.chain(product(spec, "z", []).into_iter().map(|pass| pass.times(solutions))).collect()
}

/// The passes of an execution over vectors alone.
fn vectors(spec: &Spec) -> Vec<Pass> {
    let read = |array| Access::reads(array, spec.element(), spec.n());
    let written = |array| Access::writes(array, spec.element(), spec.n());
    let sums = Access::reads("q", spec.element(), spec.n() * spec.layers());
    let (solutions, steps) = (spec.solutions(), spec.solutions() * STEPS);
    vec![
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

/// Bytes that the definition moves, whatever the method: with A in compressed rows, and of each vector as many elements as a
/// product has entries, but each at most once.
fn effective(spec: &Spec) -> u64 {
    let rows = Spec { method: Method::Rows, ..spec.clone() };
    let again = spec.entries() - spec.entries().min(spec.n());
    let gathered = spec.solutions() * (STEPS + 1) * spec.element() * again;
    (bytes(&products(&rows)) + bytes(&vectors(&rows))).saturating_sub(gathered)
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let passes = [products(spec), vectors(spec)].concat();
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    let effective = effective(spec).min(bytes(&passes));
    let compressed = (element + 4) * entries + 4 * (n + 1);
    // Slices are made of compressed rows, which the certificate reads.
    let beside = match spec.method {
        Method::Blocks { .. } => (element + 2) * (entries + entries / 4),
        Method::He2007 { .. } => element * entries,
        _ => 0,
    };
    let vectors = (5 + spec.layers()) * element * n;
    Work::of(spec.operations(), effective, passes).footprint(compressed + beside + vectors)
}

/// The part of the declared bytes that products with A read and write.
pub fn spmv_share(spec: &Spec) -> f64 {
    let [products, vectors] = [products(spec), vectors(spec)].map(|passes| bytes(&passes));
    products as f64 / (products + vectors).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

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
        let matrix = spec.row().matrix().make().expect("a matrix");
        let required = certificate::Required::of(&spec, &matrix, &Shared::default()).expect("a reference");
        let last = |zetas: Vec<f64>| *zetas.last().expect("15 solutions");
        let zeta = last(oracle::solve::<f64>(&spec, &matrix).zetas);
        let error = (zeta - required.zeta).abs() / required.zeta;
        assert!(error <= 1e-10, "ζ = {zeta:.13}, off by {error:e}");
        let report = |zeta: f64| [[0.0; 14].as_slice(), &[zeta]].concat();
        let verdict = |zeta: f64| spec.findings(&required.found(&spec, &report(zeta)));
        assert!(verdict(zeta).is_some_and(|words| words.ends_with(": NAS verification successful")));
        let wrong = verdict(zeta + 1e-8).expect("a verdict");
        assert_eq!(wrong, "ζ = 8.5971775178648, 1.2e-9 of the reference off: NAS verification unsuccessful");
        let single = last(oracle::solve::<f32>(&spec, &matrix).zetas);
        let error = (single - required.zeta).abs() / required.zeta;
        assert!(error > 1e-10 && error < 1e-5, "in f32 ζ = {single:.13}, off by {error:e}");
    }

    fn own(words: &str) -> Result<Spec, Refusal> {
        Spec::read("cg", &params(words), 7)
    }

    /// 2·75·((6 + 125)·100 + 26·700), and every vector and the matrix as often as the steps take them.
    #[test]
    fn a_matrix_counts_with_its_own_entries_whatever_the_method() {
        let words = "matrix=random matrix.random.rows=100 matrix.random.entries=7 type=f32";
        let of = |more: &str| own(&format!("{words} {more}")).expect("a case");
        assert_eq!(of("").operations(), 150 * (131 * 100 + 26 * 700));
        let work = work(&of("method=rows"));
        let [product, vector] = [8 * 700 + 4 * 101, 4 * 100];
        let step = product + 2 * vector + vector + 6 * vector + 3 * vector;
        assert_eq!(work.effective_bytes, 75 * (25 * step + product + 2 * vector + 3 * vector + 6 * vector));
        let passes = super::work(&of("method=he2007 method.he2007.passes=3"));
        assert_eq!(passes.effective_bytes, work.effective_bytes);
        // The columns are read twice more, and each product is written and read.
        assert_eq!(
            passes.declared_bytes() - work.declared_bytes(),
            75 * 26 * (2 * 4 + 8) * 700 + 75 * 26 * 24
        );
        assert_eq!(passes.footprint - work.footprint, 4 * 700);
    }

    #[test]
    fn what_is_no_system_is_refused_at_its_key() {
        let file = "matrix=file matrix.file.path=a.mtx matrix.file.column=%matrix matrix.file.hash=x \
                    matrix.file.length=12 matrix.file.largest=9 matrix.file.rows=2 matrix.file.columns=3 \
                    matrix.file.entries=2";
        let refusal = |words: &str| own(words).expect_err("refused").to_string();
        assert_eq!(refusal(file), "matrix: 2 rows and 3 columns; accepted: a square matrix");
        let laplace = "matrix=laplace5 matrix.laplace5.side=3";
        assert_eq!(refusal(&format!("{laplace} class=S")), "class: a case has a class or a matrix");
        assert!(refusal(&format!("{laplace} rows=3")).starts_with("rows: only class T"));
        assert!(refusal("class=S solutions=3").starts_with("solutions: a class has its own"));
        assert!(refusal(&format!("{laplace} solutions=101")).starts_with("solutions: "));
    }

    #[test]
    fn what_best_becomes_is_recorded() {
        let best = |words: &str| {
            own(&format!("{words} type=f32 method=best backend=cuda")).expect("a case").resolved()
        };
        let methods = |words: &str| best(words).first().map(|(_, method)| method.clone());
        let text = |word: &str| Some(Value::Text(word.to_owned()));
        let random = "matrix=random matrix.random.rows=151926 matrix.random.entries";
        assert_eq!(methods(&format!("{random}=98")), text("blocks"));
        assert_eq!(methods(&format!("{random}=3")), text("rows"));
        assert_eq!(methods("matrix=laplace5 matrix.laplace5.side=500"), text("rows"));
        let passes = own("class=B method=he2007 backend=cpu").expect("a case").resolved();
        assert_eq!(passes, [("method.he2007.passes".to_owned(), Value::Int(1))]);
    }
}

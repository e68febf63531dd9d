//! tridiagonal: batches of independent tridiagonal systems (sengupta2007 §4.3).
//!
//! ```text
//! a[i]·x[i−1] + b[i]·x[i] + c[i]·x[i+1] = d[i], 0 ≤ i < rows, for each of the systems; a[0] and c[rows−1] do not count
//! ```
//!
//! The effective bytes are a, b, c, d and x, once: 20 bytes a row in f32. The elements of the throughput are rows of all systems.
//! The inputs are kept. Row i of system s lies at s·rows + i (`strided`) or at i·systems + s (`interleaved`).
//!
//! No method searches for pivots. The certificate therefore computes the residual of every row in f64 and demands, of row i of
//! system s,
//!
//! ```text
//! |d[i] − a[i]·x[i−1] − b[i]·x[i] − c[i]·x[i+1]| ≤ 256 u·size(s),  u = 2^−24 or 2^−53
//! size(s) = max over the rows i of s of |a[i]·x[i−1]| + |b[i]·x[i]| + |c[i]·x[i+1]| + |d[i]|
//! ```
//!
//! The largest residual of a system over its size is at least its backward error ‖d − A·x‖ / (‖A‖·‖x‖ + ‖d‖) in the maximum norm
//! (Rigal and Gaches 1967; Higham 2002, Theorem 7.1), because size(s) ≤ ‖A‖·‖x‖ + ‖d‖. The stricter criterion of Oettli and
//! Prager, in which each row stands for itself, refuses right solutions: where x crosses 0, the terms of a row are small, but
//! reductions leave errors in proportion to the rest of the system.
//!
//! The x of `laplace` grow with the rows: in f32 the bound exceeds every |d| from about 4000 rows on, and tells little of d.
//! That of the other inputs does not grow.
//!
//! The record has the largest quotient of a residual and the size of its system in units of u as `growth`, because growing elements
//! of an elimination show there. A system in which a pivot of 0 or a NaN was planted must either satisfy this, too, or hold a value
//! that is not a number: `flagged` counts such values.

pub mod cpu;
pub mod cuda;
mod methods;
mod oracle;
pub mod tiles;

pub use methods::Method;

use super::real::Real;
use super::{Definition, Primitive, Problem};
use crate::case::table::{count, parameters, words};
use crate::case::{BlockCost, Params, Refusal, Value, Work, params};
use crate::inputs::mix::word64;

/// Most rows of all systems together.
const MOST: u64 = 1 << 34;

words! {
    /// The type of the elements.
    pub enum Type {
        F32 = "f32",
        F64 = "f64",
    }
}

words! {
    /// Where the rows of a system are.
    pub enum Layout {
        Strided = "strided",
        Interleaved = "interleaved",
    }
}

words! {
    /// The contents of the systems.
    pub enum Inputs {
        Dominant = "dominant",
        Laplace = "laplace",
        ZeroPivot = "zero-pivot",
        NotANumber = "nan",
    }
}

parameters! {
    /// A batch of systems, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// rows of each system
        rows: u64 [count(1, MOST)],
        /// systems
        systems: u64 [count(1, (1 << 31) - 1)] = "1",
        /// type of the elements
        ty as "type": Type = "f32",
        /// strided: consecutive rows of a system are neighbours in memory; interleaved: the same row of consecutive
        /// systems
        layout: Layout = "strided",
        /// dominant: |b| exceeds |a| + |c| by at least a quarter; laplace: −1, 2, −1; zero-pivot and nan: dominant, but
        /// one system begins with b = 0 or with d = NaN
        inputs: Inputs = "dominant",
        /// how the systems are solved
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for, with the rows of a thread.
        method: Method = Method::Thomas,
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "tridiagonal",
        "batches of tridiagonal systems (sengupta2007 §4.3)",
        Spec::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        params::bytes("rows", &[spec.rows, spec.systems, spec.element()])?;
        if spec.count() > MOST {
            let all = format!("{} rows in all systems together; accepted: at most {MOST}", spec.count());
            return Err(Refusal::invalid("systems", all));
        }
        spec.method = methods::chosen(&spec)?;
        Ok(spec)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let (bytes, costs) = (5 * self.element() * self.count(), methods::costs(self));
        let footprint = bytes + costs.own_bytes;
        Work::of(self.count(), bytes, costs.passes()).footprint(footprint)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() { methods::costs(self).block_costs() } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let best = || ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        let best = (self.asked == Method::Best).then(best);
        let rows = match (self.asked, self.method) {
            (Method::Best | Method::Partition { rows: None }, Method::Partition { rows: Some(rows) }) => {
                Some(("method.partition.rows".to_owned(), Value::Int(rows)))
            }
            _ => None,
        };
        best.into_iter().chain(rows).collect()
    }
}

impl Spec {
    /// Rows of all systems.
    pub fn count(&self) -> u64 {
        self.rows.saturating_mul(self.systems)
    }

    /// Bytes of an element.
    pub fn element(&self) -> u64 {
        if self.ty == Type::F32 { 4 } else { 8 }
    }

    /// How far apart in memory two neighbouring rows of a system are, and two neighbouring systems.
    pub fn strides(&self) -> [u64; 2] {
        if self.layout == Layout::Strided { [1, self.rows] } else { [self.systems, 1] }
    }

    /// The system and the row of the element at a place in memory.
    pub fn at(&self, place: u64) -> (u64, u64) {
        match self.layout {
            Layout::Strided => (place / self.rows, place % self.rows),
            Layout::Interleaved => (place % self.systems, place / self.systems),
        }
    }

    /// The system with a pivot of 0, or a NaN.
    pub fn planted(&self) -> Option<u64> {
        matches!(self.inputs, Inputs::ZeroPivot | Inputs::NotANumber).then_some(self.systems / 2)
    }

    /// a, b, c and d of row `i` of system `s`; the twin of `elements_of` in `kernels/tridiagonal/certify.cuh`: uniform numbers in
    /// (−1, 1) with 23 bits, of which sums are exact.
    pub fn elements(&self, s: u64, i: u64) -> [f64; 4] {
        let first = 4 * (s * self.rows + i);
        let number = |k: u64| {
            let word = word64(self.seed, first + k);
            let size = (word >> 41) as f64 / f64::from(1 << 23);
            if word & 1 == 1 { -size } else { size }
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(number);
        let planted = i == 0 && self.planted() == Some(s);
        match self.inputs {
            Inputs::Laplace => [-1.0, 2.0, -1.0, d],
            Inputs::ZeroPivot if planted => [a, 0.0, b, d],
            Inputs::NotANumber if planted => [a, a.abs() + b.abs() + 0.25 + c.abs(), b, f64::NAN],
            _ => [a, a.abs() + b.abs() + 0.25 + c.abs(), b, d],
        }
    }

    /// The elements at a place in memory; those behind the last one, which only a deliberate mistake reads, are of another
    /// system.
    pub fn elements_at(&self, place: u64) -> [f64; 4] {
        let (s, i) = if place < self.count() { self.at(place) } else { (self.systems, 0) };
        self.elements(s, i)
    }

    /// The residual of the row at a place, of these elements.
    fn residual(&self, place: usize, [a, b, c, d]: [f64; 4], x: impl Fn(usize) -> f64) -> Residual {
        let (far, (_, i)) = (self.strides()[0] as usize, self.at(place as u64));
        let left = if i == 0 { 0.0 } else { x(place - far) };
        let right = if i + 1 == self.rows { 0.0 } else { x(place + far) };
        let terms = [a * left, b * x(place), c * right];
        let size = terms.iter().map(|term| term.abs()).sum::<f64>() + d.abs();
        Residual { off: (d - terms[0] - terms[1] - terms[2]).abs(), size }
    }

    /// The largest backward error that is accepted.
    pub fn bound(&self) -> f64 {
        256.0 * self.unit()
    }

    /// The largest relative error of a rounding.
    fn unit(&self) -> f64 {
        if self.ty == Type::F32 { <f32 as Real>::EPSILON } else { <f64 as Real>::EPSILON }
    }

    /// The record of a certified solution: the largest backward error in units of rounding, and in a system with a
    /// planted mistake how many values are no numbers.
    fn found(&self, error: f64, flagged: u64) -> Vec<(String, Value)> {
        let growth = ("growth".to_owned(), Value::Float(error / self.unit()));
        let flagged = self.planted().map(|_| ("flagged".to_owned(), Value::Int(flagged)));
        [growth].into_iter().chain(flagged).collect()
    }

    /// The mistake of a system in which a pivot of 0 or a NaN was planted, if it has wrong rows and nothing says so.
    fn silent(&self, wrong: u64, flagged: u64) -> Option<String> {
        let system = self.planted()?;
        (wrong > 0 && flagged == 0).then(|| {
            format!("{wrong} rows of system {system} are wrong, although all its values are numbers")
        })
    }
}

/// The residual of a row in f64, and the sum of the sizes of its terms.
#[derive(Clone, Copy)]
struct Residual {
    off: f64,
    size: f64,
}

impl Residual {
    /// Relative to a size: that of the system, or of the row.
    fn relative_to(self, size: f64) -> f64 {
        if self.off == 0.0 { 0.0 } else { self.off / size }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    fn spec(words: &str) -> Spec {
        Spec::read("tridiagonal", &params(words), 7).expect("a case")
    }

    #[test]
    fn the_oracle_accepts_solutions_and_nothing_else() {
        for layout in ["strided", "interleaved"] {
            for inputs in ["dominant", "laplace"] {
                let spec = spec(&format!("rows=33 systems=3 type=f64 layout={layout} inputs={inputs}"));
                let x = oracle::solve(&spec);
                let bytes = |x: &[f64]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
                assert_eq!(spec.check(&bytes(&x)), Ok(()));
                for place in [0, 50, 98] {
                    let mut wrong = x.clone();
                    wrong[place] += 1e-9;
                    assert!(spec.check(&bytes(&wrong)).is_err(), "{layout}, {inputs}: {place}");
                }
            }
        }
    }

    #[test]
    fn a_planted_zero_must_be_flagged_or_solved() {
        let spec = spec("rows=9 systems=3 type=f64 inputs=zero-pivot");
        let mut x = oracle::solve(&spec);
        assert!(x[9..18].iter().any(|x| !x.is_finite()) && x[18..].iter().all(|x| x.is_finite()));
        let check = |x: &[f64]| spec.check(&x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        assert_eq!(check(&x), Ok(()));
        x[9..18].fill(1.0);
        assert_eq!(
            check(&x).expect_err("wrong"),
            "9 rows of system 1 are wrong, although all its values are numbers"
        );
    }

    #[test]
    fn methods_of_gpus_are_refused_on_processors() {
        for method in ["partition", "parallel-cyclic-reduction"] {
            let words = params(&format!("rows=9 method={method} backend=cpu"));
            assert!(matches!(Spec::read("tridiagonal", &words, 1), Err(Refusal::NotApplicable(_))));
        }
        let words = "rows=9 method=partition method.partition.rows=9 backend=cuda";
        let refused = Spec::read("tridiagonal", &params(words), 1).expect_err("refused").to_string();
        assert_eq!(refused, "method.partition.rows: 9 is not 8 or 16");
        let rows = |words: &str| spec(&format!("{words} backend=cuda")).resolved();
        let resolved = [
            ("method".to_owned(), Value::Text("partition".to_owned())),
            ("method.partition.rows".to_owned(), Value::Int(16)),
        ];
        assert_eq!(rows("rows=513"), resolved);
        assert_eq!(rows("rows=512")[1].1, Value::Int(8));
    }

    #[test]
    fn every_pass_of_work_has_its_cost() {
        for method in ["partition", "cyclic-reduction", "parallel-cyclic-reduction"] {
            for rows in [9, 512, 1000, 5000, 1 << 20] {
                let spec = spec(&format!("rows={rows} systems=3 method={method} backend=cuda"));
                let costs = spec.block_costs().expect("known");
                assert_eq!(costs.len(), spec.work().passes.len(), "{method}, {rows} rows");
                assert!(
                    costs.iter().all(|cost| cost.tiles == 0 || cost.resident > 0),
                    "{method}, {rows} rows"
                );
            }
        }
    }

    #[test]
    fn threads_that_walk_along_rows_are_not_predicted() {
        let words = "rows=64 systems=999 method=thomas backend=cuda layout";
        let of = |layout: &str| spec(&format!("{words}={layout}")).block_costs();
        assert!(of("strided").is_err() && of("interleaved").is_ok_and(|costs| costs.len() == 2));
    }
}

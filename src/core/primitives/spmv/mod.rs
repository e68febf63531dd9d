//! spmv: the product of a sparse matrix in compressed rows and a vector (he2007 §4.3, sengupta2007 §4.2).
//!
//! ```text
//! y[i] = Σ values[e] · x[columns[e]] over starts[i] ≤ e < starts[i + 1], + z[i] if beta is 1
//! ```
//!
//! The papers' y += A·x has z and y in one array; here they are two, so that any number of executions leave the same
//! result. The effective bytes are the row starts, columns and values once, x once (at most as many elements as there are
//! entries), y once, and z if there is one; by `blocks` on GPUs at most what it declares, since its columns take two bytes. The
//! elements of the throughput are the stored entries; a product has 2 floating-point operations for each, so that 1 Gelem/s
//! is 2 GFLOPS; the additions of z do not count.
//!
//! Values and vectors of generated matrices are small integers ([`Spec::x`], [`matrix`](matrix::matrix)), whose sums are
//! exact in any order. The certificate computes each row again in f64 from the arrays in memory and demands equality
//! where sums are exact, and otherwise the bound of a sum of rounded products: γ·Σ|a||x|, or, of long rows, that of independent
//! errors.

pub mod cpu;
pub mod cuda;
pub mod matrix;
mod methods;
mod oracle;
pub mod slices;
pub mod tiles;
mod work;

pub use matrix::Source;
pub use methods::{Method, passes};
pub use work::in_runs;

use super::{Definition, Elsewhere, IndexLookup, Primitive, Problem};
use crate::case::table::{choice, count, parameters, words};
use crate::case::work::Pass;
use crate::case::{BlockCost, Params, Refusal, Value, Work};
use crate::inputs::sparse::{Generator, MAX_ENTRIES, MAX_ROWS, Positions, Shape, small_integer};

words! {
    /// The type of values and vectors.
    pub enum Type {
        F32 = "f32",
        F64 = "f64",
    }
}

words! {
    /// The threads of a GPU that sum a row.
    pub enum Per {
        Thread = "thread",
        Warp = "warp",
        Block = "block",
    }
}

choice! {
    /// The matrix.
    pub enum Matrix {
        /// 5-point Laplacian on a square grid: 4 on the diagonal, −1 for each neighbour
        Laplace5 = "laplace5" main "side" {
            /// cells along each side
            side: u64 [count(0, 1 << 16)],
        },
        /// 7-point Laplacian on a cubic grid: 6 on the diagonal, −1 for each neighbour
        Laplace7 = "laplace7" main "side" {
            /// cells along each side
            side: u64 [count(0, 1625)],
        },
        /// the same number of entries in each row, in independent random columns
        Random = "random" {
            /// number of rows and of columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each row
            entries: u64 [count(0, MAX_ENTRIES)] = "16",
        },
        /// entries in all columns near the diagonal
        Banded = "banded" {
            /// number of rows and of columns
            rows: u64 [count(0, MAX_ROWS)],
            /// columns on each side of the diagonal
            half: u64 [count(0, MAX_ROWS)] = "8",
        },
        /// R-MAT with probabilities 0.5, 0.1, 0.1, 0.3; duplicates are kept
        Rmat = "rmat" {
            /// log2 of the number of rows
            scale: u64 [count(0, 31)],
            /// entries per row, on average
            entries: u64 [count(0, MAX_ENTRIES)] = "16",
        },
        /// random, but half of the rows, including the first and the last, have no entries
        EmptyRows = "empty-rows" {
            /// number of rows and of columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each of the other rows
            entries: u64 [count(0, MAX_ENTRIES)] = "4",
        },
        /// random, but the middle row has an entry in every column
        DenseRow = "dense-row" {
            /// number of rows and of columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each of the other rows
            entries: u64 [count(0, MAX_ENTRIES)] = "4",
        },
        /// a matrix in a file
        File = "file" main "path" {
            /// path of a file in Matrix Market's coordinate format, also as .gz; relative to the recipe's folder
            path: Elsewhere,
        },
    }
}

parameters! {
    /// A product, typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec {
        /// the matrix
        matrix: Matrix,
        /// type of values and vectors
        ty as "type": Type = "f32",
        /// 0: y = A·x; 1: y = A·x + z
        beta: u64 [count(0, 1)] = "0",
        /// how it is computed
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; on GPUs with the threads of a row.
        method: Method = Method::Balanced,
        /// The size of the matrix.
        shape: Shape = Shape { rows: 0, columns: 0, entries: 0 },
        /// The hash of a matrix in a file.
        hash: Option<String> = None,
    }
}

impl Spec {
    /// Reads a case.
    ///
    /// # Errors
    /// A value that its row does not accept, a matrix too large, and a method that the backend does not have.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        let source = Source::read(spec.matrix, params, seed)?;
        (spec.shape, spec.hash) = (source.shape, source.hash);
        if matches!(spec.asked, Method::Row { per: Some(_) }) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable("on processors, a thread sums each row".to_owned()));
        }
        if matches!(spec.asked, Method::Sorted | Method::Slices) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable(format!("{} is a method of GPUs", spec.asked.name())));
        }
        spec.method = methods::chosen(&spec);
        Ok(spec)
    }

    /// True of methods that sum rows by vectors, if a row has as many entries on average as a vector of 512 bits has
    /// lanes. Shorter rows are summed faster one by one.
    pub fn fills_vectors(&self) -> bool {
        let lanes = 64 / self.element();
        matches!(self.method, Method::Row { .. } | Method::Balanced)
            && self.shape.entries >= lanes * self.shape.rows
    }

    /// The passes over x: its columns in each.
    pub fn chunks(&self) -> impl Iterator<Item = std::ops::Range<u64>> + use<> {
        let passes = if let Method::He2007 { passes: Some(passes) } = self.method { passes } else { 1 };
        chunks(self.shape.columns, passes)
    }

    /// The matrix as the plan knows it.
    pub fn source(&self) -> Source {
        Source { matrix: self.matrix, seed: self.seed, shape: self.shape, hash: self.hash.clone() }
    }

    /// The generator of the matrix, unless it is in a file.
    pub fn generator(&self) -> Option<Generator> {
        self.matrix.generator()
    }

    /// Bytes of a value and of an element of a vector.
    pub fn element(&self) -> u64 {
        if self.ty == Type::F32 { 4 } else { 8 }
    }

    /// The bits of a number in the case's type.
    pub fn bits(&self, number: f64) -> u64 {
        if self.ty == Type::F32 { u64::from((number as f32).to_bits()) } else { number.to_bits() }
    }

    /// Element `j` of x: a small integer.
    pub fn x(&self, j: u64) -> f64 {
        small_integer(self.seed.wrapping_add(2), j).into()
    }

    /// Element `i` of z: a small integer.
    pub fn z(&self, i: u64) -> f64 {
        small_integer(self.seed.wrapping_add(3), i).into()
    }
}

/// The parts of a vector that passes over it take, one in each, all of about the same length.
pub fn chunks(columns: u64, passes: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
    let place = move |pass: u64| (u128::from(columns) * u128::from(pass) / u128::from(passes)) as u64;
    (0..passes).map(move |pass| place(pass)..place(pass + 1))
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "spmv",
        "the product of a sparse matrix in compressed rows and a vector (he2007 §4.3, sengupta2007 §4.2)",
        Spec::TABLE,
    )
    .with_matrix()
    .with_flops_per_element(2)];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let (shape, element, costs) = (self.shape, self.element(), methods::costs(self));
        let matrix = 4 * (shape.rows + 1) + (4 + element) * shape.entries;
        let vectors = shape.rows * element * (1 + self.beta);
        // Blocks of columns have places of two bytes on GPUs.
        let (own_bytes, passes) = (costs.own_bytes, costs.passes());
        let declared = passes.iter().map(Pass::bytes).sum();
        let bytes = (matrix + element * shape.columns.min(shape.entries) + vectors).min(declared);
        let footprint = matrix + shape.columns * element + vectors + own_bytes;
        Work::of(shape.entries, bytes, passes).footprint(footprint)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() { methods::costs(self).block_costs() } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let text = |key: &str, word: &str| (key.to_owned(), Value::Text(word.to_owned()));
        let best = (self.asked == Method::Best).then(|| text("method", self.method.name()));
        let open = self.asked == Method::Best || self.asked == Method::Row { per: None };
        let own = match self.method {
            Method::Row { per: Some(per) } if open => Some(text("method.row.per", per.name())),
            Method::Blocks { columns: Some(columns) }
                if open || self.asked == (Method::Blocks { columns: None }) =>
            {
                Some(("method.blocks.columns".to_owned(), Value::Int(columns)))
            }
            Method::He2007 { passes: Some(passes) } if self.asked == (Method::He2007 { passes: None }) => {
                Some(("method.he2007.passes".to_owned(), Value::Int(passes)))
            }
            _ => None,
        };
        best.into_iter().chain(own).collect()
    }

    fn shared_input(&self) -> Option<String> {
        Some(matrix::name(self))
    }

    fn positions(&self, stored: IndexLookup) -> Result<Option<Positions>, String> {
        self.source().positions(stored).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;
    use crate::case::work::Order;

    fn spec(words: &str) -> Spec {
        Spec::read("spmv", &params(words), 7).expect("a case")
    }

    fn text(key: &str, value: &str) -> (String, Value) {
        (key.to_owned(), Value::Text(value.to_owned()))
    }

    #[test]
    fn what_best_becomes_is_recorded() {
        let best = |words: &str| spec(&format!("{words} method=best")).resolved();
        let banded = "matrix=banded matrix.banded.rows=100000 matrix.banded.half=50";
        assert_eq!(
            best(&format!("{banded} backend=cuda")),
            [text("method", "row"), text("method.row.per", "warp")]
        );
        assert_eq!(best(&format!("{banded} backend=cpu")), [text("method", "balanced")]);
        let columns = |columns| ("method.blocks.columns".to_owned(), Value::Int(columns));
        let scattered = "matrix=rmat matrix.rmat.scale=18 type=f64 backend=cpu";
        assert_eq!(best(scattered), [text("method", "blocks"), columns(32_768)]);
        let near = "matrix=random matrix.random.rows=262144 backend=cpu";
        assert_eq!(best(near), [text("method", "balanced")]);
        let laplace = "matrix=laplace5 matrix.laplace5.side=100 backend=cuda";
        assert_eq!(best(laplace), [text("method", "row"), text("method.row.per", "thread")]);
        let random =
            "matrix=random matrix.random.rows=150000 matrix.random.entries=241 type=f64 backend=cuda";
        assert_eq!(best(random), [text("method", "blocks"), columns(18_750)]);
        let short = "matrix=random matrix.random.rows=150000 matrix.random.entries=16 type=f64 backend=cuda";
        assert_eq!(best(short), [text("method", "slices")]);
        let rmat = "matrix=rmat matrix.rmat.scale=20 backend=cuda";
        assert_eq!(best(rmat), [text("method", "sorted")]);
        assert_eq!(spec(&format!("{laplace} method=row")).resolved(), [text("method.row.per", "thread")]);
        let few = "matrix=laplace5 matrix.laplace5.side=10 method=blocks backend=cpu";
        assert_eq!(spec(few).resolved(), [columns(100)]);
    }

    /// Of rows of 64 entries, a pass of four takes 16 that follow each other; of a band, what it takes is one stretch.
    #[test]
    fn passes_take_runs_of_each_row() {
        let orders = |matrix: &str, passes: u64| {
            let words = format!("matrix={matrix} method=he2007 method.he2007.passes={passes} backend=cuda");
            let taken = spec(&words).work().passes[0].accesses.clone();
            [taken[1].order.clone(), taken[3].order.clone()]
        };
        let random = "random matrix.random.rows=1000 matrix.random.entries=64";
        assert_eq!(orders(random, 1), [Order::Sequential, Order::Sequential]);
        for (passes, run) in
            [(4, 16.0 / (1.0 - f64::powi(0.75, 64))), (100, 0.64 / (1.0 - f64::powi(0.99, 64)))]
        {
            for order in orders(random, passes) {
                let near = |found: f64| (found / run - 1.0).abs() < 1e-9;
                assert!(
                    matches!(order, Order::Strided { stride, run } if stride == passes && near(run)),
                    "{order:?}"
                );
            }
        }
        let none = "random matrix.random.rows=0";
        assert!(orders(none, 4).contains(&Order::Strided { stride: 4, run: 1.0 }));
        let banded = "banded matrix.banded.rows=1000 matrix.banded.half=50";
        assert_eq!(orders(banded, 4), [Order::Sequential, Order::Sequential]);
    }

    #[test]
    fn lanes_are_for_gpus() {
        let words = "matrix=laplace5 matrix.laplace5.side=10 method=row method.row.per=warp";
        assert!(Spec::read("spmv", &params(&format!("{words} backend=cuda")), 1).is_ok());
        let of_gpus = "matrix=laplace5 matrix.laplace5.side=10 method=sorted backend=cpu";
        for words in [&format!("{words} backend=cpu"), of_gpus] {
            let refused = Spec::read("spmv", &params(words), 1).expect_err("refused");
            assert!(matches!(refused, Refusal::NotApplicable(_)), "{refused}");
        }
    }

    #[test]
    fn matrices_too_large_are_refused_at_their_key() {
        let words = "matrix=random matrix.random.rows=4000000000 matrix.random.entries=4";
        let refused = Spec::read("spmv", &params(words), 1).expect_err("refused").to_string();
        assert_eq!(refused, "matrix: 16000000000 entries; accepted: at most 4294967295");
    }

    #[test]
    fn the_oracle_accepts_the_product_and_nothing_else() {
        for beta in [0, 1] {
            let spec = spec(&format!("matrix=laplace5 matrix.laplace5.side=2 beta={beta}"));
            let [a, b, c, d] = [0, 1, 2, 3].map(|j| spec.x(j));
            let product = [4.0 * a - b - c, 4.0 * b - a - d, 4.0 * c - a - d, 4.0 * d - b - c];
            let sums = (0u64..).zip(product).map(|(i, sum)| (sum + beta as f64 * spec.z(i)) as f32);
            let mut output: Vec<u8> = sums.flat_map(f32::to_le_bytes).collect();
            assert_eq!(spec.check(&output), Ok(()));
            output[6] ^= 1;
            assert!(spec.check(&output).expect_err("wrong").starts_with("y[1] is "));
        }
    }

    fn costs(words: &str) -> Result<Vec<BlockCost>, String> {
        spec(&format!("{words} backend=cuda")).block_costs()
    }

    #[test]
    fn long_rows_of_threads_are_not_predicted() {
        let of = |entries: u64| {
            costs(&format!(
                "matrix=random matrix.random.rows=1000 matrix.random.entries={entries} method=row method.row.per=thread"
            ))
        };
        assert!(of(8).is_ok() && of(9).is_err());
    }
}

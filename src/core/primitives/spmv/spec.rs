//! The typed parameters of spmv.

use super::{bands, slices};
use crate::case::table::{choice, count, parameters, words};
use crate::case::{Params, Refusal, reader};
use crate::inputs::sparse::{Generator, MAX_ENTRIES, MAX_ROWS, Shape, small_integer};
use crate::primitives::Elsewhere;

/// Entries a row from which on a GPU's warps have enough of a row for all their lanes.
const LONG_ROWS: u64 = 32;

/// Bytes of x that the first-level cache of a multiprocessor keeps.
const FIRST_LEVEL: u64 = 192 << 10;

/// Bytes of x that the second-level cache of a processor keeps.
const SECOND_LEVEL: u64 = 1 << 20;

/// Rows and entries of a matrix in a file up to which a second launch, which balanced shares need, costs more than rows of
/// different lengths.
const SMALL: u64 = 1 << 18;

/// Entries of a row in each block of columns that make up for reading its sums.
const LAYER_ENTRIES: u64 = 4;

/// Bytes of a chunk of x on GPUs and on processors, and the most passes, if `passes` is unset.
const GPU_CHUNK: u64 = 8 << 20;
const CPU_CHUNK: u64 = 1 << 20;
const MOST_PASSES: u64 = 64;

/// Mean entries a row up to which a GPU's thread sums a row of its own, if `per` is unset.
const SHORT_ROWS: u64 = 8;

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
        /// as many entries in each row, in independent random columns
        Random = "random" {
            /// rows, and columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each row
            entries: u64 [count(0, MAX_ENTRIES)] = "16",
        },
        /// all columns near the diagonal
        Banded = "banded" {
            /// rows, and columns
            rows: u64 [count(0, MAX_ROWS)],
            /// columns on each side of the diagonal
            half: u64 [count(0, MAX_ROWS)] = "8",
        },
        /// R-MAT with probabilities 0.5, 0.1, 0.1, 0.3; duplicates stay
        Rmat = "rmat" {
            /// rows, as a power of two
            scale: u64 [count(0, 31)],
            /// entries for each row, on average
            entries: u64 [count(0, MAX_ENTRIES)] = "16",
        },
        /// random, but half of the rows, the first and the last among them, have no entries
        EmptyRows = "empty-rows" {
            /// rows, and columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each of the other rows
            entries: u64 [count(0, MAX_ENTRIES)] = "4",
        },
        /// random, but the middle row has every column
        DenseRow = "dense-row" {
            /// rows, and columns
            rows: u64 [count(0, MAX_ROWS)],
            /// entries in each of the other rows
            entries: u64 [count(0, MAX_ENTRIES)] = "4",
        },
        /// a matrix in a file
        File = "file" main "path" {
            /// in Matrix Market's coordinate format, also as .gz; relative to the recipe's folder
            path: Elsewhere,
        },
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// on processors blocks for random rows and R-MAT if x exceeds 1 MiB; on GPUs row by threads for stencils and narrow
        /// bands; if x exceeds the first-level cache, sorted for R-MAT, blocks for long random rows and slices for shorter
        /// ones; row by warps from 32 entries in each row on; row for small matrices in files; otherwise balanced
        Best = "best",
        /// each row by itself; on processors, threads have equal numbers of rows
        Row = "row" main "per" {
            /// on GPUs, the threads that sum a row; unset: thread for at most 8 entries a row on average, otherwise warp
            per: Option<Per> = unset,
        },
        /// blocks or threads have equal shares of rows and entries together, cut within rows where necessary
        Balanced = "balanced",
        /// on GPUs: such shares with the entries of each in the order of their columns, which are gathered by fewer accesses
        Sorted = "sorted",
        /// on GPUs: slices of 32 rows (SELL-C-σ), sorted by length within 1024 rows; a lane for each row
        Slices = "slices",
        /// blocks of columns: on GPUs their part of x is in shared memory, where it is gathered, a lane for each row; on
        /// processors they divide bands of at most 2^17 rows, whose entries are in the order of their columns and whose part of
        /// y stays in the second-level cache
        Blocks = "blocks" main "columns" {
            /// columns of a block; unset: as many as 160 KiB of shared memory hold (on processors, 32768)
            columns: Option<u64> [count(1, 1 << 16)] = unset,
        },
        /// products, a backward segmented scan of them, and the first of each row (sengupta2007 §4.2)
        Segscan = "segscan",
        /// products, gathered in passes over chunks of x, then sums of the products of each row (he2007 §4.3)
        He2007 = "he2007" main "passes" {
            /// passes, each over a chunk of x; unset: chunks of at most 8 MiB (on processors, 1 MiB), at most 64
            passes: Option<u64> [count(1, 4096)] = unset,
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
        spec.shape = match spec.generator() {
            Some(generator) => generator.shape(),
            None => in_file(params)?.checked(),
        }
        .map_err(|error| Refusal::invalid("matrix", error.to_string()))?;
        if spec.generator().is_none() {
            let hash = params.text("matrix.file.hash").map(str::to_owned);
            spec.hash = Some(hash.ok_or_else(|| Refusal::Missing { key: "matrix.file.hash".to_owned() })?);
        }
        if matches!(spec.asked, Method::Row { per: Some(_) }) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable("on processors, a thread sums each row".to_owned()));
        }
        if matches!(spec.asked, Method::Sorted | Method::Slices) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable(format!("{} is a method of GPUs", spec.asked.name())));
        }
        spec.method = spec.chosen();
        Ok(spec)
    }

    /// What `best` stands for on GPUs.
    fn best_of_gpus(&self) -> Method {
        let mean = self.shape.entries / self.shape.rows.max(1);
        let near =
            matches!(self.matrix, Matrix::Laplace5 { .. } | Matrix::Laplace7 { .. } | Matrix::Banded { .. });
        let even =
            !matches!(self.matrix, Matrix::Rmat { .. } | Matrix::DenseRow { .. } | Matrix::File { .. });
        let far = !near && self.shape.columns * self.element() > FIRST_LEVEL;
        let layers = slices::blocks(self.shape.columns, self.element());
        let few = self.shape.rows + self.shape.entries <= SMALL;
        let per = if mean <= SHORT_ROWS { Per::Thread } else { Per::Warp };
        match () {
            () if few && matches!(self.matrix, Matrix::File { .. }) => Method::Row { per: Some(per) },
            () if near && mean <= SHORT_ROWS => Method::Row { per: Some(Per::Thread) },
            () if even && far && mean >= LAYER_ENTRIES * layers => Method::Blocks { columns: None },
            () if even && far => Method::Slices,
            () if matches!(self.matrix, Matrix::Rmat { .. }) && far => Method::Sorted,
            () if even && mean >= LONG_ROWS => Method::Row { per: Some(Per::Warp) },
            () => Method::Balanced,
        }
    }

    /// What `best` stands for on processors. Of a matrix in a file it is not known whether columns are near each other.
    fn best_of_processors(&self) -> Method {
        let spread = matches!(
            self.matrix,
            Matrix::Random { .. } | Matrix::EmptyRows { .. } | Matrix::DenseRow { .. } | Matrix::Rmat { .. }
        );
        match spread && self.shape.columns * self.element() > SECOND_LEVEL {
            true => Method::Blocks { columns: None },
            false => Method::Balanced,
        }
    }

    /// True of methods that sum rows by vectors, if a row has as many entries on average as a vector of 512 bits has
    /// lanes. Shorter rows are summed faster one by one.
    pub fn fills_vectors(&self) -> bool {
        let lanes = 64 / self.element();
        matches!(self.method, Method::Row { .. } | Method::Balanced)
            && self.shape.entries >= lanes * self.shape.rows
    }

    /// The method that is executed.
    fn chosen(&self) -> Method {
        let mean = self.shape.entries / self.shape.rows.max(1);
        let asked = match self.asked {
            Method::Best if self.backend.is_cuda() => self.best_of_gpus(),
            Method::Best if self.backend.is_cpu() => self.best_of_processors(),
            Method::Best => Method::Balanced,
            asked => asked,
        };
        match asked {
            Method::Blocks { columns: None } => {
                let columns = match self.backend.is_cuda() {
                    true => slices::width(self.shape.columns, self.element()),
                    false => bands::COLUMNS.min(self.shape.columns).max(1),
                };
                Method::Blocks { columns: Some(columns) }
            }
            Method::Row { per: None } if self.backend.is_cuda() => {
                Method::Row { per: Some(if mean <= SHORT_ROWS { Per::Thread } else { Per::Warp }) }
            }
            Method::He2007 { passes: None } => {
                let chunk = if self.backend.is_cuda() { GPU_CHUNK } else { CPU_CHUNK };
                let passes = (self.shape.columns * self.element()).div_ceil(chunk);
                Method::He2007 { passes: Some(passes.clamp(1, MOST_PASSES)) }
            }
            asked => asked,
        }
    }

    /// The passes over x: its columns in each.
    pub fn chunks(&self) -> impl Iterator<Item = std::ops::Range<u64>> + use<> {
        let passes = if let Method::He2007 { passes: Some(passes) } = self.method { passes } else { 1 };
        let columns = u128::from(self.shape.columns);
        (0..passes).map(move |pass| {
            let place = |pass: u64| (columns * u128::from(pass) / u128::from(passes)) as u64;
            place(pass)..place(pass + 1)
        })
    }

    /// The generator of the matrix, unless it is in a file.
    pub fn generator(&self) -> Option<Generator> {
        Some(match self.matrix {
            Matrix::Laplace5 { side } => Generator::Laplace5 { side },
            Matrix::Laplace7 { side } => Generator::Laplace7 { side },
            Matrix::Random { rows, entries } => Generator::Random { rows, entries },
            Matrix::Banded { rows, half } => Generator::Banded { rows, half },
            Matrix::Rmat { scale, entries } => Generator::Rmat { scale, entries },
            Matrix::EmptyRows { rows, entries } => Generator::EmptyRows { rows, entries },
            Matrix::DenseRow { rows, entries } => Generator::DenseRow { rows, entries },
            Matrix::File { .. } => return None,
        })
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

/// The size of a matrix in a file, which the plan has added to the parameters.
fn in_file(params: &Params) -> Result<Shape, Refusal> {
    let number = |word: &str| reader::int(params, &format!("matrix.file.{word}"));
    Ok(Shape { rows: number("rows")?, columns: number("columns")?, entries: number("entries")? })
}

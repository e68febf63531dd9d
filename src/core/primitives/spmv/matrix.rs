//! The matrix that a case names, in host memory, and what depends on it alone. Cases share both.

use std::sync::Arc;

use super::oracle::{RowSum, long_rows, tolerance};
use super::{Matrix, Spec, Type};
use crate::case::{Failure, Params, Refusal, params};
use crate::inputs::shared::{Contents, Shared};
use crate::inputs::sparse::{Csr, Generator, Positions, Shape, SparseError, small_integer};
use crate::primitives::IndexLookup;

impl From<SparseError> for Failure {
    fn from(error: SparseError) -> Failure {
        Failure::NotApplicable(error.to_string())
    }
}

/// The matrix that a case names, as its plan knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub matrix: Matrix,
    pub seed: u64,
    pub shape: Shape,
    /// The hash of a matrix in a file.
    pub hash: Option<String>,
}

impl Matrix {
    /// The generator of the matrix, unless it is in a file.
    pub fn generator(&self) -> Option<Generator> {
        Some(match *self {
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
}

impl Source {
    /// Reads what the plan knows: the size, which for a file it has added to the parameters, and the hash.
    ///
    /// # Errors
    /// A matrix too large, and a file at which the plan has not looked.
    pub fn read(matrix: Matrix, params: &Params, seed: u64) -> Result<Source, Refusal> {
        let number = |word: &str| params::int(params, &format!("matrix.file.{word}"));
        let (shape, hash) = match matrix.generator() {
            Some(generator) => (generator.shape(), None),
            None => {
                let (rows, columns, entries) = (number("rows")?, number("columns")?, number("entries")?);
                let key = "matrix.file.hash".to_owned();
                let hash = params.text(&key).map(str::to_owned).ok_or(Refusal::Missing { key })?;
                (Shape { rows, columns, entries }.checked(), Some(hash))
            }
        };
        let shape = shape.map_err(|error| Refusal::invalid("matrix", error.to_string()))?;
        Ok(Source { matrix, seed, shape, hash })
    }

    /// The matrix of a generator: Laplacians have the stencil's values, the others small integers. `None` if it is in a file.
    pub fn generated(&self) -> Option<Result<Csr<f64>, SparseError>> {
        let diagonal = match self.matrix {
            Matrix::Laplace5 { .. } => Some(4.0),
            Matrix::Laplace7 { .. } => Some(6.0),
            _ => None,
        };
        let value = |row: u64, column: u32, at: u64| match diagonal {
            Some(diagonal) if row == u64::from(column) => diagonal,
            Some(_) => -1.0,
            None => f64::from(small_integer(self.seed.wrapping_add(1), at)),
        };
        Some(self.matrix.generator()?.make(self.seed).and_then(|made| made.with_values(value)))
    }

    /// The name of the matrix among the inputs that cases share.
    pub fn name(&self) -> String {
        let matrix = match (self.matrix.generator(), &self.hash) {
            (Some(generator), _) => generator.to_string(),
            (None, hash) => format!("in the file {}", hash.as_deref().unwrap_or_default()),
        };
        format!("the matrix {matrix} of seed {}", self.seed)
    }

    /// The matrix, which cases share.
    ///
    /// # Errors
    /// Those of `stored`, and a matrix that is not the plan's.
    pub fn make(
        &self,
        stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
        shared: &Shared,
    ) -> Result<Arc<Csr<f64>>, Failure> {
        let made = shared.get(&self.name(), "rows", self.shape.making(), || self.made(stored, shared))?;
        self.check(&made).map(|()| made)
    }

    /// The matrix, which nobody shares: generated, or from the words that `stored` finds by their hash.
    ///
    /// # Errors
    /// Those of `stored`, and a matrix that is not the plan's.
    pub fn made(
        &self,
        stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
        shared: &Shared,
    ) -> Result<Csr<f64>, Failure> {
        let made = match (self.generated(), &self.hash) {
            (Some(made), _) => made?,
            (None, Some(hash)) => {
                let made = Csr::from_words(&stored(hash)?);
                // Nobody reads the words again.
                shared.let_go(hash);
                made?
            }
            (None, None) => return Err(Failure::Failed("the plan has no hash of the matrix".to_owned())),
        };
        self.check(&made).map(|()| made)
    }

    fn check(&self, made: &Csr<f64>) -> Result<(), Failure> {
        match made.shape() == self.shape {
            true => Ok(()),
            false => Err(Failure::Failed("the size of the matrix differs from the plan".to_owned())),
        }
    }

    /// Where the matrix has entries.
    ///
    /// # Errors
    /// A matrix that would take too long to look at, or that `stored` does not find.
    pub fn positions(&self, stored: IndexLookup) -> Result<Positions, String> {
        let all = match self.matrix.generator() {
            Some(generator) => generator.positions(self.seed),
            None => {
                let found = |hash: &str| stored(hash).map(Arc::new).map_err(Failure::NotApplicable);
                Positions::of(&*self.make(found, &Shared::default()).map_err(|failure| failure.to_string())?)
            }
        };
        all.map_err(|error| error.to_string())
    }
}

/// The name of a product's matrix among the inputs that cases share. The vectors are functions of the seed, too.
pub fn name(spec: &Spec) -> String {
    spec.source().name()
}

/// The matrix of a product.
///
/// # Errors
/// Those of [`Source::make`], and a matrix in a file whose products are infinite.
pub fn matrix(
    spec: &Spec,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
    shared: &Shared,
) -> Result<Arc<Csr<f64>>, Failure> {
    let source = spec.source();
    let made = source.make(stored, shared)?;
    if spec.hash.is_some() {
        let form = format!("held as {}, {} z", spec.ty.name(), spec.beta);
        shared.get(&source.name(), &form, 0, || held(&made, spec).map(|()| Vec::<u8>::new()))?;
    }
    Ok(made)
}

/// What certificates know of a matrix.
pub(super) struct Errors {
    /// The rows that a GPU's certificate knows too loosely.
    pub long: Vec<(usize, RowSum)>,
    pub tolerance: f64,
}

impl Contents for Errors {
    fn bytes(&self) -> u64 {
        size_of_val(&self.long[..]) as u64
    }
}

/// What certificates know of a matrix.
pub(super) fn errors(spec: &Spec, matrix: &Csr<f64>, shared: &Shared) -> Result<Arc<Errors>, Failure> {
    let (ty, beta, cuda) = (spec.ty.name(), spec.beta, spec.backend.is_cuda());
    shared.get(&name(spec), &format!("errors of {ty}, {beta} z, {cuda}"), 0, || {
        let long = if cuda { long_rows(spec, matrix) } else { Vec::new() };
        Ok(Errors { long, tolerance: tolerance(spec, matrix) })
    })
}

/// Refuses a matrix if a value of it, or the products of a row, are infinite as the case's type. What such a row comes to depends on
/// the order of its products, and nothing could be certified.
fn held(matrix: &Csr<f64>, spec: &Spec) -> Result<(), Failure> {
    let (most, holds, instead) = match spec.ty {
        Type::F32 => (f64::from(f32::MAX), "f32", ": use type: f64"),
        Type::F64 => (f64::MAX, "f64", ""),
    };
    let beyond = |value: &f64| spec.ty == Type::F32 && (*value as f32).is_infinite();
    if let Some(at) = matrix.values.iter().position(beyond) {
        let row = matrix.starts.partition_point(|&start| start as usize <= at);
        let (column, value) = (matrix.indices[at] + 1, matrix.values[at]);
        return Err(Failure::NotApplicable(format!(
            "the value {value:e} in row {row}, column {column} of the file is too large for {holds}{instead}"
        )));
    }
    // Half of it leaves room for the rounding of partial sums.
    let size = |row: &usize| RowSum::of(spec, matrix, *row).size;
    match (0..spec.shape.rows as usize).find(|row| size(row) > most / 2.0) {
        Some(row) => Err(Failure::NotApplicable(format!(
            "the products of row {} of the file add up to more than {holds} holds{instead}",
            row + 1
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    #[test]
    fn a_value_beyond_f32_is_no_infinity() {
        let file = "matrix=file matrix.file.path=a.mtx matrix.file.column=%matrix matrix.file.hash=x \
                    matrix.file.length=12 matrix.file.largest=9 matrix.file.rows=2 matrix.file.columns=3 \
                    matrix.file.entries=2";
        let values = vec![1.0, 1e300];
        let made = Csr { columns: 3, starts: vec![0, 1, 2], indices: vec![0, 2], values };
        let of = |words: &str| {
            let spec = Spec::read("spmv", &params(&format!("{file} {words}")), 7).expect("a case");
            let stored = |_: &str| Ok(Arc::new(made.clone().into_words().expect("words")));
            matrix(&spec, stored, &Shared::default()).map(|matrix| matrix.values.clone())
        };
        assert_eq!(of("type=f64"), Ok(made.values.clone()));
        // Products are looked at for each β, of a matrix that is made once.
        let shared = Shared::default();
        for words in ["beta=0", "beta=1", "beta=0"] {
            let words = params(&format!("{file} type=f64 {words}"));
            let spec = Spec::read("spmv", &words, 7).expect("a case");
            let stored = |_: &str| Ok(Arc::new(made.clone().into_words().expect("words")));
            matrix(&spec, stored, &shared).expect("a matrix");
        }
        assert_eq!(shared.made(), 3);
        let told = "the value 1e300 in row 2, column 3 of the file is too large for f32: use type: f64";
        assert_eq!(of("type=f32"), Err(Failure::NotApplicable(told.to_owned())));
    }

    /// Such sums are infinite or not by the order of the products: whatever their signs, in the first row or the last, of one product
    /// or several.
    #[test]
    fn a_row_whose_products_exceed_the_type_is_refused() {
        let file = "matrix=file matrix.file.path=a.mtx matrix.file.column=%matrix matrix.file.hash=x \
                    matrix.file.length=12 matrix.file.largest=9 matrix.file.rows=2 matrix.file.columns=3 \
                    matrix.file.entries=3";
        for (ty, huge, told) in [("f32", 3e38, "f32 holds: use type: f64"), ("f64", 1e308, "f64 holds")] {
            let spec = Spec::read("spmv", &params(&format!("{file} type={ty}")), 7).expect("a case");
            let of = |starts: [u32; 3], values: [f64; 3]| {
                let (starts, values) = (starts.to_vec(), values.to_vec());
                let made = Csr { columns: 3, starts, indices: vec![0, 0, 2], values };
                let stored = |_: &str| Ok(Arc::new(made.clone().into_words().expect("words")));
                matrix(&spec, stored, &Shared::default()).map(|_| ())
            };
            // The sign of a product is that of the vector's element, too.
            let turned = huge * spec.x(0).signum() * spec.x(2).signum();
            for (starts, values, row) in [
                ([0, 1, 3], [1.0, huge, huge], 2),
                ([0, 1, 3], [1.0, turned, -turned], 2),
                ([0, 2, 3], [-huge, huge, 1.0], 1),
                ([0, 1, 3], [1.0, 1.0, if ty == "f32" { 3.4e38 } else { 1.7e308 }], 2),
            ] {
                let told = format!("the products of row {row} of the file add up to more than {told}");
                assert_eq!(of(starts, values), Err(Failure::NotApplicable(told)), "{values:?}");
                assert_eq!(of(starts, values.map(|value| value / 100.0)), Ok(()));
            }
        }
    }
}

//! The peers of the primitive spmv. Neither crate has a product by several threads, so each thread of the case calls it
//! for rows of its own.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::case::{Case, NotApplicable, refused};
use crate::inputs::shared;
use crate::inputs::sparse::{Csr, Generator, Shape, small_integer};
use crate::products::{Number, Rows, Storage, transposed};
use crate::threads::{Pinning, Threads, require};
use crate::work::{Setting, Work};

/// Whose product it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Sprs,
    Faer,
}

/// Prepares a case of the primitive spmv.
pub fn prepare(peer: &str, case: &mut Case) -> Result<Box<dyn Work>, NotApplicable> {
    let by = if peer == "sprs" { By::Sprs } else { By::Faer };
    case.one_of("primitive", &["spmv"])?;
    let threads = Threads::of(case, Pinning::Each)?;
    match case.one_of("type", &["f32", "f64"])? {
        "f32" => Ok(Box::new(Product::<f32>::new(by, case, threads)?)),
        _ => Ok(Box::new(Product::<f64>::new(by, case, threads)?)),
    }
}

/// The lab's matrix of a case, and its value on the diagonal if it is a Laplacian.
fn generator(case: &mut Case) -> Result<(Generator, Option<f64>), NotApplicable> {
    let matrices = ["laplace5", "laplace7", "random", "banded", "rmat", "empty-rows", "dense-row"];
    let name = case.one_of("matrix", &matrices)?;
    let mut of = |word: &str, unset: &str| case.number::<u64>(&format!("matrix.{name}.{word}"), unset);
    Ok(match name {
        "laplace5" => (Generator::Laplace5 { side: of("side", "")? }, Some(4.0)),
        "laplace7" => (Generator::Laplace7 { side: of("side", "")? }, Some(6.0)),
        "random" => (Generator::Random { rows: of("rows", "")?, entries: of("entries", "16")? }, None),
        "banded" => (Generator::Banded { rows: of("rows", "")?, half: of("half", "8")? }, None),
        "rmat" => (Generator::Rmat { scale: of("scale", "")?, entries: of("entries", "16")? }, None),
        "empty-rows" => (Generator::EmptyRows { rows: of("rows", "")?, entries: of("entries", "4")? }, None),
        _ => (Generator::DenseRow { rows: of("rows", "")?, entries: of("entries", "4")? }, None),
    })
}

/// The rows of each thread, with about equal numbers of entries.
fn parts<T>(matrix: &Csr<T>, threads: usize) -> Vec<Range<usize>> {
    let entries = matrix.indices.len() as u64;
    let place = |part: usize| match part {
        _ if part == threads => matrix.rows() as usize,
        _ => {
            matrix.starts.partition_point(|start| u64::from(*start) < entries * part as u64 / threads as u64)
        }
    };
    (0..threads).map(|part| place(part)..place(part + 1)).collect()
}

struct Product<T> {
    by: By,
    threads: Threads,
    matrix: Csr<T>,
    /// The same in compressed columns, once it is asked for.
    transposed: Option<Csr<T>>,
    parts: Vec<Range<usize>>,
    x: Vec<T>,
    /// What y holds before y += A·x.
    z: Option<Vec<T>>,
    y: Vec<T>,
}

impl<T: Number> Product<T> {
    fn new(by: By, case: &mut Case, threads: Threads) -> Result<Product<T>, NotApplicable> {
        let seed: u64 = case.number("seed", "1")?;
        let (generator, diagonal) = generator(case)?;
        let add = case.one_of("beta", &["0", "1"])? == "1";
        case.nothing_else()?;
        let shape = generator.shape().map_err(|why| NotApplicable(why.to_string()))?;
        if shape.rows == 0 {
            return refused("there is no such product");
        }
        if by == By::Faer && shape.rows.max(shape.columns) > i32::MAX as u64 {
            return refused("the crate has at most 2147483647 rows and columns with indices of 32 bits");
        }
        let name = format!("{generator} {seed}");
        shared().touch(&name);
        require(2 * bytes::<T>(shape, add))?;
        let needs = 8 * (shape.rows + shape.entries);
        let made = shared().get(&name, "positions", needs, || generator.make(seed));
        // A copy in fresh arrays.
        let made = Csr::clone(&*made.map_err(|why| NotApplicable(why.to_string()))?);
        let matrix = made.with_values(|row, column, at| match diagonal {
            Some(diagonal) if row == u64::from(column) => T::of(diagonal),
            Some(_) => T::of(-1.0),
            None => T::of(small_integer(seed.wrapping_add(1), at).into()),
        });
        let matrix = matrix.map_err(|why| NotApplicable(why.to_string()))?;
        let vector = |tag: u64, n: u64| {
            threads.array(n as usize, |i| T::of(small_integer(seed.wrapping_add(tag), i).into()))
        };
        Ok(Product {
            by,
            parts: parts(&matrix, threads.count),
            transposed: None,
            x: vector(2, shape.columns),
            z: add.then(|| vector(3, shape.rows)),
            y: threads.array(shape.rows as usize, |_| T::of(f64::NAN)),
            matrix,
            threads,
        })
    }

    fn multiply(by: By, rows: &Rows<T>, x: &[T], y: &mut [T], add: bool) {
        match by {
            By::Sprs => {
                if !add {
                    y.fill(T::default());
                }
                T::sprs(rows, x, y);
            }
            By::Faer => T::faer(rows, x, y, add),
        }
    }

    /// The element of the result and the sum of its terms' magnitudes, from the arrays.
    fn expected(&self, row: usize) -> (f64, f64) {
        let z: f64 = self.z.as_ref().map_or(0.0, |z| z[row].into());
        self.matrix.row(row).fold((z, z.abs()), |(sum, size), at| {
            let term = self.matrix.values[at].into() * self.x[self.matrix.indices[at] as usize].into();
            (sum + term, size + term.abs())
        })
    }
}

/// Bytes of matrix and vectors.
fn bytes<T>(shape: Shape, add: bool) -> u64 {
    let element = size_of::<T>() as u64;
    let vectors = shape.columns + shape.rows * (1 + u64::from(add));
    4 * (shape.rows + 1) + (4 + element) * shape.entries + element * vectors
}

impl<T: Number> Work for Product<T> {
    /// A matrix in columns belongs to one thread: others would add to the same elements.
    fn ways(&self) -> Vec<Vec<Setting>> {
        let way = |storage: &str, threads: usize| {
            vec![("storage", storage.to_owned()), ("threads", threads.to_string())]
        };
        vec![way("csr", self.threads.count), way("csc", 1)]
    }

    /// What y holds before y += A·x is put there untimed, as the lab has z in an array of its own.
    fn execute(&mut self, way: usize) -> f64 {
        let storage = [Storage::Csr, Storage::Csc][way];
        let Product { by, threads, matrix, transposed: columns, parts, x, z, y } = self;
        if let Some(z) = z {
            threads.copy(z, y);
        }
        let (by, add) = (*by, z.is_some());
        if storage == Storage::Csc {
            let columns = columns.get_or_insert_with(|| transposed(matrix));
            let y = Mutex::new(y);
            return threads.time(1, |own| {
                own.for_each(|_| {
                    let mut y = y.lock().unwrap_or_else(PoisonError::into_inner);
                    Self::multiply(by, &Rows::of_transposed(columns), x, &mut y, add);
                });
            });
        }
        let mut rest = y.as_mut_slice();
        let of_parts: Vec<_> =
            parts.iter().filter_map(|rows| rest.split_off_mut(..rows.len())).map(Mutex::new).collect();
        threads.time(parts.len(), |own| {
            for part in own {
                let mut y = of_parts[part].lock().unwrap_or_else(PoisonError::into_inner);
                Self::multiply(by, &Rows::of(matrix, parts[part].clone()), x, &mut y, add);
            }
        })
    }

    /// Generated numbers are small integers, so that most sums are exact.
    fn wrong(&self) -> u64 {
        let unit = if size_of::<T>() == 4 { 2f64.powi(-24) } else { 2f64.powi(-53) };
        let wrong = |row: &usize| {
            let ((sum, size), found) = (self.expected(*row), self.y[*row].into());
            let terms = self.matrix.row(*row).len() as f64 + 2.0;
            let bound = if size * unit <= 1.0 { 0.0 } else { 2.0 * terms * unit * size };
            (found - sum).abs() > bound || found.is_nan()
        };
        (0..self.y.len()).filter(wrong).count() as u64
    }

    fn effective_bytes(&self) -> u64 {
        let (shape, element) = (self.matrix.shape(), size_of::<T>() as u64);
        let unread = shape.columns.saturating_sub(shape.entries);
        bytes::<T>(shape, self.z.is_some()) - element * unread
    }

    fn memory(&self) -> u64 {
        let (shape, add) = (self.matrix.shape(), self.z.is_some());
        let columns = self
            .transposed
            .as_ref()
            .map_or(0, |t| 4 * t.starts.len() + (4 + size_of::<T>()) * t.indices.len());
        bytes::<T>(shape, add) + columns as u64
    }
}

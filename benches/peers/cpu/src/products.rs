//! Products of a sparse matrix and a dense vector by a crate, of all of the matrix or of some of its rows.

use std::ops::Range;

use faer::sparse::linalg::matmul::sparse_dense_matmul;
use faer::sparse::{SparseColMatRef, SparseRowMatRef, SymbolicSparseColMatRef, SymbolicSparseRowMatRef};
use faer::{Accum, ColMut, ColRef, Par};
use sprs::prod::{mul_acc_mat_vec_csc, mul_acc_mat_vec_csr};
use sprs::{CompressedStorage, CsMatViewI};

use crate::inputs::sparse::Csr;

/// How a matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    Csr,
    Csc,
}

/// f32 or f64.
pub trait Number: Copy + Default + Send + Sync + Into<f64> {
    fn of(number: f64) -> Self;

    /// y += A·x by the crate `sprs`, which has no other product.
    fn sprs(rows: &Rows<Self>, x: &[Self], y: &mut [Self]);

    /// y = A·x, or y += A·x, by the crate `faer`. Its argument `par` changes nothing in this version.
    fn faer(rows: &Rows<Self>, x: &[Self], y: &mut [Self], add: bool);
}

/// Some rows of a matrix in compressed rows, or a matrix in compressed columns.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    storage: Storage,
    size: (usize, usize),
    /// From the start of the first row on, counted from the matrix's first entry.
    starts: &'a [u32],
    /// Those of the whole matrix.
    indices: &'a [u32],
    values: &'a [T],
}

impl<'a, T> Rows<'a, T> {
    /// Some rows of a matrix.
    pub fn of(matrix: &'a Csr<T>, rows: Range<usize>) -> Rows<'a, T> {
        Rows {
            storage: Storage::Csr,
            size: (rows.len(), matrix.columns as usize),
            starts: &matrix.starts[rows.start..=rows.end],
            indices: &matrix.indices,
            values: &matrix.values,
        }
    }

    /// All of a matrix whose transposed one is given.
    pub fn of_transposed(matrix: &'a Csr<T>) -> Rows<'a, T> {
        Rows {
            storage: Storage::Csc,
            size: (matrix.columns as usize, matrix.rows() as usize),
            starts: &matrix.starts,
            indices: &matrix.indices,
            values: &matrix.values,
        }
    }

    /// The entries of these rows.
    fn entries(&self) -> Range<usize> {
        self.starts[0] as usize..self.starts[self.starts.len() - 1] as usize
    }
}

/// The transposed matrix.
pub fn transposed<T: Number>(matrix: &Csr<T>) -> Csr<T> {
    let mut starts = vec![0u32; matrix.columns as usize + 1];
    matrix.indices.iter().for_each(|column| starts[*column as usize + 1] += 1);
    (1..starts.len()).for_each(|column| starts[column] += starts[column - 1]);
    let mut next = starts.clone();
    let mut indices = vec![0u32; matrix.indices.len()];
    let mut values = vec![T::default(); matrix.values.len()];
    for row in 0..matrix.rows() as usize {
        for at in matrix.row(row) {
            let to = &mut next[matrix.indices[at] as usize];
            (indices[*to as usize], values[*to as usize]) = (row as u32, matrix.values[at]);
            *to += 1;
        }
    }
    Csr { columns: matrix.rows(), starts, indices, values }
}

macro_rules! number {
    ($t:ty) => {
        impl Number for $t {
            fn of(number: f64) -> $t {
                number as $t
            }

            fn sprs(rows: &Rows<$t>, x: &[$t], y: &mut [$t]) {
                let (own, columns) = (rows.entries(), rows.storage == Storage::Csc);
                let storage = if columns { CompressedStorage::CSC } else { CompressedStorage::CSR };
                let (indices, values) = (&rows.indices[own.clone()], &rows.values[own]);
                // SAFETY: starts ascend up to the number of entries, and indices are inside the matrix. A column may
                // occur twice in a row, which a product does not mind.
                let matrix: CsMatViewI<$t, u32, u32> =
                    unsafe { CsMatViewI::new_unchecked(storage, rows.size, rows.starts, indices, values) };
                if columns { mul_acc_mat_vec_csc(matrix, x, y) } else { mul_acc_mat_vec_csr(matrix, x, y) }
            }

            fn faer(rows: &Rows<$t>, x: &[$t], y: &mut [$t], add: bool) {
                let (m, n) = rows.size;
                let (x, y) = (ColRef::from_slice(x).as_mat(), ColMut::from_slice_mut(y).as_mat_mut());
                let beta = if add { Accum::Add } else { Accum::Replace };
                // SAFETY, of both: starts ascend up to the number of entries, and indices are inside the matrix.
                if rows.storage == Storage::Csc {
                    let places = unsafe {
                        SymbolicSparseColMatRef::new_unchecked(m, n, rows.starts, None, rows.indices)
                    };
                    let matrix = SparseColMatRef::new(places, rows.values);
                    return sparse_dense_matmul(y, beta, matrix, x, 1.0, Par::Seq);
                }
                let places =
                    unsafe { SymbolicSparseRowMatRef::new_unchecked(m, n, rows.starts, None, rows.indices) };
                sparse_dense_matmul(y, beta, SparseRowMatRef::new(places, rows.values), x, 1.0, Par::Seq);
            }
        }
    };
}

number!(f32);
number!(f64);

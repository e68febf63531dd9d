//! Sparse matrices in compressed rows (CSR), which are also graphs: row i lists the arcs that leave vertex i, and the
//! values are their weights. Made by generators that are integer functions of a seed ([`Generator`]).

mod csr;
mod generators;
pub mod matrix_market;
mod nas;
mod rmat;
pub mod words;

pub use csr::{Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, small_integer};
pub use generators::Generator;
pub use nas::Nas;

#[cfg(test)]
mod tests;

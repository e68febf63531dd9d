//! Sparse matrices in compressed rows (CSR), which are also graphs: row i lists the arcs that leave vertex i, and the
//! values are their weights. Made by generators that are integer functions of a seed ([`Generator`]).

mod csr;
mod density;
mod generators;
pub mod matrix_market;
mod nas;
mod positions;
mod rmat;
pub mod words;

pub use csr::{Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, in_ranges, small_integer};
pub use density::Density;
pub use generators::Generator;
pub use nas::Nas;
pub use positions::Positions;

#[cfg(test)]
mod tests;

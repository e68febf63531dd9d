//! The lab's generated matrices, without those in files.

#[path = "../../../../../src/inputs/sparse/csr.rs"]
mod csr;
#[path = "../../../../../src/inputs/sparse/generators.rs"]
mod generators;
#[path = "../../../../../src/inputs/sparse/positions.rs"]
mod positions;
#[path = "../../../../../src/inputs/sparse/rmat.rs"]
mod rmat;

pub use csr::{Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, small_integer};
pub use generators::Generator;
pub use positions::Positions;

//! The lab's generated matrices, without those in files.

#[path = "../../../../../src/core/inputs/sparse/csr.rs"]
mod csr;
#[path = "../../../../../src/core/inputs/sparse/generators.rs"]
mod generators;
#[path = "../../../../../src/core/inputs/sparse/positions.rs"]
mod positions;
#[path = "../../../../../src/core/inputs/sparse/rmat.rs"]
mod rmat;

pub use csr::{Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, in_ranges, in_ranges_of, small_integer};
pub(super) use csr::{atomics, threads};
pub use generators::Generator;
pub use positions::Positions;

//! Hash tables on a GPU (`kernels/hash_search.cu`): searches ([`search`]) and building ([`build`]).

pub mod build;
mod inputs;
pub mod search;

/// The module of the kernels.
const MODULE: &str = "hash_search";

//! Hash tables on a GPU (`kernels/hash_search/hash_search.cu`): searches ([`search`]) and building ([`build`]).

pub mod build;
mod direct;
mod he2007;
mod inputs;
mod partitioned;
pub mod search;

/// The module of the kernels.
const MODULE: &str = "hash_search";

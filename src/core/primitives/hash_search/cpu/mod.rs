//! Hash tables on the CPU: searches ([`search`]) and building ([`build`]).

pub mod build;
mod he2007;
pub mod kernels;
mod partitioned;
pub mod search;
pub mod table;

//! Hash tables on the CPU: searches ([`search`]) and building ([`build`]).

pub mod build;
pub mod kernels;
pub mod search;
pub mod table;

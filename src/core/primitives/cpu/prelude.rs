//! The names that most implementations on CPUs use: `use crate::primitives::cpu::prelude::*`.

pub use std::ops::Range;

pub use crate::case::{Cancel, Failure, Fault, Verdict};
pub use crate::device::cpu::{
    Buffer, Context, Isa, OutputArray, Pool, PoolJob, PoolMethod, Worker, part, pieces,
};

//! scatterlab: a laboratory in a terminal for memory-bound parallel primitives.

pub mod backend;
pub mod engine;
pub mod measure;
pub mod patterns;
pub mod plan;
pub mod primitives;
pub mod report;
pub mod recipe;
pub mod run;
pub mod units;

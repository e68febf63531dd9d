//! scatterlab: a laboratory in a terminal for memory-bound parallel primitives.

pub mod backend;
pub mod engine;
pub mod measure;
pub mod patterns;
pub mod plan;
pub mod primitives;
pub mod recipe;
pub mod report;
pub mod run;
pub mod tui;
pub mod units;

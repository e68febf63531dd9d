//! Tests of the user interface as a whole, on a terminal in memory.

mod demo;
pub mod fixture;
mod loops;
mod random;
mod screens;
pub mod script;
mod updates;

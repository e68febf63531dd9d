//! Tests of the user interface as a whole, on a terminal in memory.

mod demo;
mod fixture;
mod loops;
mod random;
mod screens;
mod script;
mod updates;

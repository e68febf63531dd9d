//! What more than one test binary uses: the program and a terminal for it, and the sample of a suite's cases that a plain run
//! takes.

pub mod program;
pub mod sample;
pub mod screen;

//! pattern: Spatter's gathers and scatters with a short index pattern that moves by a
//! delta (lavin2020).

#[cfg(unix)]
pub mod cpu;
mod source;
pub mod spec;

pub use source::Source;
pub use spec::Spec;

//! gather and scatter of tuples through a location array L (he2007).

#[cfg(unix)]
pub mod cpu;
pub mod spec;

pub use spec::Spec;

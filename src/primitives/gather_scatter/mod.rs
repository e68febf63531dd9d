//! gather and scatter of tuples through a location array L (he2007).

pub mod spec;

pub use spec::Spec;

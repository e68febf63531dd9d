//! sengupta2007: S. Sengupta et al., Scan Primitives for GPU Computing, Graphics Hardware 2007.

pub mod plate1;

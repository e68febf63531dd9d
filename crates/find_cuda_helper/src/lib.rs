//! Stands in for the crate of the same name, which searches for a CUDA installation and tells the linker to use
//! it. `scatterlab` loads the driver at run time, so there is nothing to find.

/// Does nothing: the build scripts of `cust` and `cust_raw` call it.
pub fn include_cuda() {}

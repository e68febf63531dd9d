//! The cases of `scatterlab verify`: recipes in the folders of the primitives, where the build script finds them, each with
//! its path. `BACKEND` stands for the backend under test, and `BACKEND_AXES` for the axis swept on it.

/// `verify.yaml`: cases for every backend, at odd and tiny sizes. Each case of size 1 gets a twin of size 0,
/// which recipes do not accept because there is nothing to time.
pub const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify.rs"));

/// `verify-cuda.yaml`: additional cases for a single GPU.
pub const CUDA: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify-cuda.rs"));

/// `verify-large.yaml`: beyond 4 GiB, certified on the device because they are too large for the oracle.
pub const LARGE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/verify-large.rs"));

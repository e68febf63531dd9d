//! ashkiani2017: S. Ashkiani et al., GPU Multisplit: an extended study of a parallel algorithm,
//! ACM TOPC 2017.

pub mod fig05;

//! The methods of histogram, each in a file that states what it does, its passes over memory and its code for GPUs; processors
//! have one.

mod ballot;
mod copies;

pub use ballot::MAX_BINS as MAX_BALLOT_BINS;

use super::Spec;
use crate::case::table::{choice, words};
use crate::case::{Access, Pass};
use crate::primitives::Costs;

words! {
    /// How the counts of the subproblems become those of all (ashkiani2017 §7.3).
    pub enum Ending {
        /// Added to the result in place.
        Atomics = "atomics",
        /// Stored, and each bin's summed.
        Reduction = "reduction",
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// ours: as many copies of the counts as fit in cache or shared memory
        Best = "best",
        /// GPUs, up to 256 bins: warps vote on each bit of their elements' bins (ashkiani2017 Algorithm 2)
        Ballot = "ballot" main "ending" {
            /// how the counts of every 2^16 elements are combined: atomics adds them to the result in place; reduction
            /// stores them, then sums those of each bin (ashkiani2017 §7.3)
            ending: Ending = "atomics",
        },
    }
}

/// The costs of a case by its method. The final counts are not counted as accesses: m is small compared with n. On GPUs a
/// separate launch clears them if they are added to.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match spec.method {
        Method::Best => copies::costs(spec),
        Method::Ballot { ending } => ballot::costs(spec, ending),
    }
}

/// True if values are added to the counts, so that those must be cleared before.
pub fn adds(spec: &Spec) -> bool {
    spec.method != Method::Ballot { ending: Ending::Reduction }
}

/// A pass that adds to the counts, behind the one that clears them.
fn cleared(spec: &Spec, counted: Pass) -> Vec<Pass> {
    let cleared = spec.backend.is_cuda().then(|| Pass::once([Access::writes("counts", 8, spec.bins)]));
    cleared.into_iter().chain([counted]).collect()
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, ballot, copies};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::histogram::Spec;
    use crate::primitives::histogram::cuda::{Made, Step};

    /// The kernels that an execution launches.
    pub fn kernels(spec: &Spec) -> KernelList {
        match spec.method {
            Method::Best => copies::cuda::kernels(spec),
            Method::Ballot { ending } => ballot::cuda::kernels(spec, ending),
        }
    }

    /// The method of a case.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn method(made: &Made) -> Result<GpuMethod<Step>, Failure> {
        match made.spec.method {
            Method::Best => copies::cuda::method(made),
            Method::Ballot { ending } => ballot::cuda::method(made, ending),
        }
    }
}

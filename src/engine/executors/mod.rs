//! The engine's backends: the only module that imports implementations.

pub mod cpu;
pub mod cuda;
mod fetching;
pub mod peer;

#[cfg(test)]
#[path = "../../../tests/lab/mock.rs"]
pub mod mock;

use std::path::Path;

use crate::case::{Case, Failure};
use crate::device::cuda::ComputeCapability;
use crate::engine::Executor;
use crate::primitives::implementations::implementation;
use peer::PeerExecutor;

pub use crate::device::cuda::{KernelList, Launched};

/// The GPU launches of one execution of a case, determined without a GPU, for profilers.
///
/// # Errors
/// When the primitive has no CUDA kernels, or the case is invalid.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    // A case has other kernels since bulk copies, as many of them.
    let generations = [(7, 5), (9, 0)].map(|capability| kernels(case, capability));
    Ok(Launched::of(&generations.into_iter().collect::<Result<Vec<_>, _>>()?))
}

/// The kernels of a case on a GPU of this generation.
///
/// # Errors
/// As for [`launched`].
pub fn kernels(case: &Case, capability: ComputeCapability) -> Result<KernelList, Failure> {
    implementation(case)?.kernels(case, capability)
}

/// Every backend of this build, whether available or not.
pub fn all() -> Vec<Box<dyn Executor>> {
    vec![
        Box::new(cpu::CpuExecutor::scalar()),
        Box::new(cpu::CpuExecutor::cpu()),
        Box::new(cuda::CudaExecutor::default()),
    ]
}

/// [`all`], the peers whose programs are in this folder, and what answers for those that papers' folders name.
pub fn with_peers(folder: Option<&Path>, allowed: bool) -> Vec<Box<dyn Executor>> {
    let peers = peer::all(folder).chain([PeerExecutor::of_folders(allowed)]);
    all().into_iter().chain(peers.map(|peer| Box::new(peer) as Box<dyn Executor>)).collect()
}

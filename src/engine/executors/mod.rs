//! The backends as the engine runs them: the only place that imports implementations.

pub mod cpu;
pub mod cuda;
mod fetching;
pub mod mock;
pub mod peer;

use std::path::Path;

use crate::case::{Case, Failure};
use crate::device::cuda::GpuFacts;
use crate::engine::Executor;
use crate::primitives::implementations::implementation;

pub use crate::device::cuda::{Launched, Named};

/// What an execution of a case launches on a GPU, known without one: for profilers.
///
/// # Errors
/// A primitive without CUDA kernels, and a case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    implementation(case)?.launched(case)
}

/// The kernels that a case asks for on such a GPU.
///
/// # Errors
/// As of [`launched`].
pub fn kernels(case: &Case, gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
    implementation(case)?.kernels(case, gpu)
}

/// Every backend of this build, available or not.
pub fn all() -> Vec<Box<dyn Executor>> {
    vec![
        Box::new(cpu::CpuExecutor::scalar()),
        Box::new(cpu::CpuExecutor::cpu()),
        Box::new(cuda::CudaExecutor::default()),
    ]
}

/// The same, and the peers whose programs are in this folder.
pub fn with_peers(folder: Option<&Path>) -> Vec<Box<dyn Executor>> {
    let peers = peer::all(folder).map(|peer| Box::new(peer) as Box<dyn Executor>);
    all().into_iter().chain(peers).collect()
}

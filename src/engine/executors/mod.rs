//! The backends as the engine runs them: the only place that imports implementations.

pub mod cpu;
pub mod cuda;
mod fetching;
mod launches;
pub mod mock;
pub mod peer;

use std::path::Path;

use crate::engine::Executor;

pub use launches::{Launched, kernels, launched};

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

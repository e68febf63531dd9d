//! The backends as the engine runs them: the only place that imports implementations.

pub mod cpu;
pub mod cuda;
mod fetching;
pub mod mock;

use crate::backend::Executor;

/// Every backend of this build, available or not.
pub fn all() -> Vec<Box<dyn Executor>> {
    vec![
        Box::new(cpu::CpuExecutor::scalar()),
        Box::new(cpu::CpuExecutor::cpu()),
        Box::new(cuda::CudaExecutor::default()),
    ]
}

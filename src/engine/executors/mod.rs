//! The backends as the engine runs them: the only place that imports implementations.

pub mod cpu;
pub mod cuda;
pub mod mock;

use crate::backend::Executor;

/// Every backend of this build, available or not.
pub fn all() -> Vec<Box<dyn Executor>> {
    vec![
        Box::new(cpu::ScalarExecutor::default()),
        Box::new(cpu::CpuExecutor::default()),
        Box::new(cuda::CudaExecutor::default()),
    ]
}

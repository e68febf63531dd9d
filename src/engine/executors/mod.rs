//! The backends as the engine runs them.

pub mod cuda;
pub mod mock;

use crate::backend::Executor;

/// Every backend of this build, available or not.
pub fn all() -> Vec<Box<dyn Executor>> {
    vec![Box::new(cuda::CudaExecutor::default())]
}

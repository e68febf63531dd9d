//! The CUDA backend, based on `cust`, with the driver loaded at run time, and its result codes as failures of a case.

mod ahead;
mod buffer;
mod driver;
mod gate;
mod gpu;
mod kernel;
mod limits;
mod management;
mod overlap;
mod packed;
mod ptx;
mod span;
mod transfer;

pub use ahead::Ahead;
pub use buffer::DeviceBuffer;
pub use gpu::Gpu;
pub use kernel::{Arg, Kernel, Module};
pub use limits::{Limit, Persisting};

use crate::case::Failure;
use cust::error::{CudaError, CudaResult};
use cust::sys::cudaError_enum;

/// Codes after which the context returns only errors (CUDA driver API, `CUresult`: "the process must be
/// terminated and relaunched"), or after which the device is gone.
const STICKY: &[u32] =
    &[4, 46, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999];

/// The code for "out of memory".
const OUT_OF_MEMORY: u32 = 2;

/// An unmodified error code of the driver; `cust`'s closed enum knows fewer of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code(pub u32);

impl Code {
    /// The code of an error that was just returned by a call through our shims.
    fn of(error: CudaError) -> Code {
        match error {
            CudaError::UnknownError => Code(driver::last_code()),
            CudaError::InvalidMemoryAllocation => Code(1),
            other => Code(other as u32),
        }
    }

    /// The failure of driver function `call` with this code.
    pub fn failure(self, call: &str) -> Failure {
        let text = format!("{call}: {} ({})", driver::name(self.0), self.0);
        if STICKY.contains(&self.0) { Failure::Lost(text) } else { Failure::Failed(text) }
    }
}

/// Converts the result of a function of `cust` to one with a code.
fn code<T>(result: CudaResult<T>) -> Result<T, Code> {
    result.map_err(Code::of)
}

/// Converts the result of a function of `cust` that calls `call`.
fn check<T>(call: &str, result: CudaResult<T>) -> Result<T, Failure> {
    code(result).map_err(|code| code.failure(call))
}

/// Converts the result of a driver function that was called directly.
fn raw(result: cudaError_enum) -> Result<(), Code> {
    match result {
        cudaError_enum::CUDA_SUCCESS => Ok(()),
        cudaError_enum::CUDA_ERROR_UNKNOWN => Err(Code(driver::last_code())),
        other => Err(Code(other as u32)),
    }
}

/// Converts the result of the driver function `call`, which was called directly.
fn check_raw(call: &str, result: cudaError_enum) -> Result<(), Failure> {
    raw(result).map_err(|code| code.failure(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_the_call_and_the_name_of_the_code() {
        let failure = Code(1).failure("cuMemAlloc");
        assert_eq!(failure, Failure::Failed("cuMemAlloc: CUDA_ERROR_INVALID_VALUE (1)".into()));
    }

    #[test]
    fn only_errors_that_stay_lose_the_device() {
        for lost in [700, 719, 214, 715, 716, 999] {
            assert!(matches!(Code(lost).failure("f"), Failure::Lost(_)), "{lost}");
        }
        for not in [1, 2, 222, 209, 701, 720] {
            assert!(matches!(Code(not).failure("f"), Failure::Failed(_)), "{not}");
        }
    }
}

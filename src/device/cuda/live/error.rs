//! The driver's result codes as failures of a case.

use cust::error::{CudaError, CudaResult};
use cust::sys::cudaError_enum;

use super::driver;
use crate::case::Failure;

/// Codes after which the context answers nothing but errors (CUDA driver API,
/// `CUresult`: "the process must be terminated and relaunched"), or after which the
/// device is gone.
const STICKY: &[u32] =
    &[4, 46, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999];

/// The code for "out of memory".
pub(super) const OUT_OF_MEMORY: u32 = 2;

/// An error as the driver gave it: `cust` and its closed enum know fewer codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(pub u32);

impl Code {
    /// The code behind an error that a call through our shims has just returned.
    fn of(error: CudaError) -> Code {
        match error {
            CudaError::UnknownError => Code(driver::last_code()),
            CudaError::InvalidMemoryAllocation => Code(1),
            other => Code(other as u32),
        }
    }

    /// The failure of `call`.
    pub fn failure(self, call: &str) -> Failure {
        let text = format!("{call}: {} ({})", driver::name(self.0), self.0);
        if STICKY.contains(&self.0) { Failure::Lost(text) } else { Failure::Failed(text) }
    }
}

/// The result of a function of `cust`, its error as a code.
pub(super) fn code<T>(result: CudaResult<T>) -> Result<T, Code> {
    result.map_err(Code::of)
}

/// The result of a function of `cust` that calls `call`.
pub(super) fn check<T>(call: &str, result: CudaResult<T>) -> Result<T, Failure> {
    code(result).map_err(|code| code.failure(call))
}

/// The result of a driver function that is called directly.
pub(super) fn raw(result: cudaError_enum) -> Result<(), Code> {
    match result {
        cudaError_enum::CUDA_SUCCESS => Ok(()),
        cudaError_enum::CUDA_ERROR_UNKNOWN => Err(Code(driver::last_code())),
        other => Err(Code(other as u32)),
    }
}

/// The result of the driver function `call`, called directly.
pub(super) fn check_raw(call: &str, result: cudaError_enum) -> Result<(), Failure> {
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

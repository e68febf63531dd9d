//! Launches that overlap with the launch before them (CUDA driver API, "programmatic stream serialization").
//!
//! `cust` lacks the function and its types, which were added in CUDA 11.8; the kernels require a newer driver.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr;

use cust::sys::{CUfunction, CUstream};

use super::{Code, driver};

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_uint = 6;

/// `CUlaunchAttribute`. The value is a union of 64 bytes, of which this attribute is an integer.
#[repr(C, align(8))]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    allowed: c_int,
    rest: [u8; 60],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: CUstream,
    attributes: *const Attribute,
    count: c_uint,
}

type LaunchKernelEx =
    unsafe extern "C" fn(*const Config, CUfunction, *mut *mut c_void, *mut *mut c_void) -> u32;

/// Blocks of a launch, threads of a block, and bytes of dynamic shared memory per block.
pub(super) struct Shape {
    pub grid: u32,
    pub block: u32,
    pub shared_bytes: u32,
}

/// The driver's launch of a kernel that begins while the launch before it ends.
#[derive(Clone, Copy)]
pub(super) struct Dependent(LaunchKernelEx);

impl Dependent {
    /// Looks the driver's function up.
    pub fn new() -> Result<Dependent, Code> {
        let address = driver::symbol(c"cuLaunchKernelEx").map_err(Code)?;
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        Ok(Dependent(unsafe { transmute::<*mut c_void, LaunchKernelEx>(address) }))
    }

    /// Queues a kernel behind the last launch of a stream.
    ///
    /// # Safety
    /// The handles are alive, and there is a value of the right size for each of the kernel's parameters.
    pub unsafe fn launch(
        self,
        function: CUfunction,
        shape: Shape,
        stream: CUstream,
        values: &mut [*mut c_void],
    ) -> Result<(), Code> {
        let attribute =
            Attribute { id: PROGRAMMATIC_STREAM_SERIALIZATION, padding: [0; 4], allowed: 1, rest: [0; 60] };
        let config = Config {
            grid: [shape.grid, 1, 1],
            block: [shape.block, 1, 1],
            shared_bytes: shape.shared_bytes,
            stream,
            attributes: &raw const attribute,
            count: 1,
        };
        // SAFETY: the driver reads the configuration before it returns; the rest is the caller's promise.
        match unsafe { (self.0)(&config, function, values.as_mut_ptr(), ptr::null_mut()) } {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The layout of `cuda.h`.
    #[test]
    fn the_layout_is_the_drivers() {
        assert_eq!(
            (size_of::<Attribute>(), align_of::<Attribute>(), offset_of!(Attribute, allowed)),
            (72, 8, 8)
        );
        assert_eq!((size_of::<Config>(), offset_of!(Config, stream)), (56, 32));
        assert_eq!((offset_of!(Config, attributes), offset_of!(Config, count)), (40, 48));
    }
}

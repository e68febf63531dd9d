//! Libraries of machine code, compiled by the driver from PTX independently of any context.
//!
//! The driver's older call, `cuModuleLoadDataEx`, holds the context while it compiles, which serializes threads.
//! Libraries are compiled in parallel: sixteen kernels that take one thread 0.7 s take four threads 0.17 s (H200,
//! driver 580), and the driver's cache serves both calls. Its linker compiles in parallel as well, but leaves
//! functions to be linked: they are called instead of inlined, and kernels run up to a half slower.
//!
//! `cust` lacks these functions, which were added in CUDA 12.0; the kernels require an even newer driver.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;

use cust::sys::CUfunction;

use super::Code;
use super::driver;

/// A compiled PTX text.
pub(super) struct Library(*mut c_void);

// SAFETY: the driver may be called with a handle from any thread.
unsafe impl Send for Library {}
// SAFETY: see `Send` above.
unsafe impl Sync for Library {}

impl Library {
    /// Compiles a text. Concurrent calls do not wait for each other.
    pub fn new(text: &CStr) -> Result<Library, Code> {
        type Load = unsafe extern "C" fn(
            *mut *mut c_void,
            *const c_void,
            *mut c_void,
            *mut *mut c_void,
            u32,
            *mut c_void,
            *mut *mut c_void,
            u32,
        ) -> u32;
        let address = driver::symbol(c"cuLibraryLoadData").map_err(Code)?;
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let load: Load = unsafe { transmute(address) };
        let mut library = ptr::null_mut();
        let (none, nothing) = (ptr::null_mut::<c_void>(), ptr::null_mut::<*mut c_void>());
        // SAFETY: the text is null-terminated, and there are no options.
        let answer = unsafe { load(&mut library, text.as_ptr().cast(), none, nothing, 0, none, nothing, 0) };
        done(answer).map(|()| Library(library))
    }

    /// The function of a kernel in the current context.
    pub fn function(&self, kernel: &CStr) -> Result<CUfunction, Code> {
        let address = driver::symbol(c"cuLibraryGetKernel").map_err(Code)?;
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let find: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> u32 =
            unsafe { transmute(address) };
        let address = driver::symbol(c"cuKernelGetFunction").map_err(Code)?;
        // SAFETY: as for `cuLibraryGetKernel`.
        let get: unsafe extern "C" fn(*mut CUfunction, *mut c_void) -> u32 = unsafe { transmute(address) };
        let (mut handle, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the library is loaded, and both results outlive the calls.
        done(unsafe { find(&mut handle, self.0, kernel.as_ptr()) })?;
        // SAFETY: `handle` was just returned by the driver.
        done(unsafe { get(&mut function, handle) }).map(|()| function)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let Ok(address) = driver::symbol(c"cuLibraryUnload") else { return };
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let unload: unsafe extern "C" fn(*mut c_void) -> u32 = unsafe { transmute(address) };
        // SAFETY: no kernel of the library is in use any more. If unloading fails, the library stays loaded.
        let _ = unsafe { unload(self.0) };
    }
}

fn done(answer: u32) -> Result<(), Code> {
    if answer == 0 { Ok(()) } else { Err(Code(answer)) }
}

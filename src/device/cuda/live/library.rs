//! Machine code that the driver makes of PTX, apart from any context.
//!
//! The driver's older call, `cuModuleLoadDataEx`, holds the context while it compiles, so that threads compile one
//! after another. Libraries are compiled side by side: sixteen kernels that take one thread 0.7 s take four 0.17 s
//! (H200, driver 580), and the driver's cache serves both. Its linker compiles side by side as well, but each text for
//! being linked to others: functions are called that would be inlined, and kernels come out slower by up to a half.
//!
//! `cust` does not know these functions, which came with CUDA 12.0; the kernels need a newer driver than that.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;

use cust::sys::CUfunction;

use super::driver;
use super::error::Code;

/// A PTX text, compiled.
pub(super) struct Library(*mut c_void);

// SAFETY: the driver may be called with a handle from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Has the driver compile a text. Of several threads none waits for another.
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
        // SAFETY: the text ends with a zero, and there are no options.
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
        // SAFETY: as above.
        let get: unsafe extern "C" fn(*mut CUfunction, *mut c_void) -> u32 = unsafe { transmute(address) };
        let (mut handle, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the library is loaded, and both results outlive the calls.
        done(unsafe { find(&mut handle, self.0, kernel.as_ptr()) })?;
        // SAFETY: as above.
        done(unsafe { get(&mut function, handle) }).map(|()| function)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let Ok(address) = driver::symbol(c"cuLibraryUnload") else { return };
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let unload: unsafe extern "C" fn(*mut c_void) -> u32 = unsafe { transmute(address) };
        // SAFETY: nobody has a kernel of it any more. One that cannot be unloaded stays.
        let _ = unsafe { unload(self.0) };
    }
}

fn done(answer: u32) -> Result<(), Code> {
    if answer == 0 { Ok(()) } else { Err(Code(answer)) }
}

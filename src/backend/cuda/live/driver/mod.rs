//! The CUDA driver, found at run time.
//!
//! `cust` refers to the driver's functions by name and would have the linker bind them
//! to `libcuda.so.1`; a binary linked that way does not start without the driver. So
//! [`shims`] defines these names itself and forwards them to the library that
//! [`library`] opens at first use.

mod codes;
mod shims;

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;

use libloading::Library;

pub(super) use codes::{NO_DEVICE, name};

/// Names a driver library to use instead of the system's; for tests.
const OVERRIDE: &str = "SCATTERLAB_LIBCUDA";

/// Where the driver's library is looked for, in this order. The loader's own search
/// comes first; the others are where containers and WSL put it.
const CANDIDATES: [&str; 3] =
    ["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"];

thread_local! {
    /// The last result code on this thread that was an error.
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// The last error that the driver returned on this thread, as it gave it.
pub(super) fn last_code() -> u32 {
    LAST.get()
}

/// The opened driver, or why there is none. It stays open until the process ends.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(open).as_ref().map_err(String::as_str)
}

/// Opens the first candidate that loads.
fn open() -> Result<Library, String> {
    let named = std::env::var(OVERRIDE).ok();
    let candidates = named.as_deref().map_or(CANDIDATES.to_vec(), |path| vec![path]);
    let mut errors = Vec::new();
    for &path in &candidates {
        // SAFETY: loading runs the library's initialisers; this is NVIDIA's driver, or
        // what the person who set the variable asked for.
        match unsafe { Library::new(path) } {
            Ok(library) => return Ok(library),
            Err(error) => errors.push(error.to_string()),
        }
    }
    let missing = |e: &String| e.contains("cannot open shared object file: No such file");
    let found_but_broken = errors.iter().find(|e| !missing(e));
    Err(found_but_broken.cloned().unwrap_or_else(|| format!("{} not found", candidates[0])))
}

/// The address of the driver's function `name`, for the shims.
fn symbol(name: &CStr) -> Result<*mut std::ffi::c_void, u32> {
    let library = library().map_err(|_| codes::NO_DEVICE)?;
    // SAFETY: only the address is taken here; the shim that calls it has the type that
    // cust_raw declares for this name.
    let found = unsafe { library.get::<*mut std::ffi::c_void>(name) };
    found.map(|symbol| *symbol).map_err(|_| codes::SYMBOL_NOT_FOUND)
}

/// What `cust` may see of a result: it turns the number into a closed enum of CUDA
/// 11.4, so a newer code becomes 999. [`last_code`] keeps the original.
fn answer(code: u32) -> u32 {
    if code == 0 {
        return 0;
    }
    LAST.set(code);
    if codes::known_to_cust(code) { code } else { codes::UNKNOWN }
}

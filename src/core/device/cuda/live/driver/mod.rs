//! The CUDA driver, loaded at run time.
//!
//! `cust` refers to the driver's functions by name, which would link them to `libcuda.so.1`; such a binary does
//! not start without the driver. Therefore [`shims`] defines these names itself and forwards them to the
//! library that [`library`] opens at first use.

mod codes;
mod shims;

use std::cell::Cell;
use std::error::Error;
use std::ffi::CStr;
use std::sync::OnceLock;

use libloading::Library;

pub(super) use codes::{NO_DEVICE, SYMBOL_NOT_FOUND, name};

/// Environment variable with the path of a substitute driver library, for tests.
const OVERRIDE: &str = "SCATTERLAB_LIBCUDA";

/// Where to look for the driver's library, in this order: first in the loader's own search path, then where containers
/// and WSL put it.
const CANDIDATES: [&str; 3] =
    ["libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"];

thread_local! {
    /// The last error code returned on this thread.
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// The last error code that the driver returned on this thread, unchanged.
pub(super) fn last_code() -> u32 {
    LAST.get()
}

/// The driver's library, or why it is missing. It stays open until the process ends.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(open).as_ref().map_err(String::as_str)
}

/// Opens the library given by [`OVERRIDE`], or else the first candidate that loads.
fn open() -> Result<Library, String> {
    match std::env::var(OVERRIDE) {
        Ok(path) => open_first(&[&path]),
        Err(_) => open_first(&CANDIDATES),
    }
}

/// Opens the first candidate that loads. The error is that of a library that exists but does not load, or else says
/// that the first candidate was not found.
fn open_first(candidates: &[&str]) -> Result<Library, String> {
    let mut why = None;
    for &path in candidates {
        // SAFETY: loading runs the library's initializers; it is NVIDIA's driver, or the library that the user
        // requested by the variable.
        match unsafe { Library::new(path) } {
            Ok(library) => return Ok(library),
            Err(error) => why = why.or(broken(path, &error)),
        }
    }
    Err(why.unwrap_or_else(|| format!("{} not found", candidates.first().unwrap_or(&"libcuda.so.1"))))
}

/// The loader's error message, unless it only states that the file does not exist.
fn broken(path: &str, error: &libloading::Error) -> Option<String> {
    let words = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let missing = format!("{path}: cannot open shared object file: No such file");
    (!words.starts_with(&missing)).then_some(words)
}

/// The address of a function of the driver.
pub(super) fn symbol(name: &CStr) -> Result<*mut std::ffi::c_void, u32> {
    let library = library().map_err(|_| codes::NO_DEVICE)?;
    // SAFETY: this only takes the address; the shim that calls it has the type that cust_raw declares for this
    // name.
    let found = unsafe { library.get::<*mut std::ffi::c_void>(name) };
    found.map(|symbol| *symbol).map_err(|_| codes::SYMBOL_NOT_FOUND)
}

/// The result code passed on to `cust`, which converts it to a closed enum of CUDA 11.4; newer codes are
/// therefore replaced by 999. [`last_code`] keeps the original.
fn answer(code: u32) -> u32 {
    if code == 0 {
        return 0;
    }
    LAST.set(code);
    if codes::known_to_cust(code) { code } else { codes::UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_there_and_does_not_load_is_the_reason() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let why = open_first(&["libnowhere.so.1", path]).err().unwrap();
        assert!(why.contains("Cargo.toml") && why.contains("ELF"), "{why}");
        assert_eq!(open_first(&["libnowhere.so.1", "/x"]).err().unwrap(), "libnowhere.so.1 not found");
    }
}

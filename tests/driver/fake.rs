//! Compiles the driver in `fake.c`, makes the backend load it, and controls it.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::{Library, Symbol};

/// The single fake driver of this process, reset. Tests that hold it run one at a time.
pub struct Fake {
    library: &'static Library,
    _alone: MutexGuard<'static, ()>,
}

impl Fake {
    /// `None` without a C compiler, except in CI, where there must be one.
    pub fn new() -> Option<Fake> {
        static ALONE: Mutex<()> = Mutex::new(());
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let library = LIBRARY.get_or_init(load).as_ref()?;
        let fake = Fake { library, _alone: alone };
        // SAFETY: the function has this type in fake.c.
        unsafe { fake.get::<unsafe extern "C" fn()>("fake_reset")() };
        Some(fake)
    }

    /// Makes `function` return `code` from now on.
    pub fn fail(&self, function: &str, code: c_int) {
        let name = CString::new(function).unwrap();
        // SAFETY: the function has this type in fake.c, and it copies the name.
        unsafe { self.get::<unsafe extern "C" fn(*const c_char, c_int)>("fake_fail")(name.as_ptr(), code) };
    }

    /// Sets the number of devices.
    pub fn devices(&self, count: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_devices")(count) };
    }

    /// Sets whether devices can access each other's memory.
    pub fn peers(&self, can: bool) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_peers")(can.into()) };
    }

    /// Number of reserved address ranges, and of memory handles in use.
    pub fn mapped(&self) -> (c_uint, c_uint) {
        // SAFETY: the function has this type in fake.c.
        let get = |name| unsafe { self.get::<unsafe extern "C" fn() -> c_uint>(name)() };
        (get("fake_reserved"), get("fake_handles"))
    }

    /// Bytes of mapped memory that a device provides.
    pub fn backing(&self, device: c_int) -> u64 {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int) -> u64>("fake_backing")(device) }
    }

    /// Number of contexts that were requested.
    pub fn opened(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_opened")() }
    }

    /// A bit mask of the devices that were opened.
    pub fn which(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_which")() }
    }

    /// Number of allocations that have not been freed.
    pub fn allocations(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_allocations")() }
    }

    /// Sets the driver's CUDA version, as 1000 * major + 10 * minor.
    pub fn version(&self, cuda: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_version")(cuda) };
    }

    /// Blocks, threads and dynamic shared memory of the last launch.
    pub fn launched(&self) -> [c_uint; 3] {
        // SAFETY: the function has this type in fake.c.
        let get = self.get::<unsafe extern "C" fn(c_int) -> c_uint>("fake_launched");
        // SAFETY: the function has this type in fake.c.
        [0, 1, 2].map(|i| unsafe { get(i) })
    }

    /// The dynamic shared memory that a kernel opted into; 0 if none did.
    pub fn raised(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_raised")() }
    }

    /// Sets the largest part of L2 that can be set aside, effective from the next opening on.
    pub fn persisting(&self, bytes: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_persisting")(bytes) };
    }

    /// Bytes that L2 fetches on a miss, and bytes of L2 that are set aside.
    pub fn limits(&self) -> [usize; 2] {
        // SAFETY: the function has this type in fake.c.
        let get = self.get::<unsafe extern "C" fn(c_int) -> usize>("fake_limit");
        // SAFETY: the function has this type in fake.c.
        [5, 6].map(|limit| unsafe { get(limit) })
    }

    /// Bytes of the stream's access policy window, and whether accesses in it persist.
    pub fn window(&self) -> (usize, bool) {
        // SAFETY: the function has this type in fake.c.
        let bytes = unsafe { self.get::<unsafe extern "C" fn() -> usize>("fake_window")() };
        // SAFETY: the function has this type in fake.c.
        (bytes, unsafe { self.get::<unsafe extern "C" fn() -> c_int>("fake_persists")() } != 0)
    }

    /// Number of resets of persisting L2 lines.
    pub fn resets(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_resets")() }
    }

    /// Number of launches that may overlap with the one before them.
    pub fn overlapped(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_overlapped")() }
    }

    /// Sets the compute capability, effective from the next opening on.
    pub fn capability(&self, major: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_capability")(major) };
    }

    /// Number of modules loaded.
    pub fn loaded(&self) -> c_long {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_long>("fake_loaded")() }
    }

    /// Names of the kernels compiled since the last call.
    pub fn compiled(&self) -> Vec<String> {
        // SAFETY: the function has this type in fake.c.
        let get = self.get::<unsafe extern "C" fn() -> *const c_char>("fake_compiled");
        // SAFETY: the function has this type in fake.c, and its text ends with a zero.
        let names = unsafe { CStr::from_ptr(get()) }.to_str().unwrap();
        let names = names.lines().map(str::to_owned).collect();
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn()>("fake_forget")() };
        names
    }

    /// Number of kernels compiled while something was being timed.
    pub fn disturbed(&self) -> c_uint {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_disturbed")() }
    }

    fn get<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: the callers give the types that fake.c defines.
        unsafe { self.library.get(name) }.unwrap()
    }
}

/// Builds the library and makes the backend load it.
fn load() -> Option<Library> {
    let path = compile()?;
    // SAFETY: only this thread runs the backend now (the others wait for the lock or
    // for this initialisation), and it reads the variable once, later.
    unsafe { std::env::set_var("SCATTERLAB_LIBCUDA", &path) };
    // SAFETY: the library has no initialisers.
    Some(unsafe { Library::new(&path) }.unwrap())
}

fn compile() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/fake.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libfakecuda.so");
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).status();
    match cc {
        Ok(status) => assert!(status.success(), "cc refused {}", source.display()),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "cc: {error}");
            eprintln!("skipped: no C compiler ({error})");
            return None;
        }
    }
    Some(library)
}

//! Compiles the driver of `fake.c`, has the backend load it, and steers it.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::{Library, Symbol};

/// The one fake driver of this process, reset. Tests that hold it run one at a time.
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

    /// Makes `function` answer `code` from now on.
    pub fn fail(&self, function: &str, code: c_int) {
        let name = CString::new(function).unwrap();
        // SAFETY: as above; the name is copied.
        unsafe { self.get::<unsafe extern "C" fn(*const c_char, c_int)>("fake_fail")(name.as_ptr(), code) };
    }

    /// How many devices there are.
    pub fn devices(&self, count: c_int) {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_devices")(count) };
    }

    /// Whether devices can access each other's memory.
    pub fn peers(&self, can: bool) {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_peers")(can.into()) };
    }

    /// Ranges of addresses that are reserved, and memory that is held by its handle.
    pub fn mapped(&self) -> (c_uint, c_uint) {
        // SAFETY: as above.
        let get = |name| unsafe { self.get::<unsafe extern "C" fn() -> c_uint>(name)() };
        (get("fake_reserved"), get("fake_handles"))
    }

    /// Bytes of mapped memory that a device has given.
    pub fn backing(&self, device: c_int) -> u64 {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn(c_int) -> u64>("fake_backing")(device) }
    }

    /// Contexts that were asked for.
    pub fn opened(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_opened")() }
    }

    /// A bit for each device that was opened.
    pub fn which(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_which")() }
    }

    /// Allocations that have not been freed.
    pub fn allocations(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_allocations")() }
    }

    /// Its CUDA version, as 1000 * major + 10 * minor.
    pub fn version(&self, cuda: c_int) {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_version")(cuda) };
    }

    /// Blocks, threads and dynamic shared memory of the last launch.
    pub fn launched(&self) -> [c_uint; 3] {
        // SAFETY: as above.
        let get = self.get::<unsafe extern "C" fn(c_int) -> c_uint>("fake_launched");
        // SAFETY: as above.
        [0, 1, 2].map(|i| unsafe { get(i) })
    }

    /// The dynamic shared memory that was opted into, 0 before.
    pub fn raised(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_raised")() }
    }

    /// Most of L2 that can be set aside, from the next opening on.
    pub fn persisting(&self, bytes: c_int) {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn(c_int)>("fake_persisting")(bytes) };
    }

    /// What L2 fetches at a miss, and what of it is set aside.
    pub fn limits(&self) -> [usize; 2] {
        // SAFETY: as above.
        let get = self.get::<unsafe extern "C" fn(c_int) -> usize>("fake_limit");
        // SAFETY: as above.
        [5, 6].map(|limit| unsafe { get(limit) })
    }

    /// Bytes of the stream's window, and whether accesses there persist.
    pub fn window(&self) -> (usize, bool) {
        // SAFETY: as above.
        let bytes = unsafe { self.get::<unsafe extern "C" fn() -> usize>("fake_window")() };
        // SAFETY: as above.
        (bytes, unsafe { self.get::<unsafe extern "C" fn() -> c_int>("fake_persists")() } != 0)
    }

    /// How often L2 gave up what it kept.
    pub fn resets(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_resets")() }
    }

    /// Modules that are loaded.
    pub fn loaded(&self) -> c_long {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_long>("fake_loaded")() }
    }

    /// Names of the kernels that were compiled since the last call.
    pub fn compiled(&self) -> Vec<String> {
        // SAFETY: as above.
        let get = self.get::<unsafe extern "C" fn() -> *const c_char>("fake_compiled");
        // SAFETY: as above; the text ends with a zero.
        let names = unsafe { CStr::from_ptr(get()) }.to_str().unwrap();
        let names = names.lines().map(str::to_owned).collect();
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn()>("fake_forget")() };
        names
    }

    /// Kernels that were compiled while something was timed.
    pub fn disturbed(&self) -> c_uint {
        // SAFETY: as above.
        unsafe { self.get::<unsafe extern "C" fn() -> c_uint>("fake_disturbed")() }
    }

    fn get<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: the callers name the types of fake.c.
        unsafe { self.library.get(name) }.unwrap()
    }
}

/// Builds the library and points the backend at it.
fn load() -> Option<Library> {
    let path = compile()?;
    // SAFETY: only this thread runs the backend now (the others wait for the lock or
    // for this initialisation), and it reads the variable once, later.
    unsafe { std::env::set_var("SCATTERLAB_LIBCUDA", &path) };
    // SAFETY: it has no initialisers.
    Some(unsafe { Library::new(&path) }.unwrap())
}

fn compile() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_driver/fake.c");
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

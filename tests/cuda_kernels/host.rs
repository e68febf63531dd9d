//! Compiles the kernels and the driver in `driver.cpp` for the host, and makes the backend load them.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use libloading::Library;

/// The single simulated GPU of this process. Tests that hold it run one at a time.
pub struct Host {
    library: &'static Library,
    _alone: MutexGuard<'static, ()>,
}

impl Host {
    /// `None` without a C++ compiler, except in CI, where there must be one.
    pub fn new() -> Option<Host> {
        static ALONE: Mutex<()> = Mutex::new(());
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let library = LIBRARY.get_or_init(load).as_ref()?;
        Some(Host { library, _alone: alone })
    }

    /// Sets the number of GPUs from now on.
    pub fn gpus(&self, count: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.library.get::<unsafe extern "C" fn(c_int)>("fake_devices").unwrap()(count) };
    }

    /// Sets the compute capability of GPUs that are opened from now on.
    pub fn capability(&self, major: c_int) {
        // SAFETY: the function has this type in fake.c.
        unsafe { self.library.get::<unsafe extern "C" fn(c_int)>("fake_capability").unwrap()(major) };
    }

    /// Number of bytes written outside of allocations, counted as these are freed.
    pub fn strayed(&self) -> u32 {
        // SAFETY: the function has this type in driver.cpp.
        unsafe { self.library.get::<unsafe extern "C" fn() -> c_uint>("fake_strayed").unwrap()() }
    }

    /// Names of the kernels compiled since the last call.
    pub fn compiled(&self) -> BTreeSet<String> {
        // SAFETY: the function has this type in fake.c, and its text ends with a zero.
        let names = unsafe {
            let get = self.library.get::<unsafe extern "C" fn() -> *const c_char>("fake_compiled").unwrap();
            CStr::from_ptr(get()).to_str().unwrap()
        };
        let names = names.lines().map(str::to_owned).collect();
        // SAFETY: the function has this type in fake.c.
        unsafe { self.library.get::<unsafe extern "C" fn()>("fake_forget").unwrap()() };
        names
    }
}

impl Drop for Host {
    /// Restores the default GPU for the next test, whatever the outcome of this one.
    fn drop(&mut self) {
        self.capability(9);
    }
}

/// The committed PTX of a module.
pub fn ptx(module: &str) -> String {
    fs::read_to_string(root().join(format!("kernels/ptx/{module}.ptx"))).unwrap()
}

/// Names of the kernels in a PTX text.
pub fn entries(ptx: &str) -> Vec<&str> {
    ptx.split(".entry ")
        .skip(1)
        .filter_map(|rest| rest.split_once('('))
        .map(|(name, _)| name.trim())
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of `kernels/` with this extension.
fn kernels(extension: &str) -> Vec<String> {
    let files = fs::read_dir(root().join("kernels")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|found| found == extension));
    files.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

fn load() -> Option<Library> {
    let modules = kernels("cu");
    let modules: Vec<&str> = modules.iter().filter_map(|file| file.strip_suffix(".cu")).collect();
    let path = compile("cuda_kernels", &modules)?;
    // SAFETY: only this thread runs the backend now (the others wait for the lock or
    // for this initialisation), and it reads the variable once, later.
    unsafe { std::env::set_var("SCATTERLAB_LIBCUDA", &path) };
    // SAFETY: its initialisers only fill a table.
    Some(unsafe { Library::new(&path) }.unwrap())
}

/// Builds the driver with the kernels of these modules in a folder of this name; `None` without a C++ compiler,
/// except in CI.
pub fn compile(name: &str, modules: &[&str]) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut sources = vec![root().join("tests/cuda_kernels/driver.cpp")];
    for header in kernels("cuh") {
        fs::write(folder.join(&header), translated(&header)).unwrap();
    }
    for module in modules {
        let kernels: String = entries(&ptx(module)).iter().map(|name| format!("KERNEL({name})\n")).collect();
        let text = format!("#include \"device.h\"\n{}\n{kernels}", translated(&format!("{module}.cu")));
        let source = folder.join(format!("{module}.cpp"));
        fs::write(&source, text).unwrap();
        sources.push(source);
    }
    let library = folder.join("libcudakernels.so");
    let flags = ["-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-shared", "-fPIC"];
    let cxx = Command::new("c++")
        .args(flags)
        .arg(format!("-I{}", root().join("tests/cuda_kernels").display()))
        .arg("-o")
        .arg(&library)
        .args(sources)
        .status();
    match cxx {
        Ok(status) => assert!(status.success(), "c++ refused the kernels"),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "c++: {error}");
            eprintln!("skipped: no C++ compiler ({error})");
            return None;
        }
    }
    Some(library)
}

/// A source adapted for the host's compiler: kernels get internal linkage, because several modules share kernel
/// names, and the driver provides the dynamic shared memory.
fn translated(file: &str) -> String {
    let text = fs::read_to_string(root().join("kernels").join(file)).unwrap();
    text.replace("extern \"C\" __global__", "__global__").replace("extern __shared__", "extern")
}

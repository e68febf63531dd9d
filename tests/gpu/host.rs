//! Compiles the kernels and the driver in `driver.cpp` for the host, and makes the backend load them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};
use std::thread;

use libloading::Library;
use rayon::prelude::*;
use scatterlab::device::cuda::GATE;

const FLAGS: [&str; 7] =
    ["-std=c++17", "-O2", "-march=native", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC"];

/// Names the simulated GPU's driver to a test that runs in a process of its own.
const DRIVER: &str = "SCATTERLAB_TEST_DRIVER";

/// The simulated GPU, of which a process has one. Each test runs in a process of its own, so that as many run at a time as the
/// test runner has threads.
pub struct Host {
    library: &'static Library,
}

impl Host {
    /// `None` in the process that runs all tests, once this test has passed in its own, and without a C++ compiler, except
    /// in CI, where there must be one.
    ///
    /// # Panics
    /// If the test fails in its own process.
    pub fn new() -> Option<Host> {
        static BUILT: LazyLock<Option<PathBuf>> = LazyLock::new(build);
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        if let Some(driver) = std::env::var_os(DRIVER) {
            return Some(Host { library: LIBRARY.get_or_init(|| load(&driver)) });
        }
        run_alone(BUILT.as_ref()?);
        None
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
        let names = self.text("fake_compiled").lines().map(str::to_owned).collect();
        // SAFETY: the function has this type in fake.c.
        unsafe { self.library.get::<unsafe extern "C" fn()>("fake_forget").unwrap()() };
        names
    }

    /// The kernels launched since the last call, the gate of timings aside, and how often.
    pub fn launches(&self) -> BTreeMap<String, u64> {
        let counted = |line: &str| {
            let (name, launches) = line.split_once(' ').unwrap();
            (name.to_owned(), launches.parse().unwrap())
        };
        self.text("fake_launches").lines().map(counted).filter(|(name, _)| name != GATE.1).collect()
    }

    /// Names of the kernels of which, since the last call, a launch overlapped with the one before it.
    pub fn overlaps(&self) -> BTreeSet<String> {
        self.text("fake_overlaps").lines().map(str::to_owned).collect()
    }

    /// Makes the last launch of a kernel go on where it should wait for earlier launches; an empty name is no kernel's.
    pub fn lose_wait(&self, kernel: &str) {
        let name = CString::new(kernel).unwrap();
        // SAFETY: the function has this type in driver.cpp, and it copies the name.
        unsafe {
            self.library.get::<unsafe extern "C" fn(*const c_char)>("fake_lose_waits").unwrap()(name.as_ptr())
        };
    }

    /// Fills allocations with zeros from now on: places that are computed from memory that no kernel has written are then
    /// inside of arrays.
    pub fn zeros(&self) {
        // SAFETY: the function has this type in driver.cpp.
        unsafe { self.library.get::<unsafe extern "C" fn(c_int)>("fake_fresh").unwrap()(0) };
    }

    /// What a function of the driver that returns a text says now.
    fn text(&self, function: &str) -> String {
        // SAFETY: the functions of driver.cpp and fake.c that return a text have this type; the text ends with a zero and
        // is copied before the driver is called again.
        unsafe {
            let get = self.library.get::<unsafe extern "C" fn() -> *const c_char>(function).unwrap();
            CStr::from_ptr(get()).to_str().unwrap().to_owned()
        }
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

/// The files with this extension in the folders of `kernels/`, by their paths from there.
fn kernels(extension: &str) -> Vec<PathBuf> {
    let root = root().join("kernels");
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = inside(&root).filter(|path| path.is_dir()).flat_map(|folder| inside(&folder));
    let files = files.filter(|path| path.extension().is_some_and(|found| found == extension));
    let mut files: Vec<PathBuf> = files.map(|path| path.strip_prefix(&root).unwrap().to_path_buf()).collect();
    files.sort();
    files
}

/// The name of the module that a source is.
fn stem(source: &Path) -> &str {
    source.file_stem().unwrap().to_str().unwrap()
}

/// Names of the modules.
pub fn modules() -> Vec<String> {
    kernels("cu").iter().map(|source| stem(source).to_owned()).collect()
}

/// The driver with all kernels.
fn build() -> Option<PathBuf> {
    let modules = modules();
    compile("gpu", &modules.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Loads the driver, and makes the backend load it.
fn load(driver: &OsStr) -> Library {
    // SAFETY: only this thread runs the backend now (the only test of its process), and it reads the variable once, later.
    unsafe { std::env::set_var("SCATTERLAB_LIBCUDA", driver) };
    // SAFETY: its initialisers only fill a table.
    unsafe { Library::new(driver) }.unwrap()
}

/// Runs the test of this thread in a process of its own, unless it has passed there.
fn run_alone(driver: &Path) {
    thread_local! {
        static PASSED: Cell<bool> = const { Cell::new(false) };
    }
    if PASSED.get() {
        return;
    }
    let thread = thread::current();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", thread.name().unwrap()]).env(DRIVER, driver).stderr(Stdio::inherit());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    PASSED.set(true);
}

/// Builds the driver with the kernels of these modules in a folder of this name; `None` without a C++ compiler,
/// except in CI.
pub fn compile(name: &str, modules: &[&str]) -> Option<PathBuf> {
    let compiler = version()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let tests = ["gpu/driver.cpp", "gpu/device.h", "driver/fake.c"];
    let [driver, device, fake] =
        tests.map(|file| fs::read_to_string(root().join("tests").join(file)).unwrap());
    let mut common = format!("{compiler}{FLAGS:?}{device}{fake}");
    for header in kernels("cuh") {
        let text = translated(&header);
        common.push_str(&text);
        let copy = folder.join(&header);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(copy, text).unwrap();
    }
    let mut sources = kernels("cu");
    sources.retain(|source| modules.contains(&stem(source)));
    let mut sources: Vec<(PathBuf, String)> =
        sources.into_iter().map(|source| (source.clone(), adapted(&source))).collect();
    sources.push(("driver".into(), driver));
    let objects = sources.par_iter().map(|(source, text)| object(&folder, &common, source, text));
    let objects: Vec<PathBuf> = objects.collect();
    // Another process may load the library meanwhile.
    let library = folder.join("libcudakernels.so");
    let unfinished = folder.join(format!("libcudakernels-{}.unfinished", std::process::id()));
    run(Command::new("c++").arg("-shared").arg("-o").arg(&unfinished).args(&objects));
    fs::rename(unfinished, &library).unwrap();
    remove_others(&folder, &objects);
    Some(library)
}

/// Builds a program of this text, which may include files of the repository; `None` without a C++ compiler, except in CI.
pub fn program(name: &str, text: &str) -> Option<PathBuf> {
    version()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("main.cpp"), folder.join(name));
    fs::write(&source, text).unwrap();
    let include = format!("-I{}", root().display());
    run(Command::new("c++").args(FLAGS).args(["-pthread", &include, "-o"]).arg(&program).arg(source));
    Some(program)
}

/// The compiler's version text; `None` if there is no compiler, which is an error in CI.
fn version() -> Option<String> {
    match Command::new("c++").arg("--version").output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "c++: {error}");
            eprintln!("skipped: no C++ compiler ({error})");
            None
        }
    }
}

/// A module for the host's compiler, with a table of its kernels.
fn adapted(source: &Path) -> String {
    let table: String = entries(&ptx(stem(source))).iter().map(|name| format!("KERNEL({name})\n")).collect();
    format!("#include \"device.h\"\n{}\n{table}", translated(source))
}

/// A source's object, named by all that went into it: one that an earlier run left is not made again, for the
/// compiler takes half a minute for all of them. The text lies where the source lies in `kernels/`, beside its headers.
fn object(folder: &Path, common: &str, source: &Path, text: &str) -> PathBuf {
    let name = stem(source);
    let hash = blake3::Hasher::new().update(common.as_bytes()).update(text.as_bytes()).finalize().to_hex();
    let object = folder.join(format!("{name}-{}.o", &hash[..16]));
    if !object.exists() {
        let source = folder.join(source).with_extension("cpp");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, text).unwrap();
        let unfinished = folder.join(format!("{name}-{}.unfinished", std::process::id()));
        let include = format!("-I{}", root().join("tests/gpu").display());
        run(Command::new("c++").args(FLAGS).arg(include).arg("-c").arg("-o").arg(&unfinished).arg(source));
        fs::rename(unfinished, &object).unwrap();
    }
    object
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "c++ refused the kernels");
}

/// Removes the objects of sources as they were before.
fn remove_others(folder: &Path, objects: &[PathBuf]) {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let objects_of_old =
        files.filter(|path| path.extension() == Some("o".as_ref()) && !objects.contains(path));
    objects_of_old.for_each(|path| fs::remove_file(path).unwrap());
}

/// A source adapted for the host's compiler: kernels get internal linkage, because several modules share kernel
/// names, and the driver provides the dynamic shared memory.
fn translated(file: &Path) -> String {
    let text = fs::read_to_string(root().join("kernels").join(file)).unwrap();
    text.replace("extern \"C\" __global__", "__global__").replace("extern __shared__", "extern")
}

//! The real program, and what its tests ask of its processes.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

/// The program, which Cargo builds beside the folder of the test binaries.
pub fn binary() -> &'static str {
    static BINARY: LazyLock<String> = LazyLock::new(|| {
        let test = std::env::current_exe().expect("this executable");
        let program = test.ancestors().nth(2).expect("two folders").join("scatterlab");
        program.to_str().expect("a path in UTF-8").to_owned()
    });
    &BINARY
}

/// The program in this folder, without a GPU: the result of a test must not depend on the machine.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(folder).env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1");
    command
}

pub fn scatterlab(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).output().expect("starts")
}

/// The command with at most so many bytes of address space, beyond which every allocation fails.
pub fn limited(command: &mut Command, bytes: u64) -> &mut Command {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: between fork and exec the call allocates nothing.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        })
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn rounds_in(events: &Path) -> usize {
    fs::read_to_string(events).map_or(0, |text| text.matches("\"event\":\"round\"").count())
}

pub fn wait_for_rounds(events: &Path, wanted: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while rounds_in(events) < wanted {
        assert!(Instant::now() < deadline, "no progress");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The process of a run's engine.
pub fn engine_of(run: &Child) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        // The run's own thread starts the engine, so look at every thread's children.
        let tasks = format!("/proc/{}/task", run.id());
        let engine = fs::read_dir(&tasks)
            .expect("the run is alive")
            .filter_map(Result::ok)
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .find_map(|list| list.split_whitespace().next().and_then(|id| id.parse().ok()));
        if let Some(engine) = engine {
            return engine;
        }
        assert!(Instant::now() < deadline, "no engine");
        thread::sleep(Duration::from_millis(10));
    }
}

pub fn signal(process: u32, signal: &str) {
    assert!(try_signal(process, signal), "process {process} is gone");
}

/// Sends a signal. Returns whether the process still existed.
pub fn try_signal(process: u32, signal: &str) -> bool {
    let status = Command::new("kill").args([signal, &process.to_string()]).status();
    status.expect("kill").success()
}

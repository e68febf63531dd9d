//! The engine: a separate process that runs a plan and reports events.
//!
//! It is separate so that a CUDA fault or memory exhaustion kills a child process and not the user interface,
//! so that drawing cannot disturb the measured process, and so that one stream of events serves as the log, the
//! file and the wire format to a remote machine. [`Executor`] is a backend, as the engine uses it.

pub mod clock;
pub mod device_profiles;
pub mod environment;
pub mod executors;
pub(crate) mod inbox;
mod inputs;
mod memory_check;
pub mod noise_monitor;
mod orders;
pub mod output_sampling;
pub mod protocol;
pub mod ranked;
pub mod ranks;
mod round;
mod sampler;
pub(crate) mod schedule;
pub mod server;
mod snapshots;
pub mod timeout;
mod turns;
pub mod verify;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::case::peers::Program;
use crate::case::{Cancel, Case, Device, Failure, Fault};
use crate::device::Prepared;
use crate::inputs::indices::Store;
use crate::stats::noise::GpuConditions;

/// A prepared case, or why there is none.
pub type Preparation = Result<Box<dyn Prepared>, Failure>;

/// A backend, as the engine uses it.
pub trait Executor {
    /// `scalar`, `cpu` or `cuda`, or `peer:NAME`.
    fn backend(&self) -> &'static str;

    /// The backend of a peer that a paper's folder names, if this one answers for those.
    fn of_program(&self, _program: &Program) -> Option<Box<dyn Executor>> {
        None
    }

    /// The current device, or why it is unavailable. With several devices, the one selected last; initially 0.
    fn device(&self) -> Device;

    /// All devices of this backend. If there are several, none is opened, because they may be in use by others;
    /// their free memory is therefore missing.
    fn devices(&self) -> Vec<Device> {
        vec![self.device()]
    }

    /// Selects the device with this number, as the preparation of a case does.
    fn select_device(&self, _device: u64) {}

    /// Allocates and generates the inputs of a case on the device where they will be used. `fault` requests a
    /// deliberately wrong implementation.
    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation;

    /// Starts compiling kernels for upcoming cases, given roughly in order of preparation. Compilation pauses
    /// while anything is [timed](crate::device::timing_lock::timing). A later call, also with an empty list, ends an
    /// earlier one. Must not be called while a sample is timed.
    fn compile_ahead(&self, _cases: &[&Case]) {}

    /// Sets the index arrays for subsequent cases.
    fn set_index_store(&mut self, _indices: &Arc<Store>) {}

    /// Median bandwidth of several plain copies in memory, GB/s (reads plus writes): used for estimates, and as
    /// a reference for the machine's performance during a run. Frees its memory.
    fn copy_probe(&self) -> Result<f64, Failure>;

    /// Keys that the current device ranks in a second, by one digit each, in the way of the case's method, where nothing
    /// else takes time: the roof of a case with a [`Ranking`](crate::case::Ranking). The result is certified. Frees its
    /// memory.
    fn ranking_probe(&self, _case: &Case) -> Result<f64, Failure> {
        Err(Failure::NotApplicable(format!("{} ranks nothing", self.backend())))
    }

    /// Fills the caches of the current case's device with other data, so that the next execution finds none of
    /// its own there. Returns the bytes allocated for that, which stay allocated between calls.
    fn evict(&self) -> Result<u64, Failure>;

    /// Waits until the current device has finished all of this executor's own work, so that another program can
    /// be timed on it.
    fn wait_for_own_work(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Current clocks, power, temperature and throttling of the GPU of the case prepared last; values that it
    /// does not report are missing. `None` for CPUs.
    fn gpu_conditions(&self) -> Option<GpuConditions> {
        None
    }
}

/// Starts a thread that writes lines to the standard input of a process, so that one that does not read cannot block
/// us; returns where to send them.
///
/// # Errors
/// When the thread cannot be started.
pub fn writer(name: &str, mut input: impl Write + Send + 'static) -> io::Result<Sender<Vec<u8>>> {
    let (sender, lines) = mpsc::channel::<Vec<u8>>();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Broken pipe: the reader of the process's output notices its end.
        lines.into_iter().all(|line| input.write_all(&line).and_then(|()| input.flush()).is_ok())
    })?;
    Ok(sender)
}

/// Options of ssh that take a value.
const SSH_WITH_VALUE: &str = "BbcDEeFIiJLlmOopQRSWw";

/// `ssh gpuhost` for `ssh -o BatchMode=yes gpuhost scatterlab engine`; the program's name for other commands,
/// such as `srun`.
pub fn name(command: &str) -> String {
    let mut words = command.split_whitespace().skip_while(|word| before_program(word));
    let program = words.next().map(base).unwrap_or_default();
    let host = if program == "ssh" { ssh_host(words) } else { None };
    let name = host.map_or_else(|| program.to_owned(), |host| format!("{program} {host}"));
    crate::case::units::shown(&name)
}

/// Whether a word is an assignment or a shell word that precedes the program.
fn before_program(word: &str) -> bool {
    ["exec", "env", "command", "time"].contains(&word) || word.contains('=')
}

fn base(word: &str) -> &str {
    let word = word.trim_matches(['\'', '"', ';']);
    word.rsplit('/').next().unwrap_or(word)
}

/// The first non-option word, without a user name.
fn ssh_host<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            None => return Some(word.rsplit('@').next().unwrap_or(word)),
            // The value may be attached: -p22. In a group of letters only the last may take a separate value.
            Some(letters) => {
                let takes = letters.find(|c| SSH_WITH_VALUE.contains(c));
                if takes.is_some_and(|at| at + 1 == letters.len()) {
                    words.next();
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_called_by_their_host_or_their_program() {
        let table = [
            ("ssh -o BatchMode=yes gpuhost scatterlab engine", "ssh gpuhost"),
            ("ssh -oBatchMode=yes -p22 -Ap 22 me@gpu.example.org scatterlab engine", "ssh gpu.example.org"),
            ("/usr/bin/ssh -4 host 'cd x && scatterlab engine'", "ssh host"),
            ("srun --gres=gpu:1 scatterlab engine", "srun"),
            ("CUDA_VISIBLE_DEVICES=1 exec '/opt/bin/scatterlab' engine", "scatterlab"),
            ("ssh", "ssh"),
            ("", ""),
        ];
        for (command, wanted) in table {
            assert_eq!(name(command), wanted, "{command}");
        }
    }
}

//! `scatterlab engine`: the process that runs plans.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::ExitCode;

use anyhow::Context;

use crate::engine::executors;
use crate::engine::protocol::DEVICE_LOST;
use crate::engine::server::{Ending, serve};
use crate::engine::watch::Machine;

/// Serves plans until the input ends.
pub fn run() -> anyhow::Result<ExitCode> {
    let output = take_standard_output().context("cannot set up the engine's output")?;
    let input = BufReader::new(io::stdin());
    match serve(input, BufWriter::new(File::from(output)), executors::all(), Box::new(Machine::new())) {
        Ok(Ending::InputClosed) => Ok(ExitCode::SUCCESS),
        Ok(Ending::DeviceLost) => Ok(ExitCode::from(DEVICE_LOST)),
        // The client is gone: there is nobody to tell.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error).context("cannot talk to the client"),
    }
}

/// Keeps a private copy of standard output for the events and points descriptor 1 at
/// standard error, because CUDA's printf and libraries' banners write there.
fn take_standard_output() -> io::Result<OwnedFd> {
    // SAFETY: duplicates descriptors that this process owns; the copy is nobody else's.
    unsafe {
        let copy = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

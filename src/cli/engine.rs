//! `scatterlab engine`: the process that runs plans.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::process::ExitCode;

use anyhow::Context;

use super::out;
use crate::engine::executors::{peer, with_peers};
use crate::engine::noise_monitor::Machine;
use crate::engine::protocol::DEVICE_LOST;
use crate::engine::server::{Ending, serve};
use crate::engine::timeout;
use crate::model::profiles::ProfileStore;

/// Serves plans until the input ends.
pub fn run() -> anyhow::Result<ExitCode> {
    let output = out::take_standard_output().context("cannot set up the engine's output")?;
    let input = timeout::Input::new(BufReader::new(io::stdin()), timeout::after()?);
    let peers = peer::folder(|key| std::env::var_os(key));
    let allowed = std::env::var_os(peer::ALLOWED).is_some();
    let executors = with_peers(peers.as_deref(), allowed);
    let (output, profiles) = (BufWriter::new(File::from(output)), ProfileStore::open());
    match serve(input, output, executors, Box::new(Machine::new()), &profiles) {
        Ok(Ending::InputClosed) => Ok(ExitCode::SUCCESS),
        Ok(Ending::DeviceLost) => Ok(ExitCode::from(DEVICE_LOST)),
        // The client is gone, so there is nobody to report to.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error).context("cannot talk to the client"),
    }
}

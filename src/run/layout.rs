//! What a run's folder holds: the names of its files, the manifest, the lines of the event log, and the lock against other
//! writers.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checksum_chain::{Chain, Integrity};
use crate::case::Device;
use crate::engine::protocol::{Environment, Event};
use crate::recipe::plan::Plan;

/// Schema version of the folder's layout, events and manifest. [`stored`](super::stored) also reads all earlier
/// versions.
pub const SCHEMA: u32 = 4;

pub(crate) const EVENTS: &str = "events.ndjson";
pub const MANIFEST: &str = "manifest.json";
pub(crate) const RECIPE: &str = "recipe.yaml";

/// Prefix of the error of a case that was lost with its engine.
pub(super) const ENGINE_DIED: &str = "the engine died: ";

/// Contents of the folder's `manifest.json`: the provenance of every number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    pub schema: u32,
    pub version: String,
    pub revision: String,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    /// The words that repeat the run when they are typed in its folder; in runs of older versions, what was typed.
    pub command_line: Vec<String>,
    pub environment: Environment,
    pub devices: Vec<Device>,
    pub plan: Plan,
    /// Whether [`portable`](super::portable) has left out what only the machine of the run knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// What was read of an event log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// Bytes of complete lines; a torn line may follow.
    pub whole: u64,
    /// The checksum chain up to the last complete line.
    pub chain: Chain,
    pub integrity: Integrity,
}

/// One line of a run's event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    #[serde(flatten)]
    pub event: Event,
    /// When the event was recorded, seconds since the epoch; `None` in runs of schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
}

/// Locks a run against other writers. The lock is released when the process ends, however it ends.
pub(super) fn lock(events: &File, path: &Path) -> anyhow::Result<()> {
    match taken(events) {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another scatterlab is writing this run; wait for it or stop it", path.display())
        }
        // Running without a lock is better than not running.
        Err(TryLockError::Error(error)) if is_without_locks(&error) => Ok(()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Takes the lock, with retries: between fork and exec, a child process shares its parent's open files, and
/// with them a lock that the parent has already released.
fn taken(events: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match events.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            taken => return taken,
        }
    }
    events.try_lock()
}

/// Whether the error means that the file system has no locks or (NFS without a lock service) cannot grant any.
fn is_without_locks(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(libc::ENOLCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_takes_runs_all_the_same() {
        for number in [libc::ENOLCK, libc::EOPNOTSUPP] {
            assert!(is_without_locks(&io::Error::from_raw_os_error(number)), "{number}");
        }
        assert!(!is_without_locks(&io::Error::from_raw_os_error(libc::EIO)));
    }
}

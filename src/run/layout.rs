//! What a run's folder holds: the names of its files, the manifest, the lines of the event log, and the lock against other
//! writers. From a manifest follow the command lines that repeat its run.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::checksum_chain::{Chain, Integrity};
use crate::case::Device;
use crate::case::units::escaped;
use crate::engine::protocol::{Environment, Event};
use crate::recipe::plan::Plan;
use crate::shell::{options, quoted};

/// Schema version of the folder's layout, events and manifest. [`stored`](super::stored) also reads all earlier
/// versions.
pub const SCHEMA: u32 = 4;

pub(crate) const EVENTS: &str = "events.ndjson";
pub const MANIFEST: &str = "manifest.json";
pub(super) const RECIPE: &str = "recipe.yaml";

/// Prefix of the error of a case that was lost with its engine.
pub(super) const ENGINE_DIED: &str = "the engine died: ";

/// Contents of the folder's `manifest.json`: the provenance of every number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: u32,
    pub version: String,
    pub revision: String,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub started: String,
    pub command_line: Vec<String>,
    pub environment: Environment,
    pub devices: Vec<Device>,
    pub plan: Plan,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Commands that start a run; a run without one of them was started in the TUI.
const MEASURING: [&str; 2] = ["run", "replay"];

/// Command lines that repeat a run, ready to be pasted into a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Repeats the stored plan and compares the results with the folder.
    pub replay: String,
    /// Repeats the run as it was started: the manifest's command line with another output folder or, for a run
    /// started in the TUI, the folder's recipe with its overrides. Index files are resolved relative to the
    /// recipe, which the copy in the folder would break; a TUI run with index files is therefore repeated by
    /// `replay`, which uses their copies.
    pub run: String,
}

impl Repeat {
    pub fn of(folder: &Path, manifest: &Manifest) -> Repeat {
        let word = |path: &Path| quoted(&path.display().to_string());
        let measures = |words: &&[String]| words.iter().any(|word| MEASURING.contains(&word.as_str()));
        let typed = manifest.command_line.get(1..).filter(measures);
        let replay = format!("replay {}", word(folder));
        let run = match typed {
            Some(words) => without_out(words).map(quoted).collect::<Vec<_>>().join(" "),
            None if !manifest.plan.indices.is_empty() => replay.clone(),
            None => {
                let recipe = ["run".to_owned(), word(&folder.join(RECIPE))];
                let words: Vec<String> =
                    recipe.into_iter().chain(options(&manifest.plan.overrides)).collect();
                words.join(" ")
            }
        };
        // The manifest is untrusted, and its text may be pasted into a shell.
        Repeat {
            replay: format!("scatterlab {}", escaped(&replay)),
            run: format!("scatterlab {}", escaped(&run)),
        }
    }
}

/// The words without `--out` and its folder, which holds a run already.
fn without_out(words: &[String]) -> impl Iterator<Item = &str> {
    let mut folder = false;
    words.iter().map(String::as_str).filter(move |word| {
        let out = std::mem::replace(&mut folder, *word == "--out");
        !out && *word != "--out" && !word.starts_with("--out=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::IndexFile;
    use crate::report::judge::tests::manifest;

    #[test]
    fn a_file_system_without_locks_takes_runs_all_the_same() {
        for number in [libc::ENOLCK, libc::EOPNOTSUPP] {
            assert!(is_without_locks(&io::Error::from_raw_os_error(number)), "{number}");
        }
        assert!(!is_without_locks(&io::Error::from_raw_os_error(libc::EIO)));
    }

    #[test]
    fn a_run_is_repeated_as_it_was_typed_or_from_its_folder() {
        let folder = Path::new("reports/my run");
        let of = |words: &[&str]| {
            let command_line = words.iter().map(|word| word.to_string()).collect();
            Repeat::of(folder, &Manifest { command_line, ..manifest() })
        };
        let typed = of(&["/opt/bin/scatterlab", "run", "quickstart", "--set", "elements=1Mi..4Mi x2"]);
        assert_eq!(typed.run, "scatterlab run quickstart --set 'elements=1Mi..4Mi x2'");
        let out = of(&["scatterlab", "replay", "a", "--out", "b", "--rounds", "5", "--out=c"]);
        assert_eq!(out.run, "scatterlab replay a --rounds 5");
        assert_eq!(typed.replay, "scatterlab replay 'reports/my run'");
        assert_eq!(of(&["scatterlab"]).run, "scatterlab run 'reports/my run/recipe.yaml'");
        assert_eq!(of(&[]).run, of(&["scatterlab"]).run);
        assert_eq!(of(&["scatterlab", "--engine", "ssh host scatterlab engine"]).run, of(&[]).run);
        let foreign = of(&["scatterlab", "run", "x\n\u{1b}[2Jrm -r /"]).run;
        assert!(!foreign.contains(char::is_control), "{foreign:?}");
    }

    #[test]
    fn a_run_of_the_user_interface_is_repeated_with_its_changes() {
        let mut manifest = Manifest { command_line: vec!["scatterlab".to_owned()], ..manifest() };
        manifest.plan.overrides = vec!["--backend cpu".to_owned(), "--set tuples=1Mi..4Mi x2".to_owned()];
        let of = |manifest: &Manifest| Repeat::of(Path::new("a"), manifest);
        assert_eq!(
            of(&manifest).run,
            "scatterlab run a/recipe.yaml --backend cpu --set 'tuples=1Mi..4Mi x2'"
        );
        let (hash, path) = ("0".repeat(64), "i.npy".to_owned());
        let file = IndexFile {
            path,
            column: None,
            hash,
            length: 1,
            largest: 0,
            matrix: None,
            source: None,
            copy: None,
        };
        manifest.plan.indices.push(file);
        assert_eq!(of(&manifest).run, "scatterlab replay a", "the file is not beside the folder's recipe");
    }
}

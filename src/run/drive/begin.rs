//! The engine's hello, and the state of the run before it.

use anyhow::{Context, bail};

use super::Drive;
use crate::engine::client::Hello;
use crate::engine::found::{given, notices};
use crate::engine::protocol::{Event, Level, PROTOCOL};
use crate::model::Profile;
use crate::run::folder::{Manifest, SCHEMA};
use crate::run::interrupted::{differences, missing};

/// State of a run before its first engine says hello.
pub(super) enum Beginning {
    /// A new run: its start time, `YYYY-MM-DD HH:MM:SS` UTC, and the profiles given by the user.
    Fresh { started: String, profiles: Vec<Profile> },
    /// A stored run, and the events that reopen cases for another try or further rounds.
    Again { manifest: Box<Manifest>, retried: Vec<Event> },
}

/// This program's command line, lossily converted: a path need not be UTF-8.
fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

impl Drive {
    /// The manifest describes the first engine's machine; later differences are recorded as events.
    pub(super) fn greet(&mut self, mut hello: Hello) -> anyhow::Result<()> {
        let (manifest, retried) = match self.beginning.take() {
            Some(Beginning::Fresh { started, profiles }) => {
                let found = std::mem::take(&mut hello.profiles);
                hello.profiles = given(&profiles, found, &hello.devices);
                let manifest = self.manifest(&hello, &started);
                if let Err(error) = self.folder.write_manifest(&manifest) {
                    self.beginning = Some(Beginning::Fresh { started, profiles });
                    return Err(error);
                }
                (manifest, None)
            }
            Some(Beginning::Again { manifest, retried }) => (*manifest, Some(retried)),
            None => (self.manifest.take().context("an engine without a run")?, None),
        };
        let differences = differences(&manifest, &hello);
        let missing = missing(&manifest, &hello, &self.ledger);
        let notices = notices(&hello.profiles);
        self.manifest = Some(manifest);
        self.record(&Event::Hello {
            protocol: PROTOCOL,
            version: hello.version,
            revision: hello.revision,
            devices: hello.devices,
            environment: hello.environment,
            profiles: hello.profiles,
        })?;
        // Fail before the engine starts the run: it would report `n/a`, permanently, for cases that a machine
        // with the device can still measure.
        if let Some(missing) = missing {
            bail!(missing);
        }
        if let Some(retried) = retried {
            self.keep_log(Level::Info, format!("the run goes on: {}", command_line().join(" ")))?;
            retried.iter().try_for_each(|event| self.record(event))?;
        }
        differences.into_iter().chain(notices).try_for_each(|text| self.keep_log(Level::Warn, text))
    }

    fn manifest(&self, hello: &Hello, started: &str) -> Manifest {
        Manifest {
            schema: SCHEMA,
            version: hello.version.clone(),
            revision: hello.revision.clone(),
            started: started.to_owned(),
            command_line: command_line(),
            environment: hello.environment.clone(),
            devices: hello.devices.clone(),
            plan: self.ledger.plan().clone(),
        }
    }
}

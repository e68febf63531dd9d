//! The engine's hello, and the state of the run before it.

use anyhow::{Context, bail};

use super::Drive;
use crate::case::listed;
use crate::engine::device_profiles::{given, notices};
use crate::engine::protocol::{Event, Level, PROTOCOL};
use crate::model::Profile;
use crate::run::client::Hello;
use crate::run::interrupted::{differences, is_another, missing, set_aside, told};
use crate::run::layout::{Manifest, SCHEMA};
use crate::run::repeat;

/// State of a run before its first engine says hello.
pub(super) enum Beginning {
    /// A new run: its start time, `YYYY-MM-DD HH:MM:SS` UTC, and the profiles given by the user.
    Fresh { started: String, profiles: Vec<Profile> },
    /// A stored run, the events that reopen cases for another try or further rounds, and whether to refuse an
    /// engine beside whose rounds those on file cannot count.
    Again { manifest: Box<Manifest>, retried: Vec<Event>, strict: bool },
}

impl Drive {
    /// The manifest describes the machine of all rounds that count. Other differences between the first engine's
    /// machine and later ones are recorded as events.
    pub(super) fn greet(&mut self, mut hello: Hello) -> anyhow::Result<()> {
        let (manifest, again) = match self.beginning.take() {
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
            Some(Beginning::Again { manifest, retried, strict }) => {
                self.strict = strict;
                (*manifest, Some(retried))
            }
            None => (self.manifest.take().context("an engine without a run")?, None),
        };
        let differences = differences(&manifest, &hello);
        let aside = set_aside(&differences, &self.ledger);
        let on_file = told(&aside, &self.ledger);
        if self.strict && !aside.is_empty() {
            bail!(
                "{on_file}: they cannot count together with new ones, and --strict sets nothing aside; resume the run \
                 as it was measured, or without --strict to measure them again"
            );
        }
        let mut left = self.ledger.clone();
        aside.iter().for_each(|event| _ = left.apply(event));
        let missing = missing(&manifest, &hello, &left);
        let notices = notices(&hello.profiles);
        let machine = self.manifest(&hello, &manifest.started);
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
        if let Some(retried) = again {
            self.keep_log(Level::Info, "the run goes on".to_owned())?;
            retried.iter().try_for_each(|event| self.record(event))?;
        }
        let told = differences.iter().map(ToString::to_string).chain(notices);
        told.into_iter().try_for_each(|text| self.keep_log(Level::Warn, text))?;
        if !aside.is_empty() {
            let text =
                format!("set aside: {on_file}; they stay on file, count nowhere, and are measured again");
            self.keep_log(Level::Warn, text)?;
            aside.iter().try_for_each(|event| self.record(event))?;
        }
        if is_another(&differences) {
            self.settle_on(machine)?;
        }
        Ok(())
    }

    /// Has the manifest describe this machine instead of the former one, of which no round counts any more. It
    /// follows the events that set rounds aside: if the program ends in between, the next one sets them aside again.
    fn settle_on(&mut self, machine: Manifest) -> anyhow::Result<()> {
        let Some(manifest) = &mut self.manifest else { return Ok(()) };
        let Manifest { version, revision, environment, mut devices, .. } = machine;
        // A device that is gone keeps its description: what was measured on it still counts.
        for (number, before) in listed::numbered(&manifest.devices) {
            let place = listed::numbered(&devices)
                .position(|(n, device)| n == number && device.backend == before.backend)
                .filter(|_| before.is_available());
            if let Some(device) = place.and_then(|at| devices.get_mut(at))
                && !device.is_available()
            {
                device.clone_from(before);
            }
        }
        (manifest.version, manifest.revision) = (version, revision);
        (manifest.environment, manifest.devices) = (environment, devices);
        self.folder.write_manifest(manifest)
    }

    fn manifest(&self, hello: &Hello, started: &str) -> Manifest {
        let typed: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let plan = self.ledger.plan();
        Manifest {
            schema: SCHEMA,
            version: hello.version.clone(),
            revision: hello.revision.clone(),
            started: started.to_owned(),
            command_line: repeat::of_new(plan, &typed),
            environment: hello.environment.clone(),
            devices: hello.devices.clone(),
            plan: plan.clone(),
            redacted: false,
        }
    }
}

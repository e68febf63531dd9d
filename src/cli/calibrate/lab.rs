//! The calibration that the user interface offers: quick, unless the device has a full one of this machine already.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, anyhow};
use tempfile::TempDir;

use super::{doubts, measured, planned, subject, user_folder};
use crate::case::Device;
use crate::cli::profile;
use crate::engine::clock;
use crate::engine::device_profiles::found;
use crate::files;
use crate::model::Profile;
use crate::model::calibrate::{Measured, Target, derive};
use crate::model::profiles::{self, Found, Machine, ProfileStore};
use crate::recipe::plan::Plan;
use crate::run::client::{EngineCommand, Hello};
use crate::run::runner::{Runner, Running};
use crate::run::writes::{RUN, temporary, write_durably};
use crate::run::{EngineRunner, Record};
use crate::tui::calibration::{Calibrator, Made, Standing};

/// Calibrates the devices of this engine, as `calibrate` does.
pub fn calibrator(engine: &EngineCommand, hello: Hello) -> Calibrator {
    let bench = Rc::new(Bench {
        engine: engine.clone(),
        hello,
        measured: RefCell::default(),
        written: RefCell::default(),
    });
    let elsewhere = "a remote engine reads its own profiles: run scatterlab calibrate where it runs";
    let ours = *engine == EngineCommand::Own;
    let standing = match ours {
        true => bench.standing(),
        false => Standing { predicting: bench.hello.profiles.clone(), ..Standing::default() },
    };
    let (starting, finishing, taking) = (Rc::clone(&bench), Rc::clone(&bench), Rc::clone(&bench));
    Calibrator {
        available: bench.available(),
        environment: bench.hello.environment.clone(),
        standing,
        impossible: (!ours).then(|| elsewhere.to_owned()),
        start: Box::new(move |backend| starting.start(backend).map_err(|error| format!("{error:#}"))),
        finish: Box::new(move |records| finishing.finish(records).map_err(|error| format!("{error:#}"))),
        take_back: Box::new(move || taking.take_back().map_err(|error| format!("{error:#}"))),
    }
}

/// A device that is being measured.
struct Measuring {
    target: Target,
    device: Device,
    quick: bool,
    /// The folder of the run.
    _folder: TempDir,
}

/// A profile's file that was written, and what it held before.
struct Written {
    path: PathBuf,
    before: Option<String>,
}

impl Written {
    fn save(profile: &Profile, path: &Path) -> anyhow::Result<Written> {
        let before = files::text(path, &files::PROFILE).ok();
        profiles::save(profile, path, write_durably)?;
        Ok(Written { path: path.to_owned(), before })
    }

    fn take_back(&self) -> anyhow::Result<()> {
        let Written { path, before } = self;
        let done = match before {
            Some(content) => write_durably(path, content.as_bytes()),
            None => fs::remove_file(path),
        };
        done.with_context(|| format!("cannot put {} back", path.display()))
    }
}

struct Bench {
    engine: EngineCommand,
    hello: Hello,
    measured: RefCell<Option<Measuring>>,
    written: RefCell<Option<Written>>,
}

impl Bench {
    fn devices(&self) -> impl Iterator<Item = &Device> {
        self.hello.devices.iter().filter(|device| device.is_available())
    }

    fn available(&self) -> Vec<String> {
        backends(self.devices())
    }

    fn standing(&self) -> Standing {
        let store = ProfileStore::open();
        let full = |device: &&Device| self.found(&store, device).is_some_and(|found| is_full(&found));
        Standing {
            predicting: found(&store, &self.hello.devices, &self.hello.environment),
            missing: backends(self.devices().filter(|device| self.found(&store, device).is_none())),
            full: backends(self.devices().filter(full)),
            known: profile::known(),
        }
    }

    fn found(&self, store: &ProfileStore, device: &Device) -> Option<Found> {
        store.of_device(Machine { device, host: &self.hello.environment.host, now: &clock::now() })
    }

    /// The device to measure: of several GPUs the first without a profile. The CPUs are those of `cpu`,
    /// whose calibration covers `scalar`.
    fn target(&self, store: &ProfileStore, backend: &str) -> anyhow::Result<(Target, Device)> {
        let of =
            |backend: &'static str| self.hello.devices.iter().filter(move |device| device.backend == backend);
        let (target, device) = if backend == "cuda" {
            let without = of("cuda").zip(0u64..).find(|(device, _)| self.found(store, device).is_none());
            let (device, number) = without.or_else(|| of("cuda").zip(0u64..).next()).context("no GPU")?;
            (Target::Gpu(number), device)
        } else {
            (Target::Processors, of("cpu").next().context("no processors")?)
        };
        match device.reason() {
            Some(reason) => Err(anyhow!("{backend}: unavailable: {reason}")),
            None => Ok((target, device.clone())),
        }
    }

    fn start(&self, backend: &str) -> anyhow::Result<(Plan, Running)> {
        let store = ProfileStore::open();
        let (target, device) = self.target(&store, backend)?;
        let quick = !self.found(&store, &device).is_some_and(|found| is_full(&found));
        let text = target.recipe(quick);
        let plan = planned(&text)?;
        let folder = temporary().context("cannot make a folder for the run")?;
        let runner = EngineRunner {
            engine: self.engine.clone(),
            out: Some(folder.path().join(RUN)),
            root: PathBuf::new(),
            profiles: Vec::new(),
            reports: None,
        };
        let running = runner.start(plan.clone(), &text)?;
        *self.measured.borrow_mut() = Some(Measuring { target, device, quick, _folder: folder });
        Ok((plan, running))
    }

    fn finish(&self, records: &[Record]) -> anyhow::Result<Made> {
        let Measuring { target, device, quick, _folder } =
            self.measured.take().context("nothing was measured")?;
        let all: Vec<Measured> = records.iter().filter_map(measured).collect();
        let subject = subject(None, quick, &self.hello, (target, &device), doubts(records));
        let mut profile = derive(&subject, &all).map_err(|reason| anyhow!(reason))?;
        let folder = user_folder()?;
        profile.name = profiles::free_name(&folder, &profile);
        let path = profiles::in_folder(&folder, &profile.name);
        *self.written.borrow_mut() = Some(Written::save(&profile, &path)?);
        Ok(Made { name: profile.name, path, standing: self.standing() })
    }

    fn take_back(&self) -> anyhow::Result<Standing> {
        self.written.borrow().as_ref().context("nothing was calibrated")?.take_back()?;
        self.written.take();
        Ok(self.standing())
    }
}

fn backends<'d>(devices: impl Iterator<Item = &'d Device>) -> Vec<String> {
    let mut backends: Vec<String> = devices.map(|device| device.backend.clone()).collect();
    backends.dedup();
    backends
}

/// True of a full calibration of this very machine.
fn is_full(found: &Found) -> bool {
    found.is_own() && !found.profile.is_quick()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::processors_fixture;

    #[test]
    fn a_calibration_that_is_taken_back_leaves_the_folder_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let (former, path) = (processors_fixture(), folder.path().join("own.yaml"));
        let first = Written::save(&former, &path).expect("written");
        let newer = Profile { source: "newer".to_owned(), ..former.clone() };
        let second = Written::save(&newer, &path).expect("written");
        assert_eq!(profiles::load(&path).expect("a profile"), newer);
        second.take_back().expect("taken back");
        assert_eq!(profiles::load(&path).expect("a profile"), former);
        first.take_back().expect("taken back");
        assert!(!path.exists());
    }
}

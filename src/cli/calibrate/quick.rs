//! The quick calibration that the user interface offers where a device has no profile.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, anyhow};
use tempfile::TempDir;

use super::{doubts, measured, planned, subject, user_folder};
use crate::case::Device;
use crate::engine::clock;
use crate::model::DeviceProfile;
use crate::model::calibrate::{Measured, Target, derive};
use crate::model::profiles::{self, Machine, ProfileStore};
use crate::recipe::plan::Plan;
use crate::run::client::{EngineCommand, Hello};
use crate::run::runner::{Runner, Running};
use crate::run::writes::write_durably;
use crate::run::{EngineRunner, Record};
use crate::tui::calibration::{Calibrator, Made};

/// Calibrates the devices of this engine, as `calibrate --quick` does.
pub fn calibrator(engine: &EngineCommand, hello: Hello) -> Calibrator {
    let bench = Rc::new(Bench { engine: engine.clone(), hello, measured: RefCell::default() });
    let elsewhere = "an engine elsewhere reads its own profiles: run scatterlab calibrate where it runs";
    let (starting, finishing) = (Rc::clone(&bench), Rc::clone(&bench));
    Calibrator {
        available: bench.available(),
        missing: bench.missing(),
        impossible: (*engine != EngineCommand::Own).then(|| elsewhere.to_owned()),
        start: Box::new(move |backend| starting.start(backend).map_err(|error| format!("{error:#}"))),
        finish: Box::new(move |records| finishing.finish(records).map_err(|error| format!("{error:#}"))),
    }
}

/// The device that is being measured, and the folder of the run.
type Measuring = (Target, Device, TempDir);

struct Bench {
    engine: EngineCommand,
    hello: Hello,
    measured: RefCell<Option<Measuring>>,
}

impl Bench {
    fn devices(&self) -> impl Iterator<Item = &Device> {
        self.hello.devices.iter().filter(|device| device.is_available())
    }

    fn available(&self) -> Vec<String> {
        let mut backends: Vec<String> = self.devices().map(|device| device.backend.clone()).collect();
        backends.dedup();
        backends
    }

    /// The backends with a device that has no profile.
    fn missing(&self) -> Vec<String> {
        let profiles = ProfileStore::open();
        let without = self.devices().filter(|device| !self.has_profile(&profiles, device));
        let mut backends: Vec<String> = without.map(|device| device.backend.clone()).collect();
        backends.dedup();
        backends
    }

    fn has_profile(&self, profiles: &ProfileStore, device: &Device) -> bool {
        let machine = Machine { device, host: &self.hello.environment.host, now: &clock::now() };
        profiles.of_device(machine).is_some()
    }

    /// The device to measure: of several GPUs the first without a profile. The CPUs are those of `cpu`,
    /// whose calibration covers `scalar`.
    fn target(&self, backend: &str) -> anyhow::Result<(Target, Device)> {
        let profiles = ProfileStore::open();
        let of =
            |backend: &'static str| self.hello.devices.iter().filter(move |device| device.backend == backend);
        let (target, device) = if backend == "cuda" {
            let without = of("cuda").zip(0u64..).find(|(device, _)| !self.has_profile(&profiles, device));
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
        let (target, device) = self.target(backend)?;
        let text = target.recipe(true);
        let plan = planned(&text)?;
        let folder = tempfile::tempdir().context("cannot make a folder for the run")?;
        let runner = EngineRunner {
            engine: self.engine.clone(),
            out: Some(folder.path().join("run")),
            root: PathBuf::new(),
            profiles: Vec::new(),
            reports: None,
        };
        let running = runner.start(plan.clone(), &text)?;
        *self.measured.borrow_mut() = Some((target, device, folder));
        Ok((plan, running))
    }

    fn finish(&self, records: &[Record]) -> anyhow::Result<Made> {
        let (target, device, _folder) = self.measured.take().context("nothing was measured")?;
        let all: Vec<Measured> = records.iter().filter_map(measured).collect();
        let subject = subject(None, true, &self.hello, (target, &device), doubts(records));
        let mut profile = derive(&subject, &all).map_err(|reason| anyhow!(reason))?;
        let folder = user_folder()?;
        profile.name = profiles::free_name(&folder, &profile);
        let path = profiles::in_folder(&folder, &profile.name);
        profiles::save(&profile, &path, write_durably)?;
        let (backends, device) = match target {
            Target::Processors => (vec!["cpu".to_owned(), "scalar".to_owned()], 0),
            Target::Gpu(number) => (vec!["cuda".to_owned()], number),
        };
        let profile = DeviceProfile { backends, device, profile, notices: Vec::new() };
        Ok(Made { profile, path, missing: self.missing() })
    }
}

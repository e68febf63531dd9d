//! What is needed to calibrate devices, and known about it.

use std::path::PathBuf;

use super::focus::Focus;
use super::session::Session;
use crate::engine::protocol::Environment;
use crate::model::{DeviceProfile, Profile};
use crate::recipe::plan::Plan;
use crate::run::Record;
use crate::run::client::Hello;
use crate::run::runner::Running;

type Start = Box<dyn FnMut(&str) -> Result<(Plan, Running), String>>;
type Finish = Box<dyn FnMut(&[Record]) -> Result<Made, String>>;
type TakeBack = Box<dyn FnMut() -> Result<Standing, String>>;

/// Makes a calibrator of the devices that an engine has.
pub type MakeCalibrator = Box<dyn Fn(Hello) -> Calibrator>;

/// Measures devices and derives their profiles.
pub struct Calibrator {
    /// The backends whose devices are available.
    pub available: Vec<String>,
    /// The machine that is calibrated.
    pub environment: Environment,
    pub standing: Standing,
    /// Why nothing can be calibrated from here.
    pub impossible: Option<String>,
    /// Starts to measure the device of a backend; returns the cases, too.
    pub start: Start,
    /// Derives the profile of the device that was measured last, and saves it.
    pub finish: Finish,
    /// Puts the user's profiles back as they were before the last `finish`.
    pub take_back: TakeBack,
}

/// The profiles on file, and which of them predict the devices here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The profile of each device that has one.
    pub predicting: Vec<DeviceProfile>,
    /// The available backends that have no profile.
    pub missing: Vec<String>,
    /// The backends whose profile is of a full calibration of this machine: they are calibrated as fully again.
    pub full: Vec<String>,
    /// Every profile, by name.
    pub known: Vec<Profile>,
}

impl Standing {
    /// The profile of the first device of this backend.
    pub fn of(&self, backend: &str) -> Option<&Profile> {
        let covers = |held: &&DeviceProfile| held.backends.iter().any(|one| one == backend);
        self.predicting.iter().find(covers).map(|held| &held.profile)
    }
}

/// A profile that was made and saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The name of the profile.
    pub name: String,
    pub path: PathBuf,
    pub standing: Standing,
}

/// What the screen knows about profiles of the devices here.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    pub available: Vec<String>,
    pub environment: Environment,
    pub standing: Standing,
    pub impossible: Option<String>,
    /// The run that was shown before, and the panel that had the focus.
    pub before: Option<(Option<Box<Session>>, Focus)>,
    /// The profile to which the last calibration can be taken back.
    pub former: Option<String>,
}

impl Calibration {
    pub fn by(calibrator: &Calibrator) -> Calibration {
        Calibration {
            available: calibrator.available.clone(),
            environment: calibrator.environment.clone(),
            standing: calibrator.standing.clone(),
            impossible: calibrator.impossible.clone(),
            ..Calibration::default()
        }
    }

    /// Whether a run is of the machine that is calibrated.
    pub fn is_here(&self, environment: &Environment) -> bool {
        let of = |one: &Environment| (one.host.clone(), one.cpu.clone());
        of(environment) == of(&self.environment)
    }
}

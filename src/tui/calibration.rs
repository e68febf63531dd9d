//! What is needed to calibrate devices, and known about it.

use std::path::PathBuf;

use super::focus::Focus;
use super::session::Session;
use crate::model::DeviceProfile;
use crate::recipe::plan::Plan;
use crate::run::Record;
use crate::run::runner::Running;

type Start = Box<dyn FnMut(&str) -> Result<(Plan, Running), String>>;
type Finish = Box<dyn FnMut(&[Record]) -> Result<Made, String>>;

/// Measures devices and derives their profiles.
pub struct Calibrator {
    /// The backends whose devices are available.
    pub available: Vec<String>,
    /// Those of them that have no profile.
    pub missing: Vec<String>,
    /// Why nothing can be calibrated from here.
    pub impossible: Option<String>,
    /// Starts to measure the device of a backend; returns the cases, too.
    pub start: Start,
    /// Derives the profile of the device that was measured last, and saves it.
    pub finish: Finish,
}

/// A profile that was made and saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub profile: DeviceProfile,
    pub path: PathBuf,
    /// The backends that still have no profile.
    pub missing: Vec<String>,
}

/// What the screen knows about profiles of the devices here.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    pub available: Vec<String>,
    pub missing: Vec<String>,
    pub impossible: Option<String>,
    /// The run that was shown before, and the panel that had the focus.
    pub before: Option<(Option<Box<Session>>, Focus)>,
}

impl Calibration {
    pub fn by(calibrator: &Calibrator) -> Calibration {
        let Calibrator { available, missing, impossible, .. } = calibrator;
        let (available, missing, impossible) = (available.clone(), missing.clone(), impossible.clone());
        Calibration { available, missing, impossible, before: None }
    }
}

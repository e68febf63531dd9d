//! What a run leaves for people and programs: tables and charts, all drawn from the
//! same [`Record`](crate::run::Record)s, so that they cannot disagree.

pub mod accuracy;
pub mod cell;
pub mod choices;
mod copies;
pub mod csv;
pub mod figures;
mod files;
pub mod format;
pub mod judge;
pub mod judged;
pub mod locality;
pub mod names;
pub mod overlay;
pub mod predictions;
mod relative;
pub mod scale;
pub mod series;
pub mod speed_of_light;
pub mod svg;
pub mod table;
pub mod unit;
pub mod verdicts;

pub use files::{names as file_names, write_all, write_of_run, written};

use crate::case::Device;
use crate::engine::protocol::Environment;
use crate::recipe::plan::Plan;
use crate::run::folder::Manifest;

/// Where the records of a report come from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub plan: &'a Plan,
    /// Version of the scatterlab that measured.
    pub version: &'a str,
    /// When it started, printed as it is.
    pub date: &'a str,
    pub environment: &'a Environment,
    pub devices: &'a [Device],
}

impl<'a> From<&'a Manifest> for Origin<'a> {
    fn from(manifest: &'a Manifest) -> Origin<'a> {
        Origin {
            plan: &manifest.plan,
            version: &manifest.version,
            date: &manifest.started,
            environment: &manifest.environment,
            devices: &manifest.devices,
        }
    }
}

//! Reports of a run for people and programs: tables and charts, all derived from the same
//! [`Record`](crate::run::Record)s, so that they cannot disagree.

pub mod accuracy;
pub mod cell;
pub mod choices;
mod copies;
pub mod csv;
pub mod figures;
mod files;
pub mod format;
pub mod html;
pub mod judge;
pub mod judged;
pub mod locality;
pub mod names;
pub mod overlay;
pub mod pdf;
pub mod predictions;
pub mod quantities;
mod relative;
pub mod replay;
pub mod scale;
pub mod series;
pub mod settings;
pub mod speed_of_light;
pub mod svg;
pub mod table;
pub mod unit;
pub mod verdicts;

pub use files::{names as file_names, write_all, write_of_run, write_page, write_pdfs, written};

use crate::case::Device;
use crate::engine::protocol::Environment;
use crate::recipe::plan::Plan;
use crate::run::folder::Manifest;

/// Origin of a report's records.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub plan: &'a Plan,
    /// Version of scatterlab that measured.
    pub version: &'a str,
    /// Start time of the run, printed as it is.
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

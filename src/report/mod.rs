//! Reports of a run for people and programs: tables and charts, all derived from the same
//! [`Record`](crate::run::Record)s, so that they cannot disagree.

pub mod accuracy;
mod bests;
pub mod cell;
pub mod choices;
pub mod claims;
mod copies;
pub mod csv;
pub mod figures;
mod files;
pub mod html;
pub mod judge;
pub mod judged;
pub mod locality;
pub mod names;
mod origin;
pub mod overlay;
pub mod pdf;
pub mod predictions;
pub mod quantities;
mod relative;
pub(crate) mod replace;
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
pub use origin::Origin;

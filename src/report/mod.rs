//! What a run leaves for people and programs: tables and charts, all drawn from the
//! same [`Record`](crate::run::Record)s, so that they cannot disagree.

pub mod csv;
mod files;
pub mod names;
pub mod overlay;
mod relative;
pub mod scale;
pub mod series;
pub mod svg;
pub mod unit;
pub mod verdicts;

pub use files::write_all;

//! What a run leaves for people and programs: tables and charts, all drawn from the
//! same [`Record`](crate::run::Record)s, so that they cannot disagree.

pub mod csv;
mod files;
pub mod locality;
pub mod names;
mod relative;
pub mod scale;
pub mod series;
pub mod svg;
pub mod unit;

pub use files::write_all;

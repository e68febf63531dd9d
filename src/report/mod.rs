//! What a run leaves for people and programs: tables and charts, all drawn from the
//! same [`Record`](crate::run::Record)s.

pub mod names;
mod relative;
pub mod scale;
pub mod series;
pub mod unit;

//! The panels of the screen: each file draws one.

pub mod banner;
mod case_names;
pub mod cases;
pub mod chart;
pub mod compare;
pub mod details;
pub mod device;
pub mod editor;
pub mod export;
pub mod header;
pub mod help;
pub mod hints;
pub mod live;
pub mod log;
mod matrix;
pub mod pattern;
pub mod preview;
pub mod queue;
pub mod recipes;
pub mod runs;
pub mod samples;
pub mod status;
pub mod whatif;

pub use super::focus::Focus;

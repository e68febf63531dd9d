//! Radars: values around a circle, with a reference ring at 1. Small multiples of lavin2020's figures 7 and
//! 8.

mod draw;
mod geometry;

pub use draw::{Section, draw};

use super::platform::Kind;

/// One circle.
#[derive(Clone, Debug, PartialEq)]
pub struct Radar {
    pub title: String,
    pub kind: Kind,
    pub spokes: Vec<Spoke>,
}

/// A spoke and its value; a spoke without a value only has its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoke {
    pub label: String,
    pub value: Option<f64>,
}

//! Bandwidth-bandwidth plots (lavin2020 §5.4.3): a pattern's bandwidth over the platform's stride-1
//! bandwidth, both axes in powers of two, so that equal fractions of it lie on lines of slope 1.

mod draw;
mod geometry;

pub use draw::draw;

/// A panel: the patterns of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub title: String,
    pub points: Vec<Dot>,
}

/// A pattern on a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Index into the legend.
    pub pattern: usize,
    /// The platform's letter: `A`, `B` …
    pub letter: String,
    /// Dots of one family and pattern are joined. 0 for CPUs, 1 for GPUs.
    pub family: usize,
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

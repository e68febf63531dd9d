//! The cost of a frame: `cargo test --release --lib tui::plot::speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use super::tests::{eight, plot};
use super::*;

/// The shortest of many repetitions.
fn fastest(mut go: impl FnMut()) -> Duration {
    let times = (0..200).map(|_| {
        let start = Instant::now();
        go();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

#[test]
#[ignore = "a measurement, for a person on a quiet machine"]
fn eight_lines_of_a_thousand_points() {
    let xs: Vec<f64> = (1..=1000).map(f64::from).collect();
    let (data, look) = (eight(&xs, 10.0), Look::default());
    let theme = Theme { colour: true, ..Theme::PLAIN };
    let (plot, area) = (plot(&data, &look, theme), Rect::new(0, 0, 160, 48));
    let mut buffer = Buffer::empty(area);
    let picture = plot.picture(area);
    let selection = Selection { case: 4000, cursor: Some("cursor") };
    let new = fastest(|| drop(plot.picture(area)));
    let again = fastest(|| plot.show(&picture, selection, &mut buffer));
    println!("a new picture {new:?}, the same picture {again:?}");
}

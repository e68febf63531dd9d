//! A curve over evenly spaced places as a filled area, on axes of its own.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::axes;
use super::canvas::Dots;
use super::frame::Frame;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::unit::Unit;
use crate::tui::chart::Canvas;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Values that differ by more than this factor are drawn on a logarithmic axis.
const DECADES: f64 = 1000.0;

/// Up to this many places have ticks of their own.
const FEW: usize = 24;

/// Smallest area for a curve.
const SMALLEST: (u16, u16) = (16, 5);

/// Draws the values over all of `area`, and the name of the x axis in its last row. Below the smallest area only the name
/// is drawn.
pub fn draw(x: &str, spacing: f64, values: &[f64], theme: Theme, area: Rect, buffer: &mut Buffer) {
    let name = words::fit(x, usize::from(area.width), theme);
    if area.height > 0 {
        let at = area.x + (area.width - words::width(&name) as u16) / 2;
        buffer.set_string(at, area.bottom() - 1, name, theme.dim());
    }
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 || values.is_empty() {
        return;
    }
    let body = Rect { height: area.height - 1, ..area };
    let frame = frame(spacing, values, body);
    let canvas = if theme.utf8 { Canvas::Braille } else { Canvas::Ascii };
    let mut dots = Dots::new(frame.area, canvas);
    fill(&frame, spacing, values, &mut dots);
    match theme.utf8 {
        true => dots.draw(theme.series(0), buffer),
        false => dots.draw_as("#", theme.series(0), buffer),
    }
    let ticks = axes::ticks(&frame.y, frame.area.height);
    axes::left(&frame, &frame.y, ticks, theme, buffer);
    axes::bottom(&frame, &frame.x, body, theme, buffer);
}

/// The spacing of the y axis: logarithmic where linear would show the large values only.
fn spacing_of(values: &[f64]) -> Spacing {
    let positive = || values.iter().copied().filter(|value| *value > 0.0);
    let ends = positive().reduce(f64::max).zip(positive().reduce(f64::min));
    let wide = ends.is_some_and(|(high, low)| high / low > DECADES);
    if wide && values.iter().all(|value| *value >= 0.0) { Spacing::Log10 } else { Spacing::Linear }
}

fn frame(spacing: f64, values: &[f64], body: Rect) -> Frame {
    let last = spacing * values.len().saturating_sub(1).max(1) as f64;
    let x = x_axis(spacing, values.len(), last);
    let y = AxisScale::measured_as(values, spacing_of(values), Unit::Number);
    let rows = body.height - 2;
    let gutter = axes::gutter(&axes::ticks(&y, rows)).min(body.width / 2);
    let area = Rect { x: body.x + gutter, y: body.y, width: body.width - gutter, height: rows };
    Frame { area, foot: false, x, y }
}

/// From the first place to the last. Few places have ticks of their own: between two steps there is nothing.
fn x_axis(spacing: f64, places: usize, last: f64) -> AxisScale {
    let axis = if places <= FEW {
        let places: Vec<f64> = (0..places).map(|at| spacing * at as f64).collect();
        AxisScale::swept_as(&places, Spacing::Linear, Unit::Number)
    } else {
        AxisScale::measured_as(&[0.0, last], Spacing::Linear, Unit::Number)
    };
    axis.part((0.0, last))
}

/// Fills the area below the curve, a column of dots at a time, up to the greatest value of each column.
fn fill(frame: &Frame, spacing: f64, values: &[f64], dots: &mut Dots) {
    const FINE: f64 = 4.0;
    let bottom = f64::from(frame.area.height) - 0.01;
    let place = |at: usize| frame.place(spacing * at as f64, values[at]);
    let base = |x: f64, y: f64, dots: &mut Dots| dots.stroke((x, y), (x, bottom));
    for at in 0..values.len() {
        let Some((x, y)) = place(at) else { continue };
        base(x, y, dots);
        let next = (at + 1 < values.len()).then(|| place(at + 1)).flatten();
        let Some((to, end)) = next.filter(|(to, _)| *to > x) else { continue };
        let steps = ((to - x) * FINE).ceil() as u32;
        for step in 1..steps {
            let share = f64::from(step) / f64::from(steps);
            base(x + (to - x) * share, y + (end - y) * share, dots);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64], theme: Theme) -> Vec<String> {
        let area = Rect::new(0, 0, 40, 10);
        let mut buffer = Buffer::empty(area);
        draw("step", 1.0, values, theme, area, &mut buffer);
        (0..10).map(|y| (0..40).map(|x| buffer[(x, y)].symbol()).collect::<String>()).collect()
    }

    #[test]
    fn a_wide_range_has_a_logarithmic_axis() {
        assert_eq!(spacing_of(&[1.0, 1e6]), Spacing::Log10);
        assert_eq!(spacing_of(&[0.0, 1.0, 1e6]), Spacing::Log10, "zeros are not drawn");
        assert_eq!(spacing_of(&[1.0, 500.0]), Spacing::Linear);
        assert_eq!(spacing_of(&[-1.0, 1e6, 1.0]), Spacing::Linear);
    }

    #[test]
    fn the_area_is_filled_below_the_curve() {
        let ascii = Theme { utf8: false, ..Theme::PLAIN };
        let rows = drawn(&[0.0, 5.0, 10.0], ascii);
        assert!(rows[9].contains("step"), "{rows:?}");
        let marks: Vec<usize> = rows[..7].iter().map(|row| row.matches('#').count()).collect();
        assert!(marks.windows(2).all(|pair| pair[0] <= pair[1]) && marks[6] > 20, "{rows:?}");
        assert!(rows[7].contains('+') && rows[8].contains('2') && !rows[8].contains('.'), "{rows:?}");
    }

    #[test]
    fn odd_values_and_small_areas_are_no_trouble() {
        for values in [&[][..], &[3.0], &[0.0, 0.0], &[-5.0, 5.0], &[1e-300, 1e300]] {
            drawn(values, Theme::PLAIN);
        }
        for (width, height) in [(0, 0), (1, 1), (16, 5), (17, 6), (400, 3)] {
            let area = Rect::new(0, 0, width, height);
            draw("step", 1.0, &[1.0, 2.0], Theme::PLAIN, area, &mut Buffer::empty(area));
        }
    }
}

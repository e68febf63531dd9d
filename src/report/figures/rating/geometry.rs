//! Positions of the lines of constant fraction, and rows in which letters do not overlap. Pure.

use std::ops::RangeInclusive;

pub type Span = (f64, f64);

/// The line y = `part`·x inside a frame, from left to right; `None` if it does not cross the frame.
pub fn line(part: f64, (x_low, x_high): Span, (y_low, y_high): Span) -> Option<[(f64, f64); 2]> {
    let (from, to) = (x_low.max(y_low / part), x_high.min(y_high / part));
    (from < to).then_some([(from, part * from), (to, part * to)])
}

/// Powers of two, as exponents, that enclose the fractions y/x of these dots; 1 is always included.
pub fn parts(dots: impl Iterator<Item = (f64, f64)>) -> RangeInclusive<i32> {
    let exponents = dots.map(|(x, y)| (y / x).log2()).filter(|e| e.is_finite());
    let (low, high) = exponents.fold((0f64, 0f64), |(low, high), e| (low.min(e), high.max(e)));
    (low + 1e-9).floor() as i32..=(high - 1e-9).ceil() as i32
}

/// A row for each of these ascending places, so that places in the same row are at least `apart` from each
/// other.
pub fn rows(places: &[f64], apart: f64) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let mut row = |place: f64| {
        let free = ends.iter().position(|end| place - end >= apart).unwrap_or(ends.len());
        if free == ends.len() {
            ends.push(place);
        }
        ends[free] = place;
        free
    };
    places.iter().map(|place| row(*place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_constant_part_is_cut_at_the_frame() {
        assert_eq!(line(1.0, (16.0, 64.0), (8.0, 64.0)), Some([(16.0, 16.0), (64.0, 64.0)]));
        assert_eq!(line(0.25, (16.0, 64.0), (8.0, 64.0)), Some([(32.0, 8.0), (64.0, 16.0)]));
        assert_eq!(line(4.0, (16.0, 64.0), (8.0, 64.0)), None);
        assert_eq!(line(2.0, (16.0, 64.0), (8.0, 64.0)), Some([(16.0, 32.0), (32.0, 64.0)]));
    }

    #[test]
    fn parts_reach_around_the_dots_and_hold_one() {
        assert_eq!(parts([(100.0, 100.0), (100.0, 6.0)].into_iter()), -5..=0);
        assert_eq!(parts([(100.0, 300.0)].into_iter()), 0..=2);
        assert_eq!(parts([(64.0, 15.0)].into_iter()), -3..=0);
        assert_eq!(parts([].into_iter()), 0..=0);
    }

    #[test]
    fn letters_that_are_close_stand_in_different_rows() {
        assert_eq!(rows(&[0.0, 5.0, 30.0, 32.0, 34.0], 12.0), [0, 1, 0, 1, 2]);
        assert!(rows(&[], 12.0).is_empty());
    }
}

//! Positions of the spokes, the rings and the outline of a radar. Pure.

use std::f64::consts::TAU;

pub type Point = (f64, f64);

/// The direction of one of `n` spokes as a unit vector: the first points up, the others follow clockwise. y
/// points downwards. A half-integer lies between two spokes.
pub fn direction(spoke: f64, n: usize) -> Point {
    let angle = TAU * spoke / n.max(1) as f64;
    (angle.sin(), -angle.cos())
}

/// The point at this distance from the centre, in a spoke's direction.
pub fn reach(center: Point, radius: f64, spoke: f64, n: usize) -> Point {
    let (x, y) = direction(spoke, n);
    (center.0 + radius * x, center.1 + radius * y)
}

/// Circles for reading values.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    /// Multiples of a round step and 1, ascending; the last one is the rim.
    pub values: Vec<f64>,
}

impl Rings {
    /// At most five steps that include the largest value and at least 1.
    pub fn for_largest(largest: f64) -> Rings {
        const MOST: f64 = 5.0;
        let largest = largest.max(1.0);
        let steps = (0..40).flat_map(|tens| [0.25, 0.5, 1.0].map(|step| step * 10f64.powi(tens)));
        let wide = steps.clone().find(|step| largest / step <= MOST + 1e-9);
        let step = wide.unwrap_or(largest / MOST);
        let count = (largest / step - 1e-9).ceil();
        let mut values: Vec<f64> = (1..=count as u32).map(|i| f64::from(i) * step).collect();
        if !values.contains(&1.0) {
            values.push(1.0);
            values.sort_by(f64::total_cmp);
        }
        Rings { values }
    }

    /// The radial position of a value, as a share of the radius.
    pub fn position(&self, value: f64) -> f64 {
        value / self.values.last().copied().unwrap_or(1.0)
    }
}

/// Runs of neighbouring spokes that have a value, as indices; if all have one, a single run that ends where
/// it began.
pub fn stretches<T>(values: &[Option<T>]) -> Vec<Vec<usize>> {
    let n = values.len();
    let Some(gap) = values.iter().position(Option::is_none) else {
        return if n == 0 { Vec::new() } else { vec![(0..n).chain([0]).collect()] };
    };
    // Starts after a gap, so that no run is cut where the circle closes.
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for at in (1..=n).map(|i| (gap + i) % n) {
        match &values[at] {
            Some(_) => found.last_mut().into_iter().for_each(|stretch| stretch.push(at)),
            None => found.push(Vec::new()),
        }
    }
    found.retain(|stretch| !stretch.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Point, b: Point) {
        assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9, "{a:?} is not {b:?}");
    }

    #[test]
    fn spokes_go_clockwise_from_the_top() {
        near(direction(0.0, 4), (0.0, -1.0));
        near(direction(1.0, 4), (1.0, 0.0));
        near(direction(2.0, 4), (0.0, 1.0));
        near(direction(3.0, 4), (-1.0, 0.0));
        near(direction(0.5, 2), direction(1.0, 4));
        near(reach((10.0, 20.0), 5.0, 1.0, 4), (15.0, 20.0));
    }

    #[test]
    fn rings_hold_the_largest_value_and_one() {
        let of = |largest| Rings::for_largest(largest).values;
        assert_eq!(of(0.2), [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(of(1.25), [0.25, 0.5, 0.75, 1.0, 1.25]);
        assert_eq!(of(1.3), [0.5, 1.0, 1.5]);
        assert_eq!(of(3.4), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(of(7.0), [1.0, 2.5, 5.0, 7.5]);
        assert_eq!(of(41.0), [1.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(Rings::for_largest(4.0).position(1.0), 0.25);
    }

    #[test]
    fn an_outline_closes_only_without_gaps() {
        let of = |pattern: &str| {
            let values: Vec<Option<()>> = pattern.chars().map(|c| (c == 'x').then_some(())).collect();
            stretches(&values)
        };
        assert_eq!(of("xxx"), [[0, 1, 2, 0]]);
        assert_eq!(of("x.xx"), [vec![2, 3, 0]]);
        assert_eq!(of(".x.x"), [vec![1], vec![3]]);
        assert!(of("...").is_empty() && of("").is_empty());
    }
}

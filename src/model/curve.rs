//! A measured quantity as a function of another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Measured values at ascending places: `[[place, value], …]`, all positive and finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// A curve through these points.
    ///
    /// # Errors
    /// No points, places that do not ascend, or a number that is not positive and finite.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Curve, String> {
        let sound = |v: f64| v.is_finite() && v > 0.0;
        if points.is_empty() {
            return Err("a curve needs a point".to_owned());
        }
        if let Some((x, y)) = points.iter().find(|(x, y)| !sound(*x) || !sound(*y)) {
            return Err(format!("[{x}, {y}] is not positive and finite"));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(format!("{} does not come after {}", pair[1].0, pair[0].0));
        }
        Ok(Curve(points))
    }

    pub fn points(&self) -> &[(f64, f64)] {
        &self.0
    }

    /// The value at `x`: linear interpolation in log-log scale between two points; beyond the ends, the value
    /// of the end point.
    pub fn at(&self, x: f64) -> f64 {
        let next = self.0.partition_point(|&(place, _)| place < x);
        match (next.checked_sub(1).map(|i| self.0[i]), self.0.get(next)) {
            (Some((x0, y0)), Some(&(x1, y1))) => {
                let share = (x / x0).ln() / (x1 / x0).ln();
                (y0.ln() + share * (y1 / y0).ln()).exp()
            }
            (None, Some(&(_, y))) | (Some((_, y)), None) => y,
            // A curve has a point; a value that is no number would show if it had none.
            (None, None) => f64::NAN,
        }
    }
}

impl TryFrom<Vec<(f64, f64)>> for Curve {
    type Error = String;

    fn try_from(points: Vec<(f64, f64)>) -> Result<Curve, String> {
        Curve::new(points)
    }
}

impl From<Curve> for Vec<(f64, f64)> {
    fn from(curve: Curve) -> Vec<(f64, f64)> {
        curve.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_straight_in_log_log() {
        let curve = Curve::new(vec![(1.0, 8.0), (4.0, 2.0)]).expect("two points");
        for (x, y) in [(0.5, 8.0), (1.0, 8.0), (2.0, 4.0), (4.0, 2.0), (9.0, 2.0)] {
            assert!((curve.at(x) - y).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn points_must_ascend_and_be_positive() {
        for bad in [vec![], vec![(1.0, 1.0), (1.0, 2.0)], vec![(0.0, 1.0)], vec![(1.0, f64::NAN)]] {
            assert!(Curve::new(bad).is_err());
        }
    }
}

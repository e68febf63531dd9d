//! Axes: positions of values and of ticks. Pure; shared by the SVG and the screen.

use super::unit::Unit;
use crate::recipe::plan::Scale;

/// How values are spaced along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Linear,
    /// Equal ratios, ticks at powers of two.
    Log2,
    /// Equal ratios, ticks at 1, 2 and 5 times powers of ten.
    Log10,
    /// Names, one band each; a value is the index of a name.
    Category,
}

impl Spacing {
    /// The name of the spacing; categories have none.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Spacing::Linear => Some("linear"),
            Spacing::Log2 => Some("log2"),
            Spacing::Log10 => Some("log10"),
            Spacing::Category => None,
        }
    }

    /// Whether equal distances are equal ratios, so that only positive values can be drawn.
    pub fn is_log(self) -> bool {
        matches!(self, Spacing::Log2 | Spacing::Log10)
    }
}

/// An axis with its range; maps values to positions from 0 (left, bottom) to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisScale {
    pub spacing: Spacing,
    pub unit: Unit,
    low: f64,
    high: f64,
    /// The swept values, which are candidates for ticks.
    marks: Vec<f64>,
    names: Vec<String>,
}

/// Padding at both ends of a swept axis, as a fraction of its length, so that no point lies on the frame.
const PADDING: f64 = 0.04;

impl AxisScale {
    /// A category axis with names in this order.
    pub fn categories(names: Vec<String>) -> AxisScale {
        let high = names.len().max(1) as f64;
        let (spacing, unit) = (Spacing::Category, Unit::Number);
        AxisScale { spacing, unit, low: 0.0, high, marks: Vec::new(), names }
    }

    /// An axis of swept values, with ticks at the values themselves. Values without a logarithm are omitted
    /// from a log axis.
    pub fn swept(values: &[f64], scale: Scale, unit: Unit) -> AxisScale {
        let spacing = match scale {
            Scale::Log if in_decades(values) => Spacing::Log10,
            Scale::Log => Spacing::Log2,
            Scale::Linear | Scale::Category => Spacing::Linear,
        };
        AxisScale::swept_as(values, spacing, unit)
    }

    /// An axis of swept values with this spacing; not for categories.
    pub fn swept_as(values: &[f64], spacing: Spacing, unit: Unit) -> AxisScale {
        let mut marks: Vec<f64> = values.iter().copied().filter(|&v| drawable(spacing, v)).collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let (low, high) = padded(spacing, range(&marks));
        AxisScale { spacing, unit, low, high, marks, names: Vec::new() }
    }

    /// An axis of measured values. A linear axis contains 0; a log axis ends at 1, 2 or 5 times a power of
    /// ten and omits values that are not positive.
    pub fn measured(values: &[f64], log: bool, unit: Unit) -> AxisScale {
        AxisScale::measured_as(values, if log { Spacing::Log10 } else { Spacing::Linear }, unit)
    }

    /// An axis of measured values with this spacing; a `Log2` axis ends at powers of two.
    pub fn measured_as(values: &[f64], spacing: Spacing, unit: Unit) -> AxisScale {
        let kept: Vec<f64> = values.iter().copied().filter(|&v| drawable(spacing, v)).collect();
        let (low, high) = match spacing {
            Spacing::Log2 => binary_range(range(&kept)),
            Spacing::Log10 => log_range(range(&kept)),
            Spacing::Linear | Spacing::Category => linear_range(range(&kept)),
        };
        AxisScale { spacing, unit, low, high, marks: Vec::new(), names: Vec::new() }
    }

    /// The position of a value, 0 to 1; `None` for a value that this axis cannot show (not finite, not
    /// positive on a log axis, out of range).
    pub fn position(&self, value: f64) -> Option<f64> {
        let position = self.unbounded(value)?;
        (-1e-9..=1.0 + 1e-9).contains(&position).then(|| position.clamp(0.0, 1.0))
    }

    /// Like [`position`](Self::position), but also for values out of range: below 0 or above 1.
    pub fn unbounded(&self, value: f64) -> Option<f64> {
        if !drawable(self.spacing, value) {
            return None;
        }
        let at = |v: f64| self.forward(v);
        let shift = if self.spacing == Spacing::Category { 0.5 } else { 0.0 };
        let position = (at(value + shift) - at(self.low)) / (at(self.high) - at(self.low));
        position.is_finite().then_some(position)
    }

    /// Both ends of the axis; for categories, in bands from 0.
    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The value at a position, on the scale of [`ends`](Self::ends).
    pub fn at(&self, position: f64) -> f64 {
        let (low, high) = (self.forward(self.low), self.forward(self.high));
        self.backward(low + (high - low) * position)
    }

    /// The position of one of the [`ends`](Self::ends) of another axis over the same values.
    pub fn place_of_end(&self, end: f64) -> Option<f64> {
        let shift = if self.spacing == Spacing::Category { 0.5 } else { 0.0 };
        self.unbounded(end - shift)
    }

    /// The part of the axis between two ends, clipped to it; the whole axis if nothing remains.
    pub fn part(&self, (low, high): (f64, f64)) -> AxisScale {
        let (low, high) = (low.max(self.low), high.min(self.high));
        let wide = low < high && self.forward(high) - self.forward(low) > 0.0;
        if !wide {
            return self.clone();
        }
        let mut part = AxisScale { low, high, ..self.clone() };
        let inside: Vec<f64> = self.marks.iter().copied().filter(|&v| part.position(v).is_some()).collect();
        // A single swept value does not convey distance, so round numbers are used instead.
        part.marks = if inside.len() > 1 || self.marks.len() == 1 { inside } else { Vec::new() };
        part
    }

    /// Positions and labels of at most `max_labels` ticks, ascending.
    pub fn ticks(&self, max_labels: usize) -> Vec<(f64, String)> {
        if max_labels == 0 {
            return Vec::new();
        }
        if self.spacing == Spacing::Category {
            return self.name_ticks(max_labels);
        }
        // No two ticks may have the same label: coarser steps are tried if the digits do not suffice.
        let told = |ticks: &Vec<(f64, String)>| ticks.windows(2).all(|w| w[0].1 != w[1].1);
        (1..=max_labels).rev().map(|most| self.number_ticks(most)).find(told).unwrap_or_default()
    }

    fn number_ticks(&self, max_labels: usize) -> Vec<(f64, String)> {
        let values = self.mark_ticks(max_labels).unwrap_or_else(|| self.round_ticks(max_labels));
        let steps = values.windows(2).map(|w| w[1] - w[0]);
        let step = steps.min_by(f64::total_cmp).unwrap_or((self.high - self.low) / max_labels as f64);
        let label = |v: f64| self.unit.format_to(v, self.reference(v), step);
        values.into_iter().filter_map(|v| Some((self.position(v)?, label(v)))).collect()
    }

    /// The value that selects the unit prefix: on a linear axis the largest one.
    fn reference(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear if self.marks.is_empty() => self.low.abs().max(self.high.abs()),
            _ => value,
        }
    }

    /// The name of a category, or the formatted value.
    pub fn label(&self, value: f64) -> String {
        match self.spacing {
            Spacing::Category => self.names.get(value as usize).cloned().unwrap_or_default(),
            _ => self.unit.format_like(value, self.reference(value)),
        }
    }

    /// The names of a category axis.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn forward(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear | Spacing::Category => value,
            Spacing::Log2 | Spacing::Log10 => value.log2(),
        }
    }

    fn backward(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear | Spacing::Category => value,
            Spacing::Log2 | Spacing::Log10 => value.exp2(),
        }
    }

    fn name_ticks(&self, max_labels: usize) -> Vec<(f64, String)> {
        let named = self.names.iter().enumerate();
        let inside: Vec<(f64, String)> =
            named.filter_map(|(i, name)| Some((self.position(i as f64)?, name.clone()))).collect();
        let step = inside.len().div_ceil(max_labels).max(1);
        inside.into_iter().step_by(step).collect()
    }

    /// Every k-th swept value, if these are far enough apart.
    fn mark_ticks(&self, max_labels: usize) -> Option<Vec<f64>> {
        let closest = 0.5 / max_labels as f64;
        let apart = |v: &[f64]| {
            let at: Vec<f64> = v.iter().filter_map(|&v| self.position(v)).collect();
            at.windows(2).all(|w| w[1] - w[0] >= closest)
        };
        let steps = 1..=self.marks.len().div_ceil(2);
        steps
            .map(|step| self.marks.iter().copied().step_by(step).collect::<Vec<f64>>())
            .find(|kept| kept.len() <= max_labels && apart(kept))
    }

    fn round_ticks(&self, max_labels: usize) -> Vec<f64> {
        let powers = match self.spacing {
            Spacing::Log10 => decades(self.low, self.high, max_labels),
            Spacing::Log2 => doublings(self.low, self.high, max_labels),
            Spacing::Linear | Spacing::Category => Vec::new(),
        };
        // A range with fewer than two powers of two still needs numbers.
        if powers.len() >= 2 || max_labels == 1 && powers.len() == 1 {
            return powers;
        }
        multiples(self.low, self.high, max_labels)
    }
}

fn drawable(spacing: Spacing, value: f64) -> bool {
    value.is_finite() && (value > 0.0 || matches!(spacing, Spacing::Linear | Spacing::Category))
}

fn in_decades(values: &[f64]) -> bool {
    let decade = |v: &f64| *v > 0.0 && (v.log10() - v.log10().round()).abs() < 1e-9;
    values.len() > 1 && values.iter().all(decade)
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    Some((low, values.iter().copied().max_by(f64::total_cmp)?))
}

fn padded(spacing: Spacing, range: Option<(f64, f64)>) -> (f64, f64) {
    match (spacing, range) {
        (Spacing::Log2 | Spacing::Log10, None) => (1.0, 2.0),
        (Spacing::Log2 | Spacing::Log10, Some((low, high))) => {
            let pad = if high > low { (high.log2() - low.log2()) * PADDING } else { 1.0 };
            ((low.log2() - pad).exp2().max(f64::MIN_POSITIVE), (high.log2() + pad).exp2().min(f64::MAX))
        }
        (_, None) => (0.0, 1.0),
        (_, Some((low, high))) => {
            let pad = if high > low { (high - low) * PADDING } else { low.abs().max(1.0) / 2.0 };
            (low - pad, high + pad)
        }
    }
}

/// A range that includes 0, with ends at multiples of a round step.
fn linear_range(range: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = range.unwrap_or((0.0, 1.0));
    let (low, high) = (low.min(0.0), high.max(0.0));
    if low == high {
        return (0.0, 1.0);
    }
    let step = round_step((high - low) / 8.0);
    // Some space above the topmost value.
    let reach = |v: f64| (v * 1.03 / step).abs().ceil() * step;
    (-reach(low), reach(high))
}

fn log_range(range: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = range.unwrap_or((1.0, 10.0));
    (round_down(low / 1.05).max(f64::MIN_POSITIVE), round_up(high * 1.05).min(f64::MAX))
}

/// A range with powers of two at both ends.
fn binary_range(range: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = range.unwrap_or((1.0, 2.0));
    let (low, high) = ((low / 1.05).log2().floor(), (high * 1.05).log2().ceil());
    (low.exp2().max(f64::MIN_POSITIVE), high.exp2().min(f64::MAX))
}

/// The largest of 1, 2, 5 times a power of ten that does not exceed `value`.
fn round_down(value: f64) -> f64 {
    let power = power_of_ten(value);
    [5.0, 2.0, 1.0].into_iter().map(|m| m * power).find(|&v| v <= value).unwrap_or(power)
}

fn round_up(value: f64) -> f64 {
    let power = power_of_ten(value);
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&v| v >= value).unwrap_or(power * 10.0)
}

fn power_of_ten(value: f64) -> f64 {
    10f64.powi(value.log10().floor() as i32)
}

fn round_step(at_least: f64) -> f64 {
    round_up(at_least.max(f64::MIN_POSITIVE * 1e20))
}

/// Multiples of 1, 2 or 5 times a power of ten; none if the range is so narrow or so wide that floating-point
/// arithmetic cannot distinguish them.
fn multiples(low: f64, high: f64, max: usize) -> Vec<f64> {
    let mut step = round_step((high - low) / max as f64);
    for _ in 0..8 {
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let n = last - first + 1.0;
        if n <= max as f64 {
            // `+ 0.0` turns a negative zero into a zero.
            return (0..n as usize).map(|i| (first + i as f64) * step + 0.0).collect();
        }
        step = round_step(step * 1.5);
    }
    Vec::new()
}

/// Powers of ten, and 1, 2 and 5 times these if there are not too many.
fn decades(low: f64, high: f64, max: usize) -> Vec<f64> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let inside = |v: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v);
    let of = |factors: &[f64]| -> Vec<f64> {
        let each = exponents.clone().flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)));
        each.filter(inside).collect()
    };
    let (fine, tens) = (of(&[1.0, 2.0, 5.0]), of(&[1.0]));
    // If two powers of ten do not fit, every other number of the finer series is more even.
    let coarse = if tens.len() > 1 { tens } else { fine.clone() };
    if fine.len() <= max { fine } else { thinned(coarse, max) }
}

fn doublings(low: f64, high: f64, max: usize) -> Vec<f64> {
    let exponents = low.log2().ceil() as i32..=high.log2().floor() as i32;
    thinned(exponents.map(|e| 2f64.powi(e)).collect(), max)
}

fn thinned(values: Vec<f64>, max: usize) -> Vec<f64> {
    let step = values.len().div_ceil(max.max(1)).max(1);
    values.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests;

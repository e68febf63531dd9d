//! A remaining time as a range, since noise decides how many rounds are left.

use std::fmt;

/// A range of remaining times, at most a factor of two wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Left {
    /// Seconds.
    low: f64,
    high: f64,
}

/// A unit in which times are shown: from how many seconds on, its name, its length in seconds, and the step to which
/// is rounded, in the unit.
type Unit = (f64, &'static str, f64, f64);

const UNITS: [Unit; 7] = [
    (36_000.0, "h", 3600.0, 1.0),
    (7200.0, "h", 3600.0, 0.5),
    (600.0, "min", 60.0, 1.0),
    (120.0, "min", 60.0, 0.5),
    (40.0, "s", 1.0, 5.0),
    (5.0, "s", 1.0, 1.0),
    (0.0, "s", 1.0, 0.5),
];

impl Left {
    /// So many seconds, give or take `deviation`: a wider range is cut to a factor of two around the same middle.
    pub fn around(middle: f64, deviation: f64) -> Left {
        let (middle, half) = (middle.max(0.0), deviation.clamp(0.0, middle.max(0.0) / 3.0));
        Left { low: middle - half, high: middle + half }
    }

    /// Both ends in seconds.
    pub fn seconds(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The range after this many seconds of it have passed.
    pub fn after(self, seconds: f64) -> Left {
        let middle = f64::midpoint(self.low, self.high);
        Left::around(middle - seconds, (self.high - self.low) / 2.0)
    }

    /// The range of what is left of a time of which no more than `most` seconds are left.
    pub fn at_most(self, most: f64) -> Left {
        let high = self.high.min(most.max(0.0));
        Left { low: self.low.min(high), high }
    }
}

impl fmt::Display for Left {
    /// `40–70 s`, `1.5–2.5 min`: both ends rounded, and still at most a factor of two apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.high < 1.0 {
            return f.write_str("under 1 s");
        }
        let fits = |unit: &&Unit| self.high >= unit.0;
        let (_, name, length, step) = *UNITS.iter().find(fits).unwrap_or(&UNITS[6]);
        let steps = |seconds: f64| (seconds / length / step).round().max(1.0);
        let high = steps(self.high);
        let low = steps(self.low).max((high / 2.0).ceil());
        let (low, high) = (low * step, high * step);
        if low < high { write!(f, "{low}–{high} {name}") } else { write!(f, "{high} {name}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of a range as shown, in seconds.
    fn shown(left: Left) -> [f64; 2] {
        let text = left.to_string();
        let (numbers, unit) = text.split_once(' ').expect("a unit");
        let length = match unit {
            "s" => 1.0,
            "min" => 60.0,
            "h" => 3600.0,
            other => panic!("{other}"),
        };
        let (low, high) = numbers.split_once('–').unwrap_or((numbers, numbers));
        [low, high].map(|number| length * number.parse::<f64>().expect("a number"))
    }

    #[test]
    fn a_range_is_at_most_a_factor_of_two_wide_and_holds_its_middle() {
        for tenths in 10..200_000 {
            let middle = f64::from(tenths) / 10.0;
            for share in [0.0, 0.1, 0.3, 0.5, 2.0] {
                let left = Left::around(middle, share * middle);
                let [low, high] = left.seconds();
                assert!(high <= 2.0 * low * (1.0 + 1e-12), "{left:?}");
                let [low, high] = shown(left);
                assert!(low <= high && high <= 2.0 * low, "{middle} s, {share}: {left}");
                let off = f64::midpoint(low, high) / middle;
                assert!((0.74..1.34).contains(&off), "{middle} s, {share}: {left}");
            }
        }
    }

    #[test]
    fn ranges_in_words() {
        let around = |middle, deviation| Left::around(middle, deviation).to_string();
        assert_eq!(around(90.0, 30.0), "1–2 min");
        assert_eq!(around(55.0, 12.0), "45–65 s");
        assert_eq!(around(8.0, 2.0), "6–10 s");
        assert_eq!(around(8.0, 0.1), "8 s");
        assert_eq!(around(0.4, 0.1), "under 1 s");
        assert_eq!(around(5400.0, 1800.0), "1–2 h");
    }

    #[test]
    fn a_bound_cuts_a_range() {
        let left = Left::around(90.0, 30.0).at_most(80.0);
        assert_eq!(left.seconds(), [60.0, 80.0]);
        assert_eq!(left.at_most(20.0).seconds(), [20.0, 20.0]);
        assert_eq!(Left::around(9.0, 3.0).after(100.0).seconds(), [0.0, 0.0]);
    }
}

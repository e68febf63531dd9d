//! The summary of a run that Spatter 1.1 printed and 2.0 dropped.

use super::output::{column, general};

/// Statistics of the bandwidths of a run's configurations, in MB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub min: f64,
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
    pub max: f64,
    pub harmonic_mean: f64,
    /// Standard error of the harmonic mean.
    pub standard_error: f64,
}

impl Summary {
    /// `None` without a bandwidth. Quartiles are the entries at ⌊n/4⌋, ⌊n/2⌋ and ⌊3n/4⌋ of the ascending list.
    /// With E the mean of the reciprocals and σ their population standard deviation, H.Mean = 1/E and H.StdErr
    /// = σ / (E²·√n).
    pub fn of(bandwidths: &[f64]) -> Option<Summary> {
        let mut sorted = bandwidths.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max, n) = (*sorted.first()?, *sorted.last()?, sorted.len());
        let mean = sorted.iter().map(|b| 1.0 / b).sum::<f64>() / n as f64;
        let variance = sorted.iter().map(|b| (1.0 / b - mean).powi(2)).sum::<f64>() / n as f64;
        Some(Summary {
            min,
            lower: sorted[n / 4],
            median: sorted[n / 2],
            upper: sorted[3 * n / 4],
            max,
            harmonic_mean: 1.0 / mean,
            standard_error: variance.sqrt() / (mean * mean * (n as f64).sqrt()),
        })
    }

    /// The lines as Spatter 1.1 printed them.
    pub fn lines(&self) -> String {
        let line = |words: &[String]| {
            let words: Vec<String> = words.iter().map(|word| column(word, 12)).collect();
            words.join(" ").trim_end().to_owned()
        };
        let names = |names: &[&str]| line(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let numbers =
            |numbers: &[f64]| line(&numbers.iter().map(|number| general(*number, 6)).collect::<Vec<_>>());
        [
            String::new(),
            names(&["Min", "25%", "Med", "75%", "Max"]),
            numbers(&[self.min, self.lower, self.median, self.upper, self.max]),
            names(&["H.Mean", "H.StdErr"]),
            numbers(&[self.harmonic_mean, self.standard_error]),
        ]
        .map(|line| line + "\n")
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in Spatter's README.
    #[test]
    fn the_documented_example_comes_out() {
        let summary = Summary::of(&[199.168, 102.445, 51.6945]).expect("three");
        let expected = "
Min          25%          Med          75%          Max
51.6945      51.6945      102.445      199.168      199.168
H.Mean       H.StdErr
87.9079      26.5821
";
        assert_eq!(summary.lines(), expected);
    }

    #[test]
    fn quartiles_are_entries_of_the_list() {
        let of = |numbers: &[f64]| Summary::of(numbers).map(|s| (s.lower, s.median, s.upper));
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0]), Some((2.0, 3.0, 4.0)));
        assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0)));
        assert_eq!(Summary::of(&[7.0]).map(|s| (s.harmonic_mean, s.standard_error)), Some((7.0, 0.0)));
        assert_eq!(of(&[]), None);
    }
}

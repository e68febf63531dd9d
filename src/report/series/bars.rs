//! The bars through the points of a chart: which part of the samples they show, and in which words.

use crate::recipe::plan::Bars;
use crate::stats::Statistics;

/// With fewer samples the 5th percentile is hardly more than the smallest one.
const ENOUGH: usize = 20;

/// The bars of one case: those that the chart asks for, else percentiles if it has enough samples.
pub fn of_case(asked: Option<Bars>, statistics: &Statistics) -> Bars {
    let usual = if statistics.samples >= ENOUGH { Bars::Percentiles } else { Bars::Range };
    asked.unwrap_or(usual)
}

/// The ends of the bar of a case, seconds.
pub fn ends(bars: Bars, statistics: &Statistics) -> Option<[f64; 2]> {
    match bars {
        Bars::Percentiles => Some([statistics.p5, statistics.p95]),
        Bars::Range => Some([statistics.min, statistics.max]),
        Bars::Nothing => None,
    }
}

/// The bars of all cases of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarKinds {
    All(Bars),
    /// Percentiles, and the range of cases with too few samples.
    Either,
}

impl BarKinds {
    /// The bars of these cases.
    pub fn of<'a>(asked: Option<Bars>, mut cases: impl Iterator<Item = &'a Statistics>) -> BarKinds {
        let first = cases.next().map(|case| of_case(asked, case));
        match first.or(asked) {
            None => BarKinds::All(Bars::Range),
            Some(first) if cases.all(|case| of_case(asked, case) == first) => BarKinds::All(first),
            Some(_) => BarKinds::Either,
        }
    }

    /// `bars: p5 to p95 of the samples`; `None` without bars.
    pub fn words(self) -> Option<&'static str> {
        match self {
            BarKinds::All(Bars::Nothing) => None,
            BarKinds::All(Bars::Percentiles) => Some("bars: p5 to p95 of the samples"),
            BarKinds::All(Bars::Range) => Some("bars: fastest to slowest sample"),
            BarKinds::Either => {
                Some("bars: p5 to p95 of the samples, or fastest to slowest of fewer than 20")
            }
        }
    }

    /// `p5-p95 bars`, for small spaces.
    pub fn short_words(self) -> &'static str {
        match self {
            BarKinds::All(Bars::Nothing) => "no bars",
            BarKinds::All(Bars::Percentiles) => "p5-p95 bars",
            BarKinds::All(Bars::Range) => "min-max bars",
            BarKinds::Either => "p5-p95 bars (min-max below 20 samples)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::statistics;

    fn case(samples: usize) -> Statistics {
        let samples: Vec<f64> = (1..=samples).map(|i| i as f64).collect();
        statistics([samples.as_slice()].into_iter()).expect("samples")
    }

    #[test]
    fn few_samples_have_a_range_and_many_have_percentiles() {
        let (few, many) = (case(19), case(20));
        assert_eq!([&few, &many].map(|case| of_case(None, case)), [Bars::Range, Bars::Percentiles]);
        assert_eq!(ends(Bars::Range, &few), Some([1.0, 19.0]));
        let [low, high] = ends(Bars::Percentiles, &many).expect("a bar");
        assert!(1.0 < low && low < 2.0 && 19.0 < high && high < 20.0, "{low} {high}");
        assert_eq!(ends(Bars::Nothing, &many), None);
        for asked in Bars::WORDS.map(|(_, bars)| bars) {
            assert_eq!([&few, &many].map(|case| of_case(Some(asked), case)), [asked; 2]);
        }
    }

    #[test]
    fn the_words_say_which_bars_are_drawn() {
        let (few, many) = (case(3), case(30));
        let words = |asked, cases: &[&Statistics]| BarKinds::of(asked, cases.iter().copied()).words();
        assert_eq!(words(None, &[&few, &few]), Some("bars: fastest to slowest sample"));
        assert_eq!(words(None, &[&many, &many]), Some("bars: p5 to p95 of the samples"));
        assert!(words(None, &[&many, &few]).is_some_and(|words| words.contains("of fewer than 20")));
        assert_eq!(words(Some(Bars::Nothing), &[&many]), None);
        assert_eq!(words(Some(Bars::Range), &[&many, &few]), Some("bars: fastest to slowest sample"));
    }
}

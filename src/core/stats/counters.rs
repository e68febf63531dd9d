//! Cumulative GPU counters, and the difference between two readings. Pure.

use std::collections::BTreeMap;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::noise::GpuConditions;

/// The energy counter of a GPU advances in steps of up to 0.1 s, so intervals shorter than this yield no
/// power. Seconds.
const SHORTEST: f64 = 1.0;

/// Totals since the driver was loaded. A counter that the GPU lacks is missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuCounters {
    /// When the counters were read.
    pub at: Option<Instant>,
    /// Millijoules.
    pub energy: Option<u64>,
    /// Nanoseconds for which the clocks were held down, by reason.
    pub held: BTreeMap<&'static str, u64>,
}

impl GpuCounters {
    /// Combined counters of two GPUs that worked at the same time.
    pub fn beside(mut self, other: GpuCounters) -> GpuCounters {
        for (reason, nanoseconds) in other.held {
            *self.held.entry(reason).or_default() += nanoseconds;
        }
        GpuCounters {
            at: self.at.max(other.at),
            energy: self.energy.zip(other.energy).map(|(one, other)| one + other),
            held: self.held,
        }
    }
}

/// Activity of a GPU between two readings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct GpuDuring {
    /// Average power, watts; missing if the interval was too short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Seconds for which the clocks were held down, by reason; empty if they never were.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held: BTreeMap<String, f64>,
}

impl GpuDuring {
    /// `None` if the counters yield neither a power nor a held clock.
    pub fn of(from: &GpuConditions, to: &GpuConditions) -> Option<GpuDuring> {
        let (from, to) = (&from.counters, &to.counters);
        let passed = to.at.zip(from.at).map(|(to, from)| to.saturating_duration_since(from).as_secs_f64());
        // A counter that decreased was reset, so its difference means nothing.
        let energy = to.energy.zip(from.energy).and_then(|(to, from)| to.checked_sub(from));
        let power = (energy.zip(passed).filter(|(_, passed)| *passed >= SHORTEST))
            .map(|(millijoules, seconds)| millijoules as f64 / 1e3 / seconds);
        let since = |(reason, to): (&&'static str, &u64)| {
            let held = to.checked_sub(*from.held.get(*reason)?)?;
            (held > 0).then(|| ((*reason).to_owned(), held as f64 / 1e9))
        };
        let held: BTreeMap<String, f64> = to.held.iter().filter_map(since).collect();
        (power.is_some() || !held.is_empty()).then_some(GpuDuring { power, held })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::stats::noise::Conditions;

    fn reading(at: Instant, energy: Option<u64>, held: &[(&'static str, u64)]) -> GpuConditions {
        let counters = GpuCounters { at: Some(at), energy, held: held.iter().copied().collect() };
        GpuConditions { counters, ..GpuConditions::default() }
    }

    #[test]
    fn what_went_on_is_the_difference_of_two_readings() {
        let (start, two) = (Instant::now(), Duration::from_secs(2));
        let from =
            reading(start, Some(1_000_000), &[("power", 5_000_000_000), ("thermal", 250), ("reset", 7)]);
        let to = reading(
            start + two,
            Some(1_500_000),
            &[("power", 5_500_000_000), ("thermal", 250), ("sync boost", 9), ("reset", 1)],
        );
        let during = GpuDuring::of(&from, &to).expect("counters");
        assert_eq!((during.power, during.held), (Some(250.0), [("power".to_owned(), 0.5)].into()));
        let soon = reading(start + Duration::from_millis(100), Some(1_020_000), &[]);
        assert_eq!(GpuDuring::of(&from, &soon), None, "too short for a power, and nothing held it");
        assert_eq!(GpuDuring::of(&GpuConditions::default(), &to), None, "one reading is no difference");
    }

    #[test]
    fn the_record_has_both_ends() {
        let now = Instant::now();
        let [from, to] = [0, 2].map(|s| reading(now + Duration::from_secs(s), Some(s * 100_000), &[]));
        let gpu = Conditions { gpu: Some(to.clone()), ..Conditions::default() };
        let seen = gpu.since(Some(from.clone()));
        assert_eq!((seen.gpu_before, seen.gpu), (Some(Box::new(from)), Some(to)));
        assert_eq!(seen.gpu_during.and_then(|during| during.power), Some(100.0));
        assert_eq!(Conditions::default().since(None), Conditions::default());
    }
}

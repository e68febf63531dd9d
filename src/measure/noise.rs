//! What went on around a measurement, and whether that makes it doubtful.

use serde::{Deserialize, Serialize};

use super::{quantile, sorted};
use crate::plan::Value;

/// The machine while one (case, round) was measured. What it does not tell is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Conditions {
    /// Share of the time of the CPUs of our affinity mask that the hypervisor gave to
    /// others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// CPUs of the mask that other processes kept busy, on average: 0.5 is half of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<f64>,
    /// Clock of a CPU under load, GHz, timed, not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
    /// Of the GPU, for its cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuConditions>,
}

/// A GPU right after the last sample of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct GpuConditions {
    /// Clock of the multiprocessors, MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sm_clock: Option<u32>,
    /// Clock of the memory, MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_clock: Option<u32>,
    /// Watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<u32>,
    /// Why the driver holds its clocks down; empty when nothing does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<String>,
}

/// Why a round's samples are doubtful. A flagged case is measured again once in that
/// round; both attempts stay on file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// The round's samples lie too far apart.
    Spread,
    /// The hypervisor took CPU time away.
    Steal,
    /// Other processes kept our CPUs busy.
    Background,
    /// The CPU ran slower than it did before in this run.
    Clock,
    /// The GPU's driver held its clocks down.
    Throttle,
}

/// The samples of a steady round lie within so much of their median: nine of ten rounds on
/// the processors of a quiet server did, and all on its GPU.
const SPREAD: f64 = 0.1;
/// A virtual machine whose host has room loses less than 0.1% of its time, one of a full
/// host 5%. Less than this is hidden by the 3% that a median is wanted to.
pub(crate) const STEAL: f64 = 0.02;
/// Our own client takes a fiftieth of a CPU where rounds follow each other quickest; a
/// shell, a logger and the kernel's threads take as little. One busy process takes 1.
pub(crate) const BACKGROUND: f64 = 0.1;
/// Readings of an undisturbed clock lie within 1%, on a loaded virtual machine within 3%.
pub(crate) const CLOCK: f64 = 0.05;

impl Flag {
    /// `spread`, `steal` … as in files.
    pub fn word(self) -> &'static str {
        match self {
            Flag::Spread => "spread",
            Flag::Steal => "steal",
            Flag::Background => "background",
            Flag::Clock => "clock",
            Flag::Throttle => "throttle",
        }
    }
}

/// The highest CPU clocks that a run has seen, GHz: one for each backend, number of
/// threads and instruction set, because processors run one core faster than all of them,
/// and some slow down for wide vectors, and take a while to notice that either is over.
#[derive(Clone, Debug, Default)]
pub struct Clocks(Vec<(Load, f64)>);

/// A backend, and what its cases' open parameters became.
type Load = (String, Vec<(String, Value)>);

impl Clocks {
    /// The highest clock under this load, after a reading of `clock`.
    pub fn fastest(
        &mut self,
        backend: &str,
        resolved: &[(String, Value)],
        clock: Option<f64>,
    ) -> Option<f64> {
        let known = self.0.iter().position(|((name, values), _)| name == backend && values == resolved);
        match (known, clock) {
            (Some(at), clock) => {
                let fastest = &mut self.0[at].1;
                *fastest = clock.map_or(*fastest, |clock| fastest.max(clock));
                Some(*fastest)
            }
            (None, Some(clock)) => {
                self.0.push(((backend.to_owned(), resolved.to_vec()), clock));
                Some(clock)
            }
            (None, None) => None,
        }
    }
}

/// What is doubtful about a round, each with the figure that says so. `fastest` is the
/// highest CPU clock that this run has seen under the same load, GHz.
pub fn doubts(samples: &[f64], conditions: &Conditions, fastest: Option<f64>) -> Vec<(Flag, String)> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let over = |value: Option<f64>, limit: f64| value.filter(|v| *v > limit);
    let mut doubts = Vec::new();
    if let Some(spread) = over(spread(samples), SPREAD) {
        doubts.push((Flag::Spread, format!("samples {} apart", percent(spread))));
    }
    if let Some(steal) = over(conditions.steal, STEAL) {
        doubts.push((Flag::Steal, format!("{} of the CPU time stolen", percent(steal))));
    }
    if let Some(busy) = over(conditions.background, BACKGROUND) {
        doubts.push((Flag::Background, format!("others keep {busy:.1} CPUs busy")));
    }
    let slower = conditions.clock.zip(fastest).map(|(clock, fastest)| 1.0 - clock / fastest);
    if let Some(slower) = over(slower, CLOCK) {
        doubts.push((Flag::Clock, format!("the CPU's clock is {} slower", percent(slower))));
    }
    if let Some(gpu) = conditions.gpu.as_ref().filter(|gpu| !gpu.throttle.is_empty()) {
        doubts.push((Flag::Throttle, format!("the GPU holds its clocks down: {}", gpu.throttle.join(", "))));
    }
    doubts
}

/// Distance of a round's 5% and 95% quantiles over their median; missing for one sample.
fn spread(samples: &[f64]) -> Option<f64> {
    let samples = sorted(samples);
    (samples.len() > 1)
        .then(|| (quantile(&samples, 0.95) - quantile(&samples, 0.05)) / quantile(&samples, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(samples: &[f64], conditions: &Conditions, fastest: Option<f64>) -> Vec<Flag> {
        doubts(samples, conditions, fastest).into_iter().map(|(flag, _)| flag).collect()
    }

    #[test]
    fn a_quiet_machine_raises_no_flag() {
        let quiet = Conditions {
            steal: Some(0.0),
            background: Some(0.02),
            clock: Some(3.0),
            gpu: Some(GpuConditions::default()),
        };
        assert_eq!(flags(&[1.0, 1.02, 0.99], &quiet, Some(3.05)), []);
        assert_eq!(flags(&[1.0], &Conditions::default(), None), [], "what is not known raises none");
    }

    #[test]
    fn clocks_are_compared_under_the_same_load() {
        let threads = |n| vec![("backend.cpu.threads".to_owned(), Value::Int(n))];
        let mut clocks = Clocks::default();
        assert_eq!(clocks.fastest("scalar", &[], Some(3.5)), Some(3.5));
        assert_eq!(clocks.fastest("cpu", &threads(64), Some(2.8)), Some(2.8), "all cores run slower");
        assert_eq!(clocks.fastest("cpu", &threads(64), Some(2.4)), Some(2.8));
        assert_eq!(clocks.fastest("cpu", &threads(64), None), Some(2.8));
        assert_eq!(clocks.fastest("cpu", &threads(1), None), None);
    }

    #[test]
    fn each_kind_of_noise_raises_its_flag() {
        let throttled = GpuConditions { throttle: vec!["power cap".into()], ..GpuConditions::default() };
        let noisy =
            Conditions { steal: Some(0.05), background: Some(1.0), clock: Some(2.0), gpu: Some(throttled) };
        let all = [Flag::Spread, Flag::Steal, Flag::Background, Flag::Clock, Flag::Throttle];
        assert_eq!(flags(&[1.0, 1.3, 1.0], &noisy, Some(3.0)), all);
    }
}

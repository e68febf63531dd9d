//! Conditions during a measurement, and whether they make it doubtful.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::counters::{GpuCounters, GpuDuring};
use super::{quantile, sorted};
use crate::case::Value;

/// The state of the machine while one (case, round) was measured. Readings that the machine lacks are
/// missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct Conditions {
    /// Share of the CPU time of our affinity mask that the hypervisor gave to others (steal time).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// CPUs of the affinity mask that other processes kept busy, on average: 0.5 is half a CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<f64>,
    /// Clock of a CPU under load, GHz, measured by timing rather than reported by the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<f64>,
    /// The GPU right after the last sample; only for cases that run on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuConditions>,
    /// The GPU right before the first execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_before: Option<Box<GpuConditions>>,
    /// Activity of the GPU between these two readings, from its counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_during: Option<GpuDuring>,
}

impl Conditions {
    /// Adds the GPU's reading from before the execution, and its activity since then.
    pub fn since(self, before: Option<GpuConditions>) -> Conditions {
        let during = before.as_ref().zip(self.gpu.as_ref()).and_then(|(from, to)| GpuDuring::of(from, to));
        Conditions { gpu_before: before.map(Box::new), gpu_during: during, ..self }
    }
}

/// State of a GPU at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Bytes of GPU memory in use, by any process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<u64>,
    /// Total bytes of GPU memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total: Option<u64>,
    /// Why the driver holds the clocks down; empty if nothing does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttle: Vec<String>,
    /// Totals up to this moment.
    #[serde(skip)]
    pub counters: GpuCounters,
}

impl GpuConditions {
    /// Combined state of two GPUs that worked at the same time: the lower clocks, the higher temperature, the
    /// sums of power and memory, and every throttle reason.
    pub fn beside(self, other: GpuConditions) -> GpuConditions {
        fn both<T>(one: Option<T>, other: Option<T>, of: fn(T, T) -> T) -> Option<T> {
            one.zip(other).map(|(one, other)| of(one, other))
        }
        let mut throttle = self.throttle;
        throttle.extend(other.throttle);
        throttle.sort();
        throttle.dedup();
        GpuConditions {
            sm_clock: both(self.sm_clock, other.sm_clock, u32::min),
            memory_clock: both(self.memory_clock, other.memory_clock, u32::min),
            power: both(self.power, other.power, |one, other| one + other),
            temperature: both(self.temperature, other.temperature, u32::max),
            memory_used: both(self.memory_used, other.memory_used, u64::saturating_add),
            memory_total: both(self.memory_total, other.memory_total, u64::saturating_add),
            throttle,
            counters: self.counters.beside(other.counters),
        }
    }
}

/// Why a round's samples are doubtful. A flagged case is measured again once in that
/// round; both attempts stay on file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// The round's samples lie too far apart.
    Spread,
    /// The hypervisor took CPU time away.
    Steal,
    /// Other processes kept our CPUs busy.
    Background,
    /// The CPU ran slower than usual in this run.
    Clock,
    /// The GPU's driver held its clocks down.
    Throttle,
}

/// Samples of a steady round lie within this share of their median: nine of ten rounds on the processors of a
/// quiet server did, and all rounds on its GPU.
const SPREAD: f64 = 0.1;
/// A virtual machine on a host with spare capacity loses less than 0.1% of its time, one on a full host 5%.
/// Less than this is lost in the 3% precision that a median aims at.
pub const STEAL: f64 = 0.02;
/// Our own client takes a fiftieth of a CPU where rounds follow each other fastest; a shell, a logger and
/// kernel threads take as little. One busy process takes 1.
pub const BACKGROUND: f64 = 0.1;
/// Readings of an undisturbed clock lie within 1%, on a loaded virtual machine within 3%. Readings of one
/// server (the host of an H200) ranged from 2.56 to 2.99 GHz in a run whose samples showed no effect: most
/// lay at the low end. The median is therefore the reference, not the maximum.
const SLOWER: f64 = 0.1;
/// Medians of a case's clocks vary less than single readings: a difference of this share between two medians
/// may explain a difference of their times.
pub const CLOCK: f64 = 0.05;
/// Fewer readings do not establish the usual clock.
const READINGS: usize = 5;

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

/// The CPU clocks seen in a run, GHz, ascending. They are kept per backend, number of threads and instruction
/// set: processors run one core faster than all cores, some slow down for wide vectors, and both changes take
/// a while to wear off.
#[derive(Clone, Debug, Default)]
pub struct Clocks(Vec<(Load, Vec<f64>)>);

/// A backend and the resolved values of its cases' open parameters.
type Load = (String, Vec<(String, Value)>);

impl Clocks {
    /// The median clock under this load, after adding the reading `clock`; `None` while there are too few
    /// readings.
    pub fn usual(&mut self, backend: &str, resolved: &[(String, Value)], clock: Option<f64>) -> Option<f64> {
        let known = self.0.iter().position(|((name, values), _)| name == backend && values == resolved);
        let at = known.unwrap_or_else(|| {
            self.0.push(((backend.to_owned(), resolved.to_vec()), Vec::new()));
            self.0.len() - 1
        });
        let readings = &mut self.0[at].1;
        if let Some(clock) = clock {
            readings.insert(readings.partition_point(|other| *other < clock), clock);
        }
        (readings.len() >= READINGS).then(|| quantile(readings, 0.5))
    }
}

/// Prefix of the warning about a doubtful round, by which other code recognises it. `round` counts from 0;
/// the prefix counts from 1.
pub fn preamble(label: &str, round: u32) -> String {
    format!("{label}, round {}: ", round + 1)
}

/// The doubts about a round, each with the figure behind it. `usual` is the usual CPU clock under the same
/// load in this run, GHz. CPU steal and background load do not affect samples that a GPU times.
pub fn doubts(samples: &[f64], conditions: &Conditions, usual: Option<f64>) -> Vec<(Flag, String)> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let over = |value: Option<f64>, limit: f64| value.filter(|v| *v > limit);
    let mut doubts = Vec::new();
    if let Some(spread) = over(spread(samples), SPREAD) {
        doubts.push((Flag::Spread, format!("samples {} apart", percent(spread))));
    }
    let of_cpus = |value: Option<f64>| value.filter(|_| conditions.gpu.is_none());
    if let Some(steal) = over(of_cpus(conditions.steal), STEAL) {
        doubts.push((Flag::Steal, format!("{} of the CPU time stolen", percent(steal))));
    }
    if let Some(busy) = over(of_cpus(conditions.background), BACKGROUND) {
        doubts.push((Flag::Background, format!("others keep {busy:.1} CPUs busy")));
    }
    let slower = conditions.clock.zip(usual).map(|(clock, usual)| 1.0 - clock / usual);
    if let Some(slower) = over(slower, SLOWER) {
        doubts.push((Flag::Clock, format!("the CPU's clock is {} slower", percent(slower))));
    }
    if let Some(gpu) = conditions.gpu.as_ref().filter(|gpu| !gpu.throttle.is_empty()) {
        doubts.push((Flag::Throttle, format!("the GPU holds its clocks down: {}", gpu.throttle.join(", "))));
    }
    doubts
}

/// Distance between a round's 5% and 95% quantiles over its median; missing for one sample.
fn spread(samples: &[f64]) -> Option<f64> {
    let samples = sorted(samples);
    (samples.len() > 1)
        .then(|| (quantile(&samples, 0.95) - quantile(&samples, 0.05)) / quantile(&samples, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(samples: &[f64], conditions: &Conditions, usual: Option<f64>) -> Vec<Flag> {
        doubts(samples, conditions, usual).into_iter().map(|(flag, _)| flag).collect()
    }

    #[test]
    fn a_quiet_machine_raises_no_flag() {
        let quiet = Conditions {
            steal: Some(0.0),
            background: Some(0.02),
            clock: Some(3.0),
            ..Conditions::default()
        };
        assert_eq!(flags(&[1.0, 1.02, 0.99], &quiet, Some(3.05)), []);
        let gpu = Some(GpuConditions::default());
        assert_eq!(flags(&[1.0], &Conditions { gpu, ..Conditions::default() }, None), []);
        assert_eq!(flags(&[1.0], &Conditions::default(), None), [], "what is not known raises none");
    }

    #[test]
    fn gpus_side_by_side_are_held_down_by_what_holds_either() {
        let one = GpuConditions { sm_clock: Some(1980), power: Some(400.0), ..GpuConditions::default() };
        let throttle = vec!["power cap".to_owned()];
        let other = GpuConditions {
            sm_clock: Some(1700),
            power: Some(300.0),
            temperature: Some(60),
            throttle: throttle.clone(),
            ..GpuConditions::default()
        };
        let both = one.beside(other);
        assert_eq!((both.sm_clock, both.power, both.throttle), (Some(1700), Some(700.0), throttle));
        assert_eq!(both.temperature, None, "one does not tell");
    }

    #[test]
    fn clocks_are_compared_under_the_same_load() {
        let threads = |n| vec![("backend.cpu.threads".to_owned(), Value::Int(n))];
        let mut clocks = Clocks::default();
        for clock in [2.8, 2.4, 2.9, 2.7] {
            assert_eq!(clocks.usual("cpu", &threads(64), Some(clock)), None, "too few to tell");
        }
        assert_eq!(clocks.usual("scalar", &[], Some(3.5)), None, "another load");
        assert_eq!(clocks.usual("cpu", &threads(64), None), None, "no reading");
        assert_eq!(clocks.usual("cpu", &threads(64), Some(2.8)), Some(2.8));
        assert_eq!(clocks.usual("cpu", &threads(64), None), Some(2.8));
        assert_eq!(clocks.usual("cpu", &threads(1), None), None);
    }

    /// Readings as seen on a quiet server: a maximum of 2.99 GHz, most below 2.7.
    #[test]
    fn a_high_reading_does_not_flag_those_after_it() {
        let mut clocks = Clocks::default();
        let readings = [2.99, 2.6, 2.62, 2.56, 2.61, 2.6, 2.7, 2.58, 2.61, 2.86, 2.56, 2.6, 2.0];
        let flagged: Vec<f64> = (readings.into_iter())
            .filter(|clock| {
                let conditions = Conditions { clock: Some(*clock), ..Conditions::default() };
                let usual = clocks.usual("cpu", &[], Some(*clock));
                flags(&[1.0], &conditions, usual) == [Flag::Clock]
            })
            .collect();
        assert_eq!(flagged, [2.0]);
    }

    #[test]
    fn each_kind_of_noise_raises_its_flag() {
        let noisy = Conditions {
            steal: Some(0.05),
            background: Some(1.0),
            clock: Some(2.0),
            ..Conditions::default()
        };
        let all = [Flag::Spread, Flag::Steal, Flag::Background, Flag::Clock];
        assert_eq!(flags(&[1.0, 1.3, 1.0], &noisy, Some(3.0)), all);
    }

    #[test]
    fn what_happens_to_the_cpus_is_no_doubt_about_a_gpu() {
        let gpu = Some(GpuConditions { throttle: vec!["power cap".into()], ..GpuConditions::default() });
        let noisy = Conditions { steal: Some(0.05), background: Some(1.0), gpu, ..Conditions::default() };
        assert_eq!(flags(&[1.0], &noisy, None), [Flag::Throttle]);
    }
}

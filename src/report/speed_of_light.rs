//! The roofs of a case. The speed of light of a primitive's parallel model is the time of its bytes at the rate of the
//! run's plain copies, with no other cost (ashkiani2017 §6.2.2). The ranking roof of a method is the time in which the
//! run ranked as many keys on chip, with no other cost.

use std::collections::BTreeMap;

use super::copies::{self, Copies};
use crate::case::Ranking;
use crate::primitives;
use crate::recipe::plan::Plan;
use crate::run::Record;
use crate::stats::median;

/// Explains a share above 1.
const BEYOND: &str = " (above 100 %: the keys stay in caches, which the copies do not fit, or the method moves less than the model)";

/// Speeds of light of the cases of a run.
#[derive(Clone, Debug)]
pub struct SpeedsOfLight<'a> {
    /// Copy rates by backend, GB/s.
    rates: BTreeMap<&'a str, f64>,
}

impl<'a> SpeedsOfLight<'a> {
    /// `copies` must be from the plan's run.
    pub fn new(plan: &Plan, copies: &'a Copies) -> SpeedsOfLight<'a> {
        let rate = |backend: &'a String| Some((backend.as_str(), copies::rate(plan, copies, backend).ok()?));
        SpeedsOfLight { rates: copies.keys().filter_map(rate).collect() }
    }

    /// Seconds of one execution at the speed of light; `None` if the primitive has none, or if no copy is on
    /// file.
    pub fn seconds(&self, record: &Record) -> Option<f64> {
        Self::seconds_at(record, *self.rates.get(record.case.place().0)?)
    }

    /// Seconds of one execution at the speed of light for this copy rate in GB/s.
    pub fn seconds_at(record: &Record, rate: f64) -> Option<f64> {
        Some(Self::bytes(record)? as f64 / (rate * 1e9))
    }

    /// The share of the speed of light that a valid result reached: above 1 if a method moves less than the
    /// model.
    pub fn share(&self, record: &Record) -> Option<f64> {
        let measured = record.statistics.as_ref().filter(|_| record.stands())?;
        let share = self.seconds(record)? / measured.median;
        share.is_finite().then_some(share)
    }

    /// `of the speed of light: cuda 12 to 83 %, peer:cub-sort 9 %`: the smallest and the largest share for each
    /// backend's cases; `None` if no case has one.
    pub fn words<'r>(&self, records: impl Iterator<Item = &'r Record>) -> Option<String> {
        let mut reached: Vec<(&str, f64, f64)> = Vec::new();
        for record in records {
            let (backend, Some(share)) = (record.case.backend(), self.share(record)) else { continue };
            match reached.iter_mut().find(|(known, ..)| *known == backend) {
                Some((_, low, high)) => (*low, *high) = (low.min(share), high.max(share)),
                None => reached.push((backend, share, share)),
            }
        }
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let words = reached.iter().map(|(backend, low, high)| match [*low, *high].map(percent) {
            [low, high] if low == high => format!("{backend} {high} %"),
            [low, high] => format!("{backend} {low} to {high} %"),
        });
        let words: Vec<String> = words.collect();
        let beyond = reached.iter().any(|(_, _, high)| *high > 1.0);
        let why = if beyond { BEYOND } else { "" };
        (!words.is_empty()).then(|| format!("of the speed of light: {}{why}", words.join(", ")))
    }

    /// Seconds of one execution at the rate at which the run ranked such keys on chip; `None` if the case's method has
    /// no such roof, or if none is on file.
    pub fn ranking_seconds(&self, record: &Record) -> Option<f64> {
        self.rates.get(record.case.place().0)?;
        let rate = median(&record.ranked).filter(|rate| *rate > 0.0)?;
        let Ranking { keys, digits, .. } = primitives::ranking(&record.case)?;
        Some(keys as f64 * digits as f64 / rate)
    }

    /// The share of the ranking roof that a valid result reached.
    pub fn ranking_share(&self, record: &Record) -> Option<f64> {
        let measured = record.statistics.as_ref().filter(|_| record.stands())?;
        let share = self.ranking_seconds(record)? / measured.median;
        share.is_finite().then_some(share)
    }

    /// `cuda: the best case reaches 92 % of the ranking roof, the lower one`: of the cases with two roofs, the largest
    /// share of the roof that binds, for each backend; `None` if no case has two.
    pub fn bound<'r>(&self, records: impl Iterator<Item = &'r Record>) -> Option<String> {
        let mut best: BTreeMap<&str, (f64, &str)> = BTreeMap::new();
        for record in records {
            let (Some(light), Some(ranking)) = (self.share(record), self.ranking_share(record)) else {
                continue;
            };
            // Of the lower roof, a result reaches the larger share.
            let lower = if ranking > light { (ranking, "ranking roof") } else { (light, "speed of light") };
            let known = best.entry(record.case.backend()).or_insert(lower);
            if lower.0 > known.0 {
                *known = lower;
            }
        }
        let words = best.into_iter().map(|(backend, (share, roof))| {
            format!(
                "{backend}: the best case reaches {:.0} % of the {roof}, the lower of its two roofs",
                share * 100.0
            )
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join(" · "))
    }

    /// Bytes that an execution moves in the parallel model.
    pub fn bytes(record: &Record) -> Option<u64> {
        let speeds = primitives::find(&record.case.primitive)?.speed_of_light()?;
        (speeds.bytes)(&record.case.params).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::{Event, Ranked};
    use crate::recipe::parse;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::report::csv::tests::{finished_in, finished_of};

    /// 2^25 keys in 3 · 2^27 bytes, and pairs in 5 · 2^27, at 320 GB/s of the GTX 1080.
    #[test]
    fn a_share_is_the_time_at_the_speed_of_light_over_the_measured_one() {
        let ledger = finished_in("ashkiani2017/gpu-multisplit.yaml", |_| 2e-3);
        let copies = Copies::from([("cuda".to_owned(), vec![100.0, 320.0, 400.0])]);
        let (plan, records) = (ledger.plan(), ledger.records());
        let speeds = SpeedsOfLight::new(plan, &copies);
        let first = |values: &str| {
            let is = |r: &&Record| r.case.experiment == 0 && r.case.params.text("values") == Some(values);
            records.iter().find(is).expect("a case")
        };
        for (values, bytes) in [("none", 3 << 27), ("4B", 5u64 << 27)] {
            let (record, seconds) = (first(values), bytes as f64 / 320e9);
            assert_eq!(speeds.seconds(record), Some(seconds), "{values}");
            // The fixture's samples are once and twice the given time, so the median is 1.5 times that.
            assert_eq!(speeds.share(record), Some(seconds / 3e-3), "{values}");
        }
        let own = records.iter().filter(|r| r.case.experiment == 0);
        assert_eq!(
            speeds.words(own).as_deref(),
            Some("of the speed of light: cuda 42 to 70 %, peer:cub-radix-sort 42 to 70 %")
        );
        let ten = finished_in("ashkiani2017/gpu-multisplit.yaml", |_| 2e-4);
        let words = SpeedsOfLight::new(ten.plan(), &copies).words(ten.records().iter()).expect("a share");
        assert!(words.contains("(above 100 %: the keys stay in caches"), "{words}");
        let none = Copies::new();
        let without = SpeedsOfLight::new(plan, &none);
        assert_eq!((without.seconds(first("none")), without.words(records.iter())), (None, None));
    }

    /// 2^20 keys in 36 bytes each and four digits: the roof that takes longer binds.
    #[test]
    fn the_lower_of_two_roofs_binds() {
        let recipe = "title: Roofs\nsort: {keys: 1Mi, distribution: [uniform, sorted], method: [best, bitonic]}\n\
            backend: cuda\npeers: cub-radix-sort\nchart: {x: distribution, y: throughput, lines: method}\n";
        let copies = Copies::from([("cuda".to_owned(), vec![3600.0])]);
        let (light, keys) = ((36 << 20) as f64 / 3600e9, (1 << 20) as f64);
        for (rate, ranking, words) in [
            (200e9, keys * 4.0 / 200e9, "70 % of the ranking roof"),
            (800e9, keys * 4.0 / 800e9, "35 % of the speed of light"),
        ] {
            let parsed = parse("a.yaml", recipe).expect("a recipe");
            let plan = resolve(&parsed, &Overrides::default()).expect("a plan");
            let mut ledger = finished_of(plan, |_| keys * 4.0 / 200e9 / 0.7 / 1.5);
            let before = SpeedsOfLight::new(ledger.plan(), &copies).bound(ledger.records().iter());
            assert_eq!(before, None, "no rate is on file");
            let ranked = |kind: &str, rate| Ranked { kind: kind.to_owned(), rate };
            let ranked = vec![
                ranked("u64", 1.0),
                ranked("u32", rate / 2.0),
                ranked("u32", 2.0 * rate),
                ranked("u32", rate),
            ];
            ledger.apply(&Event::Reference { pass: 0, backend: "cuda".to_owned(), copy: 3600.0, ranked });
            let speeds = SpeedsOfLight::new(ledger.plan(), &copies);
            let told: Vec<_> =
                ledger.records().iter().filter_map(|r| Some((r, speeds.ranking_seconds(r)?))).collect();
            let [(record, seconds)] = told.as_slice() else {
                panic!("{} cases have a ranking roof", told.len())
            };
            assert_eq!((*seconds, speeds.seconds(record)), (ranking, Some(light)), "ours, of uniform keys");
            let bound = speeds.bound(ledger.records().iter()).expect("two roofs");
            assert_eq!(bound, format!("cuda: the best case reaches {words}, the lower of its two roofs"));
            let none = Copies::new();
            let without = SpeedsOfLight::new(ledger.plan(), &none);
            assert_eq!(without.bound(ledger.records().iter()), None, "no copy is on file");
        }
    }

    #[test]
    fn a_primitive_without_a_model_of_its_own_has_none() {
        let ledger = finished_in("he2007/fig09-passes.yaml", |_| 1.0);
        let copies = Copies::from([("cpu".to_owned(), vec![10.0])]);
        assert_eq!(SpeedsOfLight::new(ledger.plan(), &copies).words(ledger.records().iter()), None);
    }
}

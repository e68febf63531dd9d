//! What a run is worth, in one sentence that is the same wherever it is said: on the screen, at the end of a run, in reports,
//! captions and tables.

use std::collections::{BTreeMap, HashSet};

use super::{Ledger, Record, Status};
use crate::case::Measure;
use crate::case::units::number_of;
use crate::recipe::plan::Plan;
use crate::stats::noise::Flag;
use crate::stats::{self, Statistics, Stop};

/// Up to this share of the results may be exceptions.
const FEW: f64 = 0.25;

/// Widest interval of a useful result whose recipe asks for no width.
pub const USEFUL: f64 = 0.1;

/// The sentence about these records of a plan; `None` if nothing was to be measured.
pub fn verdict(plan: &Plan, records: &[Record]) -> Option<String> {
    let quality = Quality::of(plan, records);
    (quality.possible > 0).then(|| quality.sentence())
}

/// The same for reports: `None` also if nothing has been measured, as in a prediction.
pub fn of_results(plan: &Plan, records: &[Record]) -> Option<String> {
    let measured =
        |record: &Record| record.statistics.is_some() || matches!(record.status, Status::Failed(_));
    verdict(plan, records).filter(|_| records.iter().any(measured))
}

/// A case that misses the interval or the rounds that its recipe asks for, in words: `±7.1 % instead of ±3 %`,
/// `2 of 5 rounds`; `None` if it misses nothing.
pub fn missed(ledger: &Ledger, at: usize) -> Option<String> {
    let record = ledger.records().get(at).filter(|record| record.statistics.is_some())?;
    let (measure, had) = (ledger.measure(at), record.rounds.len());
    let wanted = wanted(record, measure);
    if had < wanted {
        return Some(format!("{had} of {}", number_of(wanted, "round")));
    }
    let (width, asked) = (stats::half_width(&record.medians())?, measure.adaptive()?);
    (width > asked).then(|| format!("±{} instead of ±{}", percent(width), percent(asked)))
}

fn wanted(record: &Record, measure: &Measure) -> usize {
    measure.rounds.max(record.wanted) as usize
}

/// The widest interval that needs no excuse: what the rule asks for, or [`USEFUL`] where the number of rounds is fixed.
pub fn asked(measure: &Measure) -> f64 {
    measure.adaptive().unwrap_or(USEFUL)
}

/// A share as a percentage, with a decimal where it says something; never `0 %`.
pub fn percent(share: f64) -> String {
    let percent = (share * 100.0).max(0.1);
    let whole = (percent - percent.round()).abs() < 0.05 || percent >= 9.95;
    if whole { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// What matters about a run, in numbers of cases.
///
/// A result is **in doubt** if it has no certificate (a peer's needs none), if rounds that count are flagged, if they are
/// unsteady, if rounds are missing, or if it has no interval. One that is not in doubt is **wide** if its interval is wider
/// than [`asked`]. Results in doubt are exceptions, and so are the wide ones if both together are no more than a quarter of the
/// results. **The precision of a run is the widest interval of the results that are no exceptions.** If more than a quarter
/// of the results are in doubt, the run is, and has no precision.
#[derive(Default)]
pub struct Quality {
    /// Cases that can run here.
    possible: usize,
    pub failed: usize,
    /// Cases without their rounds, because the run was ended.
    open: usize,
    results: usize,
    /// Results that a peer computed.
    peers: usize,
    in_doubt: usize,
    uncertified: usize,
    /// Results with flagged rounds, and how many of them have each flag.
    doubtful: usize,
    pub noise: BTreeMap<Flag, usize>,
    unsteady: usize,
    /// Results some of whose rounds are missing.
    partial: usize,
    /// Results without an interval.
    bare: usize,
    /// Wide results, by the reason why they got no more rounds.
    wide: BTreeMap<&'static str, usize>,
    /// The widest interval of the results in doubt, of the wide ones, and of the others.
    widest: [f64; 3],
}

impl Quality {
    pub fn of(plan: &Plan, records: &[Record]) -> Quality {
        let mut quality = Quality::default();
        // One measurement counts once, however many charts show it.
        let shown: HashSet<&str> = records.iter().map(|record| record.case.id.as_str()).collect();
        let again = |record: &&Record| record.repeats.as_deref().is_some_and(|first| shown.contains(first));
        for record in records.iter().filter(|record| !again(record)) {
            match record.status {
                Status::NotApplicable(_) => continue,
                Status::Failed(_) => quality.failed += 1,
                Status::Pending | Status::Partial => quality.open += 1,
                Status::Done => {}
            }
            quality.possible += 1;
            let measure = plan.experiments.get(record.case.experiment).map(|experiment| experiment.measure);
            quality.add(record, &measure.unwrap_or_default());
        }
        quality
    }

    fn add(&mut self, record: &Record, measure: &Measure) {
        let Some(statistics) = &record.statistics else { return };
        let (flags, width) = (record.flags(), stats::half_width(&record.medians()));
        let unsteady = Statistics::unsteady(statistics);
        let partial = record.rounds.len() < wanted(record, measure);
        let doubts = [!record.stands(), !flags.is_empty(), unsteady, partial, width.is_none()];
        self.results += 1;
        self.peers += usize::from(record.case.peer().is_some());
        let counts = [
            &mut self.uncertified,
            &mut self.doubtful,
            &mut self.unsteady,
            &mut self.partial,
            &mut self.bare,
        ];
        counts.into_iter().zip(doubts).for_each(|(count, doubt)| *count += usize::from(doubt));
        flags.iter().for_each(|flag| *self.noise.entry(*flag).or_default() += 1);
        let width = width.unwrap_or(0.0);
        let kind = match () {
            () if doubts.contains(&true) => 0,
            () if width > asked(measure) => 1,
            () => 2,
        };
        self.in_doubt += usize::from(kind == 0);
        if kind == 1 {
            *self.wide.entry(why(record.stop)).or_default() += 1;
        }
        self.widest[kind] = self.widest[kind].max(width);
    }

    /// Whether some results have intervals, so that something can be compared.
    pub fn has_intervals(&self) -> bool {
        self.bare < self.results
    }

    /// Whether so many results are in doubt that the run is.
    pub fn is_in_doubt(&self) -> bool {
        self.in_doubt > self.few()
    }

    /// Whether noise or unsteady rounds put any result in doubt.
    pub fn is_disturbed(&self) -> bool {
        self.doubtful + self.unsteady > 0
    }

    fn few(&self) -> usize {
        (FEW * self.results as f64) as usize
    }

    fn sentence(&self) -> String {
        let incomplete = joined([(self.failed, "failed".to_owned()), (self.open, "not finished".to_owned())]);
        let cases = number_of(self.results, "case");
        if self.results == 0 {
            return format!("No results: of {}, {incomplete}.", number_of(self.possible, "case"));
        }
        let incomplete =
            if incomplete.is_empty() { incomplete } else { format!("Incomplete: {incomplete}. ") };
        let worth = match () {
            () if !self.has_intervals() => {
                format!("No interval: nothing can be compared ({cases} of one round).")
            }
            () if self.is_in_doubt() => {
                let widest = percent(self.widest.into_iter().fold(0.0, f64::max));
                let reasons = self.reasons(false);
                format!("In doubt: {} of {cases}, intervals up to ±{widest}: {reasons}.", self.in_doubt)
            }
            () => self.precise(&cases),
        };
        incomplete + &worth
    }

    /// The sentence about a run that has a precision.
    fn precise(&self, cases: &str) -> String {
        let wide = self.wide.values().sum::<usize>();
        let excused = self.in_doubt + wide <= self.few();
        let exceptions = self.in_doubt + if excused { wide } else { 0 };
        let precision = if excused { self.widest[2] } else { self.widest[2].max(self.widest[1]) };
        let only = if precision > USEFUL { "only " } else { "" };
        let which = match exceptions {
            0 => {
                let wide = if wide > 0 { format!(", {}", self.wide("")) } else { String::new() };
                format!(": {cases}, {}, none in doubt{wide}", self.certified())
            }
            _ => format!(" except {exceptions} of {cases}: {}", self.reasons(excused)),
        };
        format!("Reliable {only}to ±{}{which}; smaller differences mean nothing.", percent(precision))
    }

    fn certified(&self) -> String {
        match self.peers {
            0 if self.results == 1 => "certified".to_owned(),
            0 => "all certified".to_owned(),
            peers => format!("{} certified, {peers} of peers", self.results - peers),
        }
    }

    /// Why results are exceptions, or in doubt.
    fn reasons(&self, wide_too: bool) -> String {
        let noise: Vec<String> = self.noise.iter().map(|(flag, n)| format!("{} {n}", cause(*flag))).collect();
        let wide = self.wide.values().sum::<usize>();
        let doubts = joined([
            (self.uncertified, "without a certificate".to_owned()),
            (self.doubtful, format!("doubtful ({})", noise.join(", "))),
            (self.unsteady, "unsteady (rounds more than 10 % apart)".to_owned()),
            (self.partial, "without all rounds".to_owned()),
            (self.bare, "of one round".to_owned()),
        ]);
        let up_to = format!(", up to ±{}", percent(self.widest[1]));
        match (wide > 0 && wide_too, doubts.is_empty()) {
            (false, _) => doubts,
            (true, true) => self.wide(&up_to),
            (true, false) => format!("{doubts}, {}", self.wide(&up_to)),
        }
    }

    /// `3 wider than asked, up to ±61 % (3 hit the round limit)`.
    fn wide(&self, up_to: &str) -> String {
        let reasons: Vec<String> = self.wide.iter().map(|(why, n)| format!("{n} {why}")).collect();
        let wide = self.wide.values().sum::<usize>();
        format!("{wide} wider than asked{up_to} ({})", reasons.join(", "))
    }
}

/// `2 failed, 1 not finished`: those that there are.
fn joined<const N: usize>(counts: [(usize, String); N]) -> String {
    let there = counts.into_iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Why a case got no more rounds.
fn why(stop: Option<Stop>) -> &'static str {
    match stop {
        Some(Stop::Budget) => "used up the budget",
        Some(Stop::Rounds) => "hit the round limit",
        Some(Stop::Time) => "ran out of time",
        Some(Stop::Fixed) => "with a fixed number of rounds",
        Some(Stop::Precise) | None => "not finished",
    }
}

/// What noise was, in words.
fn cause(flag: Flag) -> &'static str {
    match flag {
        Flag::Spread => "samples far apart",
        Flag::Steal => "hypervisor busy",
        Flag::Background => "other processes busy",
        Flag::Clock => "CPU clock down",
        Flag::Throttle => "GPU throttled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::Event;
    use crate::run::tests::{attempt, failed, plan};

    /// The sentence about four cases under this rule; of each the medians of its rounds, and whether they are flagged.
    fn said(rule: &str, cases: [(&[f64], bool); 4]) -> String {
        let plan = plan(rule);
        let mut ledger = Ledger::new(plan.clone());
        for (case, (medians, flagged)) in cases.into_iter().enumerate() {
            for (round, median) in (0..).zip(medians) {
                ledger.apply(&attempt(&plan, case, round, 0, *median, flagged));
            }
        }
        verdict(&plan, ledger.records()).expect("cases")
    }

    const STEADY: (&[f64], bool) = (&[1.0, 1.02, 1.0], false);

    #[test]
    fn the_precision_is_the_widest_interval() {
        let narrow: (&[f64], bool) = (&[1.0, 1.001, 1.0], false);
        assert_eq!(
            said("rounds: 3, max-rounds: 3", [STEADY, narrow, narrow, narrow]),
            "Reliable to ±2.8 %: 4 cases, all certified, none in doubt; smaller differences mean nothing."
        );
    }

    #[test]
    fn nothing_is_trusted_without_an_interval() {
        let one: (&[f64], bool) = (&[1.0], false);
        assert_eq!(
            said("rounds: 1", [one; 4]),
            "No interval: nothing can be compared (4 cases of one round)."
        );
        let none: (&[f64], bool) = (&[], false);
        assert_eq!(
            said("rounds: 1", [one, none, none, none]),
            "Incomplete: 3 not finished. No interval: nothing can be compared (1 case of one round)."
        );
    }

    #[test]
    fn a_fixed_number_of_rounds_is_no_excuse_for_wide_intervals() {
        let wide: (&[f64], bool) = (&[1.0, 1.05], false);
        assert_eq!(
            said("rounds: 2", [wide; 4]),
            "Reliable only to ±31 %: 4 cases, all certified, none in doubt, 4 wider than asked (4 with a fixed number of rounds); \
             smaller differences mean nothing."
        );
    }

    #[test]
    fn few_are_exceptions_and_many_are_not() {
        let wide: (&[f64], bool) = (&[1.0, 1.05, 1.0], false);
        assert_eq!(
            said("rounds: 3, max-rounds: 3", [STEADY, STEADY, STEADY, (&[1.0, 1.5, 1.0], false)]),
            "Reliable to ±2.8 % except 1 of 4 cases: 1 unsteady (rounds more than 10 % apart); smaller \
             differences mean nothing."
        );
        assert_eq!(
            said("rounds: 3, max-rounds: 4", [STEADY, STEADY, STEADY, (&[1.0, 1.09, 1.0, 1.0], false)]),
            "Reliable to ±2.8 % except 1 of 4 cases: 1 wider than asked, up to ±7 % (1 hit the round limit); \
             smaller differences mean nothing."
        );
        assert_eq!(
            said("rounds: 3, max-rounds: 3", [STEADY, STEADY, wide, wide]),
            "Reliable to ±7.1 %: 4 cases, all certified, none in doubt; smaller differences mean nothing."
        );
    }

    #[test]
    fn noise_is_named_and_a_run_in_noise_is_in_doubt() {
        let noisy = (STEADY.0, true);
        assert_eq!(
            said("rounds: 3, second-look: never", [noisy; 4]),
            "In doubt: 4 of 4 cases, intervals up to ±2.8 %: 4 doubtful (hypervisor busy 4)."
        );
    }

    #[test]
    fn a_run_that_was_cut_short_says_what_it_misses() {
        let plan = plan("rounds: 3, max-time: 1min");
        let of = |events: &[Event]| {
            let mut ledger = Ledger::new(plan.clone());
            events.iter().for_each(|event| _ = ledger.apply(event));
            verdict(&plan, ledger.records()).expect("cases")
        };
        let lost = failed(&plan, 1, false);
        assert_eq!(of(std::slice::from_ref(&lost)), "No results: of 4 cases, 1 failed, 3 not finished.");
        let rounds = (0..2).map(|round| attempt(&plan, 0, round, 0, 1.0, false));
        let events: Vec<Event> = rounds.chain([lost, Event::OutOfTime]).collect();
        assert_eq!(
            of(&events),
            "Incomplete: 1 failed, 2 not finished. In doubt: 1 of 1 case, intervals up to ±0.1 %: 1 without all \
             rounds."
        );
        assert_eq!(of_results(&plan, Ledger::new(plan.clone()).records()), None);
    }
}

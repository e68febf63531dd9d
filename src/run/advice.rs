//! What a run is worth, in two lines: whether to trust it and why, and what to do next.

use std::collections::BTreeMap;

use super::{Ledger, Record, Status};
use crate::case::units::number_of;
use crate::stats::noise::Flag;
use crate::stats::{self, Statistics, Stop};

/// Above this share of cases in doubt, the differences between cases of a run mean little.
const MUCH: f64 = 0.25;

/// The commands that the second line may advise.
pub struct Commands {
    /// Resumes the run.
    pub resume: String,
    /// Measures it again.
    pub again: String,
    /// Writes its report.
    pub report: String,
}

/// The two lines; `None` if nothing was to be measured.
pub fn assess(ledger: &Ledger, commands: &Commands) -> Option<[String; 2]> {
    let found = Found::of(ledger);
    (found.possible > 0).then(|| [found.verdict(), found.next(ledger, commands)])
}

/// The first line alone.
pub fn verdict(ledger: &Ledger) -> Option<String> {
    let found = Found::of(ledger);
    (found.possible > 0).then(|| found.verdict())
}

/// A case that misses the interval or the rounds that its recipe asks for, in words: `±7.1 % instead of ±3 %`,
/// `2 of 5 rounds`; `None` if it misses nothing.
pub fn missed(ledger: &Ledger, at: usize) -> Option<String> {
    let record = ledger.records().get(at).filter(|record| record.statistics.is_some())?;
    let (measure, had) = (ledger.measure(at), record.rounds.len());
    let wanted = measure.rounds.max(record.wanted) as usize;
    if had < wanted {
        return Some(format!("{had} of {}", number_of(wanted, "round")));
    }
    let (width, asked) = (stats::half_width(&record.medians())?, measure.adaptive()?);
    (width > asked).then(|| format!("±{} instead of ±{}", percent(width), percent(asked)))
}

/// A share as a percentage, with a decimal where it says something.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let whole = (percent - percent.round()).abs() < 0.05 || percent >= 9.95;
    if whole { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// What matters about a run, in numbers of cases.
#[derive(Default)]
struct Found {
    /// Cases that can run here.
    possible: usize,
    results: usize,
    uncertified: usize,
    failed: usize,
    /// Cases without their rounds, because the run was ended.
    open: usize,
    /// Cases with flagged rounds, and how many of them have each flag.
    doubtful: usize,
    noise: BTreeMap<Flag, usize>,
    unsteady: usize,
    /// Cases whose interval is wider than asked for, and why they got no more rounds.
    wide: BTreeMap<&'static str, usize>,
    /// The widest interval.
    widest: f64,
    /// Results with any of these.
    questionable: usize,
}

impl Found {
    fn of(ledger: &Ledger) -> Found {
        let mut found = Found::default();
        for (at, record) in ledger.records().iter().enumerate() {
            match record.status {
                Status::NotApplicable(_) => continue,
                Status::Failed(_) => found.failed += 1,
                Status::Pending | Status::Partial => found.open += 1,
                Status::Done => {}
            }
            found.possible += 1;
            found.add(ledger, at, record);
        }
        found
    }

    fn add(&mut self, ledger: &Ledger, at: usize, record: &Record) {
        let Some(statistics) = &record.statistics else { return };
        self.results += 1;
        self.uncertified += usize::from(!record.stands());
        let flags = record.flags();
        self.doubtful += usize::from(!flags.is_empty());
        flags.iter().for_each(|flag| *self.noise.entry(*flag).or_default() += 1);
        let unsteady = Statistics::unsteady(statistics);
        self.unsteady += usize::from(unsteady);
        let missed = missed(ledger, at).is_some();
        if missed {
            *self.wide.entry(why(record.stop)).or_default() += 1;
            let width = stats::half_width(&record.medians()).unwrap_or(0.0);
            self.widest = self.widest.max(width);
        }
        self.questionable += usize::from(missed || unsteady || !flags.is_empty());
    }

    fn verdict(&self) -> String {
        if self.results == 0 {
            return format!("Nothing to trust: of {}, none has a result.", number_of(self.possible, "case"));
        }
        let reasons = self.reasons();
        let of = number_of(self.results, "case");
        let much = self.questionable as f64 > MUCH * self.results as f64;
        match () {
            () if self.failed > 0 => format!("Do not trust it as a whole: {}.", reasons.join("; ")),
            () if reasons.is_empty() => format!("Trust it: {of}, all certified, none in doubt."),
            () if much => {
                format!("Do not trust small differences: of {of}, {}.", reasons.join("; "))
            }
            () => format!("Trust it, but for a few: of {of}, {}.", reasons.join("; ")),
        }
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut add = |count: usize, what: String| {
            if count > 0 {
                reasons.push(format!("{count} {what}"));
            }
        };
        add(self.failed, "failed".to_owned());
        add(self.open, "not finished".to_owned());
        add(self.uncertified, "without a certificate".to_owned());
        let noise: Vec<String> = self.noise.iter().map(|(flag, n)| format!("{} {n}", cause(*flag))).collect();
        add(self.doubtful, format!("doubtful ({})", noise.join(", ")));
        add(self.unsteady, "unsteady (rounds more than 10 % apart)".to_owned());
        let wide: Vec<String> = self.wide.iter().map(|(why, n)| format!("{why} {n}")).collect();
        let widest =
            if self.widest > 0.0 { format!(", up to ±{}", percent(self.widest)) } else { String::new() };
        add(self.wide.values().sum(), format!("short of the target{widest} ({})", wide.join(", ")));
        reasons
    }

    fn next(&self, ledger: &Ledger, commands: &Commands) -> String {
        if !ledger.is_complete() {
            return format!("to resume: {}", commands.resume);
        }
        let count = |flag| self.noise.get(&flag).copied().unwrap_or(0);
        let occupied = count(Flag::Background) + count(Flag::Steal);
        let slowed = count(Flag::Clock) + count(Flag::Throttle);
        match () {
            () if self.failed > 0 || self.questionable == 0 => format!("next: {}", commands.report),
            () if occupied > 0 => {
                format!("next, with less else running on the machine: {}", commands.again)
            }
            () if slowed > 0 => format!("next, once the device has cooled down: {}", commands.again),
            () => format!("next: {}{}", commands.again, self.more(ledger)),
        }
    }

    /// Options that allow the cases the rounds that their rule lacked.
    fn more(&self, ledger: &Ledger) -> String {
        let measures = ledger.plan().experiments.iter().map(|experiment| &experiment.measure);
        let budget = measures.clone().map(|measure| measure.budget).fold(0.0, f64::max);
        let rounds = measures.map(|measure| measure.most()).max().unwrap_or(0);
        let mut options = String::new();
        if self.wide.contains_key(why(Some(Stop::Rounds))) {
            options += &format!(" --set measure.max-rounds={}", (2 * rounds).min(1000));
        }
        if self.wide.contains_key(why(Some(Stop::Budget))) {
            options += &format!(" --set measure.budget={}ms", (4e3 * budget).clamp(1e3, 86_400e3));
        }
        if options.is_empty() { format!(" --set measure.rounds={}", (2 * rounds).min(1000)) } else { options }
    }
}

/// Why a case got no more rounds.
fn why(stop: Option<Stop>) -> &'static str {
    match stop {
        Some(Stop::Budget) => "budget used up",
        Some(Stop::Rounds) => "most rounds had",
        Some(Stop::Time) => "out of time",
        Some(Stop::Fixed | Stop::Precise) | None => "not finished",
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

    fn said(rule: &str, events: &dyn Fn(&crate::recipe::plan::Plan) -> Vec<Event>) -> [String; 2] {
        let plan = plan(rule);
        let mut ledger = Ledger::new(plan.clone());
        events(&plan).iter().for_each(|event| _ = ledger.apply(event));
        let [resume, again, report] = ["RESUME", "AGAIN", "REPORT"].map(str::to_owned);
        assess(&ledger, &Commands { resume, again, report }).expect("cases")
    }

    /// Rounds with these medians of each case.
    fn rounds(plan: &crate::recipe::plan::Plan, medians: &[f64], flagged: bool) -> Vec<Event> {
        let of = |case| {
            (0..).zip(medians).map(move |(round, median)| attempt(plan, case, round, 0, *median, flagged))
        };
        (0..4).flat_map(of).collect()
    }

    #[test]
    fn a_quiet_run_is_trusted() {
        let [verdict, next] = said("rounds: 3", &|plan| rounds(plan, &[1.0; 3], false));
        assert_eq!(verdict, "Trust it: 4 cases, all certified, none in doubt.");
        assert_eq!(next, "next: REPORT");
    }

    #[test]
    fn noise_is_named_and_a_run_in_noise_is_not_trusted() {
        let [verdict, next] = said("rounds: 3, second-look: never", &|plan| rounds(plan, &[1.0; 3], true));
        assert_eq!(verdict, "Do not trust small differences: of 4 cases, 4 doubtful (hypervisor busy 4).");
        assert_eq!(next, "next, with less else running on the machine: AGAIN");
    }

    #[test]
    fn what_lacked_rounds_is_told_with_the_options_that_allow_them() {
        let [verdict, next] =
            said("rounds: 3, max-rounds: 4", &|plan| rounds(plan, &[1.0, 2.0, 1.0, 2.0], false));
        assert!(verdict.contains("4 short of the target, up to ±61 % (most rounds had 4)"), "{verdict}");
        assert_eq!(next, "next: AGAIN --set measure.max-rounds=8");
    }

    #[test]
    fn a_run_that_was_cut_short_is_resumed_and_says_what_it_misses() {
        let [verdict, next] = said("rounds: 3, max-time: 1min", &|plan| {
            vec![attempt(plan, 0, 0, 0, 1.0, false), failed(plan, 1, false), Event::OutOfTime]
        });
        assert!(verdict.starts_with("Do not trust it as a whole: 1 failed; 2 not finished;"), "{verdict}");
        assert!(verdict.contains("1 short of the target (out of time 1)"), "{verdict}");
        assert_eq!(next, "to resume: RESUME");
    }
}

//! `scatterlab doctor`.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::{DoctorArguments, Format, out};
use crate::case::units;
use crate::doctor::effect::{self, Aim, Effect, Footprint, Outcome};
use crate::doctor::{self, Level, Scene};
use crate::run::client::{Client, EngineCommand};
use crate::tui::rehearsal::{Surface, UNSEEN};

/// How long the machine is observed.
const LOOK: Duration = Duration::from_secs(1);
/// The JSON form of the whole output.
#[derive(Serialize)]
struct Report<'a> {
    checks: &'a [doctor::Result],
    /// The screen that was drawn on, if the user interface's effect was measured.
    screen: Option<&'a str>,
    effects: &'a [Effect],
    /// Why effects are missing.
    trouble: Option<&'a str>,
}

/// Prints the checks, then the cost of the user interface.
pub fn run(arguments: &DoctorArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    let text = arguments.format == Format::Text;
    let started = Client::spawn(engine);
    let remote = *engine != EngineCommand::Own;
    let hello = started.as_ref().map(|(_, hello)| hello.clone()).map_err(|error| format!("{error:#}"));
    let scene = Scene::observe(LOOK, hello, remote);
    let checks = doctor::examine(&scene);
    if text {
        print_checks(&checks);
    }
    let pairs = arguments.pairs.map(|pairs| pairs as usize);
    let aim = Aim { pairs, quick: arguments.quick, picture: arguments.picture, surface: surface() };
    let measured = match started {
        Ok(_) if remote => Ok(None),
        Ok((client, hello)) => effect::measure(client, &hello, aim).context(FAILED).map(Some),
        Err(error) => Err(error),
    };
    let outcome = measured.as_ref().ok().and_then(Option::as_ref);
    let screen = words(aim);
    match (text, outcome) {
        (false, _) => print_report(&checks, &screen, outcome)?,
        (true, Some(outcome)) => print_effects(outcome, &screen, arguments),
        (true, None) if measured.is_ok() => {
            out::line("The engine measures elsewhere, where this screen disturbs nothing.");
        }
        (true, None) => {}
    }
    match measured?.and_then(nothing_for) {
        Some(trouble) => bail!("{FAILED}: {trouble}"),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Why there is no effect at all; `None` if the user stopped the measurement.
fn nothing_for(outcome: Outcome) -> Option<String> {
    outcome.trouble.filter(|_| outcome.effects.is_empty())
}

fn print_report(checks: &[doctor::Result], screen: &str, outcome: Option<&Outcome>) -> anyhow::Result<()> {
    let report = Report {
        checks,
        screen: outcome.map(|_| screen),
        effects: outcome.map(|outcome| outcome.effects.as_slice()).unwrap_or_default(),
        trouble: outcome.and_then(|outcome| outcome.trouble.as_deref()),
    };
    out::json(&(serde_json::to_string_pretty(&report)? + "\n"));
    Ok(())
}

const FAILED: &str = "the user interface's effect could not be measured";

fn surface() -> Surface {
    match io::stdout().is_terminal() && io::stdin().is_terminal() {
        true => Surface::Terminal,
        false => Surface::Pseudo,
    }
}

fn words(aim: Aim) -> String {
    let (surface, size) = match aim.surface {
        Surface::Terminal => ("this terminal", crossterm::terminal::size().ok()),
        Surface::Pseudo => ("a pseudo-terminal", Some(UNSEEN)),
    };
    let screen = size.map_or(surface.to_owned(), |(columns, rows)| format!("{surface} of {columns}×{rows}"));
    if aim.picture { format!("a live picture on {screen}") } else { screen }
}

fn print_checks(checks: &[doctor::Result]) {
    for check in checks {
        let finding = &check.finding;
        out::line(&format!("{:<8} {:<11} {}", finding.level.word(), check.name, finding.text));
        if let Some(advice) = finding.advice.as_ref().filter(|_| finding.level != Level::Ok) {
            out::line(&format!("{:<20} → {advice}", ""));
        }
    }
    let count = |level| checks.iter().filter(|check| check.finding.level == level).count();
    out::line(&counted([Level::Ok, Level::Note, Level::Warning].map(count)));
}

/// A text such as `13 ok, 2 notes, 1 warning`.
fn counted([ok, notes, warnings]: [usize; 3]) -> String {
    format!("{ok} ok, {}, {}", units::number_of(notes, "note"), units::number_of(warnings, "warning"))
}

/// A text such as `the copy of 1.02 GiB`, with a remark if the copy may fit in the caches.
fn copied(copy: Footprint) -> String {
    let short = if copy.beyond_caches { "" } else { " (memory is too short for one well beyond the caches)" };
    format!("the copy of {}{short}", units::fmt_bytes(copy.bytes))
}

fn print_effects(outcome: &Outcome, screen: &str, arguments: &DoctorArguments) {
    out::line("");
    let drawn = if arguments.picture { screen.to_owned() } else { format!("on {screen}") };
    out::line(&format!("Drawing {drawn} while a copy is timed:"));
    if outcome.effects.is_empty() && outcome.trouble.is_none() {
        out::line("stopped before there were two pairs");
    }
    for effect in &outcome.effects {
        out::line(&line(effect));
        let [low, high] = effect.of_mean.interval.map(percent);
        out::line(&format!(
            "  of the mean, in which every sample's time counts: {} % [{low}, {high}]",
            percent(effect.of_mean.mean)
        ));
        out::line(&format!(
            "  {} runs at {}; this process takes {:.1} % of a CPU while it draws, {:.1} % while it does not",
            copied(effect.copy),
            units::fmt_rate(effect.bandwidth / 1e9),
            effect.cpu_drawing * 100.0,
            effect.cpu_resting * 100.0
        ));
    }
    if let Some(trouble) = outcome.trouble.as_ref().filter(|_| !outcome.effects.is_empty()) {
        out::line(&format!("It ended early: {trouble}"));
    }
    if arguments.quick && arguments.pairs.is_none() {
        out::line("--quick: so few pairs say little; without it there are at least 24.");
    }
}

/// A line such as `UI at 4.0 frames/s costs 0.1 % [−0.3, 0.5] of the bandwidth at 1 thread (24 pairs)`.
fn line(effect: &Effect) -> String {
    let [low, high] = effect.cost.interval.map(percent);
    let threads = match (effect.threads, effect.every_cpu) {
        (1, _) => "at 1 thread".to_owned(),
        (threads, true) => format!("at {threads} threads, on every CPU"),
        (threads, false) => format!("at {threads} threads"),
    };
    format!(
        "UI at {:.1} frames/s costs {} % [{low}, {high}] of the bandwidth {threads} ({} pairs)",
        effect.frames,
        percent(effect.cost.mean),
        effect.cost.pairs
    )
}

/// A share in per cent with one decimal and a typographic minus sign.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    let text = if text == "-0.0" { "0.0".to_owned() } else { text };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::effect::{Pair, cost};

    #[test]
    fn findings_are_counted_in_words() {
        assert_eq!(counted([13, 0, 1]), "13 ok, 0 notes, 1 warning");
        assert_eq!(counted([13, 1, 2]), "13 ok, 1 note, 2 warnings");
    }

    #[test]
    fn a_copy_that_memory_cuts_short_is_told() {
        let copy = Footprint { bytes: 256 << 20, caches_bytes: 260 << 20, beyond_caches: true };
        assert_eq!(copied(copy), "the copy of 256 MiB");
        let short = copied(Footprint { beyond_caches: false, ..copy });
        assert_eq!(short, "the copy of 256 MiB (memory is too short for one well beyond the caches)");
    }

    #[test]
    fn an_effect_reads_as_a_sentence() {
        let pairs = [0.997, 1.003, 1.004, 0.999].map(|with| Pair { without: 1.0, with });
        let effect = Effect {
            threads: 1,
            every_cpu: false,
            cost: cost(&pairs).expect("pairs"),
            frames: 4.0,
            of_mean: cost(&pairs).expect("pairs"),
            cpu_drawing: 0.01,
            cpu_resting: 0.0,
            bandwidth: 1e10,
            copy: Footprint { bytes: 1 << 30, caches_bytes: 1 << 25, beyond_caches: true },
        };
        let line = line(&effect);
        assert_eq!(line, "UI at 4.0 frames/s costs 0.1 % [−0.5, 0.6] of the bandwidth at 1 thread (4 pairs)");
        assert_eq!([percent(-0.0001), percent(0.012)], ["0.0", "1.2"]);
    }
}

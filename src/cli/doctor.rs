//! `scatterlab doctor`.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Serialize;

use super::{DoctorArguments, Format, out};
use crate::doctor::effect::{self, Aim, Effect};
use crate::doctor::{self, Level, Scene};
use crate::engine::client::{Client, EngineCommand};
use crate::tui::rehearsal::{Surface, UNSEEN};

/// How long the machine is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Fewer pairs have no interval.
const FEWEST: usize = 2;
const MOST: usize = 1000;

/// All of it as JSON.
#[derive(Serialize)]
struct Report<'a> {
    checks: &'a [doctor::Result],
    /// What was drawn on, where the user interface's effect was measured.
    screen: Option<String>,
    effects: &'a [Effect],
}

/// Prints the checks, then what the user interface costs.
pub fn run(arguments: &DoctorArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    if let Some(pairs) = arguments.pairs.filter(|pairs| !(FEWEST..=MOST).contains(pairs)) {
        bail!("--pairs {pairs}: accepted are {FEWEST} to {MOST}");
    }
    let text = arguments.format == Format::Text;
    let started = Client::spawn(engine);
    let remote = *engine != EngineCommand::Own;
    let hello = started.as_ref().map(|(_, hello)| hello.clone()).map_err(|error| format!("{error:#}"));
    let scene = Scene::observe(LOOK, hello, remote);
    let checks = doctor::examine(&scene);
    if text {
        print_checks(&checks);
    }
    let (client, hello) = started?;
    let aim = Aim { pairs: arguments.pairs, quick: arguments.quick, surface: surface() };
    let effects = if remote { Vec::new() } else { effect::measure(client, &hello, aim).context(FAILED)? };
    let screen = (!remote).then(|| words(aim.surface));
    match text {
        true => print_effects(&effects, screen.as_deref(), arguments),
        false => {
            let report = Report { checks: &checks, screen, effects: &effects };
            out::line(&serde_json::to_string_pretty(&report)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

const FAILED: &str = "the user interface's effect could not be measured";

fn surface() -> Surface {
    match io::stdout().is_terminal() && io::stdin().is_terminal() {
        true => Surface::Terminal,
        false => Surface::Pseudo,
    }
}

fn words(surface: Surface) -> String {
    let (surface, size) = match surface {
        Surface::Terminal => ("this terminal", crossterm::terminal::size().ok()),
        Surface::Pseudo => ("a pseudo-terminal", Some(UNSEEN)),
    };
    size.map_or(surface.to_owned(), |(columns, rows)| format!("{surface} of {columns}×{rows}"))
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
    out::line(&format!(
        "{} ok, {} notes, {} warnings",
        count(Level::Ok),
        count(Level::Note),
        count(Level::Warning)
    ));
}

fn print_effects(effects: &[Effect], screen: Option<&str>, arguments: &DoctorArguments) {
    let Some(screen) = screen else {
        return out::line("The engine measures elsewhere, where this screen disturbs nothing.");
    };
    out::line("");
    out::line(&format!("Drawing on {screen} while a copy beyond the caches is timed:"));
    if effects.is_empty() {
        out::line("stopped before there were two pairs");
    }
    for effect in effects {
        out::line(&line(effect));
        let [low, high] = effect.of_mean.interval.map(percent);
        out::line(&format!(
            "  of the mean, in which every sample's time counts: {} % [{low}, {high}]",
            percent(effect.of_mean.mean)
        ));
        out::line(&format!(
            "  the copy runs at {}; this process takes {:.1} % of a CPU while it draws, {:.1} % while it does not",
            crate::units::fmt_rate(effect.bandwidth / 1e9),
            effect.cpu_drawing * 100.0,
            effect.cpu_resting * 100.0
        ));
    }
    if arguments.quick && arguments.pairs.is_none() {
        out::line("--quick: so few pairs say little; without it there are at least 24.");
    }
}

/// `UI at 4.0 frames/s costs 0.1 % [−0.3, 0.5] of the bandwidth at 1 thread (24 pairs)`.
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

/// A share in per cent with one digit, and a minus sign that is one.
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
        };
        let line = line(&effect);
        assert_eq!(line, "UI at 4.0 frames/s costs 0.1 % [−0.5, 0.6] of the bandwidth at 1 thread (4 pairs)");
        assert_eq!([percent(-0.0001), percent(0.012)], ["0.0", "1.2"]);
    }
}

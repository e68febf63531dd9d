//! Checks for anything on this machine that disturbs measurements, with advice.
//!
//! A check is a row of [`CHECKS`]: its name, a description of what it examines, and a function from the
//! [`Scene`] to a [`Finding`]. The output and the documentation follow that table.

mod checks;
mod scene;

pub use scene::Scene;

use serde::Serialize;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing when figures are compared.
    Note,
    /// Spoils the figures.
    Warning,
}

impl Level {
    /// `ok`, `note`, `warning`.
    pub fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Warning => "warning",
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub level: Level,
    /// A single line.
    pub text: String,
    /// Advice on how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    fn new(level: Level, text: impl Into<String>) -> Finding {
        Finding { level, text: text.into(), advice: None }
    }

    fn ok(text: impl Into<String>) -> Finding {
        Finding::new(Level::Ok, text)
    }

    fn note(text: impl Into<String>) -> Finding {
        Finding::new(Level::Note, text)
    }

    fn warning(text: impl Into<String>) -> Finding {
        Finding::new(Level::Warning, text)
    }

    fn advice(self, advice: impl Into<String>) -> Finding {
        Finding { advice: Some(advice.into()), ..self }
    }
}

/// The machine that a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The machine that measures. It cannot be examined if the engine runs elsewhere.
    Measuring,
    /// The machine with the screen.
    Screen,
    /// The engine, wherever it runs.
    Engine,
}

/// A row of the table of checks.
pub struct Check {
    pub name: &'static str,
    /// The subject of the check and when it warns, in the documentation's words.
    pub about: &'static str,
    of: About,
    examine: fn(&Scene) -> Finding,
}

/// Every check, in the order of the output.
pub const CHECKS: &[Check] = checks::ALL;

/// A check's name with its finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Result {
    pub name: &'static str,
    #[serde(flatten)]
    pub finding: Finding,
}

/// Carries out every check that is possible from here.
pub fn examine(scene: &Scene) -> Vec<Result> {
    let seen = CHECKS.iter().filter(|check| check.of != About::Measuring || !scene.remote);
    seen.map(|check| Result { name: check.name, finding: (check.examine)(scene) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_check_in_its_own_words() {
        let documented = include_str!("../../docs/doctor.md");
        let rows: Vec<String> =
            CHECKS.iter().map(|check| format!("| `{}` | {} |", check.name, check.about)).collect();
        let found: Vec<&str> = documented.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(found, rows, "the table of docs/doctor.md");
    }

    #[test]
    fn every_check_answers_in_one_line_on_this_machine() {
        let scene = Scene::observe(std::time::Duration::from_millis(50), Err("no engine".into()), false);
        for result in examine(&scene) {
            let text = &result.finding.text;
            assert!(!text.is_empty() && text.lines().count() == 1, "{}: {text}", result.name);
            assert!(
                result.finding.level != Level::Warning || result.finding.advice.is_some(),
                "{}",
                result.name
            );
        }
    }

    #[test]
    fn of_an_engine_elsewhere_only_what_it_says_is_checked() {
        let scene = Scene::observe(std::time::Duration::ZERO, Err("no engine".into()), true);
        let names: Vec<&str> = examine(&scene).iter().map(|result| result.name).collect();
        assert_eq!(names, ["engine", "cuda", "terminal"]);
    }
}

//! Numbered notes below a table of judgements, about single cases.

use super::cases;
use crate::report::judge::Difference;

/// Reasons and causes below a table, without repetitions.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

#[derive(Debug)]
struct Note {
    text: String,
    /// An example, if it differs from case to case.
    such_as: Option<String>,
    cases: usize,
}

impl Notes {
    /// The number of a note, after adding one case to it.
    pub(super) fn number(&mut self, text: String, such_as: Option<String>) -> usize {
        match self.0.iter_mut().position(|note| note.text == text) {
            Some(at) => {
                self.0[at].cases += 1;
                at + 1
            }
            None => {
                self.0.push(Note { text, such_as, cases: 1 });
                self.0.len()
            }
        }
    }

    /// The number of a note on the conditions around a case's rounds, if there are any.
    pub(super) fn causes(&mut self, causes: &[Difference]) -> Option<usize> {
        let names: Vec<&str> = causes.iter().map(|cause| cause.what.as_str()).collect();
        let figures: Vec<String> = causes.iter().map(ToString::to_string).collect();
        let text = format!("around its rounds: {}", names.join(", "));
        (!causes.is_empty()).then(|| self.number(text, Some(figures.join("; "))))
    }

    /// The notes with their numbers, after an empty line.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(at, note): (usize, &Note)| {
            let such_as = note.such_as.as_ref().map(|text| format!(", such as {text}")).unwrap_or_default();
            format!("({}) {}{such_as} ({})", at + 1, note.text, cases(note.cases))
        };
        let gap = (!self.0.is_empty()).then(String::new);
        gap.into_iter().chain(self.0.iter().enumerate().map(line)).collect()
    }
}

//! Formats cases, quantities and times as text, and fits text into columns of the terminal.

mod squeeze;

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::text::Span;

pub use self::squeeze::{Kin, Word, split, squeeze};
use super::theme::Theme;
pub use crate::case::units::number_of;
use crate::case::{Case, Value};
use crate::recipe::plan::{Axis, Experiment};
use crate::report::names;
use crate::run::eta::Left;
use crate::run::{Ledger, Record, SKIPPED};

/// The case at this position in the plan, described by [`swept`].
pub fn case(ledger: &Ledger, at: usize) -> String {
    let Some(record) = ledger.records().get(at) else { return String::new() };
    match ledger.plan().experiments.get(record.case.experiment) {
        Some(experiment) => swept_values(experiment, &record.case),
        None => record.case.primitive.clone(),
    }
}

/// The case's values of the experiment's swept parameters, or its primitive if it has none of them.
pub fn swept_values(experiment: &Experiment, case: &Case) -> String {
    let value = |axis: &Axis| Some(names::value(axis.value(case)?, axis.bytes));
    let values: Vec<String> = experiment.axes.iter().filter_map(value).collect();
    if values.is_empty() { case.primitive.clone() } else { values.join(" ") }
}

/// A value in a list, which has no room for the space in `64 KiB`.
pub fn value_in_list(axis: &Axis, value: &Value) -> String {
    names::value(value, axis.bytes).replace(' ', "")
}

/// Why a case has no result: `n/a: reason`, or for a case skipped after some rounds, the number of these.
pub fn absence(reason: &str, record: &Record) -> String {
    match record.rounds.len() {
        rounds if rounds > 0 && reason == SKIPPED => {
            format!("{SKIPPED} after {}", number_of(rounds, "round"))
        }
        _ => format!("n/a: {reason}"),
    }
}

/// How many cases have no result and why, from pairs of a reason and a number of cases:
/// `12 n/a: no CUDA driver (8); needs 4 GiB, 2 GiB free (4)`. Each reason stands once, with its number of cases
/// if there are several reasons; a sweep of sizes has many, of which the most frequent stand there.
pub fn absent_cases<'r>(reasons: impl IntoIterator<Item = (&'r str, usize)>) -> Option<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for (reason, cases) in reasons {
        match counted.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += cases,
            None => counted.push((reason, cases)),
        }
    }
    const MOST: usize = 3;
    let each = |(reason, cases): &(&str, usize)| format!("{reason} ({cases})");
    let all: usize = counted.iter().map(|(_, cases)| cases).sum();
    match counted.as_slice() {
        [] => None,
        [(reason, _)] => Some(format!("{all} n/a: {reason}")),
        several => {
            let mut frequent = several.to_vec();
            if several.len() > MOST {
                frequent.sort_by_key(|(_, cases)| Reverse(*cases));
                frequent.truncate(MOST);
            }
            let told: usize = frequent.iter().map(|(_, cases)| cases).sum();
            let others = (told < all).then(|| format!("other reasons ({})", all - told));
            let words: Vec<String> = frequent.iter().map(each).chain(others).collect();
            Some(format!("{all} n/a: {}", words.join("; ")))
        }
    }
}

/// A duration as on a stopwatch: `0:42`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A remaining time: `40–70 s`, `1.5–2.5 min`.
pub fn left(left: Left, theme: Theme) -> String {
    left.to_string().replace('–', theme.symbol("–", "-"))
}

/// A round-trip time: `0.4 ms`, `23 ms`.
pub fn latency(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        hardly if hardly < 0.1 => "<0.1 ms".to_owned(),
        few if few < 9.95 => format!("{few:.1} ms"),
        many => format!("{many:.0} ms"),
    }
}

/// The number of terminal columns that a text takes; a Chinese character, for example, takes two.
pub fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// A text cut to `columns`, with an ellipsis if it was cut.
pub fn fit(text: &str, columns: usize, theme: Theme) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let sign = theme.symbol("…", "~");
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept) + width(c.encode_utf8(&mut [0; 4])) + 1 > columns {
            break;
        }
        kept.push(c);
    }
    if columns > 0 {
        kept.push_str(sign);
    }
    kept
}

/// Texts side by side in `columns`, the right one flush right; the left one is cut first.
pub fn apart(left: &str, right: &str, columns: usize, theme: Theme) -> String {
    let right = fit(right, columns, theme);
    let room = columns.saturating_sub(width(&right));
    let left = fit(left, room.saturating_sub(1), theme);
    let gap = room.saturating_sub(width(&left));
    format!("{left}{}{right}", " ".repeat(gap))
}

/// A text wrapped at spaces into lines of at most `columns`; longer words are cut into pieces.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ').flat_map(|w| pieces(w, columns)) {
            if !line.is_empty() && width(&line) + 1 + width(&word) > columns {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        lines.push(line);
    }
    lines
}

fn pieces(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let last = pieces.last().map_or(0, |p| width(p));
        if last > 0 && last + width(c.encode_utf8(&mut [0; 4])) > columns {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF8: Theme = Theme::PLAIN;

    #[test]
    fn times_read_as_on_a_clock() {
        assert_eq!([7, 70, 3723].map(|s| clock(Duration::from_secs(s))), ["0:07", "1:10", "1:02:03"]);
    }

    #[test]
    fn latencies_have_two_digits() {
        let words = [0.04, 0.42, 9.97, 23.4, 1500.0].map(|ms| latency(Duration::from_secs_f64(ms / 1e3)));
        assert_eq!(words, ["<0.1 ms", "0.4 ms", "10 ms", "23 ms", "1500 ms"]);
    }

    #[test]
    fn texts_are_cut_by_columns_and_not_by_characters() {
        assert_eq!(fit("bandwidth", 9, UTF8), "bandwidth");
        assert_eq!(fit("bandwidth", 5, UTF8), "band…");
        assert_eq!(fit("帯域幅", 5, UTF8), "帯域…");
        assert_eq!(fit("x", 0, UTF8), "");
        assert_eq!(fit("long", 3, Theme { utf8: false, ..UTF8 }), "lo~");
    }

    #[test]
    fn each_reason_stands_once_with_its_cases() {
        assert_eq!(absent_cases([]), None);
        assert_eq!(absent_cases([("no driver", 3), ("no driver", 2)]).as_deref(), Some("5 n/a: no driver"));
        let several = absent_cases([("no driver", 1), ("needs 4 GiB, 2 GiB free", 1), ("no driver", 2)]);
        assert_eq!(several.as_deref(), Some("4 n/a: no driver (3); needs 4 GiB, 2 GiB free (1)"));
        let sizes = absent_cases([("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)]);
        assert_eq!(sizes.as_deref(), Some("15 n/a: e (5); d (4); c (3); other reasons (3)"));
    }

    #[test]
    fn the_right_text_wins() {
        assert_eq!(apart("passes 8", "12 GB/s", 18, UTF8), "passes 8   12 GB/s");
        assert_eq!(apart("passes 8", "12 GB/s", 12, UTF8), "pas… 12 GB/s");
        assert_eq!(apart("passes 8", "12 GB/s", 4, UTF8), "12 …");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(wrap("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
    }
}

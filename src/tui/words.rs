//! Formats cases, quantities and times as text, and fits text into columns of the terminal.

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::text::Span;

use super::theme::Theme;
use crate::case::Case;
pub use crate::case::units::number_of;
use crate::recipe::plan::Experiment;
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
    let value =
        |axis: &crate::recipe::plan::Axis| Some(names::value(case.params.get(&axis.key)?, axis.bytes));
    let values: Vec<String> = experiment.axes.iter().filter_map(value).collect();
    if values.is_empty() { case.primitive.clone() } else { values.join(" ") }
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

/// Limits of [`squeeze`]: words of at most `WHOLE` columns, such as a backend's name, are not cut until all
/// longer words are cut to `SHORT` columns.
const WHOLE: usize = 6;
const SHORT: usize = 4;
/// [`squeeze`] cuts no word to fewer columns than this.
const SHORTEST: usize = 3;

/// A word of a name, with the number of characters that it shares with its neighbours at its beginning and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub head: usize,
    pub tail: usize,
}

impl From<&str> for Word {
    fn from(text: &str) -> Word {
        Word { text: text.to_owned(), head: 0, tail: 0 }
    }
}

impl Word {
    /// The columns without the middle of the longer shared part, whose first character stays.
    fn without_shared(&self) -> usize {
        let spared = self.head.saturating_sub(1).max(self.tail.saturating_sub(1));
        (width(&self.text) + 1).saturating_sub(spared.max(1))
    }

    /// The word cut to `columns`: in the part that it shares, or else in its middle.
    fn cut(&self, columns: usize, theme: Theme) -> String {
        let count = self.text.chars().count();
        let removed = (count + 1).saturating_sub(columns);
        if width(&self.text) <= columns || columns < self.without_shared() {
            return without_middle(&self.text, columns, theme);
        }
        // Half of what is kept of the shared part stands on either side of the sign.
        let from = match self.head >= self.tail {
            true => self.head.saturating_sub(removed).div_ceil(2),
            false => count.saturating_sub(self.tail) + self.tail.saturating_sub(removed) / 2,
        };
        let begin: String = self.text.chars().take(from).collect();
        let end: String = self.text.chars().skip(from + removed).collect();
        format!("{begin}{}{end}", theme.symbol("…", "~"))
    }
}

/// Shortens words to fit `columns`: first those that share a part with their neighbours lose its middle; then the
/// longest lose their middles, so that numbers, short names and both ends of long names still tell a row from its
/// neighbours.
pub fn squeeze(words: &[Word], columns: usize, theme: Theme) -> String {
    let whole: Vec<usize> = words.iter().map(|word| width(&word.text)).collect();
    let mut rooms = whole.clone();
    for _ in columns..whole.iter().sum::<usize>() + words.len().saturating_sub(1) {
        let longest = |least: &dyn Fn(usize) -> usize| {
            (0..whole.len()).filter(|at| rooms[*at] > least(*at)).max_by_key(|at| rooms[*at])
        };
        let first = longest(&|at| words[at].without_shared());
        let first = first.or_else(|| longest(&|at| if whole[at] > WHOLE { SHORT } else { WHOLE }));
        // A number with its unit says least when it is cut.
        let number = |at: usize| words[at].text.starts_with(|c: char| c.is_ascii_digit());
        let first = first.or_else(|| longest(&|at| if number(at) { whole[at] } else { SHORTEST }));
        first.or_else(|| longest(&|_| SHORTEST)).into_iter().for_each(|at| rooms[at] -= 1);
    }
    let words: Vec<String> = words.iter().zip(rooms).map(|(word, room)| word.cut(room, theme)).collect();
    fit(&words.join(" "), columns, theme)
}

/// A word cut in its middle to `columns`. If the rest is odd, the end gets the additional character, because
/// similar names differ there.
fn without_middle(word: &str, columns: usize, theme: Theme) -> String {
    if width(word) <= columns {
        return word.to_owned();
    }
    let count = word.chars().count();
    let (head, tail) = (columns.saturating_sub(1) / 2, columns / 2);
    let begin: String = word.chars().take(head).collect();
    let end: String = word.chars().skip(count.saturating_sub(tail)).collect();
    format!("{begin}{}{end}", theme.symbol("…", "~"))
}

/// The words of a name that has no neighbours.
pub fn split(name: &str) -> Vec<Word> {
    name.split(' ').map(Word::from).collect()
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
    fn the_longest_words_are_squeezed_first() {
        let squeezed = |columns| squeeze(&split("segmented-sort 16 scalar"), columns, UTF8);
        assert_eq!(squeezed(24), "segmented-sort 16 scalar");
        assert_eq!(squeezed(20), "segm…-sort 16 scalar");
        assert_eq!(squeezed(14), "s…rt 16 scalar");
        assert_eq!(squeezed(10), "s…t 16 s…r");
        assert_eq!(squeezed(6), "s…t 1…", "there is no room for all");
        assert_eq!(squeeze(&split("LULESH-S30 cpu"), 8, Theme { utf8: false, ..UTF8 }), "L~30 cpu");
        let fits = |columns| width(&squeeze(&split("帯域幅 cpu 1024"), columns, UTF8)) <= columns;
        assert!((0..20).all(fits), "by columns and not by characters");
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

//! Cases, times and lists in words.

use std::time::Duration;

use ratatui::text::Span;

use super::theme::Theme;
use crate::plan::{Case, Experiment, Quantity};
use crate::report::names;
use crate::run::{Ledger, Record};
use crate::units;

/// A case by the values of its experiment's axes, or its primitive where nothing is
/// swept.
pub fn case(ledger: &Ledger, at: usize) -> String {
    let Some(record) = ledger.records().get(at) else { return String::new() };
    match ledger.plan().experiments.get(record.case.experiment) {
        Some(experiment) => swept(experiment, &record.case),
        None => record.case.primitive.clone(),
    }
}

/// The values of the axes that apply to the case.
pub fn swept(experiment: &Experiment, case: &Case) -> String {
    let value = |axis: &crate::plan::Axis| Some(names::value(case.params.get(&axis.key)?, axis.bytes));
    let values: Vec<String> = experiment.axes.iter().filter_map(value).collect();
    if values.is_empty() { case.primitive.clone() } else { values.join(" ") }
}

/// The quantity of a record in words.
pub fn quantity(record: &Record, quantity: Quantity) -> Option<String> {
    let value = record.quantity(quantity)?;
    Some(match quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => units::fmt_rate(value),
        Quantity::Time => units::fmt_seconds(value),
        Quantity::Throughput => units::fmt_throughput(value),
    })
}

/// The unit that stands over a column of such quantities; empty where each has its own.
pub fn column_unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => "GB/s",
        Quantity::Time | Quantity::Throughput => "",
    }
}

/// The quantity of a record in a column headed by [`column_unit`].
pub fn in_column(record: &Record, of: Quantity) -> Option<String> {
    match column_unit(of) {
        "" => quantity(record, of),
        _ => Some(units::three_digits(record.quantity(of)?)),
    }
}

/// `0:42`, `1:02:03`: a time on a clock.
pub fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// `42s`, `1m10s`, `2h05m`: a time to wait.
pub fn wait(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        s => format!("{}h{:02}m", s / 3600, s / 60 % 60),
    }
}

/// `0.4 ms`, `23 ms`: how long a word and its answer take.
pub fn latency(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        hardly if hardly < 0.1 => "<0.1 ms".to_owned(),
        few if few < 9.95 => format!("{few:.1} ms"),
        many => format!("{many:.0} ms"),
    }
}

/// `1 case`, `2 cases`.
pub fn number_of(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// A text cut to `columns`, with a sign where something is missing.
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

/// Texts side by side where both fit into `columns`, the right one flush right; the
/// left one is cut first.
pub fn apart(left: &str, right: &str, columns: usize, theme: Theme) -> String {
    let right = fit(right, columns, theme);
    let room = columns.saturating_sub(width(&right));
    let left = fit(left, room.saturating_sub(1), theme);
    let gap = room.saturating_sub(width(&left));
    format!("{left}{}{right}", " ".repeat(gap))
}

/// A text broken at spaces into lines of at most `columns`; longer words are cut into
/// pieces.
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
        assert_eq!([7, 70, 3723].map(|s| wait(Duration::from_secs(s))), ["7s", "1m10s", "1h02m"]);
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

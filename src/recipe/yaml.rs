//! The one module that knows which library parses YAML. It reads recipes, profiles, claims and the configuration, which
//! others may have written: length, depth, and the number of values with aliases followed are limited.
//!
//! serde_yaml reports places only for errors, not for nodes. So nodes are numbered in reading order, and the
//! place of a node is found by reading the text again with a seed that fails at that number.

use serde::de::DeserializeSeed;
use serde_yaml::{Deserializer, Error};

use super::error::ErrorKind;
use super::node::Node;
use super::seed::{NodeSeed, Reader, nesting};

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximal length of the text, MiB.
    pub text: usize,
    /// Maximal number of nodes after aliases are expanded; a long text counts as several.
    pub nodes: usize,
}

impl Limits {
    /// For what users write: some texts take libyaml a time that grows faster than their length.
    pub const WRITTEN: Limits = Limits { text: 1, nodes: 200_000 };
    /// For what the program writes itself.
    pub const GENERATED: Limits = Limits { text: 32, nodes: 2_000_000 };
}

/// Line and column in a text, counted from 1.
type At = (usize, usize);

/// Why a text is not read, and where.
type Misread = (Option<At>, Box<ErrorKind>);

/// Reads one document.
///
/// # Errors
/// Text that is not YAML, tags, keys that are not plain words, more than one document, or more than the limits, with the
/// place if it is known. Keys may be repeated.
pub(super) fn node(text: &str, limits: Limits) -> Result<Node, Misread> {
    let unsupported = |what| Box::new(ErrorKind::Unsupported(what));
    if text.len() > limits.text << 20 {
        return Err((None, unsupported(format!("larger than {} MiB", limits.text))));
    }
    let text = without_mark(text);
    if let Some(place) = too_deep(text) {
        return Err((Some(place), unsupported(nesting())));
    }
    let reader = Reader::new(None, limits.nodes);
    NodeSeed::of(&reader).deserialize(Deserializer::from_str(text)).map_err(|error| {
        let place = error.location().map(|l| (l.line(), l.column()));
        match reader.complaint.take() {
            Some(complaint) => (place, unsupported(complaint)),
            None => mistake(text, &error, place),
        }
    })
}

/// Reads a text again that [`node`] has read; `None` where the seed refuses it.
pub(super) fn again<'de, S: DeserializeSeed<'de>>(text: &'de str, seed: S) -> Option<S::Value> {
    seed.deserialize(Deserializer::from_str(without_mark(text))).ok()
}

/// The place of the node of this number in a text that [`node`] has read.
pub(super) fn locate(text: &str, number: u32) -> Option<At> {
    locate_in(Deserializer::from_str(without_mark(text)), number)
}

/// The text after a byte order mark, which libyaml would take for a document of its own.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn locate_in(document: Deserializer<'_>, number: u32) -> Option<At> {
    // The text was within its limits when it was read.
    let reader = Reader::new(Some(number), Limits::GENERATED.nodes);
    let error = NodeSeed::of(&reader).deserialize(document).err()?;
    error.location().map(|l| (l.line(), l.column()))
}

/// The mistake that an error of the library is about, and its place.
fn mistake(text: &str, error: &Error, place: Option<At>) -> Misread {
    let message = error.to_string();
    if message.contains("more than one document") {
        let second = Deserializer::from_str(text).nth(1).and_then(|document| locate_in(document, 0));
        return (second, Box::new(ErrorKind::Unsupported("holds more than one YAML document".to_owned())));
    }
    // libyaml does not say where.
    let control = || text.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'));
    let place = match message.contains("control characters") {
        true => control().map(|at| line_and_column(text, at)).or(place),
        false => place,
    };
    let cut = [" at line ", " at position ", ", while "].iter().filter_map(|s| message.find(s)).min();
    let message = crate::case::units::shown(&message[..cut.unwrap_or(message.len())]);
    let cause = CAUSES.iter().find(|(words, _)| message.contains(words));
    let message = cause.map_or(message.clone(), |(_, question)| format!("{message} ({question})"));
    (place, Box::new(ErrorKind::Syntax(message)))
}

/// What libyaml says, and the mistake that usually causes it.
const CAUSES: [(&str, &str); 7] = [
    ("did not find expected key", "is this line indented like those before it?"),
    ("did not find expected '-' indicator", "are the items of the list indented alike?"),
    ("did not find expected ',' or", "is a bracket still open, or a comma missing?"),
    ("mapping values are not allowed", "is the indentation right? a value that contains `: ` needs quotes"),
    ("repetition limit exceeded", "do its aliases stand for too many values?"),
    ("could not find expected ':'", "does the key lack its colon?"),
    (
        "cannot start any token",
        "indent with spaces, not tabs; a value that begins with @, ` or % needs quotes",
    ),
];

/// Line and column, counted from 1, of the byte at `at`.
fn line_and_column(text: &str, at: usize) -> At {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The first bracket that is certainly nested too deeply. libyaml's time grows with the square of the depth
/// of brackets, so they are counted beforehand. Brackets in quotes and comments count too; the limit leaves
/// room for them.
fn too_deep(text: &str) -> Option<At> {
    const BRACKETS: i64 = 256;
    let mut open = 0i64;
    for (number, line) in text.lines().enumerate() {
        for (column, c) in line.chars().enumerate() {
            match c {
                '[' | '{' => open += 1,
                ']' | '}' => open = (open - 1).max(0),
                _ => {}
            }
            if open > BRACKETS {
                return Some((number + 1, column + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn refused(text: &str) -> String {
        let (_, problem) = node(text, Limits::WRITTEN).expect_err("refused");
        problem.to_string()
    }

    /// A document whose aliases stand for ten times as much with every line.
    fn laughs(lines: usize) -> String {
        let line = |n: usize| format!("l{n}: &l{n} [{}]\n", vec![format!("*l{}", n - 1); 10].join(", "));
        "l0: &l0 [ha, ha]\n".to_owned() + &(1..lines).map(line).collect::<String>()
    }

    #[test]
    fn depth_length_and_aliases_are_limited() {
        let began = Instant::now();
        for (text, said) in [
            (laughs(9), "aliases"),
            (laughs(40), "aliases"),
            ("a: &a [*a]".to_owned(), ""),
            ("a: &a {b: *a}".to_owned(), ""),
            ("[".repeat(10_000), "nested deeper than 16 levels"),
            ("{a: ".repeat(17) + "1" + &"}".repeat(17), "nested deeper than 16 levels"),
            ("- ".repeat(17) + "1", "nested deeper than 16 levels"),
            ((0..17).map(|n| " ".repeat(n) + "a:\n").collect::<String>(), "nested deeper than 16 levels"),
            ("[".to_owned() + &"1,".repeat(300_000) + "1]", "more than 200000 values"),
            ("#".repeat((1 << 20) + 1), "larger than 1 MiB"),
            ("a: ".to_owned() + &"x".repeat(1 << 20), "larger than 1 MiB"),
        ] {
            let answer = refused(&text);
            assert!(answer.contains(said), "{:.40}: {answer}", text);
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn what_is_within_the_limits_is_read() {
        for text in [
            "{a: ".repeat(16) + "1" + &"}".repeat(16),
            laughs(4),
            "[".to_owned() + &"1,".repeat(150_000) + "1]",
            "\u{feff}a: 1".to_owned(),
            String::new(),
        ] {
            assert!(node(&text, Limits::WRITTEN).is_ok(), "{:.40}", text);
        }
    }
}

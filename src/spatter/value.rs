//! Parses the value of an option according to the option's kind.

use super::pattern::Written;
use super::table::Kind;
use crate::case::units::shown;
use crate::inputs::notation;

/// A parsed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Whether the flag or switch is on.
    On(bool),
    Count(u64),
    /// Several numbers in turn.
    Counts(Vec<u64>),
    /// A seed taken from the time of day.
    Clock,
    Word(&'static str),
    Text(String),
    Pattern(Written),
}

/// Largest number that Spatter reads.
pub const LARGEST: u64 = i64::MAX as u64;

/// Largest number that Spatter reads as an `int`.
pub const LARGEST_INT: u64 = i32::MAX as u64;

impl Kind {
    /// Describes the accepted values for a message.
    pub fn expected(self) -> String {
        match self {
            Kind::Flag => "nothing".to_owned(),
            Kind::Switch => "nothing, or =0 or =1".to_owned(),
            Kind::Count(min) => format!("an integer of at least {min}"),
            Kind::Int(min) => format!("an integer from {min} to {LARGEST_INT}"),
            Kind::CountOr(other) => format!("an integer of at least 0, or {other}"),
            Kind::Seed => format!("an integer from 0 to {LARGEST_INT}, attached"),
            Kind::Deltas => "an integer of at least 0, or several such as 8,8,16".to_owned(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
            Kind::Pattern => "a pattern such as UNIFORM:8:1 or 0,8,16".to_owned(),
            Kind::Text => "a text".to_owned(),
        }
    }

    /// Parses the value of an option on the command line.
    ///
    /// # Errors
    /// The message names the expected value and the one found.
    pub fn read(self, text: Option<&str>) -> Result<Value, String> {
        let Some(text) = text else {
            return Ok(if self == Kind::Seed { Value::Clock } else { Value::On(true) });
        };
        let value = match self {
            Kind::Flag => None,
            Kind::Switch => integer(text).filter(|number| *number < 2).map(|number| Value::On(number == 1)),
            Kind::Count(min) => integer(text).filter(|number| *number >= min).map(Value::Count),
            Kind::CountOr(other) if text.eq_ignore_ascii_case(other) => Some(Value::Word(other)),
            Kind::Int(min) => int(text).filter(|number| *number >= min).map(Value::Count),
            Kind::Seed => int(text).map(Value::Count),
            Kind::CountOr(_) => integer(text).map(Value::Count),
            Kind::Deltas => text.split(',').map(integer).collect::<Option<Vec<u64>>>().map(deltas),
            Kind::Word(words) => word(words, text).map(Value::Word),
            Kind::Pattern => Some(Value::Pattern(Written::Notation(text.to_owned()))),
            Kind::Text => Some(Value::Text(text.to_owned())),
        };
        let most = at_most(self, text.split(',').any(is_too_large));
        value.ok_or_else(|| format!("expected {}{most}, found `{}`", self.expected(), shown(text)))
    }
}

/// What a message about a value that exceeds [`LARGEST`] adds to the values that are accepted, where they have no end.
pub fn at_most(kind: Kind, exceeds: bool) -> String {
    let open = matches!(kind, Kind::Count(_) | Kind::CountOr(_) | Kind::Deltas);
    if open && exceeds { format!(", at most {LARGEST}") } else { String::new() }
}

fn is_too_large(text: &str) -> bool {
    notation::unsigned(text).is_some() && integer(text).is_none()
}

/// One number, or several in turn.
pub fn deltas(numbers: Vec<u64>) -> Value {
    match numbers.as_slice() {
        [one] => Value::Count(*one),
        _ => Value::Counts(numbers),
    }
}

/// One of the words, in any case.
pub fn word(words: &'static [&'static str], text: &str) -> Option<&'static str> {
    words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied()
}

/// A decimal integer as `stoll` reads it (after blanks and a sign), except that nothing but blanks may follow.
fn integer(text: &str) -> Option<u64> {
    notation::unsigned(text)?.parse().ok().filter(|number| *number <= LARGEST)
}

/// As [`integer`], but as `stoi` reads it.
fn int(text: &str) -> Option<u64> {
    integer(text).filter(|number| *number <= LARGEST_INT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_words() {
        let read = |text| Kind::Count(1).read(Some(text)).ok();
        assert_eq!(read("5"), Some(Value::Count(5)));
        assert_eq!(read(" +5 "), Some(Value::Count(5)));
        assert_eq!(Kind::Count(0).read(Some("-0")).ok(), Some(Value::Count(0)));
        assert_eq!(Kind::Int(1).read(Some("2147483647")).ok(), Some(Value::Count(LARGEST_INT)));
        assert!(
            Kind::Int(1).read(Some("2147483648")).is_err() && Kind::Seed.read(Some("2147483648")).is_err()
        );
        assert_eq!(read("9223372036854775807"), Some(Value::Count(LARGEST)));
        for text in
            ["0", "-0", "-5", "", " ", "+", "1e6", "2**24", "5 5", "0x5", "5.0", "9223372036854775808", "٥"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn messages_name_what_is_expected() {
        let error = |kind: Kind, text| kind.read(Some(text)).expect_err(text);
        assert_eq!(error(Kind::Count(1), "1e6"), "expected an integer of at least 1, found `1e6`");
        // What a message accepts never has the value that it refuses.
        for (kind, text) in [
            (Kind::Count(0), "9223372036854775808"),
            (Kind::CountOr("all"), "9223372036854775808"),
            (Kind::Deltas, "8,9223372036854775808"),
        ] {
            let told = error(kind, text);
            assert!(
                told.contains(", at most 9223372036854775807, found ")
                    && told.ends_with(&format!("`{text}`")),
                "{told}"
            );
        }
        assert_eq!(error(Kind::Word(&["csv", "json"]), "xml"), "expected one of csv, json, found `xml`");
        assert_eq!(Kind::Deltas.read(Some("8")), Ok(Value::Count(8)));
        assert_eq!(Kind::Deltas.read(Some("8,0,16")), Ok(Value::Counts(vec![8, 0, 16])));
        assert!(Kind::Deltas.read(Some("8,")).is_err());
    }
}

//! Spatter's notation for patterns: `UNIFORM:8:4`, `UNIFORM:8:4:NR`, `MS1:8:4:20`,
//! `LAPLACIAN:2:2:100` and `0,8,16` (lavin2020 §3.3, Spatter 2.1.0).
//!
//! Fields are separated as Spatter separates them: one colon or comma at the end is dropped, a number in a generator
//! may have blanks around it and a sign, and a list of indices ends at the first colon. Numbers must be followed by
//! nothing else; Spatter ignores any text that follows them.

use super::generators::{self, PatternError};
use crate::case::units::shown;

/// A pattern and the delta set by its notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Offsets in elements.
    pub indices: Vec<u64>,
    /// The fourth field of UNIFORM (`NR`: length·stride, no reuse); 1 for LAPLACIAN.
    pub delta: Option<u64>,
    /// Number of breaks of MS1 that are never reached, because they do not ascend.
    pub unreached: usize,
}

/// Parses a pattern in Spatter's notation.
pub fn parse(text: &str) -> Result<Notation, PatternError> {
    let fields: Vec<&str> = parts(text, ':').collect();
    match fields.as_slice() {
        ["UNIFORM", length, stride] => uniform(length, stride, None),
        ["UNIFORM", length, stride, delta] => uniform(length, stride, Some(delta)),
        ["MS1", length, breaks, gaps] => ms1(number(length)?, &list(breaks)?, &list(gaps)?),
        ["LAPLACIAN", dimensions, length, size] => {
            let indices =
                generators::laplacian(number(dimensions)?, number(length)?, number(size)?)?.to_vec();
            Ok(Notation { indices, delta: Some(1), unreached: 0 })
        }
        [indices, ..] if indices.starts_with(|c: char| c.is_ascii_digit()) => {
            let indices = indices.split(',').map(digits).collect::<Result<Vec<u64>, _>>()?;
            Ok(Notation { indices: generators::custom(indices.into())?.to_vec(), delta: None, unreached: 0 })
        }
        _ => Err(PatternError(format!(
            "`{}` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
            shown(text)
        ))),
    }
}

fn uniform(length: &str, stride: &str, delta: Option<&str>) -> Result<Notation, PatternError> {
    let (length, stride) = (number(length)?, number(stride)?);
    let indices = generators::uniform(length, stride)?.to_vec();
    let delta = match delta {
        None => None,
        Some("NR") => Some(length.checked_mul(stride).ok_or_else(|| too_large("NR"))?),
        Some(delta) => match number(delta)? {
            0 => return Err(PatternError("the delta of UNIFORM is at least 1".to_owned())),
            delta => Some(delta),
        },
    };
    Ok(Notation { indices, delta, unreached: 0 })
}

/// MS1 as Spatter generates it: breaks that do not ascend are never reached.
fn ms1(length: u64, breaks: &[u64], gaps: &[u64]) -> Result<Notation, PatternError> {
    if gaps.len() > breaks.len() {
        return Err(PatternError(generators::unmatched(breaks, gaps)));
    }
    let indices = generators::ms1_in_order(length, breaks, gaps)?.to_vec();
    let falls = breaks.windows(2).position(|pair| pair[1] <= pair[0] || pair[0] >= length);
    let reached = falls.map_or(breaks.len(), |at| at + 1);
    let unreached = breaks[reached..].iter().filter(|at| **at < length).count();
    Ok(Notation { indices, delta: None, unreached })
}

/// The parts between separators; the empty part behind a separator at the end is no part.
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    text.strip_suffix(separator).unwrap_or(text).split(separator)
}

fn list(text: &str) -> Result<Vec<u64>, PatternError> {
    parts(text, ',').map(number).collect()
}

/// A number in a generator.
fn number(text: &str) -> Result<u64, PatternError> {
    let digits_alone = unsigned(text).ok_or_else(|| no_number(text))?;
    digits(digits_alone)
}

/// The digits of an integer of at least 0 as C reads it: between blanks, after a sign. `-0` is 0. `None` if there
/// is anything else.
pub fn unsigned(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c| matches!(c, ' ' | '\t'..='\r'));
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let all = |of: fn(u8) -> bool| !digits.is_empty() && digits.bytes().all(of);
    let sound = if negative { all(|byte| byte == b'0') } else { all(|byte| byte.is_ascii_digit()) };
    sound.then_some(digits)
}

fn digits(text: &str) -> Result<u64, PatternError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(no_number(text));
    }
    text.parse().map_err(|_| too_large(text))
}

fn no_number(text: &str) -> PatternError {
    PatternError(format!("`{}` is not a non-negative integer", shown(text)))
}

fn too_large(text: &str) -> PatternError {
    PatternError(format!("`{}` is too large", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (Vec<u64>, Option<u64>) {
        let n = parse(text).unwrap();
        (n.indices, n.delta)
    }

    #[test]
    fn examples() {
        assert_eq!(parsed("UNIFORM:8:4"), (vec![0, 4, 8, 12, 16, 20, 24, 28], None));
        assert_eq!(parsed("UNIFORM:8:4:NR").1, Some(32));
        assert_eq!(parsed("UNIFORM:8:4:3").1, Some(3));
        assert_eq!(parsed("MS1:8:4:20"), (vec![0, 1, 2, 3, 23, 24, 25, 26], None));
        assert_eq!(parsed("MS1:8:2,5:10,20").0, [0, 1, 11, 12, 13, 33, 34, 35]);
        assert_eq!(parsed("LAPLACIAN:2:2:100"), (vec![0, 100, 198, 199, 200, 201, 202, 300, 400], Some(1)));
        assert_eq!(parsed("0,8,16"), (vec![0, 8, 16], None));
        assert_eq!(parsed("7"), (vec![7], None));
    }

    #[test]
    fn blanks_signs_and_ends_are_as_in_spatter() {
        assert_eq!(parsed("MS1:8:1, 5, 7:5"), parsed("MS1:8:1,5,7:5"));
        assert_eq!(parsed("UNIFORM: 4: +2 :\t3 "), parsed("UNIFORM:4:2:3"));
        assert_eq!(parsed("UNIFORM:4:2:"), parsed("UNIFORM:4:2"));
        assert_eq!(parsed("UNIFORM:4:2:NR:"), parsed("UNIFORM:4:2:NR"));
        assert_eq!(parsed("MS1:4:2,:5,:").0, [0, 1, 6, 7]);
        assert_eq!(parsed("MS1:4:2:-0").0, [0, 1, 1, 2]);
        assert_eq!(parsed("LAPLACIAN: 2: 1: 100"), parsed("LAPLACIAN:2:1:100"));
        assert_eq!(parsed("0,8:x:y"), parsed("0,8"));
    }

    #[test]
    fn breaks_are_used_up_in_their_order() {
        let of = |text| parse(text).map(|n| (n.indices, n.unreached)).expect(text);
        let at_3: Vec<u64> = (0..16).map(|i| if i < 3 { i } else { i + 17 }).collect();
        assert_eq!(of("MS1:16:3,3:18"), (at_3.clone(), 1));
        assert_eq!(of("MS1:16:3,2,9:18"), (at_3.clone(), 2));
        assert_eq!(
            of("MS1:16:3,99,9:18"),
            (at_3.clone(), 1),
            "break 99 is never reached, so 9 is not either"
        );
        assert_eq!(of("MS1:16:3,99:18"), (at_3, 0), "a break behind the end is no surprise");
        assert_eq!(of("MS1:4:1,1,2:5,6"), (vec![0, 5, 6, 7], 2), "the third break would lack a gap");
    }

    #[test]
    fn refusals() {
        for text in [
            "",
            ":",
            "uniform:8:4",
            "UNIFORM",
            "UNIFORM:8",
            "UNIFORM:8:4::",
            "UNIFORM:8:4:0",
            "UNIFORM:8:4:nr",
            "UNIFORM:8:4:NR:1",
            "UNIFORM:0:4",
            "UNIFORM:8:0",
            "UNIFORM:-8:4",
            "UNIFORM:1e6:4",
            "UNIFORM:8:4 5",
            "UNIFORM:+-8:4",
            "UNIFORM:8:4: NR",
            "UNIFORM:8\u{a0}:4",
            "MS1:8:4",
            "MS1:8:4:",
            "MS1:8:4:,",
            "MS1:8:4,,5:1",
            "MS1:8:-4:1",
            "MS1:8:4:20,30",
            "MS1:8:1,2,3:20,30",
            "LAPLACIAN:0:2:3",
            "LAPLACIAN:9:2:18446744073709551615",
            "0,8,",
            ",0",
            "0, 8",
            "+0,8",
            "-1",
            "99999999999999999999",
            "RANDOM:8",
            "０,８",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_string_makes_it_panic(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn no_string_that_looks_right_makes_it_panic(
            text in "(UNIFORM|MS1|LAPLACIAN|)(:?[0-9]{0,20}(,[0-9]{1,20}){0,3}){0,5}(:NR)?",
        ) {
            if let Ok(n) = parse(&text) {
                prop_assert!(!n.indices.is_empty());
            }
        }

        #[test]
        fn lists_come_back(list in prop::collection::vec(0..1u64 << 40, 1..50)) {
            let text = list.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(parsed(&text).0, list);
        }
    }
}

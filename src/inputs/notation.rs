//! Spatter's notation for patterns: `UNIFORM:8:4`, `UNIFORM:8:4:NR`, `MS1:8:4:20`,
//! `LAPLACIAN:2:2:100` and `0,8,16` (lavin2020 §3.3, Spatter 2.1.0).
//!
//! Numbers must consist of decimal digits only; Spatter ignores any text that follows them.

use super::generators::{self, PatternError};

/// A pattern and the delta set by its notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Offsets in elements.
    pub indices: Vec<u64>,
    /// The fourth field of UNIFORM (`NR`: length·stride, no reuse); 1 for LAPLACIAN.
    pub delta: Option<u64>,
}

/// Parses a pattern in Spatter's notation.
pub fn parse(text: &str) -> Result<Notation, PatternError> {
    let fields: Vec<&str> = text.split(':').collect();
    match fields.as_slice() {
        ["UNIFORM", length, stride] => uniform(length, stride, None),
        ["UNIFORM", length, stride, delta] => uniform(length, stride, Some(delta)),
        ["MS1", length, breaks, gaps] => {
            let indices = generators::ms1(number(length)?, &list(breaks)?, &list(gaps)?)?.to_vec();
            Ok(Notation { indices, delta: None })
        }
        ["LAPLACIAN", dimensions, length, size] => {
            let indices =
                generators::laplacian(number(dimensions)?, number(length)?, number(size)?)?.to_vec();
            Ok(Notation { indices, delta: Some(1) })
        }
        [indices] if indices.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok(Notation { indices: generators::custom(&list(indices)?)?.to_vec(), delta: None })
        }
        _ => Err(PatternError(format!(
            "`{}` is not a pattern: UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N or a list such as 0,8,16",
            shortened(text)
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
    Ok(Notation { indices, delta })
}

fn list(text: &str) -> Result<Vec<u64>, PatternError> {
    text.split(',').map(number).collect()
}

fn number(text: &str) -> Result<u64, PatternError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(PatternError(format!("`{}` is not a non-negative integer", shortened(text))));
    }
    text.parse().map_err(|_| too_large(text))
}

fn too_large(text: &str) -> PatternError {
    PatternError(format!("`{}` is too large", shortened(text)))
}

/// Truncates a text for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
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
    fn refusals() {
        for text in [
            "",
            ":",
            "uniform:8:4",
            "UNIFORM",
            "UNIFORM:8",
            "UNIFORM:8:4:",
            "UNIFORM:8:4:0",
            "UNIFORM:8:4:nr",
            "UNIFORM:8:4:NR:1",
            "UNIFORM:0:4",
            "UNIFORM:8:0",
            "UNIFORM:-8:4",
            "UNIFORM:1e6:4",
            "UNIFORM:8:4 ",
            "UNIFORM:+8:4",
            "MS1:8:4",
            "MS1:8:4:",
            "MS1:8:4,2:20",
            "MS1:8:1,2,3:20,30",
            "LAPLACIAN:0:2:3",
            "LAPLACIAN:9:2:18446744073709551615",
            "0,8,",
            ",0",
            "0, 8",
            "0,8:x",
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

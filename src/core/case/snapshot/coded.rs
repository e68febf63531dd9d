//! How a snapshot is written: a curve as numbers, a field as one byte for each value between the least and the greatest,
//! in base64 (RFC 4648, section 4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Snapshot;

/// The code of a place without a value; the others run from 0, the least value, to one less than this, the greatest.
const NONE: u8 = 255;
const GREATEST: f64 = 254.0;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Coded {
    Curve {
        x: String,
        y: String,
        spacing: f64,
        values: Vec<f64>,
    },
    Field {
        what: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        when: String,
        columns: u32,
        rows: u32,
        low: f64,
        high: f64,
        codes: String,
    },
}

impl From<Snapshot> for Coded {
    fn from(snapshot: Snapshot) -> Coded {
        match snapshot.bounded() {
            Snapshot::Curve { x, y, spacing, values } => Coded::Curve { x, y, spacing, values },
            Snapshot::Field { what, when, columns, rows, values } => {
                let [low, high] = range(&values);
                let codes: Vec<u8> = values.iter().map(|value| code(*value, low, high)).collect();
                Coded::Field { what, when, columns, rows, low, high, codes: to_base64(&codes) }
            }
        }
    }
}

impl TryFrom<Coded> for Snapshot {
    type Error = String;

    fn try_from(coded: Coded) -> Result<Snapshot, String> {
        let snapshot = match coded {
            Coded::Curve { x, y, spacing, values } => Snapshot::Curve { x, y, spacing, values },
            Coded::Field { what, when, columns, rows, low, high, codes } => {
                if !(low.is_finite() && high.is_finite()) {
                    return Err("the range of a field is finite".to_owned());
                }
                let codes = from_base64(&codes).ok_or("the codes of a field are not base64")?;
                let values = codes.into_iter().map(|code| value(code, low, high)).collect();
                Snapshot::Field { what, when, columns, rows, values }
            }
        };
        snapshot.check()?;
        Ok(snapshot)
    }
}

/// The least and the greatest of the values that are there; 0 and 0 for none.
fn range(values: &[f32]) -> [f64; 2] {
    let there = values.iter().filter(|value| value.is_finite()).map(|value| f64::from(*value));
    there
        .fold(None, |range: Option<[f64; 2]>, value| match range {
            None => Some([value, value]),
            Some([low, high]) => Some([value.min(low), value.max(high)]),
        })
        .unwrap_or([0.0, 0.0])
}

fn code(value: f32, low: f64, high: f64) -> u8 {
    if !value.is_finite() {
        return NONE;
    }
    let share = if high > low { (f64::from(value) - low) / (high - low) } else { 0.0 };
    (share.clamp(0.0, 1.0) * GREATEST).round() as u8
}

fn value(code: u8, low: f64, high: f64) -> f32 {
    if code == NONE { f32::NAN } else { (low + (high - low) * (f64::from(code) / GREATEST)) as f32 }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| word << 8 | u32::from(part.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let code = DIGITS[(word >> (18 - 6 * digit) & 63) as usize];
            text.push(if digit <= part.len() { char::from(code) } else { '=' });
        }
    }
    text
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for part in digits.chunks(4) {
        let mut word = 0;
        for at in 0..4 {
            word = word << 6 | part.get(at).map_or(Some(0), |digit| number(*digit))?;
        }
        bytes.extend(word.to_be_bytes().into_iter().skip(1).take(part.len() - 1));
    }
    Some(bytes)
}

fn number(digit: u8) -> Option<u32> {
    let number = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(to_base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&all)), Some(all));
        for wrong in ["A", "AB", "A===", "====", "AB*D", "AB==AB==", "é=="] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }
}

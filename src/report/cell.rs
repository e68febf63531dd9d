//! A value of a table: text in a CSV, a number or a string in JSON.

use std::fmt;

use serde::Serialize;
use serde_json::Value as Json;

use crate::case::Value;

/// A value of a table. A missing value is a `None` instead of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    Count(u64),
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// A list, or a number as JSON has it; in CSV the items are separated by blanks.
    Json(Json),
}

impl Cell {
    /// `None` for a value that is not finite.
    pub fn number(value: f64) -> Option<Cell> {
        value.is_finite().then_some(Cell::Number(value))
    }

    pub fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    pub fn of(value: &Value) -> Option<Cell> {
        match value {
            Value::Int(count) => Some(Cell::Count(*count)),
            Value::Float(number) => Cell::number(*number),
            Value::Text(_) | Value::Indices(_) => Some(Cell::Text(value.to_string())),
        }
    }
}

/// Numbers have the shortest digits that read back as the same number, without an exponent.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(count) => write!(f, "{count}"),
            Cell::Integer(number) => write!(f, "{number}"),
            Cell::Number(number) => write!(f, "{number}"),
            Cell::Json(value) => f.write_str(&plain(value)),
        }
    }
}

fn plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

macro_rules! into_cell {
    ($($type:ty => |$value:ident| $cell:expr;)*) => {
        $(impl From<$type> for Cell {
            fn from($value: $type) -> Cell {
                $cell
            }
        })*
    };
}

into_cell! {
    String => |text| Cell::Text(text);
    &str => |text| Cell::text(text);
    i64 => |number| Cell::Integer(number);
    u32 => |count| Cell::Count(count.into());
    u64 => |count| Cell::Count(count);
    usize => |count| Cell::Count(count as u64);
    Json => |value| Cell::Json(value);
}

/// A value that a column can hold, or a missing one.
pub trait IntoCell {
    fn into_cell(self) -> Option<Cell>;
}

impl<T: Into<Cell>> IntoCell for T {
    fn into_cell(self) -> Option<Cell> {
        Some(self.into())
    }
}

/// A number that is not finite is missing.
impl IntoCell for f64 {
    fn into_cell(self) -> Option<Cell> {
        Cell::number(self)
    }
}

impl<C: IntoCell> IntoCell for Option<C> {
    fn into_cell(self) -> Option<Cell> {
        self.and_then(C::into_cell)
    }
}

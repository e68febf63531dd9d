//! Writing a profile's YAML: maps in blocks, curves in rows.

use serde_yaml::Value;

use crate::model::Profile;
use crate::recipe::word;

/// Maximal line length of a curve's row, in columns.
const WIDTH: usize = 110;

/// The profile as YAML, which [`read`](super::read) reads back as the same profile.
///
/// # Errors
/// None for a profile of positive, finite numbers.
pub fn write(profile: &Profile) -> anyhow::Result<String> {
    let mut out = String::from(
        "# A device's profile (docs/calibrate.md). Seconds, bytes, bytes a second, accesses a second;\n\
         # curves are lists of [place, value].\n",
    );
    if let Value::Mapping(entries) = serde_yaml::to_value(profile)? {
        entries.iter().for_each(|(key, value)| entry(key, value, 0, &mut out));
    }
    Ok(out)
}

fn entry(key: &Value, value: &Value, depth: usize, out: &mut String) {
    let start = format!("{}{}:", "  ".repeat(depth), scalar(key));
    out.push_str(&start);
    below(value, depth, start.len(), out);
}

/// Writes a value after its key, on a line that already has `columns` columns.
fn below(value: &Value, depth: usize, columns: usize, out: &mut String) {
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            out.push('\n');
            entries.iter().for_each(|(key, value)| entry(key, value, depth + 1, out));
        }
        Value::Sequence(items) if items.first().is_some_and(Value::is_mapping) => {
            out.push('\n');
            items.iter().for_each(|item| listed(item, depth + 1, out));
        }
        Value::Sequence(items) if columns + 1 + flow(value).len() > WIDTH => rows(items, depth + 1, out),
        other => out.push_str(&format!(" {}\n", flow(other))),
    }
}

/// Writes a map as a list item: its first key follows the dash.
fn listed(item: &Value, depth: usize, out: &mut String) {
    let mut text = String::new();
    if let Value::Mapping(entries) = item {
        entries.iter().for_each(|(key, value)| entry(key, value, depth + 1, &mut text));
    }
    out.push_str(&format!("{}- {}", "  ".repeat(depth), text.trim_start()));
}

/// Writes a long list in rows.
fn rows(items: &[Value], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let (mut lines, mut line) = (Vec::new(), String::new());
    for item in items {
        let item = format!("{}, ", flow(item));
        if !line.is_empty() && indent.len() + line.len() + item.len() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(&item);
    }
    lines.push(line);
    let text: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let text = text.join(&format!("\n{indent}  "));
    out.push_str(&format!("\n{indent}[ {} ]\n", text.trim_end_matches(',')));
}

fn flow(value: &Value) -> String {
    match value {
        Value::Sequence(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Mapping(_) => "{}".to_owned(),
        other => scalar(other),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => word(text),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            // A whole number reads back as the same number.
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
            Some(float) => format!("{float:?}"),
            None => number.to_string(),
        },
        Value::Bool(truth) => truth.to_string(),
        _ => "null".to_owned(),
    }
}

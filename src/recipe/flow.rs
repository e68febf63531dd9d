//! A node as YAML on one line.

use super::node::{Content, Node, read};

/// The node in YAML's flow style: `{multipass: {passes: 1..64 x2}}`.
pub(crate) fn flow(node: &Node) -> String {
    if let Some(spelling) = &node.spelling {
        return spelling.to_string();
    }
    match &node.content {
        Content::Null => "null".to_owned(),
        Content::Bool(truth) => truth.to_string(),
        Content::Int(number) => number.to_string(),
        Content::Float(number) => float(*number),
        Content::Text(text) => word(text),
        Content::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Content::Map(entries) => {
            let entries = entries.iter().map(|(key, node)| format!("{}: {}", word(&key.text), flow(node)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// `3.0` instead of `3`, which would be an integer.
pub(super) fn float(number: f64) -> String {
    match number {
        n if n.is_nan() => ".nan".to_owned(),
        n if n.is_infinite() => if n > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        n => format!("{n:?}"),
    }
}

/// The text without quotes if YAML reads it as the same text anywhere in a list or a map, else in quotes.
pub(crate) fn word(text: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || " ._+-/%()<>=^;±·…".contains(c);
    let starts = text.starts_with(|c: char| c.is_alphanumeric() || ".±(<".contains(c));
    let plain = starts && !text.ends_with(' ') && text.chars().all(harmless);
    let same = || read("", text).is_ok_and(|node| node.content == Content::Text(text.to_owned()));
    if plain && same() { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let escape = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\U{:08x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let texts = [
            "{multipass: {passes: 1..64 x2}}",
            "[sequential, random, {partitions: 32}]",
            "{title: 'yes', claim: 'a: b, #c', path: a/b.npy, ci: 3%, none: null, n: -3, x: 1.0, y: 0.25}",
            "'1'",
            "\"two\\nlines\"",
            "['', ' a', 'a ', '- x', '&a', 'it''s', '{', '~']",
            "3.0",
        ];
        for text in texts {
            let node = read("", text).expect("YAML");
            let again = read("", &flow(&node)).expect("YAML");
            assert_eq!(again, node, "{text} as {}", flow(&node));
        }
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        for text in ["1..64 x2", "3%", "16Mi", "no-reuse", "2GB", "a/b.npy"] {
            assert_eq!(word(text), text);
        }
        assert_eq!(word("a: b"), "'a: b'");
        assert_eq!(word("true"), "'true'");
        assert_eq!(word("12"), "'12'");
    }
}

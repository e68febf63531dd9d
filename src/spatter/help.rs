//! The text of `--help`.

use super::output::column;
use super::table::{Kind, OPTIONS, Opt};

/// Returns the text that `--help` prints.
pub fn help(program: &str) -> String {
    let lines =
        |ours: bool| OPTIONS.iter().filter(move |option| option.ours == ours).map(line).collect::<String>();
    format!("Spatter\nUsage: {program} [options]\n{}\nBeyond Spatter 2.1.0:\n{}", lines(false), lines(true))
}

fn line(option: &Opt) -> String {
    let value = match option.kind {
        Kind::Flag => "",
        Kind::Switch => "[=0|1]",
        Kind::Seed => "[N]",
        Kind::Count(_) | Kind::Int(_) => " N",
        Kind::CountOr(_) => " N|all",
        Kind::Deltas => " N[,N…]",
        Kind::Word(_) => " WORD",
        Kind::Pattern => " PATTERN",
        Kind::Text => " TEXT",
    };
    let words = match option.kind {
        Kind::Word(words) => format!(": {}", words.join(", ")),
        _ => String::new(),
    };
    let default =
        if option.default.is_empty() { String::new() } else { format!(" (default {})", option.default) };
    let indent = if option.short.is_some() { "" } else { "    " };
    let names = column(&format!("{indent}{}{value}", option.names()), 30);
    format!("{names} {}{words}{default}\n", option.doc)
}

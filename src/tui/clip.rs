//! Copying by OSC 52, which asks the terminal to put a text on its clipboard. This also works over ssh; a
//! terminal without OSC 52 ignores the sequence.

use crossterm::Command;
use crossterm::clipboard::CopyToClipboard;

/// Longest text in bytes: terminals drop longer ones.
const LONGEST: usize = 48 << 10;

/// The sequence to write to the terminal. Inside tmux, a second copy is passed through to the outer terminal,
/// in case tmux does not handle the first. The Linux console would print part of the sequence, so it gets none.
pub fn sequence(text: &str, read: impl Fn(&str) -> Option<String>) -> String {
    let set = |key: &str| read(key).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    if matches!(term.as_str(), "linux" | "dumb") {
        return String::new();
    }
    let end = (0..=text.len().min(LONGEST)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut plain = String::new();
    // Writing to a string does not fail.
    let _ = CopyToClipboard::to_clipboard_from(&text[..end]).write_ansi(&mut plain);
    match set("TMUX") {
        Some(_) => format!("{plain}\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |key| pairs.iter().find(|(k, _)| *k == key).map(|(_, v)| (*v).to_owned())
    }

    #[test]
    fn the_terminal_is_asked_in_its_own_way() {
        assert_eq!(sequence("foo", with(&[("TERM", "xterm-256color")])), "\x1b]52;c;Zm9v\x1b\\");
        let tmux = sequence("foo", with(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")]));
        assert_eq!(tmux, "\x1b]52;c;Zm9v\x1b\\\x1bPtmux;\x1b\x1b]52;c;Zm9v\x1b\x1b\\\x1b\\");
        assert_eq!(sequence("foo", with(&[("TERM", "linux")])), "");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = sequence(&"ä".repeat(LONGEST), with(&[]));
        assert!(long.len() < LONGEST * 4 / 3 + 20, "{}", long.len());
        let evil = sequence("\x1b]52;c;!\x07\x1b[2J", with(&[]));
        assert_eq!(evil.matches('\x1b').count(), 2, "what is copied steers nothing");
    }
}

//! Copying by OSC 52: the terminal is asked to put a text where its own copies go. It works
//! over ssh as well; a terminal that does not know it takes no notice.

/// Longest text, bytes: terminals drop what is longer.
const LONGEST: usize = 48 << 10;

/// What to write to the terminal. tmux hands it on to the terminal that it runs in where it
/// does not take it itself; the kernel's own console would show some of it, and gets nothing.
pub fn sequence(text: &str, read: impl Fn(&str) -> Option<String>) -> String {
    let set = |key: &str| read(key).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    if matches!(term.as_str(), "linux" | "dumb") {
        return String::new();
    }
    let end = (0..=text.len().min(LONGEST)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let plain = format!("\x1b]52;c;{}\x07", base64(&text.as_bytes()[..end]));
    match set("TMUX") {
        Some(_) => format!("{plain}\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")),
        None => plain,
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| word << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at)) as usize & 63] as char;
            out.push(if at <= three.len() { digit } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |key| pairs.iter().find(|(k, _)| *k == key).map(|(_, v)| (*v).to_owned())
    }

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let all = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(all, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn the_terminal_is_asked_in_its_own_way() {
        assert_eq!(sequence("foo", with(&[("TERM", "xterm-256color")])), "\x1b]52;c;Zm9v\x07");
        let tmux = sequence("foo", with(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")]));
        assert_eq!(tmux, "\x1b]52;c;Zm9v\x07\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\");
        assert_eq!(sequence("foo", with(&[("TERM", "linux")])), "");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = sequence(&"ä".repeat(LONGEST), with(&[]));
        assert!(long.len() < LONGEST * 4 / 3 + 20, "{}", long.len());
        let evil = sequence("\x1b]52;c;!\x07\x1b[2J", with(&[]));
        assert_eq!(evil.matches('\x1b').count(), 1, "what is copied steers nothing");
    }
}

//! Quotes words for a shell, and finds programs on the `PATH`.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::case::units::is_unseen;

/// Quotes the word if a shell would otherwise change it. The result is text of one line that a terminal shows as it is:
/// a word with control characters or with bytes that are not UTF-8 is written as `$'x\ny'`, which bash, zsh, ksh and
/// every shell that follows POSIX of 2024 reads.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let bytes = word.as_ref().as_bytes();
    match str::from_utf8(bytes) {
        // `~` does not count as plain, and an empty word needs quotes.
        Ok(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Ok(text) if !text.contains(is_unseen) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!("$'{}'", bytes.utf8_chunks().map(with_escapes).collect::<String>()),
    }
}

fn with_escapes(chunk: std::str::Utf8Chunk) -> String {
    // An octal escape ends after three digits in every shell.
    let octal = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    let escape = |c: char| match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if is_unseen(c) => octal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        c => c.to_string(),
    };
    chunk.valid().chars().map(escape).collect::<String>() + &octal(chunk.invalid())
}

/// The path as a word that no command takes for an option: one that begins with a dash is led by `./`.
pub fn operand(path: &Path) -> Cow<'_, Path> {
    match path.as_os_str().as_bytes().first() {
        Some(b'-') => Cow::Owned(Path::new(".").join(path)),
        _ => Cow::Borrowed(path),
    }
}

/// [`operand`], quoted for the shell.
pub fn path(path: &Path) -> String {
    quoted(operand(path).as_os_str())
}

/// The overrides of a plan as command-line words.
pub fn words(overrides: &[String]) -> Vec<String> {
    // An override such as `--set KEY=VALUE` is stored as one string.
    overrides.iter().flat_map(|both| both.splitn(2, ' ')).map(str::to_owned).collect()
}

/// The overrides of a plan as command-line words, quoted for the shell.
pub fn options(overrides: &[String]) -> Vec<String> {
    words(overrides).iter().map(quoted).collect()
}

/// Finds the program of this name in the folders of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(quoted("measure.rounds=1"), "measure.rounds=1");
        assert_eq!(quoted("tuples=1Mi..16Mi x2"), "'tuples=1Mi..16Mi x2'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!([quoted(""), quoted("~/a")], ["''", "'~/a'"]);
    }

    #[test]
    fn what_a_terminal_does_not_show_is_written_with_escapes() {
        let bytes = |bytes: &[u8]| quoted(OsString::from_vec(bytes.to_vec()));
        assert_eq!(bytes(b"x\ny"), r"$'x\ny'");
        assert_eq!(bytes(b"b\xffz.yaml"), r"$'b\377z.yaml'");
        assert_eq!(bytes(b"\x1b[2J"), r"$'\033[2J'");
        assert_eq!(bytes("it's\r\\\u{202e}".as_bytes()), r"$'it\'s\r\\\342\200\256'");
        assert_eq!(quoted("größe"), "'größe'");
    }

    #[test]
    fn a_path_is_no_option() {
        let path = |text: &str| path(Path::new(text));
        assert_eq!(["-r", "--out=x", "-", "-\n"].map(path), ["./-r", "./--out=x", "./-", r"$'./-\n'"]);
        assert_eq!(["a-b", "./-r", "/-r"].map(path), ["a-b", "./-r", "/-r"]);
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some_and(|shell| shell.ends_with("sh")));
        assert_eq!(find("no such program"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_shell_reads_the_word_back(word in proptest::collection::vec(1u8.., 0..24)) {
            let script = format!("printf %s {}", quoted(OsString::from_vec(word.clone())));
            let run = std::process::Command::new("bash").arg("-c").arg(script).output().expect("a shell");
            prop_assert_eq!(run.stdout, word);
        }

        #[test]
        fn any_text_is_read_back(word in "[^\\x00]{0,24}") {
            let script = format!("printf %s {}", quoted(&word));
            prop_assert!(!script.contains(is_unseen), "{}", script);
            let run = std::process::Command::new("bash").arg("-c").arg(script).output().expect("a shell");
            prop_assert_eq!(String::from_utf8_lossy(&run.stdout).into_owned(), word);
        }
    }
}

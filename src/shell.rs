//! Quotes words for a POSIX shell, and finds programs on the `PATH`.

use std::path::PathBuf;

/// Quotes the word if a shell would otherwise change it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    // `~` does not count as plain, and an empty word needs quotes.
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The overrides of a plan as command-line words.
pub fn words(overrides: &[String]) -> Vec<String> {
    // An override such as `--set KEY=VALUE` is stored as one string.
    overrides.iter().flat_map(|both| both.splitn(2, ' ')).map(str::to_owned).collect()
}

/// The overrides of a plan as command-line words, quoted for the shell.
pub fn options(overrides: &[String]) -> Vec<String> {
    words(overrides).iter().map(|word| quoted(word)).collect()
}

/// Finds the program of this name in the folders of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::{find, quoted};
    use proptest::prelude::*;

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(quoted("measure.rounds=1"), "measure.rounds=1");
        assert_eq!(quoted("tuples=1Mi..16Mi x2"), "'tuples=1Mi..16Mi x2'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!([quoted(""), quoted("~/a")], ["''", "'~/a'"]);
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some_and(|shell| shell.ends_with("sh")));
        assert_eq!(find("no such program"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_shell_reads_the_word_back(word in "[^\\x00]{0,24}") {
            let script = format!("printf %s {}", quoted(&word));
            let run = std::process::Command::new("sh").arg("-c").arg(script).output().expect("a shell");
            prop_assert_eq!(String::from_utf8_lossy(&run.stdout).into_owned(), word);
        }
    }
}

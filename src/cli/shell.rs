//! Words for a POSIX shell.

/// The word, quoted where the shell would read something else.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    // A `~` is not among the plain ones, and an empty word needs its quotes.
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use proptest::prelude::*;

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(quoted("measure.rounds=1"), "measure.rounds=1");
        assert_eq!(quoted("tuples=1Mi..16Mi x2"), "'tuples=1Mi..16Mi x2'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!([quoted(""), quoted("~/a")], ["''", "'~/a'"]);
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

//! A case: parameters by the lab's full keys. A peer asks for every parameter that it knows; one left over would
//! change the measurement, so the peer must not run the case.

use std::collections::{BTreeMap, BTreeSet};

/// Why a case cannot run here.
#[derive(Clone, Debug, PartialEq)]
pub struct NotApplicable(pub String);

/// Refuses a case for this reason.
pub fn refused<T>(reason: impl Into<String>) -> Result<T, NotApplicable> {
    Err(NotApplicable(reason.into()))
}

#[derive(Debug, Default)]
pub struct Case {
    /// Keys and words, in the order given.
    pub given: Vec<(String, String)>,
    words: BTreeMap<String, String>,
    known: BTreeSet<String>,
}

impl Case {
    /// The case of these words, each `KEY=VALUE`.
    pub fn new<'a>(words: impl Iterator<Item = &'a str>) -> Result<Case, NotApplicable> {
        let mut case = Case::default();
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return refused(format!("{word} is not KEY=VALUE"));
            };
            case.given.push((key.to_owned(), value.to_owned()));
            case.words.insert(key.to_owned(), value.to_owned());
        }
        Ok(case)
    }

    /// The text under a key, or `unset`.
    pub fn text(&mut self, key: &str, unset: &str) -> String {
        self.known.insert(key.to_owned());
        self.words.get(key).map_or(unset, String::as_str).to_owned()
    }

    /// A number under a key, or `unset`.
    pub fn number<T: std::str::FromStr>(&mut self, key: &str, unset: &str) -> Result<T, NotApplicable> {
        let word = self.text(key, unset);
        word.parse().or_else(|_| refused(format!("{key}={word} is not a number here")))
    }

    /// One of the accepted words, the first if the key is unset.
    pub fn one_of(&mut self, key: &str, accepted: &[&'static str]) -> Result<&'static str, NotApplicable> {
        let word = self.text(key, accepted[0]);
        match accepted.iter().find(|one| **one == word) {
            Some(one) => Ok(one),
            None => {
                refused(format!("{key}={word} is not what this peer does; it does {}", accepted.join(", ")))
            }
        }
    }

    /// Refuses a case with a parameter that nobody has asked for.
    pub fn nothing_else(&self) -> Result<(), NotApplicable> {
        match self.words.iter().find(|(key, _)| !self.known.contains(*key)) {
            Some((key, word)) => refused(format!("{key}={word} is unknown to this peer")),
            None => Ok(()),
        }
    }

    /// A name of the case, the same for the same parameters.
    pub fn name(&self) -> String {
        self.words.iter().map(|(key, word)| format!("{key}={word} ")).collect()
    }
}

/// What the lab's own source files expect beside the cases.
pub mod units {
    /// A number of bytes.
    pub fn fmt_bytes(bytes: u64) -> String {
        format!("{bytes} B")
    }
}

//! Options as written, on the command line or in one configuration in JSON.

use super::Refused;
use super::getopt;
use super::table::{Key, Kind, Opt};
use super::value::Value;

/// One option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub option: &'static Opt,
    pub value: Value,
    /// The option's name in messages: `-l`, or `suite.json:3:14: count`.
    pub called: String,
}

/// Options in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub Vec<Given>);

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub options: Options,
    /// Words that belong to no option.
    pub others: Vec<String>,
}

impl CommandLine {
    /// Parses the arguments.
    ///
    /// # Errors
    /// An option or a value is invalid, or a pattern is given twice.
    pub fn read(arguments: &[String]) -> Result<CommandLine, Refused> {
        let words = getopt::read(arguments)?;
        let mut options = Options::default();
        for (option, text) in words.options {
            let called =
                option.short.map_or_else(|| format!("--{}", option.long), |short| format!("-{short}"));
            let value = option.kind.read(text.as_deref());
            let value = value.map_err(|why| Refused::usage(format!("{called}: {why}")))?;
            if option.kind == Kind::Pattern && options.of(option.key).is_some() {
                return Err(Refused::usage(format!("{called} is given twice")));
            }
            options.0.push(Given { option, value, called });
        }
        Ok(CommandLine { options, others: words.others })
    }
}

impl Options {
    /// The last occurrence of this option.
    pub fn of(&self, key: Key) -> Option<&Given> {
        self.0.iter().rfind(|given| given.option.key == key)
    }

    /// Whether the option is given and switched on.
    pub fn on(&self, key: Key) -> bool {
        matches!(self.of(key), Some(Given { value: Value::On(true), .. }))
    }

    /// The value of this option, if it is a number.
    pub fn count(&self, key: Key) -> Option<u64> {
        match self.of(key)?.value {
            Value::Count(number) => Some(number),
            _ => None,
        }
    }

    /// The value of this option, if it is a word.
    pub fn word(&self, key: Key) -> Option<&'static str> {
        match self.of(key)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The value of this option, if it is text.
    pub fn text(&self, key: Key) -> Option<&str> {
        match &self.of(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

//! Options as they were written: on the command line, or of one configuration in JSON.

use super::getopt;
use super::refused::Refused;
use super::table::{Key, Kind, Opt};
use super::value::Value;

/// One option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub option: &'static Opt,
    pub value: Value,
    /// How to call it in a message: `-l`, or `suite.json:3:14: count`.
    pub called: String,
}

/// Options in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub Vec<Given>);

/// What a command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub options: Options,
    /// Words that belong to no option.
    pub others: Vec<String>,
}

impl CommandLine {
    /// Reads words.
    ///
    /// # Errors
    /// Options and values that cannot be, and a pattern that comes twice.
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
    /// The last of these options.
    pub fn of(&self, key: Key) -> Option<&Given> {
        self.0.iter().rfind(|given| given.option.key == key)
    }

    /// Whether the option is given and on.
    pub fn on(&self, key: Key) -> bool {
        matches!(self.of(key), Some(Given { value: Value::On(true), .. }))
    }

    /// The number of this option.
    pub fn count(&self, key: Key) -> Option<u64> {
        match self.of(key)?.value {
            Value::Count(number) => Some(number),
            _ => None,
        }
    }

    /// The word of this option.
    pub fn word(&self, key: Key) -> Option<&'static str> {
        match self.of(key)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The text of this option.
    pub fn text(&self, key: Key) -> Option<&str> {
        match &self.of(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

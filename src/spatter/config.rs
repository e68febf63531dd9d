//! The meaning of one configuration's options.

use super::Refused;
use super::options::{Given, Options};
use super::pattern::Delta;
use super::pattern::{Written, compressed, treated};
use super::table::{self, Key};
use super::value::Value;
use crate::case::params::MAX_BYTES;
use crate::inputs::notation::Notation;
use crate::primitives::pattern::spec::{Kernel, largest};
use crate::primitives::pattern::{LONGEST_LIST, LONGEST_PATTERN};
use crate::recipe::MOST_SAMPLES;

/// A configuration with all its options resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The configuration's number, from 0: the first column of the table.
    pub id: usize,
    pub name: String,
    pub kernel: Kernel,
    /// The pattern; the outer one for multigather and multiscatter.
    pub pattern: Vec<u64>,
    /// The pattern that gs reads through; the inner pattern of multigather.
    pub pattern_gather: Vec<u64>,
    /// The pattern that gs writes through; the inner pattern of multiscatter.
    pub pattern_scatter: Vec<u64>,
    pub delta: Delta,
    pub delta_gather: u64,
    pub delta_scatter: u64,
    pub count: u64,
    pub wrap: u64,
    pub runs: u64,
    pub seed: Option<u64>,
    /// The largest index before page compression.
    pub far: u64,
    /// Breaks of MS1 patterns that are never reached.
    pub unreached: usize,
}

/// Precedence where both a generator and an option set a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// On the command line, the last one wins.
    Last,
    /// In JSON, the generator wins.
    Generator,
}

/// Settings of the whole run that affect each configuration.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub precedence: Precedence,
    pub compress: bool,
    /// Seconds since the epoch, for a seed taken from the time of day.
    pub now: u64,
}

impl Config {
    /// Resolves options. `place` precedes every message that concerns them all.
    ///
    /// # Errors
    /// A pattern is invalid, or patterns do not fit the kernel or each other.
    pub fn of(id: usize, place: &str, options: &Options, rules: Rules) -> Result<Config, Refused> {
        let pattern = side(options, [Key::Pattern, Key::Delta], rules)?;
        let gather = side(options, [Key::PatternGather, Key::DeltaGather], rules)?;
        let scatter = side(options, [Key::PatternScatter, Key::DeltaScatter], rules)?;
        let config = Config {
            id,
            name: options.text(Key::Name).unwrap_or_default().to_owned(),
            kernel: kernel(options),
            far: pattern.far.max(gather.far).max(scatter.far),
            unreached: pattern.unreached + gather.unreached + scatter.unreached,
            pattern: pattern.indices,
            pattern_gather: gather.indices,
            pattern_scatter: scatter.indices,
            delta: pattern.delta,
            delta_gather: gather.delta.after(1).unwrap_or_default(),
            delta_scatter: scatter.delta.after(1).unwrap_or_default(),
            count: number(options, Key::Count),
            wrap: number(options, Key::Wrap),
            runs: number(options, Key::Runs),
            seed: seed(options, rules),
        };
        let placed = |message: String| match place {
            "" => message,
            _ => format!("{place}: {message}"),
        };
        config.complete().map_err(|message| match (config.kernel, rules.precedence) {
            // The kernels with two patterns are checked where JSON is read, the others when they are set up.
            (Kernel::Gather | Kernel::Scatter, _) | (_, Precedence::Last) => Refused::setup(placed(message)),
            _ => Refused::usage(placed(message)),
        })?;
        config.checked().map_err(|message| Refused::setup(placed(message)))?;
        Ok(config)
    }

    /// Numbers that the configuration's lists have in a recipe: indices of patterns without a constant stride, and
    /// deltas.
    pub fn listed(&self) -> usize {
        let patterns = [&self.pattern, &self.pattern_gather, &self.pattern_scatter];
        let indices =
            patterns.iter().filter(|p| constant_stride(p).is_none()).map(|p| p.len()).sum::<usize>();
        indices + if let Delta::List(deltas) = &self.delta { deltas.len() } else { 0 }
    }

    /// P, the number of indices in one use of the pattern.
    pub fn length(&self) -> u64 {
        match self.kernel {
            Kernel::Gather | Kernel::Scatter => self.pattern.len() as u64,
            Kernel::Gs | Kernel::Multigather => self.pattern_gather.len() as u64,
            Kernel::Multiscatter => self.pattern_scatter.len() as u64,
        }
    }

    /// Bytes that Spatter counts for one run. They cannot overflow: sizes are limited when the configuration is
    /// made.
    pub fn bytes(&self) -> u64 {
        let sides = if self.kernel == Kernel::Gs { 2 } else { 1 };
        8 * sides * self.length() * self.count
    }

    /// Words of a sparse array: from its first word to the last that the pattern can touch.
    pub fn sparse(&self, pattern: &[u64], delta: &Delta) -> Option<u64> {
        delta.after(self.count - 1)?.checked_add(largest(pattern))?.checked_add(1)
    }

    /// Pattern and delta of each sparse array.
    pub fn sides(&self) -> Vec<(&[u64], Delta)> {
        match self.kernel {
            Kernel::Gs => vec![
                (&self.pattern_gather, Delta::One(self.delta_gather)),
                (&self.pattern_scatter, Delta::One(self.delta_scatter)),
            ],
            _ => vec![(&self.pattern, self.delta.clone())],
        }
    }

    /// Checks that the kernel has the patterns that it needs.
    fn complete(&self) -> Result<(), String> {
        let needs = |name: &str, pattern: &[u64]| match pattern {
            [] => Err(format!("{} needs a {name}", self.kernel.name())),
            _ => Ok(()),
        };
        match self.kernel {
            Kernel::Gs => {}
            _ => needs("pattern", &self.pattern)?,
        }
        if matches!(self.kernel, Kernel::Gs | Kernel::Multigather) {
            needs("pattern-gather", &self.pattern_gather)?;
        }
        if matches!(self.kernel, Kernel::Gs | Kernel::Multiscatter) {
            needs("pattern-scatter", &self.pattern_scatter)?;
        }
        Ok(())
    }

    fn checked(&self) -> Result<(), String> {
        if self.runs > MOST_SAMPLES {
            return Err(format!("{} runs are too many; accepted: at most {MOST_SAMPLES}", self.runs));
        }
        self.fits()?;
        self.limited()
    }

    /// Checks that the patterns fit each other.
    fn fits(&self) -> Result<(), String> {
        let (name, inner) = match self.kernel {
            Kernel::Gather | Kernel::Scatter => return Ok(()),
            Kernel::Gs => {
                let lengths = (self.pattern_gather.len(), self.pattern_scatter.len());
                return match lengths.0 == lengths.1 {
                    true => Ok(()),
                    false => Err(format!(
                        "pattern-gather has {} indices and pattern-scatter {}: gs needs equally many",
                        lengths.0, lengths.1
                    )),
                };
            }
            Kernel::Multigather => ("pattern-gather", &self.pattern_gather),
            Kernel::Multiscatter => ("pattern-scatter", &self.pattern_scatter),
        };
        let (last, length) = (largest(inner), self.pattern.len() as u64);
        if last < length {
            return Ok(());
        }
        Err(format!("{name} refers to index {last} of a pattern that has {length} (0 to {})", length - 1))
    }

    /// Checks that no size is large enough to overflow.
    fn limited(&self) -> Result<(), String> {
        let bytes =
            |words: Option<u64>| words.and_then(|words| words.checked_mul(8)).filter(|b| *b <= MAX_BYTES);
        let too_large =
            |what: &str| format!("{what} would take more than 256 TiB: lower count, delta or the indices");
        for (pattern, delta) in self.sides() {
            bytes(self.sparse(pattern, &delta)).ok_or_else(|| too_large("the sparse array"))?;
        }
        let moved = self.length().checked_mul(2).and_then(|words| words.checked_mul(self.count));
        bytes(moved).ok_or_else(|| too_large("what is moved"))?;
        let patterns = [&self.pattern, &self.pattern_gather, &self.pattern_scatter];
        if let Some(long) = patterns.iter().find(|p| p.len() > LONGEST_PATTERN) {
            let length = long.len();
            return Err(format!(
                "a pattern of {length} indices is too long; accepted: at most {LONGEST_PATTERN}"
            ));
        }
        if let (Delta::List(deltas), true) = (self.delta.used(self.count), self.kernel != Kernel::Gs)
            && deltas.len() > LONGEST_LIST
        {
            return Err(format!(
                "a list of {} deltas is too long; accepted: at most {LONGEST_LIST}",
                deltas.len()
            ));
        }
        let dense = (self.length().max(self.pattern.len() as u64)).checked_mul(self.wrap);
        bytes(dense).map(drop).ok_or_else(|| too_large("the dense array"))
    }
}

/// The stride of a pattern of the form 0, stride, 2·stride, …
pub fn constant_stride(pattern: &[u64]) -> Option<u64> {
    let [0, stride, ..] = pattern else { return None };
    let steps = |pair: &[u64]| pair[0].checked_add(*stride) == Some(pair[1]);
    (*stride > 0 && pattern.windows(2).all(steps)).then_some(*stride)
}

/// The indices given by a pattern's option, the largest index before page compression, and the pattern's delta.
struct Side {
    indices: Vec<u64>,
    far: u64,
    delta: Delta,
    unreached: usize,
}

fn side(options: &Options, [pattern, delta]: [Key; 2], rules: Rules) -> Result<Side, Refused> {
    let delta_given = Delta::One(number(options, delta));
    let mut of = Side { indices: Vec::new(), far: 0, delta: delta_given, unreached: 0 };
    let (mut written, mut generated) = (None, None);
    for given in &options.0 {
        if given.option.key == delta {
            of.delta = moves(&given.value);
        } else if given.option.key == pattern {
            let notation = indices(given, rules.precedence)?;
            generated = notation.delta.map(Delta::One).or(generated);
            of.delta = notation.delta.map_or(of.delta, Delta::One);
            of.unreached = notation.unreached;
            written = Some((given, notation.indices));
        }
    }
    if rules.precedence == Precedence::Generator {
        of.delta = generated.unwrap_or(of.delta);
    }
    if let Some((given, indices)) = written {
        let size = options.count(Key::PatternSize);
        let treated = treated(indices, size, number(options, Key::Boundary));
        let indices = treated.map_err(|why| match rules.precedence {
            Precedence::Last => Refused::usage(format!("{}: {why}", given.called)),
            Precedence::Generator => Refused::setup(format!("{}: {why}", given.called)),
        })?;
        of.far = largest(&indices);
        of.indices = if rules.compress { compressed(&indices) } else { indices };
    }
    Ok(of)
}

fn moves(value: &Value) -> Delta {
    match value {
        Value::Counts(deltas) => Delta::List(deltas.clone()),
        Value::Count(delta) => Delta::One(*delta),
        _ => Delta::One(0),
    }
}

fn indices(given: &Given, precedence: Precedence) -> Result<Notation, Refused> {
    let Value::Pattern(written) = &given.value else {
        return Ok(Notation { indices: Vec::new(), delta: None, unreached: 0 });
    };
    Written::indices(written).map_err(|why| match (written, precedence) {
        (Written::Notation(_), Precedence::Generator) => Refused::setup(format!("{}: {why}", given.called)),
        _ => Refused::usage(format!("{}: {why}", given.called)),
    })
}

/// The number given for an option, or the option's default.
fn number(options: &Options, key: Key) -> u64 {
    options.count(key).unwrap_or_else(|| table::default(key))
}

fn kernel(options: &Options) -> Kernel {
    let name = options.word(Key::Kernel);
    let found = Kernel::NAMES.iter().find(|(known, _)| Some(*known) == name);
    found.map_or(Kernel::Gather, |(_, kernel)| *kernel)
}

fn seed(options: &Options, rules: Rules) -> Option<u64> {
    match options.of(Key::Random)?.value {
        Value::Count(seed) => Some(seed),
        Value::Clock => Some(rules.now),
        _ => None,
    }
}

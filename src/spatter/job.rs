//! A job: the settings and configurations of a run, with notes for the user.

use std::collections::BTreeMap;

use super::Refused;
use super::config::{Config, Precedence, Rules};
use super::options::{CommandLine, Given, Options};
use super::settings::{Backend, Format, Machine, OmpThreads, Settings};
use super::suite::Suite;
use super::table::{Effect, Key};
use super::value::Value;
use crate::case::units::{ranges, shown};
use crate::primitives::pattern::spec::Kernel;
use crate::stats::comparison::FEWEST;

/// A run to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub settings: Settings,
    pub configs: Vec<Config>,
    /// Differences from the user's request or from Spatter, one line each.
    pub notes: Vec<String>,
}

impl Job {
    /// Resolves a command line, with the suite that it names, on a machine.
    ///
    /// # Errors
    /// The first configuration that is invalid.
    pub fn of(line: &CommandLine, suite: Option<Suite>, machine: &Machine) -> Result<Job, Refused> {
        let mut notes = suite.as_ref().map(|suite| suite.notes.clone()).unwrap_or_default();
        let settings = Settings::of(&line.options, machine, &mut notes)?;
        let compress = line.options.on(Key::Compress);
        let rules = |precedence| Rules { precedence, compress, now: machine.now };
        let count = suite.as_ref().map(|suite| suite.configurations.len());
        let mut remarks = Remarks { suite: count, said: BTreeMap::new() };
        let configs: Vec<Config> = match &suite {
            None => {
                let config = Config::of(0, "", &line.options, rules(Precedence::Last))?;
                remarks.take(&config, &line.options);
                vec![config]
            }
            Some(suite) => {
                let rules = rules(Precedence::Generator);
                let mut listed = 0;
                let read = |(id, written): (usize, &super::suite::Configuration)| {
                    let config = Config::of(id, &written.place, &written.options, rules);
                    let config = config.map_err(|refused| with_hint(refused, written.unknown.as_deref()))?;
                    remarks.take(&config, &written.options);
                    listed += config.listed();
                    if listed > MOST_LISTED {
                        return Err(too_long(&written.place, listed));
                    }
                    Ok(config)
                };
                suite.configurations.iter().enumerate().map(read).collect::<Result<_, Refused>>()?
            }
        };
        notes.extend(of_the_line(line, suite.is_some()));
        notes.extend(of_the_rows(&settings));
        notes.extend(of_the_backend(&settings, &line.options, &configs));
        notes.extend(remarks.lines());
        Ok(Job { settings, configs, notes })
    }

    /// Resolves a suite for conversion into a recipe: on CPUs, because a recipe must mean the same on every
    /// machine, and with the fewest rounds that allow one run to be judged against another.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn of_suite(title: &str, suite: Suite) -> Result<Job, Refused> {
        let anywhere = Machine { cpus: u64::MAX, omp_threads: OmpThreads::Unset, gpu: false, now: 0 };
        let mut job = Job::of(&CommandLine::default(), Some(suite), &anywhere)?;
        job.settings =
            Settings { title: title.to_owned(), rounds: FEWEST as u64, second_look: true, ..job.settings };
        // This note would appear for every suite, and so say nothing about this one.
        job.notes.retain(|note| note != DENSE);
        Ok(job)
    }
}

/// Most numbers in all lists of a suite together: as a recipe they have 30 MB at most.
const MOST_LISTED: usize = 1_500_000;

fn too_long(place: &str, listed: usize) -> Refused {
    Refused::setup(format!(
        "{place}: up to here the patterns without a constant stride and the lists of deltas have {listed} numbers; \
         accepted: at most {MOST_LISTED} in a suite"
    ))
}

/// What is missing may stand there under a name that does not exist.
fn with_hint(refused: Refused, unknown: Option<&str>) -> Refused {
    let hint = unknown.map(|remark| format!("; {remark}")).unwrap_or_default();
    Refused { message: refused.message + &hint, ..refused }
}

/// A note about OpenMP's threads.
const DENSE: &str = "every thread has a dense buffer of its own; Spatter's threads share one";

/// Notes about words on the command line that have no effect.
fn of_the_line(line: &CommandLine, file: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for word in &line.others {
        let seed = word.bytes().all(|byte| byte.is_ascii_digit()) && line.options.of(Key::Random).is_some();
        let hint = if seed { "; a seed is attached: -s5, --random=5" } else { "" };
        notes.push(format!("`{}` belongs to no option and is ignored{hint}", shown(word)));
    }
    let mut idle: Vec<&str> = Vec::new();
    for given in &line.options.0 {
        match given.option.effect {
            _ if file && given.option.json.is_some() && !idle.contains(&given.called.as_str()) => {
                idle.push(&given.called);
            }
            Effect::Nothing(why) if !file || given.option.json.is_none() => {
                notes.push(format!("{} does nothing: {why}", given.called));
            }
            _ => {}
        }
    }
    let files: Vec<&str> = line.options.0.iter().filter_map(file_of).collect();
    if let [_, .., last] = files.as_slice() {
        notes.push(format!("-f is given {} times; {} counts", files.len(), shown(last)));
    }
    if !idle.is_empty() {
        notes.push(format!(
            "{}: ignored, because with -f configurations come from the file alone",
            idle.join(", ")
        ));
    }
    notes
}

/// Statistics over all rows appear only below a table.
fn of_the_rows(settings: &Settings) -> Option<String> {
    (settings.stats && settings.format != Format::Table)
        .then(|| "--stats does nothing with --format: only a table has statistics below it".to_owned())
}

fn file_of(given: &Given) -> Option<&str> {
    match &given.value {
        Value::Text(file) if given.option.key == Key::File => Some(file),
        _ => None,
    }
}

/// Notes where a backend behaves differently from Spatter's or ignores an option.
fn of_the_backend(settings: &Settings, options: &Options, configs: &[Config]) -> Vec<String> {
    let mut notes = Vec::new();
    let gathers = |config: &Config| matches!(config.kernel, Kernel::Gather | Kernel::Multigather);
    match settings.backend {
        Backend::OpenMp { threads } => {
            let dense = configs.iter().any(|config| config.kernel != Kernel::Gs);
            if threads != Some(1) && dense && !options.on(Key::DenseBuffers) {
                notes.push(DENSE.to_owned());
            }
        }
        Backend::Cuda { .. } | Backend::AllCuda if configs.iter().any(gathers) => {
            notes.push("gathers store what they read; Spatter's on GPUs do not".to_owned());
        }
        Backend::Serial | Backend::Cuda { .. } | Backend::AllCuda => {}
    }
    if settings.atomic && !settings.backend.on_gpus() {
        notes.push("--atomic-writes does nothing: it is for the backend cuda".to_owned());
    }
    if settings.fence && !matches!(settings.backend, Backend::OpenMp { .. }) {
        notes.push("--atomic-thread-fence does nothing: it is for the backend openmp".to_owned());
    }
    notes
}

/// Remarks about configurations, each with the numbers of those it applies to.
#[derive(Debug)]
struct Remarks {
    /// Number of configurations in the suite, if there is one.
    suite: Option<usize>,
    said: BTreeMap<String, Vec<usize>>,
}

impl Remarks {
    fn take(&mut self, config: &Config, options: &Options) {
        let mut say = |text: String| self.said.entry(text).or_default().push(config.id);
        for key in unused(config.kernel) {
            if let Some(given) = options.of(*key) {
                say(format!("{} does nothing with {}", given.option.long, config.kernel.name()));
            }
        }
        if config.unreached > 0 {
            let breaks = config.unreached;
            say(format!("breaks of MS1 that do not ascend have no effect, as in Spatter: {breaks} of them"));
        }
        if let Some(given) = options.of(Key::LocalWorkSize)
            && let (Effect::Nothing(why), true) = (given.option.effect, self.suite.is_some())
        {
            say(format!("{} does nothing: {why}", given.option.long));
        }
        let wrapped = automatic_boundary(self.suite.unwrap_or(1));
        if options.count(Key::Boundary).unwrap_or(0) == 0 && config.far >= wrapped {
            say(format!("index {} stays as it is; Spatter would take it modulo {wrapped}", config.far));
        }
    }

    fn lines(self) -> Vec<String> {
        let line = |(text, ids): (String, Vec<usize>)| match ids.as_slice() {
            _ if self.suite.is_none() => text,
            [one] => format!("configuration {one}: {text}"),
            _ => format!("configurations {}: {text}", ranges(&ids)),
        };
        self.said.into_iter().map(line).collect()
    }
}

/// The options that a kernel ignores.
fn unused(kernel: Kernel) -> &'static [Key] {
    use Key::{Delta, DeltaGather, DeltaScatter, Pattern, PatternGather, PatternScatter, Wrap};
    match kernel {
        Kernel::Gather | Kernel::Scatter => &[PatternGather, PatternScatter, DeltaGather, DeltaScatter],
        Kernel::Gs => &[Pattern, Delta, Wrap],
        Kernel::Multigather => &[PatternScatter, DeltaGather, DeltaScatter],
        Kernel::Multiscatter => &[PatternGather, DeltaGather, DeltaScatter],
    }
}

/// The boundary by which Spatter reduces indices if none is given: half the number of doubles in a
/// configuration's share of 65 GB.
fn automatic_boundary(configs: usize) -> u64 {
    8_124_999_999 / (configs.max(1) as u64) / 2
}

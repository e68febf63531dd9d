//! The command line.

mod accuracy;
mod calibrate;
mod compare;
mod completions;
mod config;
mod counters;
mod devices;
mod doctor;
mod dry_run;
mod engine;
mod figure;
mod format;
mod headless;
mod interrupt;
mod locality;
mod out;
mod pack;
mod predict;
mod profile;
mod profiles;
mod recipes;
mod replay;
mod report;
mod results;
mod resume;
mod run;
mod salvage;
mod schema;
mod spatter;
mod tui;
mod verify;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use self::format::FormatName;
use self::profile::ProfileArguments;
use crate::engine::executors::peer;
use crate::primitives;
use crate::run::client::EngineCommand;
use crate::run::playback::Speed;

/// Exit status when a case failed, its certificate did not hold, or it was not finished. Status 1 is an error
/// that ended the command, 2 a command line that cannot be parsed.
pub const CASES_FAILED: u8 = 3;

/// Exit status when a replayed case differs from the stored one, or a compared case is slower than allowed.
pub const DIFFERS: u8 = 4;

/// Exit status when no replayed case differs but some cannot be judged, and when no compared case can be judged
/// or some are missing.
pub const CANNOT_TELL: u8 = 5;

/// A laboratory in a terminal for memory-bound parallel primitives.
///
/// Without a command it opens the terminal user interface.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit status: 0 done, 1 error, 2 wrong usage, 3 a case failed or was not finished, or nothing could be measured; calibrate --check and profiles: 4 figures lie more than 3 % apart; replay: 4 a case differs, 5 none differs but some are undecided; compare --fail-if-slower: 4 a case is slower than that (the lower end of its interval is), 3 one failed that the baseline has, 5 all are undecided or cases of the baseline are missing."
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    peers: PeersArguments,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run recipes without the user interface
    Run(RunArguments),
    /// Print the models' predictions for recipes, without running them
    Predict(predict::PredictArguments),
    /// Write the tables and charts of stored runs anew, without measuring
    Report(report::ReportArguments),
    /// Compress the events of stored runs and remove the tables and charts that report writes anew
    Pack(pack::PackArguments),
    /// Write a new folder with every readable line of a damaged run, and list the others
    Salvage(salvage::SalvageArguments),
    /// Rerun a stored run and report, case by case, whether its results hold here
    Replay(replay::ReplayArguments),
    /// Compare stored runs: a table, and charts that show them over each other
    Compare(compare::CompareArguments),
    /// Compare the models' predictions with stored runs: mean, tenth percentile, least
    Accuracy(accuracy::AccuracyArguments),
    /// Draw a paper's figure from stored runs: without a name, list them
    Figure(figure::FigureArguments),
    /// List the backends and their devices, or why there are none
    Devices(DevicesArguments),
    /// Measure a device, and keep its profile: what the models know of it
    Calibrate(calibrate::CalibrateArguments),
    /// List the profiles and whose they are, or compare two
    Profiles(profiles::ProfilesArguments),
    /// Print the user interface's configuration: its path, what is set, the defaults as comments
    Config(ConfigArguments),
    /// Check every primitive and method against its oracle, and every certificate
    Verify(VerifyArguments),
    /// Play a stored run as if it ran; nothing is measured or written
    Watch(WatchArguments),
    /// Check what disturbs measurements here
    Doctor(DoctorArguments),
    /// Show what an index array touches, before anything runs: reuse, strides, lines
    Locality(locality::LocalityArguments),
    /// Run Spatter's command lines and JSON files, and print what Spatter prints
    #[command(disable_help_flag = true)]
    Spatter(SpatterArguments),
    /// Serve plans: commands on standard input, events on standard output
    Engine(PeersArguments),
    /// Print the profiler's command line for cases: ncu on the GPU, perf on the processor
    Counters(CountersArguments),
    /// Print the recipe language as a JSON Schema, for editors
    Schema,
    /// Print the completions of a shell: bash, zsh, fish, elvish, powershell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page, or write it and one for each command into a folder
    Man {
        /// Folder for scatterlab.1, scatterlab-run.1 …
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// Options of the commands that start an engine; they may also precede the command.
#[derive(Clone, Debug, Default, Args)]
struct EngineArguments {
    /// Shell command that starts the engine, such as "ssh -o BatchMode=yes gpuhost scatterlab engine"
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
}

/// Of what measures peers; said before a command it is that command's.
#[derive(Clone, Debug, Default, Args)]
struct PeersArguments {
    /// Folder of the peers' programs (default: $SCATTERLAB_PEERS, or ~/.local/share/scatterlab/peers)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    peers: Option<PathBuf>,
}

/// Of what opens the user interface; said before a command it is that command's.
#[derive(Clone, Debug, Args)]
struct ConfigArguments {
    /// Configuration of the user interface, instead of ~/.config/scatterlab/config.yaml
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Recipe files, or names of shipped recipes such as quickstart or he2007/fig09-passes
    #[arg(required_unless_present = "resume", value_name = "RECIPE")]
    recipes: Vec<String>,
    /// Go on with an interrupted run in its folder: what is on file is measured again only if processors,
    /// device, driver or program are not what they were
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["recipes", "backend", "set", "only", "max_time", "out", "dry_run", "profile"])]
    resume: Option<PathBuf>,
    /// With --resume: refuse where rounds on file would be set aside and measured again
    #[arg(long, requires = "resume")]
    strict: bool,
    /// Run on these backends instead of the recipe's: scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, in the recipe's own syntax: --set tuples=1Mi..16Mi x2
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Run only these cases: labels, identities or how they begin, as --dry-run shows them, or titles of experiments
    #[arg(long, value_delimiter = ',', value_name = "CASE")]
    only: Vec<String>,
    /// End each run after this time, such as 2m or 90s: once every case has its rounds, those with the
    /// widest intervals get further ones first. The same as --set measure.max-time=TIME
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
    /// Folder for the results; with several recipes, one folder each below it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the cases with their memory and estimated time, and measure nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the results to standard output, and what happens to standard error; csv of one
    /// run only, because each has its own columns
    #[arg(long, value_name = "FORMAT", conflicts_with = "dry_run")]
    format: Option<FormatName>,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    peers: PeersArguments,
}

#[derive(Debug, Args)]
struct SpatterArguments {
    /// Options of Spatter 2.1.0, such as -p UNIFORM:8:1 -l 1000000 or -f suite.json; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    words: Vec<OsString>,
    /// Said before the command only: here it would be Spatter's to read.
    #[arg(skip)]
    engine: EngineArguments,
}

#[derive(Debug, Args)]
struct DevicesArguments {
    /// Write a table of them for programs
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    #[command(flatten)]
    engine: EngineArguments,
}

#[derive(Debug, Args)]
struct CountersArguments {
    /// Cases: identities, or as many of their digits as tell them apart, from
    /// run --dry-run, results.csv or a chart
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<String>,
    /// The recipe that holds them, or the folder of a run
    #[arg(required = true, value_name = "RECIPE|FOLDER", value_hint = ValueHint::AnyPath)]
    from: String,
    /// The recipe's backends, as for run
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, as for run
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, Args)]
struct VerifyArguments {
    /// Backends to verify (default: all that are available)
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Primitives to verify (default: all)
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = primitive)]
    primitive: Vec<String>,
    /// Seed of the inputs; a random one, which is printed, without it
    #[arg(long)]
    seed: Option<u64>,
    /// Also run deliberately wrong kernels: each certificate must catch them
    #[arg(long)]
    mutants: bool,
    /// Leave out the cases beyond 4 GiB
    #[arg(long)]
    small: bool,
    /// On N GPUs: with arrays of their own, and with arrays that span them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    gpus: Option<u64>,
    /// Check only this many cases of each suite, chosen by the seed: for use under slow tools
    #[arg(long, value_name = "CASES")]
    sample: Option<usize>,
    /// Write a table of every check, with a hash of the output that was read back: to compare two
    /// machines, or two versions, with the same seed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    outputs: Option<PathBuf>,
}

/// The name of a primitive.
fn primitive(name: &str) -> Result<String, String> {
    let known: Vec<&str> = primitives::registry().iter().map(|primitive| primitive.name()).collect();
    let unknown = || format!("no primitive of this name; accepted: {}", known.join(", "));
    known.contains(&name).then(|| name.to_owned()).ok_or_else(unknown)
}

#[derive(Debug, Args)]
struct WatchArguments {
    /// The run's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How many times faster than it ran: a number, or max
    #[arg(long, default_value = "1", value_name = "SPEED")]
    speed: Speed,
    /// Print lines instead of opening the user interface
    #[arg(long)]
    headless: bool,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Debug, Args)]
struct DoctorArguments {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    engine: EngineArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines for people
    Text,
    /// One JSON object
    Json,
}

impl Command {
    /// The options about the engine, for a command that starts one.
    fn engine(&self) -> Option<&EngineArguments> {
        match self {
            Command::Run(run) => Some(&run.engine),
            Command::Replay(replay) => Some(&replay.engine),
            Command::Devices(devices) => Some(&devices.engine),
            Command::Doctor(doctor) => Some(&doctor.engine),
            Command::Calibrate(calibrate) => Some(&calibrate.engine),
            Command::Profiles(profiles) => Some(&profiles.engine),
            Command::Spatter(spatter) => Some(&spatter.engine),
            Command::Predict(predict) => Some(&predict.engine),
            _ => None,
        }
    }

    /// The options about peers, for a command that measures them.
    fn peers(&self) -> Option<&PeersArguments> {
        match self {
            Command::Run(run) => Some(&run.peers),
            Command::Replay(replay) => Some(&replay.peers),
            Command::Engine(peers) => Some(peers),
            _ => None,
        }
    }

    /// The options about the user interface, for a command that opens it.
    fn config(&self) -> Option<&ConfigArguments> {
        match self {
            Command::Config(config) => Some(config),
            Command::Watch(watch) => Some(&watch.config),
            _ => None,
        }
    }
}

impl Arguments {
    /// The engine to start, given before or after the command.
    fn engine(&self) -> anyhow::Result<EngineCommand> {
        let before = self.engine.engine.as_ref();
        let after = match &self.command {
            None => None,
            Some(command) => match command.engine() {
                Some(own) => own.engine.as_ref(),
                None if before.is_none() => None,
                None => bail!("--engine: this command starts no engine; run it where the engine would run"),
            },
        };
        Ok(after.or(before).cloned().map_or(EngineCommand::Own, EngineCommand::Shell))
    }

    /// The folder of the peers, given before or after the command. A remote engine uses its own folder.
    fn peers(&self, engine: &EngineCommand) -> anyhow::Result<Option<PathBuf>> {
        let before = self.peers.peers.as_ref();
        let after = match &self.command {
            None => None,
            Some(command) => match command.peers() {
                Some(own) => own.peers.as_ref(),
                None if before.is_none() => None,
                None => bail!("--peers: this command measures no peers"),
            },
        };
        match (after.or(before), engine) {
            (None, _) => Ok(None),
            (Some(folder), EngineCommand::Own) => Ok(Some(std::path::absolute(folder)?)),
            (Some(_), EngineCommand::Shell(_)) => {
                bail!("--peers: say it to the engine: --engine \"… scatterlab engine --peers DIR\"")
            }
        }
    }

    /// The configuration file of the user interface, given before or after the command.
    fn config(&self) -> anyhow::Result<Option<PathBuf>> {
        let before = self.config.config.as_ref();
        let after = match &self.command {
            None => None,
            Some(command) => match command.config() {
                Some(own) => own.config.as_ref(),
                None if before.is_none() => None,
                None => bail!("--config: this command opens no user interface, which is what it configures"),
            },
        };
        Ok(after.or(before).cloned())
    }
}

/// The program: carries out its command line, says what went wrong, and returns the exit status.
pub fn main() -> ExitCode {
    let (program, ended) = match as_spatter() {
        Some(status) => ("spatter", Ok(status)),
        None => ("scatterlab", arguments().map_or_else(Ok, run)),
    };
    // An error says more than the failed output that may have caused it.
    let ended = ended.and_then(|status| {
        out::finish().context("cannot write standard output")?;
        Ok(status)
    });
    ended.unwrap_or_else(|error| {
        out::complain(program, &format!("{error:#}"));
        ExitCode::FAILURE
    })
}

/// The arguments, or the exit status after printing what else the command line asked for, or what is wrong with it.
fn arguments() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|asked| {
        let asked = with_near_command(asked);
        let plain = asked.render().to_string();
        match asked.use_stderr() {
            // Without a terminal, and where it quotes what acts on one, the text is written without colours.
            true if out::Escape::Text.of(&plain) != plain => out::error_text(&plain),
            true => drop(asked.print()),
            false => out::help(&asked),
        }
        ExitCode::from(u8::try_from(asked.exit_code()).unwrap_or(2))
    })
}

/// The error, with the command that was probably meant. clap compares letters within a window that is empty for
/// words of three, so that it finds nothing for `rnu`.
fn with_near_command(mut asked: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = asked.get(ContextKind::InvalidSubcommand) else { return asked };
    if asked.get(ContextKind::SuggestedSubcommand).is_some() {
        return asked;
    }
    let root = Arguments::command();
    let names = root.get_subcommands().map(clap::Command::get_name);
    let near = names.map(|name| (strsim::damerau_levenshtein(word, name), name)).min();
    if let Some((distance, name)) = near
        && distance <= (name.len() / 3).max(1)
    {
        let names = ContextValue::Strings(vec![name.to_owned()]);
        asked.insert(ContextKind::SuggestedSubcommand, names);
    }
    asked
}

/// Carries out the command line.
fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    limits_are_errors();
    let (engine, config) = (arguments.engine()?, arguments.config()?);
    if let Some(folder) = arguments.peers(&engine)? {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var(peer::FOLDER, folder) };
    }
    match arguments.command {
        None => tui::run(engine, config::load(config.as_deref())?),
        Some(Command::Config(_)) => config::run(config.as_deref()),
        Some(Command::Run(run)) => run::run(&run, engine),
        Some(Command::Report(report)) => report::run(&report),
        Some(Command::Salvage(arguments)) => salvage::run(&arguments),
        Some(Command::Pack(pack)) => pack::run(&pack),
        Some(Command::Predict(predict)) => predict::run(&predict, &engine),
        Some(Command::Devices(devices)) => devices::run(&devices, &engine),
        Some(Command::Calibrate(calibrate)) => calibrate::run(&calibrate, &engine),
        Some(Command::Profiles(profiles)) => profiles::run(&profiles, &engine),
        Some(Command::Replay(replay)) => replay::run(&replay, engine),
        Some(Command::Compare(compare)) => compare::run(&compare),
        Some(Command::Accuracy(accuracy)) => accuracy::run(&accuracy),
        Some(Command::Figure(figure)) => figure::run(&figure),
        Some(Command::Verify(verify)) => verify::run(&verify),
        Some(Command::Doctor(doctor)) => doctor::run(&doctor, &engine),
        Some(Command::Locality(locality)) => locality::run(&locality),
        Some(Command::Watch(watch)) => watch::run(&watch, config.as_deref()),
        Some(Command::Spatter(line)) => Ok(spatter::run("scatterlab spatter", &line.words, &engine)),
        Some(Command::Engine(_)) => engine::run(),
        Some(Command::Counters(counters)) => counters::run(&counters),
        Some(Command::Schema) => schema::run(),
        Some(Command::Completions { shell }) => completions::completions(shell),
        Some(Command::Man { out }) => completions::man(out.as_deref()),
    }
}

/// Runs Spatter's command line if the program was invoked under the name `spatter`.
fn as_spatter() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    if Path::new(&program).file_name()? != "spatter" {
        return None;
    }
    limits_are_errors();
    Some(spatter::run(&program.to_string_lossy(), &words.collect::<Vec<_>>(), &EngineCommand::Own))
}

/// Makes reaching the limit of `ulimit -f` an error that names the file, like a full disk, rather than the end
/// of the process.
fn limits_are_errors() {
    // SAFETY: no handler is installed, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands whose help shows an option.
    fn with(option: &str) -> Vec<String> {
        let mut root = Arguments::command();
        root.build();
        let has = |command: &&clap::Command| command.get_arguments().any(|a| a.get_long() == Some(option));
        root.get_subcommands().filter(has).map(|command| command.get_name().to_owned()).collect()
    }

    #[test]
    fn a_misspelt_command_is_answered_with_the_nearest() {
        let said = |word: &str| {
            let asked = Arguments::try_parse_from(["scatterlab", word]).expect_err("no such command");
            with_near_command(asked).render().to_string()
        };
        for (word, meant) in [("rnu", "run"), ("rn", "run"), ("mna", "man"), ("calibrat", "calibrate")] {
            assert!(said(word).contains(&format!("'{meant}'")), "{}", said(word));
        }
        assert!(!said("xyz").contains("similar"), "{}", said("xyz"));
    }

    #[test]
    fn options_stand_where_they_act() {
        assert_eq!(
            with("engine"),
            ["run", "predict", "replay", "devices", "calibrate", "profiles", "doctor"]
        );
        assert_eq!(with("config"), ["config", "watch"]);
        assert_eq!(with("peers"), ["run", "replay", "engine"]);
    }

    #[test]
    fn peers_are_told_before_or_after_the_command_and_to_the_engine_that_runs_them() {
        let of = |words: &[&str]| {
            let arguments = Arguments::try_parse_from(words).expect("a command line");
            let engine = arguments.engine().expect("an engine");
            arguments.peers(&engine).map_err(|error| error.to_string())
        };
        assert_eq!(of(&["s", "run", "a", "--peers", "/p"]), Ok(Some(PathBuf::from("/p"))));
        assert_eq!(of(&["s", "--peers", "/p", "engine"]), Ok(Some(PathBuf::from("/p"))));
        assert_eq!(of(&["s", "run", "a"]), Ok(None));
        assert!(of(&["s", "--peers", "/p", "devices"]).expect_err("refused").contains("no peers"));
        let far = of(&["s", "run", "a", "--peers", "/p", "--engine", "cat"]).expect_err("refused");
        assert!(far.contains("engine --peers DIR"), "{far}");
    }

    #[test]
    fn an_engine_is_told_before_or_after_the_command() {
        let of = |words: &[&str]| {
            let arguments = Arguments::try_parse_from(words).expect("a command line");
            arguments.engine().map_err(|error| error.to_string())
        };
        let cat = || Ok(EngineCommand::Shell("cat".to_owned()));
        assert_eq!(of(&["s", "--engine", "cat", "devices"]), cat());
        assert_eq!(of(&["s", "--engine", "dog", "devices", "--engine", "cat"]), cat());
        assert_eq!(of(&["s", "--engine", "cat"]), cat());
        assert_eq!(of(&["s", "schema"]), Ok(EngineCommand::Own));
        assert!(of(&["s", "--engine", "cat", "schema"]).expect_err("refused").contains("starts no engine"));
        assert!(Arguments::try_parse_from(["s", "schema", "--engine", "cat"]).is_err());
    }
}

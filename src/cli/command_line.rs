//! The command line's grammar: commands with their options, and what its words ask for.

use std::any::Any;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, ValueHint, value_parser};

use super::{EXIT_STATUS, LONG_ABOUT, commands, out};
use crate::case::peers::ALLOW;
use crate::run::client::EngineCommand;
use crate::shell::quoted;

/// Carries out a command with its own options.
type Run = dyn Fn(&ArgMatches, Setup) -> anyhow::Result<ExitCode>;

/// A command of the program.
pub struct Command {
    name: &'static str,
    about: &'static str,
    /// Its options that may also precede it.
    shared: &'static [&'static Shared],
    options: fn(clap::Command) -> clap::Command,
    pub run: Box<Run>,
}

/// The command with this name and line of the help, whose own options are those of `A`.
pub fn command<A: Args + 'static>(
    name: &'static str,
    about: &'static str,
    shared: &'static [&'static Shared],
    run: fn(A, Setup) -> anyhow::Result<ExitCode>,
) -> Command {
    let run = move |own: &ArgMatches, setup: Setup| run(A::from_arg_matches(own)?, setup);
    Command { name, about, shared, options: A::augment_args, run: Box::new(run) }
}

/// Makes commands of a table's rows: the name, the shared options, the line of the help, the type of the command's own
/// options, and the function that carries it out.
macro_rules! commands {
    ($($name:ident [$($shared:ident)*] $about:literal $options:ty => |$own:pat_param, $setup:pat_param| $run:expr;)*) => {
        vec![$($crate::cli::command_line::command::<$options>(
            stringify!($name),
            $about,
            &[$($shared),*],
            |$own, $setup| $run,
        )),*]
    };
}

/// A command without options of its own.
#[derive(Debug, Args)]
pub struct NoArguments {}

/// An option of several commands, and of the user interface, which opens without a command.
pub struct Shared {
    name: &'static str,
    option: fn(Arg) -> Arg,
    /// Why another command does not have it.
    refusal: &'static str,
}

/// Starts an engine.
pub const ENGINE: &Shared = &Shared {
    name: "engine",
    option: |option| {
        option
            .value_name("COMMAND")
            .help("Shell command that starts the engine, such as \"ssh -o BatchMode=yes gpuhost scatterlab engine\"")
    },
    refusal: "this command starts no engine; run it on the machine where the engine would run",
};

/// Measures peers.
pub const PEERS: &Shared = &Shared {
    name: "peers",
    option: |option| {
        option.value_name("DIR").value_hint(ValueHint::DirPath).value_parser(value_parser!(PathBuf)).help(
            "Folder of the peers' programs (default: $SCATTERLAB_PEERS, or ~/.local/share/scatterlab/peers)",
        )
    },
    refusal: "this command measures no peers",
};

/// Executes the programs that a paper's folder names as peers.
pub const PROGRAMS: &Shared = &Shared {
    name: ALLOW,
    option: |option| {
        option
            .action(ArgAction::Set)
            .num_args(0)
            .default_missing_value("true")
            .value_parser(value_parser!(bool))
            .help(
                "Execute the programs that a paper's folder names as peers; without it, their cases are n/a",
            )
    },
    refusal: "this command executes no programs of a paper's folder",
};

/// Opens the user interface.
pub const CONFIG: &Shared = &Shared {
    name: "config",
    option: |option| {
        option
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .value_parser(value_parser!(PathBuf))
            .help("Configuration of the user interface, instead of ~/.config/scatterlab/config.yaml")
    },
    refusal: "this command opens no user interface to configure",
};

impl Shared {
    fn argument(&self) -> Arg {
        (self.option)(Arg::new(self.name).long(self.name))
    }
}

impl Command {
    /// Whether this is the process that runs plans.
    pub fn is_engine(&self) -> bool {
        self.name == "engine"
    }

    fn grammar(&self) -> clap::Command {
        let own = (self.options)(clap::Command::new(self.name)).about(self.about);
        match own.is_disable_help_flag_set() {
            // All words after this command are another program's to read.
            true => own,
            false => own.args(self.shared.iter().map(|shared| shared.argument())),
        }
    }
}

/// The whole grammar.
pub fn program() -> clap::Command {
    clap::Command::new(env!("CARGO_PKG_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .long_about(LONG_ABOUT)
        .after_help(EXIT_STATUS)
        .args([ENGINE, PEERS, PROGRAMS, CONFIG].map(Shared::argument))
        .subcommands(commands().iter().map(Command::grammar))
}

/// A command line.
pub struct Arguments {
    /// The words before the command.
    before: ArgMatches,
    /// The command with its own words; `None`: the user interface opens.
    pub command: Option<(Command, ArgMatches)>,
}

/// The meaning of the options that several commands have.
pub struct Setup {
    /// The engine to start.
    pub engine: EngineCommand,
    /// The folder of the peers. A remote engine uses its own folder.
    pub peers: Option<PathBuf>,
    /// Whether programs of papers' folders may be executed. A remote engine is told by its own option.
    pub programs: bool,
    /// The configuration file of the user interface.
    pub config: Option<PathBuf>,
}

impl Arguments {
    fn of(mut before: ArgMatches) -> Arguments {
        let own = before.remove_subcommand();
        let named = |(name, own): (String, ArgMatches)| {
            Some((commands().into_iter().find(|command| command.name == name)?, own))
        };
        Arguments { command: own.and_then(named), before }
    }

    /// The meaning of the options that may precede a command.
    ///
    /// # Errors
    /// One of them precedes a command that does not have it, or the peers are another engine's.
    pub fn setup(&self) -> anyhow::Result<Setup> {
        let engine = self.shared(ENGINE)?.map_or(EngineCommand::Own, EngineCommand::Shell);
        let config = self.shared(CONFIG)?;
        let peers = match (self.shared::<PathBuf>(PEERS)?, &engine) {
            (None, _) => None,
            (Some(folder), EngineCommand::Own) => Some(std::path::absolute(folder)?),
            (Some(_), EngineCommand::Shell(_)) => {
                bail!("--peers: pass it to the engine, as in --engine \"… scatterlab engine --peers DIR\"")
            }
        };
        let programs = self.shared::<bool>(PROGRAMS)?.unwrap_or(false);
        if programs && engine != EngineCommand::Own {
            bail!("--{ALLOW}: pass it to the engine, as in --engine \"… scatterlab engine --{ALLOW}\"");
        }
        Ok(Setup { engine, peers, programs, config })
    }

    /// The value given after the command, or else before it.
    fn shared<T: Any + Clone + Send + Sync>(&self, option: &Shared) -> anyhow::Result<Option<T>> {
        let before = self.before.get_one::<T>(option.name);
        let after = match &self.command {
            None => None,
            Some((command, own)) if command.shared.iter().any(|shared| shared.name == option.name) => {
                // A command whose words are another program's has the option before it only.
                own.try_get_one::<T>(option.name).ok().flatten()
            }
            Some(_) if before.is_none() => None,
            Some(_) => bail!("--{}: {}", option.name, option.refusal),
        };
        Ok(after.or(before).cloned())
    }
}

/// The arguments, or the exit status after printing what else the command line asked for, or what is wrong with it.
pub fn arguments() -> Result<Arguments, ExitCode> {
    program().try_get_matches().map(Arguments::of).map_err(|asked| {
        if asked.kind() == ErrorKind::InvalidUtf8 {
            out::complain("scatterlab", &not_text(std::env::args_os().skip(1)));
            return ExitCode::from(2);
        }
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

/// The words of a command line that are not text, one of which stands where only text may. clap names none.
fn not_text(words: impl Iterator<Item = OsString>) -> String {
    let odd: Vec<String> = words.filter(|word| word.to_str().is_none()).map(quoted).collect();
    format!("not UTF-8: {}; only names of files and folders may be so", odd.join(", "))
}

/// The error, with the command that was probably meant. clap compares letters within a window that is empty for
/// words of three, so that it finds nothing for `rnu`.
fn with_near_command(mut asked: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = asked.get(ContextKind::InvalidSubcommand) else { return asked };
    if asked.get(ContextKind::SuggestedSubcommand).is_some() {
        return asked;
    }
    let root = program();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands whose help shows an option.
    fn with(option: &str) -> Vec<String> {
        let mut root = program();
        root.build();
        let has = |command: &&clap::Command| command.get_arguments().any(|a| a.get_long() == Some(option));
        root.get_subcommands().filter(has).map(|command| command.get_name().to_owned()).collect()
    }

    fn setup(words: &[&str]) -> Result<Setup, String> {
        let before = program().try_get_matches_from(words).expect("a command line");
        Arguments::of(before).setup().map_err(|error| error.to_string())
    }

    #[test]
    fn a_misspelt_command_is_answered_with_the_nearest() {
        let said = |word: &str| {
            let asked = program().try_get_matches_from(["scatterlab", word]).expect_err("no such command");
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
        assert_eq!(with(ALLOW), ["run", "replay", "reframe", "engine"]);
    }

    #[test]
    fn programs_are_allowed_only_by_the_option() {
        let of = |words: &[&str]| setup(words).map(|setup| setup.programs);
        for words in [&["s", "run", "a", "--allow-programs"] as &[&str], &["s", "--allow-programs"]] {
            assert_eq!(of(words), Ok(true), "{words:?}");
        }
        assert_eq!(
            (of(&["s", "run", "a"]), of(&["s"]), of(&["s", "report", "a"])),
            (Ok(false), Ok(false), Ok(false))
        );
        assert!(
            of(&["s", "--allow-programs", "report", "a"])
                .expect_err("refused")
                .contains("executes no programs")
        );
        let far = of(&["s", "run", "a", "--allow-programs", "--engine", "cat"]).expect_err("refused");
        assert!(far.contains("engine --allow-programs"), "{far}");
    }

    #[test]
    fn peers_are_told_before_or_after_the_command_and_to_the_engine_that_runs_them() {
        let of = |words: &[&str]| setup(words).map(|setup| setup.peers);
        assert_eq!(of(&["s", "run", "a", "--peers", "/p"]), Ok(Some(PathBuf::from("/p"))));
        assert_eq!(of(&["s", "--peers", "/p", "engine"]), Ok(Some(PathBuf::from("/p"))));
        assert_eq!(of(&["s", "run", "a"]), Ok(None));
        assert!(of(&["s", "--peers", "/p", "devices"]).expect_err("refused").contains("no peers"));
        let far = of(&["s", "run", "a", "--peers", "/p", "--engine", "cat"]).expect_err("refused");
        assert!(far.contains("engine --peers DIR"), "{far}");
    }

    #[test]
    fn an_engine_is_told_before_or_after_the_command() {
        let of = |words: &[&str]| setup(words).map(|setup| setup.engine);
        let cat = || Ok(EngineCommand::Shell("cat".to_owned()));
        assert_eq!(of(&["s", "--engine", "cat", "devices"]), cat());
        assert_eq!(of(&["s", "--engine", "dog", "devices", "--engine", "cat"]), cat());
        assert_eq!(of(&["s", "--engine", "cat"]), cat());
        assert_eq!(of(&["s", "schema"]), Ok(EngineCommand::Own));
        assert!(of(&["s", "--engine", "cat", "schema"]).expect_err("refused").contains("starts no engine"));
        assert!(program().try_get_matches_from(["s", "schema", "--engine", "cat"]).is_err());
    }
}

//! The command line: its commands, and the way from the words to the exit status.

#[macro_use]
mod command_line;

mod accuracy;
mod against;
mod calibrate;
mod claims;
mod compare;
mod copies;
mod counters;
mod devices;
mod doctor;
mod engine;
mod export;
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
mod reference;
mod reframe;
mod replay;
mod report;
mod results;
mod run;
mod salvage;
mod spatter;
mod tui;
mod verify;
mod waiting;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use self::command_line::{Arguments, CONFIG, Command, ENGINE, NoArguments, PEERS, PROGRAMS, arguments};
use crate::engine::executors::peer;
use crate::run::client::EngineCommand;

/// Exit status when a case failed, its certificate did not hold, or it was not finished. Status 1 is an error
/// that ended the command, 2 a command line that cannot be parsed.
pub const CASES_FAILED: u8 = 3;

/// Exit status when a replayed case differs from the stored one, or a compared case is slower than allowed.
pub const DIFFERS: u8 = 4;

/// Exit status when no replayed case differs but some cannot be judged, and when no compared case can be judged
/// or some are missing.
pub const CANNOT_TELL: u8 = 5;

const LONG_ABOUT: &str = "A laboratory in a terminal for memory-bound parallel primitives.\n\n\
    Without a command, it opens the terminal user interface.";

const EXIT_STATUS: &str = "Exit status: 0 if done; 1 for an error; 2 for wrong usage; 3 if a case failed or was not \
                           finished, or nothing could be measured. calibrate --check and profiles: 4 if figures differ \
                           by more than 3 %. replay: 4 if a case differs; 5 if none differs, but some are undecided. \
                           compare --fail-if-slower: 4 if a case is slower than allowed (the lower end of its interval \
                           is); 3 if a case failed that the baseline has; 5 if all are undecided, or cases of the \
                           baseline are missing. claims: 4 if a shape fails; 5 if none fails, but some cannot be told; 3 if \
                           none was measured.";

/// The commands, in the order of the help: name, line of the help, options that may also precede the command, and the
/// function that carries it out.
fn commands() -> Vec<Command> {
    commands! {
        run [ENGINE PEERS PROGRAMS] "Run recipes without the user interface"
            run::RunArguments => |own, setup| run::run(&own, setup.engine);
        predict [ENGINE] "Print the models' predictions for recipes, without running them"
            predict::PredictArguments => |own, setup| predict::run(&own, &setup.engine);
        report [] "Rebuild the tables and charts of stored runs, without measuring"
            report::ReportArguments => |own, _| report::run(&own);
        pack [] "Compress the events of stored runs; drop tables, charts and what only their machine knows"
            pack::PackArguments => |own, _| pack::run(&own);
        salvage [] "Copy every readable line of a damaged run into a new folder, and list the others"
            salvage::SalvageArguments => |own, _| salvage::run(&own);
        replay [ENGINE PEERS PROGRAMS] "Rerun a stored run and report, case by case, whether its results hold here"
            replay::ReplayArguments => |own, setup| replay::run(&own, setup.engine);
        compare [] "Compare stored runs: a table, and charts with the runs overlaid"
            compare::CompareArguments => |own, _| compare::run(&own);
        reframe [PROGRAMS] "Write tests for ReFrame that run recipes and compare each case with a stored run"
            reframe::ReframeArguments => |own, setup| reframe::run(&own, setup.programs);
        accuracy [] "Compare the models' predictions with stored runs: mean, tenth percentile and worst"
            accuracy::AccuracyArguments => |own, _| accuracy::run(&own);
        claims [] "Say of each claim of a paper whether it holds on the machines of stored runs"
            claims::ClaimsArguments => |own, _| claims::run(&own);
        figure [] "Draw a paper's figure from stored runs; without a name, list the figures"
            figure::FigureArguments => |own, _| figure::run(&own);
        devices [ENGINE] "List the backends and their devices, or why a backend has none"
            devices::DevicesArguments => |own, setup| devices::run(&own, &setup.engine);
        calibrate [ENGINE] "Measure a device and save its profile, from which the models predict"
            calibrate::CalibrateArguments => |own, setup| calibrate::run(&own, &setup.engine);
        profiles [ENGINE] "List the profiles and the devices that they belong to, or compare two"
            profiles::ProfilesArguments => |own, setup| profiles::run(&own, &setup.engine);
        config [CONFIG] "Print the user interface's configuration: its path, what is set, the defaults as comments"
            NoArguments => |_, setup| reference::config(setup.config.as_deref());
        verify [] "Check every primitive and method against its oracle, and every certificate"
            verify::VerifyArguments => |own, _| verify::run(&own);
        watch [CONFIG] "Play a stored run back on the screen; nothing is measured or written"
            watch::WatchArguments => |own, setup| watch::run(&own, setup.config.as_deref());
        doctor [ENGINE] "Check what disturbs measurements here"
            doctor::DoctorArguments => |own, setup| doctor::run(&own, &setup.engine);
        locality [] "Show what an index array touches, before anything runs: reuse, strides, lines"
            locality::LocalityArguments => |own, _| locality::run(&own);
        spatter [ENGINE] "Run Spatter's command lines and JSON files, and print what Spatter prints"
            spatter::SpatterArguments => |own, setup| Ok(spatter::run("scatterlab spatter", &own.words, &setup.engine));
        engine [PEERS PROGRAMS] "Serve plans: commands on standard input, events on standard output"
            NoArguments => |_, _| engine::run();
        counters [] "Print the profiler's command lines for cases: ncu on the GPU, perf on the processor"
            counters::CountersArguments => |own, _| counters::run(&own);
        schema [] "Print the recipe language, or a file of run folders, as a JSON Schema"
            reference::SchemaArguments => |own, _| reference::schema(&own);
        completions [] "Print shell completions for bash, zsh, fish, elvish or powershell"
            reference::CompletionsArguments => |own, _| reference::completions(&own);
        man [] "Print the man page, or write it and one page per command into a folder"
            reference::ManArguments => |own, _| reference::man(&own);
    }
}

/// The program: carries out its command line, says what went wrong, and returns the exit status.
pub fn main() -> ExitCode {
    limits_are_errors();
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

/// Carries out the command line.
fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let setup = arguments.setup()?;
    if let Some(folder) = &setup.peers {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var(peer::FOLDER, folder) };
    }
    let of_engine = arguments.command.as_ref().is_some_and(|(command, _)| command.is_engine());
    // SAFETY: no other thread runs yet that could read the environment.
    unsafe {
        match setup.programs {
            true => std::env::set_var(peer::ALLOWED, "1"),
            // An engine is told by the program that starts it.
            false if of_engine => {}
            false => std::env::remove_var(peer::ALLOWED),
        }
    }
    match arguments.command {
        None => tui::run(setup.engine, setup.config.as_deref()),
        Some((command, own)) => (command.run)(&own, setup),
    }
}

/// Runs Spatter's command line if the program was invoked under the name `spatter`.
fn as_spatter() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = words.next()?;
    if Path::new(&program).file_name()? != "spatter" {
        return None;
    }
    Some(spatter::run(&program.to_string_lossy(), &words.collect::<Vec<_>>(), &EngineCommand::Own))
}

/// Makes reaching the limit of `ulimit -f` an error that names the file, like a full disk, rather than the end
/// of the process.
fn limits_are_errors() {
    // SAFETY: no handler is installed, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

//! The settings of a whole run.

use std::ffi::OsStr;

use super::Refused;
use super::options::Options;
use super::table::{self, Key};
use crate::case::LAST_GPU;
use crate::case::units::shown;
use crate::recipe::MOST_ROUNDS;

/// The machine to run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Number of CPUs that may be used.
    pub cpus: u64,
    /// What OMP_NUM_THREADS says.
    pub omp_threads: OmpThreads,
    /// Whether the machine has a GPU.
    pub gpu: bool,
    /// Seconds since the epoch.
    pub now: u64,
}

/// The environment variable that limits OpenMP's threads.
pub const OMP_NUM_THREADS: &str = "OMP_NUM_THREADS";

/// What [`OMP_NUM_THREADS`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OmpThreads {
    Unset,
    /// The number of threads of the outermost parallel region, at least 1.
    Set(u64),
    /// A value that is ignored, as OpenMP's library ignores it.
    Unusable(String),
}

impl OmpThreads {
    /// Reads `8`, or `8,2` for nested regions.
    pub fn of(text: &OsStr) -> OmpThreads {
        let text = text.to_string_lossy();
        let threads = |text: &str| text.trim().parse().ok().filter(|threads| *threads > 0);
        let all: Option<Vec<u64>> = text.split(',').map(threads).collect();
        all.map_or_else(|| OmpThreads::Unusable(shown(&text)), |all| OmpThreads::Set(all[0]))
    }
}

/// The backend to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Serial,
    /// Number of threads; `None`: one per CPU.
    OpenMp {
        threads: Option<u64>,
    },
    Cuda {
        device: u64,
    },
    /// All GPUs at the same time, each with its own buffers.
    AllCuda,
}

/// The format of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Spatter's own table.
    Table,
    Csv,
    Json,
}

/// The settings of a whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub backend: Backend,
    pub verbosity: u64,
    /// Rounds of each configuration's runs, each round on fresh buffers.
    pub rounds: u64,
    /// Whether a flagged round is measured a second time.
    pub second_look: bool,
    pub aggregate: bool,
    pub atomic: bool,
    pub fence: bool,
    pub cold: bool,
    pub random: bool,
    pub certify: bool,
    pub stats: bool,
    pub format: Format,
    /// Title of the recipe.
    pub title: String,
}

impl Backend {
    /// The backend's name as Spatter prints it.
    pub fn title(self) -> &'static str {
        match self {
            Backend::Serial => "Serial",
            Backend::OpenMp { .. } => "OpenMP",
            Backend::Cuda { .. } | Backend::AllCuda => "CUDA",
        }
    }

    /// Whether the backend runs on GPUs.
    pub fn on_gpus(self) -> bool {
        matches!(self, Backend::Cuda { .. } | Backend::AllCuda)
    }

    /// Number of threads that Spatter would print.
    pub fn threads(self, machine: &Machine) -> u64 {
        match self {
            Backend::OpenMp { threads } => threads.unwrap_or(machine.cpus),
            Backend::Serial | Backend::Cuda { .. } | Backend::AllCuda => 1,
        }
    }
}

impl Settings {
    /// Resolves the options on a machine; remarks are added to `notes`.
    pub fn of(options: &Options, machine: &Machine, notes: &mut Vec<String>) -> Result<Settings, Refused> {
        Ok(Settings {
            backend: backend(options, machine, notes)?,
            verbosity: options.count(Key::Verbosity).unwrap_or_else(|| table::default(Key::Verbosity)),
            rounds: rounds(options)?,
            second_look: false,
            aggregate: options.on(Key::Aggregate),
            atomic: options.on(Key::AtomicWrites),
            fence: options.on(Key::AtomicThreadFence),
            cold: options.on(Key::ColdCache),
            random: options.word(Key::Order) == Some("random"),
            certify: !options.on(Key::NoVerify),
            stats: options.on(Key::Stats),
            format: match options.word(Key::Format) {
                Some("csv") => Format::Csv,
                Some("json") => Format::Json,
                _ => Format::Table,
            },
            title: options.text(Key::File).map_or_else(|| "Spatter".to_owned(), title),
        })
    }
}

fn rounds(options: &Options) -> Result<u64, Refused> {
    match options.count(Key::Rounds).unwrap_or_else(|| table::default(Key::Rounds)) {
        rounds if rounds > MOST_ROUNDS => {
            Err(Refused::usage(format!("--rounds: {rounds} is out of range; accepted: 1 to {MOST_ROUNDS}")))
        }
        rounds => Ok(rounds),
    }
}

/// A file's name without folders and extension.
pub fn title(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.trim().is_empty()).unwrap_or_else(|| "Spatter".to_owned())
}

fn backend(options: &Options, machine: &Machine, notes: &mut Vec<String>) -> Result<Backend, Refused> {
    let name = options.word(Key::Backend).unwrap_or(if machine.gpu { "cuda" } else { "openmp" });
    if name != "cuda" && options.of(Key::Device).is_some() {
        return Err(Refused::usage(format!("--device is for the backend cuda, not {name}")));
    }
    let asked = options.count(Key::Threads);
    match name {
        "openmp" => return Ok(Backend::OpenMp { threads: threads(asked, machine, notes) }),
        _ if asked.is_some_and(|threads| threads != 1) => {
            notes.push(format!("-t: {name} uses one thread of the host, as Spatter does"));
        }
        _ => {}
    }
    match name {
        "cuda" if options.word(Key::Device).is_some() => Ok(Backend::AllCuda),
        "cuda" => match options.count(Key::Device).unwrap_or(0) {
            device if device > LAST_GPU => {
                Err(Refused::usage(format!("--device: there is no GPU {device}; accepted: 0 to {LAST_GPU}")))
            }
            device => Ok(Backend::Cuda { device }),
        },
        _ => Ok(Backend::Serial),
    }
}

/// The number of threads asked for on the command line or in the environment, limited to the number of CPUs.
fn threads(asked: Option<u64>, machine: &Machine, notes: &mut Vec<String>) -> Option<u64> {
    let wanted = match machine.omp_threads {
        OmpThreads::Set(threads) => threads,
        OmpThreads::Unset | OmpThreads::Unusable(_) => machine.cpus,
    };
    let most = wanted.min(machine.cpus);
    if let OmpThreads::Unusable(text) = &machine.omp_threads {
        let using = asked.unwrap_or(most).min(most);
        notes.push(format!(
            "{OMP_NUM_THREADS}={text} is ignored: it is no number of threads from 1 on; using {using}"
        ));
    }
    if wanted > most && asked.is_none_or(|threads| threads > most) {
        notes.push(format!(
            "OMP_NUM_THREADS: {wanted} threads are more than the CPUs, which have one thread each here; using {most}"
        ));
        return Some(most);
    }
    match asked {
        Some(threads) if threads > most => {
            notes.push(format!("-t: {threads} threads are more than the maximum; using {most}"));
            Some(most)
        }
        Some(threads) => Some(threads),
        None => Some(most).filter(|most| *most < machine.cpus),
    }
}

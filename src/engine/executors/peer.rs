//! Peers as backends: one external program per peer, which keeps running between cases. Its answers are treated
//! as untrusted data; a misbehaving peer fails the case but never the engine.

mod program;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use self::program::{Answer, Process};
use crate::case::backends::THREADS_KEY;
use crate::case::peers::{self, Program, SETTING};
use crate::case::units::shown;
use crate::case::{Availability, Cancel, Case, Device, Failure, Fault, Params, Refusal, Value, Verdict};
use crate::device::Prepared;
use crate::engine::{Executor, Preparation};
use crate::primitives::pattern::Spec;
use crate::primitives::pattern::spec::Kernel;

/// The environment variable with the folder of the programs.
pub const FOLDER: &str = "SCATTERLAB_PEERS";
/// The environment variable by which the program tells an engine of its own that programs of papers' folders may be
/// executed. It passes on the option, and nothing else: a command without the option removes it.
pub const ALLOWED: &str = "SCATTERLAB_ALLOW_PROGRAMS";

/// How long a program may take to answer: waking a GPU takes the driver seconds, and so does generating inputs
/// that fill its memory.
const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of the peers' programs: [`FOLDER`], or `$XDG_DATA_HOME/scatterlab/peers`, where `XDG_DATA_HOME`
/// defaults to `~/.local/share` if it is unset or relative. `None` without a home directory.
pub fn folder(read: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(folder) = read(FOLDER).filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    let absolute = |key: &str| read(key).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(base.join("scatterlab").join("peers"))
}

/// All known peers; their programs are expected in this folder.
pub fn all(folder: Option<&Path>) -> impl Iterator<Item = PeerExecutor> {
    peers::ALL.iter().map(move |peer| {
        PeerExecutor::new(peer.name, peer.backend, peer.beside, Source::Built(folder.map(Path::to_owned)))
    })
}

/// Runs the cases of one peer.
pub struct PeerExecutor {
    name: &'static str,
    backend: &'static str,
    beside: &'static str,
    source: Source,
    patience: Duration,
    running: Running,
}

/// Where a peer's program is.
enum Source {
    /// In this folder, under the peer's name.
    Built(Option<PathBuf>),
    /// Where the folder of a paper says.
    Paper { program: Option<Program>, allowed: bool },
}

/// The peer's process, from the first case until it fails.
type Running = Rc<RefCell<Option<Process>>>;

impl PeerExecutor {
    fn new(name: &'static str, backend: &'static str, beside: &'static str, source: Source) -> PeerExecutor {
        PeerExecutor { name, backend, beside, source, patience: PATIENCE, running: Running::default() }
    }

    /// What answers for the peers that papers' folders name: none of them yet.
    pub fn of_folders(allowed: bool) -> PeerExecutor {
        PeerExecutor::new("", peers::BACKEND, "", Source::Paper { program: None, allowed })
    }

    /// The command that starts the peer's program, or why there is none.
    fn command(&self) -> Result<Command, String> {
        const ADVICE: &str = "bash benches/peers/build.sh builds the peers";
        match &self.source {
            Source::Built(None) => Err(format!("no folder of peers: set {FOLDER}; {ADVICE}")),
            Source::Built(Some(folder)) => match folder.join(self.name) {
                file if file.is_file() => Ok(Command::new(file)),
                file => Err(format!("no program {}; {ADVICE}", file.display())),
            },
            Source::Paper { allowed: false, .. } => Err(format!(
                "programs of a paper's folder are executed only with --{}; this one is {}",
                peers::ALLOW,
                self.words()
            )),
            Source::Paper { program: None, .. } => Err("the folder names no such peer".to_owned()),
            Source::Paper { program: Some(program), .. } => of_paper(program),
        }
    }

    /// The program of a paper's folder, as the folder writes it.
    fn words(&self) -> String {
        match &self.source {
            Source::Paper { program: Some(program), .. } => shown(&program.program),
            _ => "one of them".to_owned(),
        }
    }

    fn start(&self) -> Result<(), Failure> {
        let mut running = self.running.borrow_mut();
        if running.is_none() {
            let command = self.command().map_err(Failure::NotApplicable)?;
            *running = Some(Process::start(self.name, command, self.patience)?);
        }
        Ok(())
    }
}

/// The command of a program that a paper's folder names; it is executed in that folder.
fn of_paper(program: &Program) -> Result<Command, String> {
    let name = shown(&program.program);
    let Some(folder) = &program.folder else {
        return Err(format!(
            "the run does not tell the folder of {name}; run the recipe in its paper's folder"
        ));
    };
    if !folder.is_dir() {
        return Err(format!("no folder {}, in which {name} would be executed", folder.display()));
    }
    // As in a shell, a word without a slash is a command of the machine.
    let file = match program.program.contains('/') {
        false => PathBuf::from(&program.program),
        true => folder.join(&program.program),
    };
    if program.program.contains('/') && !file.is_file() {
        return Err(format!("no program {}", file.display()));
    }
    let mut command = Command::new(file);
    command.args(&program.arguments).current_dir(folder);
    Ok(command)
}

/// Sends an order to the program, which is ended if it fails.
fn ask(running: &Running, order: &str, cancel: &Cancel) -> Result<Answer, Failure> {
    let mut place = running.borrow_mut();
    let Some(program) = place.as_mut() else {
        return Err(Failure::Failed("the peer's program has ended".to_owned()));
    };
    let answer = program.ask(order, cancel);
    if matches!(answer, Err(Failure::Failed(_) | Failure::Lost(_) | Failure::Cancelled)) {
        *place = None;
    }
    answer
}

impl Executor for PeerExecutor {
    fn backend(&self) -> &'static str {
        self.backend
    }

    fn of_program(&self, program: &Program) -> Option<Box<dyn Executor>> {
        let Source::Paper { program: None, allowed } = self.source else { return None };
        let beside = peers::HOSTS.into_iter().find(|host| *host == program.beside)?;
        // An engine serves few plans, each of which brings a few names.
        let backend: &'static str = format!("{}{}", peers::BACKEND, program.name).leak();
        let source = Source::Paper { program: Some(program.clone()), allowed };
        let name = peers::name(backend);
        Some(Box::new(PeerExecutor::new(name, backend, beside, source)))
    }

    fn device(&self) -> Device {
        let backend = self.backend;
        match self.command() {
            Ok(_) => Device {
                availability: Availability::Available,
                ..Device::unavailable(backend, String::new())
            },
            Err(reason) => Device::unavailable(backend, reason),
        }
    }

    /// A peer is not a device: it runs on the device of the backend to which it is compared.
    fn devices(&self) -> Vec<Device> {
        Vec::new()
    }

    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation {
        if fault.is_some() {
            return Err(Failure::NotApplicable("faults cannot be injected into a peer".to_owned()));
        }
        let order = format!("prepare {}", words(case)?);
        self.start()?;
        match ask(&self.running, &order, cancel)? {
            Answer::Ready(memory, settings) => {
                let (running, cancel) = (self.running.clone(), cancel.clone());
                let resolved = resolved(self.beside, settings);
                Ok(Box::new(Measured { running, cancel, memory, resolved }))
            }
            _ => Err(Failure::Failed(format!("the peer {} was not ready", self.name))),
        }
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        Err(Failure::NotApplicable(peers::NO_DEVICE.to_owned()))
    }

    fn evict(&self) -> Result<u64, Failure> {
        Err(Failure::NotApplicable("a peer has no caches of its own".to_owned()))
    }
}

/// The settings under full keys: `peer.NAME`, apart from those of our own parameters, which decide what a case
/// declares. A number of threads means what it means for our backend, and has the same key.
fn resolved(beside: &str, settings: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let key = |name: &str| match (beside, name) {
        ("cpu", "threads") => THREADS_KEY.to_owned(),
        _ => format!("{SETTING}{name}"),
    };
    settings.into_iter().map(|(name, value)| (key(&name), value)).collect()
}

/// A case prepared by a peer.
struct Measured {
    running: Running,
    cancel: Cancel,
    memory: u64,
    resolved: Vec<(String, Value)>,
}

impl Prepared for Measured {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        match ask(&self.running, &format!("sample {batch}"), &self.cancel)? {
            Answer::Seconds(seconds) => Ok(seconds),
            _ => Err(Failure::Failed("the peer reported no time".to_owned())),
        }
    }

    fn clear(&mut self, _cancel: &Cancel) -> Result<(), Failure> {
        Err(Failure::NotApplicable("a peer's arrays are its own".to_owned()))
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.certify(cancel)
    }

    fn certify(&mut self, _cancel: &Cancel) -> Result<Verdict, Failure> {
        Err(Failure::NotApplicable("what a peer computes is not certified".to_owned()))
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.clone()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        Err(Failure::NotApplicable("what a peer computes stays with it".to_owned()))
    }
}

impl Drop for Measured {
    /// A program that does not release its arrays is killed, which frees them.
    fn drop(&mut self) {
        let alive = self.running.borrow().is_some();
        if alive && ask(&self.running, "release", &Cancel::default()).is_err() {
            *self.running.borrow_mut() = None;
        }
    }
}

/// Parameters that do not affect the computation of a peer: its own name, the cache state, which the engine
/// sets up, and the label for charts.
const ASIDE: [&str; 3] = ["backend", "cache", "label"];

/// Parameters by which a recipe describes a pattern and its repetitions.
const RESOLVED: [&str; 5] = ["source", "delta", "count", "footprint", "traffic"];

/// `primitive=gather seed=1 index=4 locations=random tuple=8 tuples=1024`: words without whitespace. A pattern
/// is sent as explicit `source.custom.indices`, with numeric delta and count.
fn words(case: &Case) -> Result<String, Failure> {
    let mut params = case.params.clone();
    params.0.retain(|key, _| !ASIDE.contains(&key.as_str()));
    if case.primitive == "pattern" {
        params = of_numbers(params, case.seed).map_err(|refusal| match refusal {
            Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
            wrong => Failure::Failed(wrong.to_string()),
        })?;
    }
    let head = format!("primitive={} seed={}", case.primitive, case.seed);
    let words = params.0.iter().map(|(key, value)| format!("{key}={}", escaped(&value.to_string())));
    Ok(std::iter::once(head).chain(words).collect::<Vec<_>>().join(" "))
}

fn of_numbers(mut params: Params, seed: u64) -> Result<Params, Refusal> {
    let spec = Spec::from_params(&params, seed)?;
    let kernel = Value::Text(spec.kernel.name().to_owned());
    params.0.insert("kernel".to_owned(), kernel);
    // Other kernels keep their parameters: a peer that does not support them reports it.
    if !matches!(spec.kernel, Kernel::Gather | Kernel::Scatter) {
        return Ok(params);
    }
    params.0.retain(|key, _| !RESOLVED.contains(&key.split('.').next().unwrap_or(key)));
    let delta =
        if spec.deltas.is_empty() { Value::Int(spec.delta) } else { Value::Indices(spec.deltas.into()) };
    Ok(params
        .with("source", Value::Text("custom".to_owned()))
        .with("source.custom.indices", Value::Indices(spec.pattern.to_vec().into()))
        .with("delta", delta)
        .with("count", Value::Int(spec.count)))
}

/// Percent-encodes the characters that would end a word, such as `%20`.
fn escaped(text: &str) -> String {
    let mut words = String::new();
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| words.push_str(&format!("%{byte:02X}")));
        } else {
            words.push(c);
        }
    }
    words
}

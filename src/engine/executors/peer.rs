//! Peers as backends: one external program per peer, which keeps running between cases. Its answers are treated
//! as untrusted data; a misbehaving peer fails the case but never the engine.

mod program;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use self::program::{Answer, Program};
use crate::case::backends::THREADS_KEY;
use crate::case::peers::{self, Peer, SETTING};
use crate::case::{Availability, Cancel, Case, Device, Failure, Fault, Params, Refusal, Value, Verdict};
use crate::device::Prepared;
use crate::engine::{Executor, Preparation};
use crate::primitives::pattern::Spec;
use crate::primitives::pattern::spec::Kernel;

/// The environment variable with the folder of the programs.
pub const FOLDER: &str = "SCATTERLAB_PEERS";

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
    peers::ALL.iter().map(move |peer| PeerExecutor::new(peer, folder))
}

/// Runs the cases of one peer.
pub struct PeerExecutor {
    peer: &'static Peer,
    folder: Option<PathBuf>,
    patience: Duration,
    running: Running,
}

/// The peer's process, from the first case until it fails.
type Running = Rc<RefCell<Option<Program>>>;

impl PeerExecutor {
    fn new(peer: &'static Peer, folder: Option<&Path>) -> PeerExecutor {
        PeerExecutor {
            peer,
            folder: folder.map(Path::to_owned),
            patience: PATIENCE,
            running: Running::default(),
        }
    }

    /// The file of the peer's program, or why there is none.
    fn file(&self) -> Result<PathBuf, String> {
        const ADVICE: &str = "bash benches/peers/build.sh builds the peers";
        match self.folder.as_ref().map(|folder| folder.join(self.peer.name)) {
            Some(file) if file.is_file() => Ok(file),
            Some(file) => Err(format!("no program {}; {ADVICE}", file.display())),
            None => Err(format!("no folder of peers: set {FOLDER}; {ADVICE}")),
        }
    }

    fn start(&self) -> Result<(), Failure> {
        let mut running = self.running.borrow_mut();
        if running.is_none() {
            let file = self.file().map_err(Failure::NotApplicable)?;
            *running = Some(Program::start(self.peer.name, &file, self.patience)?);
        }
        Ok(())
    }
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
        self.peer.backend
    }

    fn device(&self) -> Device {
        let backend = self.peer.backend;
        match self.file() {
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
                let resolved = resolved(self.peer, settings);
                Ok(Box::new(Measured { running, cancel, memory, resolved }))
            }
            _ => Err(Failure::Failed(format!("the peer {} was not ready", self.peer.name))),
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
fn resolved(peer: &Peer, settings: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let key = |name: &str| match (peer.beside, name) {
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

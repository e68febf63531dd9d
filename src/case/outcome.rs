//! What may come of a case: why it is refused, how it fails, what its certificate says, and the
//! deliberate mistakes that certificates must find.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

/// Why a primitive cannot do what its parameters say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The recipe is wrong: the full key and what is wrong with it.
    #[error("{key}: {message}")]
    Invalid { key: String, message: String },
    /// The recipe must give this key.
    #[error("{key}: is missing")]
    Missing { key: String },
    /// The recipe is fine, but this combination does not exist (`n/a: reason`).
    #[error("n/a: {0}")]
    NotApplicable(String),
}

impl Refusal {
    /// An [`Refusal::Invalid`].
    pub fn invalid(key: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::Invalid { key: key.into(), message: message.into() }
    }
}

/// A request to stop, shared between the engine's threads. Generation, verification
/// and sampling poll it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks everybody who holds this to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// `Err(Failure::Cancelled)` once somebody asked.
    pub fn check(&self) -> Result<(), Failure> {
        if self.requested() { Err(Failure::Cancelled) } else { Ok(()) }
    }
}

/// A deliberate mistake, for proving that certificates can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Every access one element beside where it belongs.
    OffByOne,
    /// The last element (or the last partial vector) is not handled.
    MissingTail,
    /// A pass or a thread works on its neighbour's chunk.
    WrongChunk,
    /// One store in the middle is skipped.
    SkippedStore,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 4] = [Fault::OffByOne, Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore];
}

/// Why a case could not be prepared, sampled or certified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It cannot run here (`n/a: reason`): too large, no such instruction set.
    #[error("n/a: {0}")]
    NotApplicable(String),
    /// It went wrong; other cases may go on in this engine.
    #[error("{0}")]
    Failed(String),
    /// The device or its context is gone; only a fresh engine can go on.
    #[error("{0}")]
    Lost(String),
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// A refusal where a case is prepared: the plan's mistake, which fails, or `n/a`.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
            invalid => Failure::Failed(invalid.to_string()),
        }
    }
}

/// What a certificate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that the definition says holds; how many elements were checked.
    Certified { checked: u64 },
    /// It does not: the first mistake, in words.
    Wrong { mistake: String },
}

impl Verdict {
    /// That on `checked` elements.
    pub fn of(mistake: Option<String>, checked: u64) -> Verdict {
        match mistake {
            Some(mistake) => Verdict::Wrong { mistake },
            None => Verdict::Certified { checked },
        }
    }
}

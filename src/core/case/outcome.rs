//! Possible outcomes of a case: refusals, failures, the verdicts of certificates, and the injected faults that
//! certificates must detect.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a primitive rejects its parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The recipe is wrong: the full key and what is wrong with it.
    #[error("{key}: {message}")]
    Invalid { key: String, message: String },
    /// The recipe lacks this required key.
    #[error("{key}: is missing")]
    Missing { key: String },
    /// The recipe is valid, but this combination does not exist (`n/a: reason`).
    #[error("n/a: {0}")]
    NotApplicable(String),
}

impl Refusal {
    /// Creates a [`Refusal::Invalid`].
    pub fn invalid(key: impl Into<String>, message: impl Into<String>) -> Refusal {
        Refusal::Invalid { key: key.into(), message: message.into() }
    }
}

/// A request to stop, shared between the engine's threads. Generation, verification
/// and sampling poll it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: Arc<AtomicBool>,
    /// When to stop without being asked.
    deadline: Option<Instant>,
}

impl Cancel {
    /// The same request, which is also made by this moment, if there is one.
    #[must_use]
    pub fn until(&self, deadline: Option<Instant>) -> Cancel {
        Cancel { asked: Arc::clone(&self.asked), deadline }
    }

    /// Asks all holders of this flag to stop.
    pub fn request(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// True if a stop was requested.
    pub fn requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.deadline.is_some_and(|at| Instant::now() >= at)
    }

    /// `Err(Failure::Cancelled)` once a stop was requested.
    pub fn check(&self) -> Result<(), Failure> {
        if self.requested() { Err(Failure::Cancelled) } else { Ok(()) }
    }
}

/// An injected fault, to prove that certificates can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Every access is off by one element.
    OffByOne,
    /// The last element (or partial vector) is not processed.
    MissingTail,
    /// A pass or thread processes its neighbour's chunk.
    WrongChunk,
    /// One store in the middle is skipped.
    SkippedStore,
    /// Elements that must be visited in random order are visited in sequence.
    SequentialOrder,
    /// The sample whose output is judged, the last one of a round, does nothing, after samples that were right.
    LastSample,
    /// The first round is right, and the second, on arrays of its own, is not.
    LaterRound,
    /// The execution that is certified does nothing, after others that were right: only poisoned outputs and
    /// sums that were reset show that.
    StaleResult,
    /// The execution that is judged stores zeros, after others that were right.
    Zeros,
    /// The execution that is judged copies its input to its output, after others that were right.
    Identity,
    /// The execution that is judged leaves a part of each output as it was before, after others that were right.
    LostPart,
    /// No execution does anything, from the first one on.
    Null,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 12] = [
        Fault::OffByOne,
        Fault::MissingTail,
        Fault::WrongChunk,
        Fault::SkippedStore,
        Fault::SequentialOrder,
        Fault::LastSample,
        Fault::LaterRound,
        Fault::StaleResult,
        Fault::Zeros,
        Fault::Identity,
        Fault::LostPart,
        Fault::Null,
    ];

    /// The faults in which elements every execution processes.
    pub const ELEMENTS: [Fault; 4] =
        [Fault::OffByOne, Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore];

    /// True of kernels that run in place of a case's own, of any method of any primitive.
    pub fn stands_in(self) -> bool {
        [Fault::Zeros, Fault::Identity, Fault::LostPart, Fault::Null].contains(&self)
    }

    /// The elements of an array of `n` that [`Fault::LostPart`] leaves as they were: the eighth before the middle, one at
    /// least.
    pub fn lost_part(n: u64) -> Range<u64> {
        let first = n / 8 * 3;
        first..first + n.div_ceil(8)
    }

    /// True if the executions before the one that is judged are right.
    pub fn comes_late(self) -> bool {
        let late = [Fault::LastSample, Fault::StaleResult, Fault::LaterRound];
        late.contains(&self) || self.stands_in() && self != Fault::Null
    }
}

/// Why a case could not be prepared, sampled or certified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The case cannot run here (`n/a: reason`): too large, or an instruction set is missing.
    #[error("n/a: {0}")]
    NotApplicable(String),
    /// The case failed; other cases may continue in this engine.
    #[error("{0}")]
    Failed(String),
    /// The device or its context is lost; only a new engine can continue.
    #[error("{0}")]
    Lost(String),
    /// A stop was requested.
    #[error("cancelled")]
    Cancelled,
}

/// A refusal during preparation is either `n/a` or an error in the plan, which fails the case.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
            invalid => Failure::Failed(invalid.to_string()),
        }
    }
}

/// The result of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All properties required by the definition hold; `checked` counts the elements checked.
    Certified { checked: u64 },
    /// A property is violated: the first mistake, in words.
    Wrong { mistake: String },
}

impl Verdict {
    /// `Wrong` if there is a mistake, otherwise `Certified` with this many checked elements.
    pub fn of(mistake: Option<String>, checked: u64) -> Verdict {
        match mistake {
            Some(mistake) => Verdict::Wrong { mistake },
            None => Verdict::Certified { checked },
        }
    }
}

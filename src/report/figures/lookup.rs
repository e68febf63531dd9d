//! Looks up the cases that a figure shows, whichever recipe measured them.

use super::platform::{self, Platform, is_certified};
use crate::case::tuning::Tuning;
use crate::case::{Cache, Value as Setting};
use crate::inputs::applications::{Application, Use};
use crate::primitives::pattern::spec::{Kernel, Method, Spec};
use crate::recipe::plan::Quantity;
use crate::report::series::NoteKind;
use crate::run::{Record, Status};

/// The subject of a figure's point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// Spatter's UNIFORM pattern without reuse between uses (lavin2020 §5.1).
    Uniform { side: Use, stride: u64 },
    /// A pattern of lavin2020's Table 5.
    App(&'static Application),
    /// One of STREAM's kernels.
    Stream(&'static str),
}

/// The measured value, GB/s.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    pub run: &'a str,
    pub record: &'a Record,
    /// The value of the fastest sample, as in lavin2020 (§4).
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

/// The reason why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub kind: NoteKind,
    pub reason: String,
}

impl Missing {
    pub fn not_applicable(reason: impl Into<String>) -> Missing {
        Missing { kind: NoteKind::NotApplicable, reason: reason.into() }
    }

    pub fn no_baseline(reason: impl Into<String>) -> Missing {
        Missing { kind: NoteKind::NoBaseline, reason: reason.into() }
    }
}

pub type Found<'a> = Result<Value<'a>, Missing>;

impl Subject {
    pub fn words(&self) -> String {
        match self {
            Subject::Uniform { side, stride } => format!("stride {stride}, {}", word(*side)),
            Subject::App(app) => app.name.to_owned(),
            Subject::Stream(kernel) => format!("STREAM {kernel}"),
        }
    }

    fn is(&self, record: &Record) -> bool {
        let params = &record.case.params;
        match self {
            Subject::Uniform { side, stride } => {
                is_hot(record) && uniform(record).is_some_and(|spec| spec == (*side, *stride))
            }
            Subject::App(app) => {
                let own = |spec: Spec| side_of(spec.kernel) == Some(app.kernel) && spec.delta == app.delta;
                let caches = is_hot(record) || has_few_uses(record);
                caches && params.text("source.app.name") == Some(app.name) && plain(record).is_some_and(own)
            }
            Subject::Stream(kernel) => {
                record.case.primitive == "stream" && params.text("kernel") == Some(kernel)
            }
        }
    }
}

pub fn word(side: Use) -> &'static str {
    match side {
        Use::Gather => "gather",
        Use::Scatter => "scatter",
    }
}

fn side_of(kernel: Kernel) -> Option<Use> {
    match kernel {
        Kernel::Gather => Some(Use::Gather),
        Kernel::Scatter => Some(Use::Scatter),
        _ => None,
    }
}

/// Kernel and stride of a uniform pattern without reuse.
pub fn uniform(record: &Record) -> Option<(Use, u64)> {
    let params = &record.case.params;
    let (stride, length) = (params.int("source.uniform.stride")?, params.int("source.uniform.length")?);
    let spec = plain(record)?;
    let fresh = spec.delta >= stride.saturating_mul(length);
    fresh.then_some((side_of(spec.kernel)?, stride))
}

/// A pattern with fewer uses than this moves so little that caches keep it from one execution to the next.
pub const FEW_USES: u64 = 10_000;

/// The number of uses: the pattern's `count`, from the record's annotations.
pub fn uses(record: &Record) -> Option<u64> {
    let count = record.annotations.iter().find(|(name, _)| *name == "pattern-count");
    count.and_then(|(_, value)| if let Setting::Int(uses) = value { Some(*uses) } else { None })
}

/// Whether an execution finds what the one before has left in the caches.
fn is_hot(record: &Record) -> bool {
    record.case.params.text(Cache::KEY) != Some("cold")
}

fn has_few_uses(record: &Record) -> bool {
    uses(record).is_some_and(|uses| uses < FEW_USES)
}

/// The specification of the case if it matches the paper's setup: uses in order, ordinary stores, a single
/// dense tile, and default tuning of the CUDA kernels.
fn plain(record: &Record) -> Option<Spec> {
    let params = &record.case.params;
    let told = Tuning::of(params) != Ok(Tuning::default());
    if record.case.primitive != "pattern" || told {
        return None;
    }
    let spec = Spec::from_params(params, record.case.seed).ok()?;
    let ordinary = matches!(spec.method, Method::Direct | Method::Global) && !spec.fenced;
    (ordinary && !spec.based() && spec.wrap == 1).then_some(spec)
}

impl<'a> Platform<'a> {
    /// The platform's result. Among several cases, one with a result is preferred, then the one with the
    /// paper's index length (footnotes 2 and 3: 8 on CPUs, 256 on GPUs), then the one that moves more bytes.
    pub fn find(&self, wanted: Subject) -> Found<'a> {
        let best = self.candidates(wanted).max_by_key(|(_, record)| {
            let bytes = record.work.as_ref().map_or(0, |work| work.effective_bytes);
            // A pattern with few uses is drawn cold where a run has it so.
            let set_up = (self.has_papers_length(record), is_hot(record) != has_few_uses(record));
            (outcome("", record).is_ok(), set_up, bytes)
        });
        let (run, record) = best.ok_or_else(|| Missing::not_applicable("not in these runs"))?;
        outcome(&run.name, record)
    }

    /// Number of results that [`find`](Self::find) passes over.
    pub fn passed_over(&self, wanted: Subject) -> usize {
        let results = self.candidates(wanted).filter(|(_, record)| outcome("", record).is_ok());
        results.count().saturating_sub(1)
    }

    pub fn has(&self, wanted: Subject) -> bool {
        self.candidates(wanted).next().is_some()
    }

    fn candidates(
        &self,
        wanted: Subject,
    ) -> impl Iterator<Item = (&'a crate::report::verdicts::NamedRun<'a>, &'a Record)> {
        self.records.iter().copied().filter(move |(_, record)| wanted.is(record))
    }

    fn has_papers_length(&self, record: &Record) -> bool {
        let papers = if self.kind == platform::Kind::Gpu { 256 } else { 8 };
        record.case.params.int("source.uniform.length") == Some(papers)
    }
}

/// A valid result, or the reason why there is none.
fn outcome<'a>(run: &'a str, record: &'a Record) -> Found<'a> {
    let missing = |kind, reason: &str| Missing { kind, reason: reason.to_owned() };
    match &record.status {
        Status::NotApplicable(reason) => return Err(missing(NoteKind::NotApplicable, reason)),
        Status::Failed(reason) => return Err(missing(NoteKind::Failed, reason)),
        Status::Pending => return Err(missing(NoteKind::Pending, "")),
        Status::Partial | Status::Done => {}
    }
    if !is_certified(record) {
        return Err(missing(NoteKind::Uncertified, ""));
    }
    let at = |seconds| record.quantity_at(Quantity::Bandwidth, seconds).filter(|v| v.is_finite());
    let statistics = record.statistics.as_ref();
    let values = statistics.and_then(|s| Some((at(s.min)?, at(s.max)?, at(s.min)?)));
    let (y, low, high) = values.ok_or_else(|| missing(NoteKind::Pending, "no samples"))?;
    Ok(Value { run, record, y, low, high })
}

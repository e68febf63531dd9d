//! Stored runs as they were read: one is shown on the run screen in its final state, another is run again.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::protocol::{Event, Level};
use crate::recipe::plan::Plan;
use crate::report::judge::MARGIN;
use crate::report::replay;
use crate::run::stored::{Stored, each_event_until};
use crate::run::summary;
use crate::run::verdict::verdict;
use crate::tui::chart::overlay::Baseline;
use crate::tui::log::Log;
use crate::tui::session::{Mode, Phase, Pictures, Session};

/// A stored run, with the log of its engine.
#[derive(Debug)]
pub struct Opened {
    stored: Stored,
    log: Log,
    /// The newest pictures of the cases.
    pictures: Pictures,
}

impl Opened {
    /// Reads a run and its log, as long as `wanted` returns true.
    ///
    /// # Errors
    /// As for [`Stored::open_while`].
    pub fn read(path: &Path, wanted: &dyn Fn() -> bool) -> anyhow::Result<Opened> {
        let stored = Stored::open_while(path, wanted)?;
        let (mut log, mut began, mut pictures) = (Log::default(), None, Pictures::default());
        each_event_until(path, |line| {
            let at = line.at.unwrap_or_default();
            let since = at - *began.get_or_insert(at);
            let since = Duration::try_from_secs_f64(since).unwrap_or_default();
            if let Some((level, text)) = said(&line.event) {
                log.push(since, level, &text);
            }
            if let Event::Snapshot { case, round, picture } = line.event
                && let Some(case) = stored.ledger.position(&case)
            {
                pictures.take(case, round, picture);
            }
            if wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        stored.warnings.iter().for_each(|warning| log.push(Duration::ZERO, Level::Warn, warning));
        Ok(Opened { stored, log, pictures })
    }

    /// The run's session, which is over.
    pub fn session(self) -> Session {
        let Opened { stored: Stored { path, manifest, ledger, .. }, log, pictures } = self;
        let took = summary::took(&ledger).unwrap_or_default();
        let complete = ledger.is_complete();
        let mut session = Session::new(None, ledger, path, Duration::ZERO);
        session.eta.pause();
        session.log = log;
        session.pictures = pictures;
        session.mode = Mode::Stored;
        session.all_events_seen = true;
        session.follow = false;
        session.phase = Phase::Over { cancelled: !complete };
        session.earlier = Duration::ZERO;
        session.ended = Some(Duration::try_from_secs_f64(took).unwrap_or_default());
        session.environment = Some(manifest.environment);
        session.verdict = verdict(session.ledger.plan(), session.ledger.records());
        session.machine.devices = manifest.devices;
        session
    }
}

/// The log line for an event, if it has one.
fn said(event: &Event) -> Option<(Level, String)> {
    match event {
        Event::Hello { version, environment, .. } => {
            let text = format!("engine {version} on {}, {}", environment.host, environment.cpu);
            Some((Level::Info, text))
        }
        Event::Log { level, text } => Some((*level, text.clone())),
        Event::Failed { error, .. } => Some((Level::Error, error.clone())),
        Event::Finished { cancelled } => {
            Some((Level::Info, if *cancelled { "cancelled" } else { "done" }.to_owned()))
        }
        _ => None,
    }
}

/// A stored run whose plan can be run again.
#[derive(Debug)]
pub struct Replayable {
    pub plan: Plan,
    /// The recipe's text.
    pub recipe: String,
    pub baseline: Arc<Baseline>,
    /// The cases that cannot be judged, if there are some.
    pub remark: Option<String>,
}

impl Replayable {
    /// Reads a run, as long as `wanted` returns true.
    ///
    /// # Errors
    /// If the folder cannot be read, or nothing can be judged against it.
    pub fn read(path: &Path, wanted: &dyn Fn() -> bool) -> anyhow::Result<Replayable> {
        let stored = Stored::open_while(path, wanted)?;
        Ok(Replayable {
            remark: replay::enough(&stored, MARGIN)?,
            recipe: stored.recipe,
            baseline: Arc::new(
                Baseline::new(path, &stored.ledger)
                    .on(&stored.manifest.environment, &stored.manifest.devices),
            ),
            plan: stored.manifest.plan,
        })
    }
}

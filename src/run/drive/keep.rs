//! Recording a run: each event goes first to disk, then to the ledger, then to the user interface. An engine's chatter is
//! bounded, and tables and charts are refreshed now and then.

use std::time::{Duration, Instant};

use super::Drive;
use crate::engine::protocol::{Command, Event, Level, Stage};
use crate::run::client::{Client, EngineCommand};
use crate::run::folder::Urgency;
use crate::run::layout::{ENGINE_DIED, EVENTS};
use crate::run::runner::Message;

/// The most pictures of a case that are recorded: what is held back while a case is sampled stays below a megabyte.
const MOST_PICTURES: u32 = 32;

/// How soon an event must be in the file. Progress is always held back: the engine may already be timing when
/// the event is read. `sampling` states whether it was timing before a log line.
fn urgency(event: &Event, sampling: bool) -> Urgency {
    match event {
        _ if event.seq().is_some() => Urgency::Durable,
        Event::Progress { .. } | Event::Snapshot { .. } => Urgency::Held,
        _ if sampling => Urgency::Held,
        _ => Urgency::Written,
    }
}

impl Drive {
    /// Finishes the folder with tables and charts of everything measured.
    pub(super) fn complete(&mut self, broken: bool) {
        match self.folder.flush().and_then(|()| self.write_reports()) {
            Ok(()) => self.tell(Message::Reported(self.folder.path().to_owned())),
            Err(error) => {
                let report = EngineCommand::Own.command_line("report", self.folder.path());
                let text = format!("{error:#}; what was measured is in {EVENTS}: {report}");
                // The run is already broken by another error; this one is only a warning.
                self.tell(match broken {
                    true => Message::Event(Event::Log { level: Level::Warn, text }),
                    false => Message::Broken(text),
                });
            }
        }
    }

    /// Puts an event on disk, forwards it, and only then acknowledges it.
    pub(super) fn take(&mut self, event: &Event, client: &mut Client) -> anyhow::Result<()> {
        match event {
            Event::Progress { case, round, .. } => self.current = Some((case.clone(), *round)),
            // Another case may be skipped while this one is measured.
            Event::Skipped { case, .. } if self.current.as_ref().is_some_and(|(id, _)| id != case) => {}
            _ if event.seq().is_some() => self.current = None,
            _ => {}
        }
        self.record(event)?;
        if event.seq().is_some() {
            self.refresh_reports()?;
            self.ping(client);
        }
        self.acknowledge(event, client)
    }

    /// Acknowledges a result that is on disk or need not be.
    pub(super) fn acknowledge(&self, event: &Event, client: &mut Client) -> anyhow::Result<()> {
        event.seq().map_or(Ok(()), |seq| client.send(&Command::Ack { seq }))
    }

    pub(super) fn record(&mut self, event: &Event) -> anyhow::Result<()> {
        self.sampling = match event {
            Event::Progress { stage, .. } => matches!(stage, Stage::WarmUp | Stage::Sample),
            Event::Log { .. } | Event::Snapshot { .. } => self.sampling,
            _ => false,
        };
        self.folder.append(event, urgency(event, self.sampling))?;
        self.ledger.apply(event);
        self.tell(Message::Event(event.clone()));
        Ok(())
    }

    /// Forwards a picture, and records it if its case does not have too many.
    pub(super) fn picture(&mut self, event: Event) -> anyhow::Result<()> {
        let Event::Snapshot { case, .. } = &event else { return Ok(()) };
        let kept = self.kept_pictures.entry(case.clone()).or_default();
        if *kept < MOST_PICTURES {
            *kept += 1;
            return self.record(&event);
        }
        self.tell(Message::Event(event));
        Ok(())
    }

    /// Handles an engine's death: its current case, which is returned, fails; the others may continue.
    pub(super) fn bury(&mut self, reason: &str) -> anyhow::Result<Option<String>> {
        let lost = self.current.take();
        if let Some((case, round)) = lost.clone() {
            let error = format!("{ENGINE_DIED}{reason}");
            self.record(&Event::Failed { seq: 0, case, round, error, lost: true })?;
        }
        self.deaths += u32::from(!std::mem::take(&mut self.device_lost));
        self.tell_dropped()?;
        self.refresh_reports()?;
        Ok(lost.map(|(case, _)| case))
    }

    /// A failed write of tables or charts during the run is only a warning: the results are safe in the event
    /// log, and the next attempt may succeed.
    fn refresh_reports(&mut self) -> anyhow::Result<()> {
        if !self.refresh.is_due() {
            return Ok(());
        }
        let Err(error) = self.write_reports() else { return Ok(()) };
        match self.refresh.news(format!("{error:#}")) {
            Some(text) => self.keep_log(Level::Warn, text),
            None => Ok(()),
        }
    }

    fn write_reports(&mut self) -> anyhow::Result<()> {
        let (Some(write), Some(manifest)) = (self.reports, &self.manifest) else { return Ok(()) };
        self.refresh.timed(|| write(self.folder.path(), manifest, &self.ledger))
    }

    /// Keeps a line of an engine that is no event, within bounds.
    pub(super) fn keep_noise(&mut self, text: String) -> anyhow::Result<()> {
        if self.noise.takes() { self.keep_log(Level::Info, text) } else { Ok(()) }
    }

    /// Says how much of an engine's chatter was not kept since its plan last advanced.
    pub(super) fn tell_dropped(&mut self) -> anyhow::Result<()> {
        self.noise.refill().map_or(Ok(()), |text| self.keep_log(Level::Warn, text))
    }

    pub(super) fn keep_log(&mut self, level: Level, text: String) -> anyhow::Result<()> {
        self.record(&Event::Log { level, text })
    }

    pub(super) fn tell(&self, message: Message) {
        // Ignore a disconnected user interface; the files are complete.
        let _ = self.messages.send(message);
    }
}

/// Most lines kept between two steps of progress.
const MOST: u32 = 200;

/// Counts the lines since the plan last advanced.
#[derive(Debug)]
pub(super) struct Noise {
    left: u32,
    dropped: u64,
}

impl Noise {
    pub fn new() -> Noise {
        Noise { left: MOST, dropped: 0 }
    }

    /// Whether to keep one more line.
    pub fn takes(&mut self) -> bool {
        let takes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.dropped += u64::from(!takes);
        takes
    }

    /// The plan advances: further lines are kept, and the text says how many were not.
    pub fn refill(&mut self) -> Option<String> {
        let Noise { dropped, .. } = std::mem::replace(self, Noise::new());
        (dropped > 0).then(|| {
            format!(
                "{dropped} lines of the engine were dropped: at most {MOST} are kept while its plan does not advance"
            )
        })
    }
}

/// Shortest interval between two refreshes.
const OFTEN: Duration = Duration::from_secs(5);

/// The interval is also at least this multiple of the time that a refresh takes: a large run spends its time
/// measuring, not drawing.
const SHARE: u32 = 50;

/// The schedule of a run's derived files. They are written before a result is acknowledged, hence never while a
/// sample is timed.
#[derive(Debug)]
pub struct Refresh {
    due: Instant,
    /// The last reported reason for a failed write.
    trouble: Option<String>,
}

impl Refresh {
    pub fn new() -> Refresh {
        Refresh { due: Instant::now() + OFTEN, trouble: None }
    }

    /// Whether the derived files are due.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Calls `write`, times it, and schedules the next refresh.
    pub fn timed<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let written = write();
        self.due = Instant::now() + pause(began.elapsed());
        written
    }

    /// Returns the error text unless it repeats the last reported one.
    pub fn news(&mut self, trouble: String) -> Option<String> {
        let known = self.trouble.as_ref() == Some(&trouble);
        self.trouble = Some(trouble.clone());
        (!known).then_some(trouble)
    }
}

fn pause(took: Duration) -> Duration {
    OFTEN.max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Snapshot;

    #[test]
    fn nothing_is_written_while_a_sample_may_be_timed() {
        let progress = |stage| Event::Progress { case: "a".into(), round: 0, stage, making: None };
        for stage in [Stage::Generate, Stage::WarmUp, Stage::Sample, Stage::Certify] {
            assert_eq!(urgency(&progress(stage), false), Urgency::Held, "{stage:?}");
        }
        let picture = Snapshot::curve("step", "y", Vec::new());
        let picture = Event::Snapshot { case: "a".into(), round: 0, picture };
        assert_eq!([urgency(&picture, true), urgency(&picture, false)], [Urgency::Held; 2]);
        let log = Event::Log { level: Level::Info, text: String::new() };
        assert_eq!([urgency(&log, true), urgency(&log, false)], [Urgency::Held, Urgency::Written]);
        let result = Event::NotApplicable { seq: 1, case: "a".into(), reason: String::new() };
        assert_eq!(urgency(&result, true), Urgency::Durable);
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted_and_told_once() {
        let mut noise = Noise::new();
        assert_eq!((0..MOST + 7).filter(|_| noise.takes()).count(), MOST as usize);
        assert!(noise.refill().is_some_and(|told| told.starts_with("7 lines")));
        assert_eq!((noise.refill(), noise.takes()), (None, true));
    }

    #[test]
    fn writing_takes_a_fiftieth_of_the_time_at_most() {
        assert_eq!(pause(Duration::from_millis(3)), OFTEN);
        assert_eq!(pause(Duration::from_secs(2)), Duration::from_secs(100));
    }

    #[test]
    fn a_trouble_is_told_once() {
        let mut refresh = Refresh::new();
        assert_eq!(refresh.news("full".into()).as_deref(), Some("full"));
        assert_eq!(refresh.news("full".into()), None);
        assert!(refresh.news("read-only".into()).is_some());
    }
}

//! Recording a run: each event goes first to disk, then to the ledger, then to the user interface.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Snapshot;

    #[test]
    fn nothing_is_written_while_a_sample_may_be_timed() {
        let progress = |stage| Event::Progress { case: "a".into(), round: 0, stage };
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
}

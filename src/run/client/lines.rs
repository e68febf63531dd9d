//! An engine's output as read by its client: events, and any kind of noise. A banner need not be UTF-8, nor end
//! its line, nor end at all.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::SyncSender;

use super::Incoming;
use crate::case::Verdict;
use crate::case::units::escaped;
use crate::engine::protocol::Event;

/// Longest piece read as one line, bytes. The largest event, a round of 10,000 samples, has about 250 kB.
const LONGEST_LINE: u64 = 1 << 20;

/// Most characters forwarded of a line of noise.
const LONGEST_NOISE: usize = 2000;

/// Most characters forwarded of an engine's own message, error or reason, which may list cases.
const LONGEST_LOG: usize = 20_000;

/// Prefix of an event's line.
const EVENT: &[u8] = b"{\"event\":";

/// Forwards the events on an engine's standard output, then [`Incoming::Closed`].
pub fn forward_events(stream: impl Read, sender: &SyncSender<Incoming>) {
    let mut lines = Lines::new(stream);
    while let Some(line) = lines.next() {
        if !events(line).into_iter().all(|incoming| sender.send(incoming).is_ok()) {
            return;
        }
    }
    // The client may be gone already.
    let _ = sender.send(Incoming::Closed);
}

/// Forwards the lines on an engine's standard error.
pub fn forward_noise(stream: impl Read, sender: &SyncSender<Incoming>) {
    let mut lines = Lines::new(stream);
    while let Some(line) = lines.next() {
        if !noise(line).into_iter().all(|incoming| sender.send(incoming).is_ok()) {
            return;
        }
    }
}

/// The event in a line, after any banner without newline that precedes it.
fn events(line: &[u8]) -> Vec<Incoming> {
    let start = line.windows(EVENT.len()).position(|window| window == EVENT);
    let event = start.and_then(|at| Some((at, serde_json::from_slice(&line[at..]).ok()?)));
    match event {
        Some((at, event)) => {
            noise(&line[..at]).into_iter().chain([Incoming::Event(bounded(event))]).collect()
        }
        None => noise(line).into_iter().collect(),
    }
}

/// The event, with its texts cut at [`LONGEST_LOG`].
fn bounded(mut event: Event) -> Event {
    let text = match &mut event {
        Event::Log { text, .. } => Some(text),
        Event::Failed { error, .. } => Some(error),
        Event::NotApplicable { reason, .. } => Some(reason),
        Event::Round { result, .. } => match &mut result.verdict {
            Some(Verdict::Wrong { mistake }) => Some(mistake),
            _ => None,
        },
        _ => None,
    };
    if let Some(text) = text {
        let (kept, dropped) = cut(text, LONGEST_LOG);
        if !dropped.is_empty() {
            *text = kept.to_owned() + &dropped;
        }
    }
    event
}

/// A line of text with control characters escaped; `None` for an empty line.
fn noise(line: &[u8]) -> Option<Incoming> {
    let text = String::from_utf8_lossy(line);
    let (kept, dropped) = cut(text.trim_end(), LONGEST_NOISE);
    (!kept.is_empty()).then(|| Incoming::NotAnEvent(escaped(kept) + &dropped))
}

/// The first characters of a text, and a note of what is dropped; the note is empty where nothing is.
fn cut(text: &str, longest: usize) -> (&str, String) {
    match text.char_indices().nth(longest) {
        Some((end, _)) => (&text[..end], format!("… ({} bytes dropped)", text.len() - end)),
        None => (text, String::new()),
    }
}

struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    fn new(stream: R) -> Lines<R> {
        Lines { reader: BufReader::new(stream), line: Vec::new() }
    }

    /// The next line without its newline, in pieces of at most [`LONGEST_LINE`]; `None` at the end of the
    /// stream.
    fn next(&mut self) -> Option<&[u8]> {
        self.line.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line).ok()?;
        let end = if self.line.ends_with(b"\n") { read - 1 } else { read };
        (read > 0).then(|| &self.line[..end])
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::engine::protocol::Level;

    fn heard(bytes: &[u8]) -> Vec<Incoming> {
        let (sender, receiver) = sync_channel(100);
        forward_events(bytes, &sender);
        drop(sender);
        receiver.iter().collect()
    }

    fn noise(text: &str) -> Incoming {
        Incoming::NotAnEvent(text.to_owned())
    }

    const FINISHED: &str = "{\"event\":\"finished\",\"cancelled\":false}\n";

    #[test]
    fn events_survive_any_noise_before_them() {
        let finished = Incoming::Event(Event::Finished { cancelled: false });
        for (before, expected) in [
            (b"".as_slice(), vec![]),
            (b"Welcome!\n", vec![noise("Welcome!")]),
            (b"no end of line: ", vec![noise("no end of line:")]),
            (b"\xff\xfe\x00\n", vec![noise("\u{fffd}\u{fffd}\\u{0}")]),
            (b"\x1b[31mred\x1b[0m\r\n\n", vec![noise("\\u{1b}[31mred\\u{1b}[0m")]),
            (b"{\"event\":\"unheard-of\"}\n", vec![noise("{\"event\":\"unheard-of\"}")]),
        ] {
            let said = [before, FINISHED.as_bytes()].concat();
            let all = [expected, vec![finished.clone(), Incoming::Closed]].concat();
            assert_eq!(heard(&said), all, "{before:?}");
        }
    }

    #[test]
    fn a_line_without_end_takes_bounded_memory() {
        let mut said = vec![b'x'; 3 << 20];
        said.extend(FINISHED.as_bytes());
        let heard = heard(&said);
        assert!(heard.contains(&Incoming::Event(Event::Finished { cancelled: false })));
        let longest =
            heard.iter().filter_map(|i| if let Incoming::NotAnEvent(t) = i { Some(t.len()) } else { None });
        assert!(longest.max().is_some_and(|n| n <= LONGEST_NOISE + 40), "{} pieces", heard.len());
        let dropped =
            |i: &Incoming| matches!(i, Incoming::NotAnEvent(t) if t.ends_with("… (1046576 bytes dropped)"));
        assert_eq!(heard.iter().filter(|i| dropped(i)).count(), 3, "each piece says what is missing");
    }

    #[test]
    fn a_message_is_cut_and_says_so() {
        let event = Event::Log { level: Level::Info, text: "x".repeat(LONGEST_LOG + 5) };
        let line = serde_json::to_vec(&event).expect("text");
        let heard = heard(&[&line[..], b"\n"].concat());
        let Incoming::Event(Event::Log { text, .. }) = &heard[0] else { panic!("{heard:?}") };
        assert_eq!((text.len() < LONGEST_LOG + 40, text.ends_with("… (5 bytes dropped)")), (true, true));
    }
}

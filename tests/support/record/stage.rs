//! Plays a script to the program and records its screen.

use std::error::Error;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use vt100::Parser;

use super::film::{Film, Frame};
use super::script::Step;

const COLUMNS: u16 = 120;
const ROWS: u16 = 36;

/// Interval between looks at the screen.
const SHUTTER: Duration = Duration::from_millis(120);

/// Longest wait for a text to appear, and for the program to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Extra duration of the last frame.
const LAST: Duration = Duration::from_secs(4);

struct Stage {
    parser: Arc<Mutex<Parser>>,
    film: Film,
    looked: Instant,
}

impl Stage {
    fn look(&mut self) {
        let frame = Frame::of(self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen());
        let now = Instant::now();
        self.film.show(frame, now - self.looked);
        self.looked = now;
    }

    fn shows(&self, text: &str) -> bool {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen().contents().contains(text)
    }

    /// Records until the condition holds.
    fn until(&mut self, limit: Duration, mut over: impl FnMut(&Stage) -> bool) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            thread::sleep(SHUTTER.min(end.saturating_duration_since(Instant::now())));
            self.look();
            if over(self) {
                return true;
            }
        }
        false
    }
}

/// Records the program while the steps are played to it.
pub fn play(steps: &[Step], program: &Path) -> Result<Film, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size)?;
    let mut command = CommandBuilder::new(program);
    command.cwd(folder.path());
    command.env("TERM", "xterm-256color");
    command.env("XDG_CONFIG_HOME", folder.path());
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let parser = Arc::new(Mutex::new(Parser::new(ROWS, COLUMNS, 0)));
    watch(pair.master.try_clone_reader()?, Arc::clone(&parser));
    let mut keys = pair.master.take_writer()?;
    let film = Film { columns: COLUMNS, rows: ROWS, frames: Vec::new() };
    let mut stage = Stage { parser, film, looked: Instant::now() };
    let acted = steps.iter().try_for_each(|step| act(&mut stage, step, &mut *keys));
    child.kill()?;
    acted?;
    if let Some((_, shown)) = stage.film.frames.last_mut() {
        *shown += LAST;
    }
    Ok(stage.film)
}

fn act(stage: &mut Stage, step: &Step, keys: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    match step {
        Step::Pause(time) => {
            stage.until(*time, |_| false);
        }
        Step::Wait(text) => {
            if !stage.until(PATIENCE, |stage| stage.shows(text)) {
                let shown = stage.parser.lock().unwrap_or_else(PoisonError::into_inner).screen().contents();
                return Err(format!("not on the screen: {text}\n{shown}").into());
            }
        }
        // Like a person typing: one key, then a look.
        Step::Send(text) if text.starts_with('\x1b') => send(stage, text.as_bytes(), keys)?,
        Step::Send(text) => {
            let mut buffer = [0; 4];
            for letter in text.chars() {
                send(stage, letter.encode_utf8(&mut buffer).as_bytes(), keys)?;
            }
        }
    }
    Ok(())
}

fn send(stage: &mut Stage, bytes: &[u8], keys: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    keys.write_all(bytes)?;
    keys.flush()?;
    stage.until(2 * SHUTTER, |_| false);
    Ok(())
}

fn watch(mut reader: Box<dyn Read + Send>, parser: Arc<Mutex<Parser>>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            parser.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..count]);
        }
    });
}

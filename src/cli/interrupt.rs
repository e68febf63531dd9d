//! SIGINT, SIGTERM and SIGHUP of a headless command: the first cancels at the next boundary of
//! a sample, the second kills the engine and completes the folder, the third ends this
//! program at once.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, process, ptr, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::run::runner::Control;

/// A run makes fewer files than this one after the other.
const ATTEMPTS: u32 = 10;

/// The signals so far, and the run that they concern.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    signals: u32,
    run: Option<Sender<Control>>,
    /// What is not to outlive this program.
    temporary: Option<PathBuf>,
}

impl Interrupt {
    /// Listens from now on, once for all runs of a command.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn listen() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        // `nohup` has it ignored, and so it stays.
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let wanted = [SIGINT, SIGTERM].into_iter().chain(hangup);
        let (mut signals, listener) = (Signals::new(wanted)?, interrupt.clone());
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                match listener.signal() {
                    Some(text) => drop(writeln!(io::stderr(), "\nscatterlab: {text}")),
                    None => {
                        listener.sweep();
                        process::exit(128 + signal)
                    }
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Whether somebody asked to stop: then no further run should start.
    pub fn requested(&self) -> bool {
        self.state(|state| state.signals > 0)
    }

    /// Signals concern this run from now on, also one that came just before.
    pub fn attach(&self, run: Sender<Control>) {
        self.state(|state| {
            if state.signals > 0 {
                let _ = run.send(Control::Cancel);
            }
            state.run = Some(run);
        });
    }

    /// An end at once, too, removes this folder, which is temporary.
    pub fn clears(&self, folder: &Path) {
        self.state(|state| state.temporary = Some(folder.to_owned()));
    }

    fn sweep(&self) {
        let Some(folder) = self.state(|state| state.temporary.take()) else { return };
        // The run, which goes on meanwhile, may add a file to a folder that was just empty.
        let _ = (0..ATTEMPTS).any(|_| fs::remove_dir_all(&folder).is_ok());
    }

    /// The run is over.
    pub fn detach(&self) {
        self.state(|state| state.run = None);
    }

    /// Acts on one more signal and says how; `None` when it is time to end at once.
    fn signal(&self) -> Option<&'static str> {
        self.state(|state| {
            state.signals += 1;
            let (control, text) = match state.signals {
                1 => (Control::Cancel, "cancelling at the end of this sample; once more kills the engine"),
                2 => (Control::Kill, "killing the engine; once more ends at once"),
                _ => return None,
            };
            if let Some(run) = &state.run {
                // A run that has just ended needs no telling.
                let _ = run.send(control);
            }
            Some(text)
        })
    }

    fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether whoever started this program has the signal ignored.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a value of this plain struct, which is written and not kept.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn each_signal_is_more_urgent_than_the_last() {
        let (interrupt, (sender, run)) = (Interrupt::default(), channel());
        assert!(!interrupt.requested());
        interrupt.attach(sender);
        assert!(interrupt.signal().is_some_and(|text| text.contains("cancelling")));
        assert!(interrupt.requested());
        assert!(interrupt.signal().is_some_and(|text| text.contains("killing")));
        assert_eq!(interrupt.signal(), None);
        assert_eq!(run.try_iter().collect::<Vec<_>>(), [Control::Cancel, Control::Kill]);
    }

    #[test]
    fn an_end_at_once_leaves_no_temporary_folder() {
        let (interrupt, folder) = (Interrupt::default(), tempfile::tempdir().expect("a folder"));
        fs::write(folder.path().join("events"), "").expect("a file");
        interrupt.clears(folder.path());
        interrupt.sweep();
        assert!(!folder.path().exists());
    }

    /// Rust itself ignores SIGPIPE.
    #[test]
    fn an_ignored_signal_is_known() {
        assert!(is_ignored(libc::SIGPIPE) && !is_ignored(libc::SIGCHLD));
    }

    #[test]
    fn a_signal_just_before_a_run_cancels_it() {
        let (interrupt, (sender, run)) = (Interrupt::default(), channel());
        assert!(interrupt.signal().is_some());
        interrupt.attach(sender);
        assert_eq!(run.try_recv(), Ok(Control::Cancel));
    }
}

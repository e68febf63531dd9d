//! SIGINT, SIGTERM and SIGHUP of a headless command: the first signal cancels the run at the next sample
//! boundary, the second kills the engine and completes the folder, and the third ends this program at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, process, ptr, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::out;
use crate::run::runner::Control;

/// Attempts at removing the folder: a run creates fewer files than this in succession.
const ATTEMPTS: u32 = 10;

/// The number of signals so far, and the run that they affect.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    signals: u32,
    run: Option<Sender<Control>>,
    /// A folder that must not outlive this program.
    temporary: Option<PathBuf>,
}

impl Interrupt {
    /// Installs the handlers, once for all runs of a command.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn listen() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        // `nohup` ignores SIGHUP, and it must stay ignored.
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let wanted = [SIGINT, SIGTERM].into_iter().chain(hangup);
        let (mut signals, listener) = (Signals::new(wanted)?, interrupt.clone());
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                match listener.signal() {
                    Some(text) => out::error_text(&format!("\nscatterlab: {text}\n")),
                    None => {
                        listener.sweep();
                        process::exit(128 + signal)
                    }
                }
            }
        })?;
        Ok(interrupt)
    }

    /// Whether the user asked to stop, in which case no further run should start.
    pub fn requested(&self) -> bool {
        self.state(|state| state.signals > 0)
    }

    /// Directs signals at this run from now on, including one that came just before.
    pub fn attach(&self, run: Sender<Control>) {
        self.state(|state| {
            if state.signals > 0 {
                let _ = run.send(Control::Cancel);
            }
            state.run = Some(run);
        });
    }

    /// Has this temporary folder removed even if the program ends at once.
    pub fn clears(&self, folder: &Path) {
        self.state(|state| state.temporary = Some(folder.to_owned()));
    }

    fn sweep(&self) {
        let Some(folder) = self.state(|state| state.temporary.take()) else { return };
        // The run, which continues meanwhile, may add a file to a folder that was just emptied.
        let _ = (0..ATTEMPTS).any(|_| fs::remove_dir_all(&folder).is_ok());
    }

    /// Notes that the run is over.
    pub fn detach(&self) {
        self.state(|state| state.run = None);
    }

    /// Acts on one more signal and describes the action; `None` when the program should end at once.
    fn signal(&self) -> Option<&'static str> {
        self.state(|state| {
            state.signals += 1;
            let (control, text) = match state.signals {
                1 => (Control::Cancel, "cancelling at the end of this sample; ctrl-c again kills the engine"),
                2 => (Control::Kill, "killing the engine; ctrl-c again ends at once"),
                _ => return None,
            };
            if let Some(run) = &state.run {
                // A run that has just ended no longer listens.
                let _ = run.send(control);
            }
            Some(text)
        })
    }

    fn state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether the parent process had this signal ignored.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid value of this plain struct; the call only writes to it and keeps no
    // reference.
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

    /// The Rust runtime ignores SIGPIPE.
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

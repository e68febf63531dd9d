//! Requests from the user interface to a run in progress. A request interrupts the wait for the engine's next
//! event, so the driver never polls.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::runner::Control;
use crate::run::client::Waker;

/// The receiving end, held by the thread that drives the run.
#[derive(Debug)]
pub struct Controls {
    said: Receiver<Control>,
    /// Requests received but not yet returned by [`Controls::next`].
    kept: VecDeque<Control>,
    /// Wakes the thread that waits for the current engine.
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Controls {
    /// Creates both ends of the channel.
    ///
    /// # Errors
    /// When no thread can be started to listen for requests.
    pub fn new() -> io::Result<(Sender<Control>, Controls)> {
        let (control, asked) = mpsc::channel();
        let (sender, said) = mpsc::channel();
        let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
        let shared = Arc::clone(&waker);
        thread::Builder::new().name("controls".into()).spawn(move || {
            for asked in asked {
                if sender.send(asked).is_err() {
                    return;
                }
                wake(&shared);
            }
            // A disconnected user interface counts as a request to cancel.
            drop(sender);
            wake(&shared);
        })?;
        Ok((control, Controls { said, kept: VecDeque::new(), waker }))
    }

    /// Registers the engine whose wait each later request interrupts. Earlier requests have to be polled with
    /// [`next`](Self::next).
    pub fn ring_at(&self, engine: Waker) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    /// The next request. A disconnected user interface counts as [`Control::Cancel`].
    pub fn next(&mut self) -> Option<Control> {
        self.kept.pop_front().or_else(|| self.receive())
    }

    /// Whether a request to end the engine is pending. No request is consumed.
    pub fn end(&mut self) -> bool {
        while let Some(asked) = self.receive() {
            self.kept.push_back(asked);
            // A disconnected sender would yield `Cancel` for ever.
            if ends(asked) {
                break;
            }
        }
        self.kept.iter().any(|asked| ends(*asked))
    }

    fn receive(&self) -> Option<Control> {
        match self.said.try_recv() {
            Ok(control) => Some(control),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Control::Cancel),
        }
    }

    /// Blocks until the next request.
    ///
    /// # Errors
    /// When the user interface is gone.
    pub fn wait(&mut self) -> Result<Control, RecvError> {
        self.kept.pop_front().map_or_else(|| self.said.recv(), Ok)
    }
}

fn ends(asked: Control) -> bool {
    matches!(asked, Control::Cancel | Control::Kill | Control::Stop)
}

fn wake(waker: &Mutex<Option<Waker>>) {
    // Clone and release the lock first: ringing blocks while an engine floods its channel.
    let waker = waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(controls: &[Control]) -> Controls {
        let (control, mut heard) = Controls::new().expect("a thread");
        controls.iter().for_each(|asked| control.send(*asked).expect("heard"));
        drop(control);
        // Drain until the last request has passed through the forwarding thread.
        while heard.said.recv().is_ok_and(|asked| {
            heard.kept.push_back(asked);
            true
        }) {}
        heard
    }

    #[test]
    fn nobody_is_a_wish_too() {
        let mut controls = told(&[Control::Pause, Control::Skip(3), Control::Kill]);
        assert_eq!(controls.wait(), Ok(Control::Pause));
        assert_eq!(controls.next(), Some(Control::Skip(3)));
        assert_eq!(controls.wait(), Ok(Control::Kill));
        assert!(controls.wait().is_err());
        assert_eq!(controls.next(), Some(Control::Cancel));
    }

    #[test]
    fn what_does_not_end_an_engine_waits_for_it() {
        let (control, mut controls) = Controls::new().expect("a thread");
        assert!(!controls.end(), "somebody is there and asks for nothing");
        control.send(Control::Pause).expect("heard");
        assert_eq!(controls.wait(), Ok(Control::Pause));
        let mut controls = told(&[Control::Again(1), Control::Cancel]);
        assert!(controls.end() && controls.end());
        assert_eq!((controls.next(), controls.next()), (Some(Control::Again(1)), Some(Control::Cancel)));
        assert!(told(&[]).end(), "nobody is there");
    }
}

//! What the user interface asks of a run. A wish ends the wait for the engine's next
//! word, so that neither has to be looked for again and again.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::runner::Control;
use crate::engine::client::Bell;

/// The driving thread's end.
#[derive(Debug)]
pub struct Controls {
    said: Receiver<Control>,
    /// Looked at, and not asked for yet.
    kept: VecDeque<Control>,
    /// Wakes whoever waits for the engine that runs now.
    bell: Arc<Mutex<Option<Bell>>>,
}

impl Controls {
    /// Both ends.
    ///
    /// # Errors
    /// When there is no thread left that could listen.
    pub fn new() -> io::Result<(Sender<Control>, Controls)> {
        let (control, asked) = mpsc::channel();
        let (sender, said) = mpsc::channel();
        let bell: Arc<Mutex<Option<Bell>>> = Arc::default();
        let shared = Arc::clone(&bell);
        thread::Builder::new().name("wishes".into()).spawn(move || {
            for asked in asked {
                if sender.send(asked).is_err() {
                    return;
                }
                ring(&shared);
            }
            // A user interface that is gone is a wish too.
            drop(sender);
            ring(&shared);
        })?;
        Ok((control, Controls { said, kept: VecDeque::new(), bell }))
    }

    /// From now on each wish ends a wait for this engine; those before it have to be asked
    /// for.
    pub fn ring_at(&self, engine: Bell) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    /// What is asked for next. A user interface that is gone asks for the same as one that
    /// cancels.
    pub fn next(&mut self) -> Option<Control> {
        self.kept.pop_front().or_else(|| self.receive())
    }

    /// Whether something is asked for that ends an engine; everything stays to be asked for.
    pub fn end(&mut self) -> bool {
        while let Some(asked) = self.receive() {
            self.kept.push_back(asked);
            // One that is gone would be so again and again.
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

    /// Waits for one.
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

fn ring(bell: &Mutex<Option<Bell>>) {
    // Not under the lock: an engine that says much makes it wait.
    let bell = bell.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(bell) = bell {
        bell.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(controls: &[Control]) -> Controls {
        let (control, mut heard) = Controls::new().expect("a thread");
        controls.iter().for_each(|asked| control.send(*asked).expect("heard"));
        drop(control);
        // Until the last one has passed the thread in between.
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

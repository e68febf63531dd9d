//! What the user interface asks of a run. A wish ends the wait for the engine's next
//! word, so that neither has to be looked for again and again.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::runner::Control;
use crate::engine::client::Bell;

/// The driving thread's end.
#[derive(Debug)]
pub struct Wishes {
    said: Receiver<Control>,
    /// Wakes whoever waits for the engine that runs now.
    bell: Arc<Mutex<Option<Bell>>>,
}

impl Wishes {
    /// Both ends.
    ///
    /// # Errors
    /// When there is no thread left that could listen.
    pub fn new() -> io::Result<(Sender<Control>, Wishes)> {
        let (control, asked) = mpsc::channel();
        let (sender, said) = mpsc::channel();
        let bell: Arc<Mutex<Option<Bell>>> = Arc::default();
        let shared = Arc::clone(&bell);
        thread::Builder::new().name("wishes".into()).spawn(move || {
            for wish in asked {
                if sender.send(wish).is_err() {
                    return;
                }
                ring(&shared);
            }
            // A user interface that is gone is a wish too.
            drop(sender);
            ring(&shared);
        })?;
        Ok((control, Wishes { said, bell }))
    }

    /// From now on each wish ends a wait for this engine; those before it have to be asked
    /// for.
    pub fn ring_at(&self, engine: Bell) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    /// What is asked for that ends an engine. A user interface that is gone asks for the
    /// same as one that cancels.
    pub fn next(&self) -> Option<Control> {
        match self.said.try_recv() {
            Ok(Control::Resume | Control::Pause) | Err(TryRecvError::Empty) => None,
            Ok(control) => Some(control),
            Err(TryRecvError::Disconnected) => Some(Control::Cancel),
        }
    }

    /// Waits for one.
    ///
    /// # Errors
    /// When the user interface is gone.
    pub fn wait(&self) -> Result<Control, RecvError> {
        self.said.recv()
    }
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

    #[test]
    fn what_ends_an_engine_is_told_apart_and_nobody_is_a_wish_too() {
        let (control, wishes) = Wishes::new().expect("a thread");
        for wish in [Control::Pause, Control::Cancel, Control::Kill] {
            control.send(wish).expect("heard");
        }
        assert_eq!(wishes.wait(), Ok(Control::Pause));
        assert_eq!(wishes.wait(), Ok(Control::Cancel));
        assert_eq!(wishes.wait(), Ok(Control::Kill));
        assert_eq!(wishes.next(), None);
        drop(control);
        assert!(wishes.wait().is_err());
        assert_eq!(wishes.next(), Some(Control::Cancel));
    }
}

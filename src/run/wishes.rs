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
pub struct Wishes {
    said: Receiver<Control>,
    /// Looked at, and not asked for yet.
    kept: VecDeque<Control>,
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
        Ok((control, Wishes { said, kept: VecDeque::new(), bell }))
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
        while let Some(wish) = self.receive() {
            self.kept.push_back(wish);
            // One that is gone would be so again and again.
            if ends(wish) {
                break;
            }
        }
        self.kept.iter().any(|wish| ends(*wish))
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

fn ends(wish: Control) -> bool {
    matches!(wish, Control::Cancel | Control::Kill | Control::Stop)
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

    fn told(wishes: &[Control]) -> Wishes {
        let (control, mut heard) = Wishes::new().expect("a thread");
        wishes.iter().for_each(|wish| control.send(*wish).expect("heard"));
        drop(control);
        // Until the last one has passed the thread in between.
        while heard.said.recv().is_ok_and(|wish| {
            heard.kept.push_back(wish);
            true
        }) {}
        heard
    }

    #[test]
    fn nobody_is_a_wish_too() {
        let mut wishes = told(&[Control::Pause, Control::Skip(3), Control::Kill]);
        assert_eq!(wishes.wait(), Ok(Control::Pause));
        assert_eq!(wishes.next(), Some(Control::Skip(3)));
        assert_eq!(wishes.wait(), Ok(Control::Kill));
        assert!(wishes.wait().is_err());
        assert_eq!(wishes.next(), Some(Control::Cancel));
    }

    #[test]
    fn what_does_not_end_an_engine_waits_for_it() {
        let (control, mut wishes) = Wishes::new().expect("a thread");
        assert!(!wishes.end(), "somebody is there and asks for nothing");
        control.send(Control::Pause).expect("heard");
        assert_eq!(wishes.wait(), Ok(Control::Pause));
        let mut wishes = told(&[Control::Again(1), Control::Cancel]);
        assert!(wishes.end() && wishes.end());
        assert_eq!((wishes.next(), wishes.next()), (Some(Control::Again(1)), Some(Control::Cancel)));
        assert!(told(&[]).end(), "nobody is there");
    }
}

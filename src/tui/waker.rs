//! Wakes the event loop, which sleeps until the terminal, a signal or the run has an event, without polling.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::run::runner::Running;

/// Ends the sleep of the event loop, from any thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<UnixStream>);

impl Waker {
    /// Wakes the loop now, or as soon as it would sleep.
    pub fn wake(&self) {
        // If the pipe is full, the loop wakes anyway.
        let _ = (&*self.0).write(&[0]);
    }

    /// The end to write to, for signal handlers.
    pub fn stream(&self) -> io::Result<UnixStream> {
        self.0.try_clone()
    }
}

/// The end that the event loop listens to.
#[derive(Debug)]
pub struct Wakes(UnixStream);

impl Wakes {
    /// Discards the wake-ups so far.
    pub fn clear(&mut self) {
        let mut heard = [0; 64];
        while matches!(self.0.read(&mut heard), Ok(count) if count == heard.len()) {}
    }
}

impl AsRawFd for Wakes {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Both ends; neither blocks.
///
/// # Errors
/// If no file descriptor is left.
pub fn pair() -> io::Result<(Waker, Wakes)> {
    let (write, read) = UnixStream::pair()?;
    write.set_nonblocking(true)?;
    read.set_nonblocking(true)?;
    Ok((Waker(Arc::new(write)), Wakes(read)))
}

/// The same run, with messages that wake the loop.
///
/// # Errors
/// If the forwarding thread cannot be started; the run is then cancelled.
pub fn watched(running: Running, waker: Waker) -> io::Result<Running> {
    let Running { messages, control, folder } = running;
    Ok(Running { messages: forwarded(messages, waker)?, control, folder })
}

/// The same messages, each of which wakes the loop.
///
/// # Errors
/// If the forwarding thread cannot be started.
pub fn forwarded<T: Send + 'static>(said: Receiver<T>, waker: Waker) -> io::Result<Receiver<T>> {
    let (sender, messages) = mpsc::channel();
    thread::Builder::new().name("messages".into()).spawn(move || {
        for message in said {
            if sender.send(message).is_err() {
                return;
            }
            waker.wake();
        }
        // The loop must also notice that no more messages will come.
        drop(sender);
        waker.wake();
    })?;
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;
    use crate::run::runner::Message;

    fn wait(wakes: &mut Wakes) {
        let mut polled = libc::pollfd { fd: wakes.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd, whose descriptor is open.
        assert_eq!(unsafe { libc::poll(&raw mut polled, 1, 60_000) }, 1, "woken");
        wakes.clear();
    }

    #[test]
    fn each_message_and_the_end_wake_the_loop() {
        let (waker, mut wakes) = pair().expect("a pipe");
        let ((said, messages), (control, _wishes)) = (channel(), channel());
        let running =
            watched(Running { messages, control, folder: PathBuf::new() }, waker).expect("a thread");
        said.send(Message::Over).expect("heard");
        wait(&mut wakes);
        assert_eq!(running.messages.try_recv(), Ok(Message::Over));
        drop(said);
        wait(&mut wakes);
        assert_eq!(running.messages.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn a_thousand_wakes_that_nobody_hears_block_nobody_and_are_one() {
        let (waker, mut wakes) = pair().expect("a pipe");
        (0..100_000).for_each(|_| waker.wake());
        wait(&mut wakes);
        let mut rest = [0; 1];
        assert!(wakes.0.read(&mut rest).is_err(), "nothing is left");
    }
}

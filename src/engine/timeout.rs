//! Timeouts for a kernel that never terminates: how long an engine may make no progress, and how an engine without a
//! client ends itself.

use std::env;
use std::io::{self, BufRead, Read};
use std::thread;
use std::time::Duration;

use anyhow::bail;

/// Environment variable that overrides [`LEAST`], in seconds.
const VARIABLE: &str = "SCATTERLAB_HUNG_AFTER";

/// Every step of an engine may take this long: waking a GPU and compiling kernels for it takes tens of seconds
/// on a busy machine.
const LEAST: Duration = Duration::from_secs(120);

/// The shortest time without progress after which an engine counts as hung, from the environment.
///
/// # Errors
/// When the variable's value is not a positive time.
pub fn after() -> anyhow::Result<Duration> {
    let Some(text) = env::var_os(VARIABLE) else { return Ok(LEAST) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(least) => Ok(least),
        None => bail!("{VARIABLE}={}: expected seconds above 0, such as 120", text.to_string_lossy()),
    }
}

/// An engine's standard input. Its end means that the client is gone; an engine that has not exited within
/// `after` of that must be hung and is occupying its device, so it kills itself. A local client would kill the
/// engine itself; a remote one can only hang up.
pub struct Input<R> {
    inner: R,
    after: Duration,
    ended: bool,
}

impl<R> Input<R> {
    pub fn new(inner: R, after: Duration) -> Input<R> {
        Input { inner, after, ended: false }
    }

    fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let after = self.after;
        // If no thread can be started, the engine ends as it would without this watchdog.
        let _ = thread::Builder::new().name("end".into()).spawn(move || {
            thread::sleep(after);
            // SAFETY: a signal to our own process accesses no memory.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        });
    }
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.inner.fill_buf() {
            // Borrow again below: this borrow cannot be both returned and released for `end`.
            Ok(bytes) if !bytes.is_empty() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                self.end();
                return Err(error);
            }
            Ok(_) => self.end(),
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

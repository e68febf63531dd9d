//! A kernel that never ends: how long nothing may happen, and the end of an engine that
//! nobody listens to.

use std::env;
use std::io::{self, BufRead, Read};
use std::thread;
use std::time::Duration;

use anyhow::bail;

/// Names a variable of the environment with another [`LEAST`], in seconds.
const VARIABLE: &str = "SCATTERLAB_HUNG_AFTER";

/// Whatever an engine does may take so long: a driver that wakes a GPU and compiles kernels
/// for it needs tens of seconds on a busy machine.
const LEAST: Duration = Duration::from_secs(120);

/// The shortest silence by which an engine counts as hung, as the environment says.
///
/// # Errors
/// A value that is no time.
pub fn after() -> anyhow::Result<Duration> {
    let Some(text) = env::var_os(VARIABLE) else { return Ok(LEAST) };
    let seconds = text.to_str().and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(least) => Ok(least),
        None => bail!("{VARIABLE}={}: expected seconds above 0, such as 120", text.to_string_lossy()),
    }
}

/// An engine's input. At its end nobody wants anything any more, and an engine that has not
/// ended so long after it hangs and holds its device: it is killed. A client on this machine
/// does that itself; one elsewhere can only hang up.
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
        // Without a thread to spare it ends as it would have without this.
        let _ = thread::Builder::new().name("end".into()).spawn(move || {
            thread::sleep(after);
            // SAFETY: a signal to ourselves, which touches no memory.
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
            // Asked again below: a borrow cannot be kept and given up.
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

//! Prints without failing on a closed pipe: `println!` would panic, whereas a run should continue to disk even
//! if nobody reads its output.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard output is reserved for another program.
static DIVERTED: AtomicBool = AtomicBool::new(false);

/// Sends lines for people to standard error from now on.
pub fn divert() {
    DIVERTED.store(true, Ordering::Relaxed);
}

fn diverted() -> bool {
    DIVERTED.load(Ordering::Relaxed)
}

/// Whether a person sees the lines as they are printed.
pub fn is_terminal() -> bool {
    if diverted() { io::stderr().is_terminal() } else { io::stdout().is_terminal() }
}

fn stream() -> Box<dyn Write> {
    if diverted() { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
}

/// Prints a line.
pub fn line(text: &str) {
    let _ = writeln!(stream(), "{text}");
}

/// Prints text that contains its own line ends.
pub fn text(text: &str) {
    let _ = match OWN.get() {
        Some(mut own) => own.write_all(text.as_bytes()),
        None => io::stdout().write_all(text.as_bytes()),
    };
}

/// A private copy of standard output, if libraries must not write to it.
static OWN: OnceLock<File> = OnceLock::new();

/// Reserves standard output for [`text`] from now on.
pub fn keep_to_ourselves() -> io::Result<()> {
    let own = take_standard_output()?;
    OWN.get_or_init(|| File::from(own));
    Ok(())
}

/// Keeps a private copy of standard output and points descriptor 1 at standard error,
/// because CUDA's printf and libraries' banners write there.
pub fn take_standard_output() -> io::Result<OwnedFd> {
    // SAFETY: duplicates descriptors that this process owns; the copy has no other owner.
    unsafe {
        let copy = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 || libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

/// Replaces the terminal's current line without ending it. Long text is truncated, because a wrapped line could
/// not be replaced.
pub fn live(text: &str) {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let mut out = stream();
    let _ = write!(out, "\r\x1b[K{}", cut(text, columns.saturating_sub(1))).and_then(|()| out.flush());
}

fn cut(text: &str, columns: usize) -> &str {
    text.char_indices().nth(columns).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!([cut("µs · µs", 4), cut("µs", 4), cut("µs", 0)], ["µs ·", "µs", ""]);
    }
}

//! The terminal is given back even in the moment in which a signal ends the process: SIGABRT, to which a failed allocation
//! leads, and SIGQUIT. A handler may only call what POSIX lists as async-signal-safe: no lock is taken, and nothing is
//! allocated.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use signal_hook::consts::{SIGABRT, SIGQUIT};
use signal_hook::low_level::{emulate_default_handler, register};

use super::TAKEN;

/// Releases the mouse, pasting, colours, the alternate screen and the cursor, as `restore` does.
const SEQUENCES: &[u8] = b"\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?1049l\x1b[?25h";

/// What the message of a failed allocation may have been lost for: it is written to the alternate screen.
const ABORTED: &[u8] = b"scatterlab: aborted; the most frequent reason is that there is no more memory\n";

/// The modes of the terminal before it was taken over.
static BEFORE: AtomicPtr<libc::termios> = AtomicPtr::new(ptr::null_mut());

/// Descriptors that may be the terminal.
const STREAMS: [libc::c_int; 3] = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO];

/// Gives the terminal back from now on where one of these signals arrives while it is taken.
///
/// # Errors
/// If a handler cannot be installed.
pub fn prepare() -> io::Result<()> {
    for signal in [SIGABRT, SIGQUIT] {
        // SAFETY: the action calls only `write`, `tcsetattr`, and what the default of the signal calls.
        unsafe { register(signal, move || end(signal)) }?;
    }
    Ok(())
}

/// Keeps the terminal's modes, before raw mode changes them. Each set of modes is kept until the process ends, because a
/// handler may be looking at it.
pub fn remember() {
    let mut modes = MaybeUninit::<libc::termios>::uninit();
    // SAFETY: `tcgetattr` fills the structure where it returns 0.
    let found = STREAMS.iter().any(|stream| unsafe { libc::tcgetattr(*stream, modes.as_mut_ptr()) } == 0);
    if found {
        // SAFETY: it was filled.
        let modes = Box::new(unsafe { modes.assume_init() });
        BEFORE.store(Box::into_raw(modes), Ordering::Release);
    }
}

/// Gives the terminal back, and lets the signal do what it does without a handler.
fn end(signal: libc::c_int) {
    if TAKEN.swap(false, Ordering::Relaxed) {
        let say = |stream, text: &[u8]| {
            // SAFETY: the text is valid during the call. Whether it arrives makes no difference now.
            unsafe { libc::write(stream, text.as_ptr().cast(), text.len()) };
        };
        say(libc::STDOUT_FILENO, SEQUENCES);
        let before = BEFORE.load(Ordering::Acquire);
        if !before.is_null() {
            // SAFETY: modes that were stored are never freed.
            STREAMS.iter().any(|stream| unsafe { libc::tcsetattr(*stream, libc::TCSANOW, before) } == 0);
        }
        if signal == SIGABRT {
            say(libc::STDERR_FILENO, ABORTED);
        }
    }
    // It does not return, because these signals end the process.
    let _ = emulate_default_handler(signal);
}

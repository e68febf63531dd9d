//! A pseudo-terminal that discards everything drawn on it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::thread;

/// Opens a pseudo-terminal of this size. A thread reads the other side, as a terminal's window would, until the
/// returned side is closed.
///
/// # Errors
/// If the system has no pseudo-terminals left.
pub fn open(columns: u16, rows: u16) -> io::Result<File> {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let (mut window, mut side) = (-1, -1);
    // SAFETY: the call writes two descriptors, which nothing else owns, and reads `size`; name and modes may be
    // null.
    let (window, side) = unsafe {
        if libc::openpty(&raw mut window, &raw mut side, ptr::null_mut(), ptr::null(), &raw const size) < 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(window), OwnedFd::from_raw_fd(side))
    };
    let mut window = File::from(window);
    thread::Builder::new().name("window".into()).spawn(move || {
        let mut page = [0; 1 << 14];
        while window.read(&mut page).is_ok_and(|read| read > 0) {}
    })?;
    Ok(File::from(side))
}

//! Reads the file of `-f`, which a user may point at anything: a device that never ends, or a pipe that nobody
//! writes.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use crate::case::units::fmt_size;
use crate::spatter::Refused;

/// Longest file that is read, bytes.
const MOST: u64 = 32 << 20;

/// The text of a regular file or a pipe.
///
/// # Errors
/// The file is something else, cannot be read, is longer than 32 MiB, or is not UTF-8.
pub fn text(name: &str) -> Result<String, Refused> {
    let unreadable = |error: io::Error| Refused::setup(format!("cannot read {name}: {error}"));
    let too_long = || {
        Refused::setup(format!("{name} is longer than {}, the most that is read of a suite", fmt_size(MOST)))
    };
    // Opening must not wait for the writer of a pipe.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(name).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if let Some(other) = unsuitable(about.file_type()) {
        return Err(Refused::setup(format!("{name} is {other}; accepted: a regular file or a pipe")));
    }
    if about.len() > MOST {
        return Err(too_long());
    }
    wait_for_data(&file).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Refused::usage(format!("{name}: not UTF-8 at byte {at}"))
    })
}

/// What a file is, unless it is a regular file or a pipe.
fn unsuitable(kind: FileType) -> Option<&'static str> {
    match kind {
        _ if kind.is_file() || kind.is_fifo() => None,
        _ if kind.is_dir() => Some("a folder"),
        _ if kind.is_char_device() || kind.is_block_device() => Some("a device"),
        _ => Some("a socket"),
    }
}

/// From now on, reading waits for what a pipe's writer has not written yet.
fn wait_for_data(file: &File) -> io::Result<()> {
    // SAFETY: changes the flags of a descriptor that this process owns.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_files_and_pipes_of_a_sound_length_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let refused = |name: &str| text(name).expect_err(name).message;
        fs::write(at("a.json"), "[]").expect("a file");
        assert_eq!(text(&at("a.json")).as_deref(), Ok("[]"));
        fs::write(at("b.json"), b"[\xff").expect("a file");
        assert!(refused(&at("b.json")).ends_with("b.json: not UTF-8 at byte 1"));
        assert_eq!(refused("/dev/zero"), "/dev/zero is a device; accepted: a regular file or a pipe");
        assert!(refused(&at("")).ends_with("is a folder; accepted: a regular file or a pipe"));
        let long = File::create(at("c.json")).expect("a file");
        long.set_len(3 << 30).expect("a sparse file");
        assert!(refused(&at("c.json")).ends_with("is longer than 32 MiB, the most that is read of a suite"));
    }
}

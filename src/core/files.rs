//! The one way to open what a user names: only regular files, or streams where a stream makes sense, without
//! waiting for anybody, up to a length that depends on what the file holds, and with allocations that may fail.
//!
//! Everything else that opens or reads a file is refused by Clippy (`clippy.toml`), except where a reason is
//! stated.

use std::fmt;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, BufRead, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::case::units::fmt_bytes;
use crate::memory;

pub mod content;

/// A kind of file, and how much of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name in messages, with its article.
    pub what: &'static str,
    /// Longest regular file, bytes.
    pub most: u64,
    /// Most bytes of a pipe; `None` if only regular files are read.
    pub stream: Option<u64>,
}

const fn regular(what: &'static str, most: u64) -> Kind {
    Kind { what, most, stream: None }
}

/// A recipe, or a suite of Spatter that is run as one.
pub const RECIPE: Kind = regular("a recipe", 32 << 20);
/// A suite of Spatter.
pub const SUITE: Kind = Kind { stream: Some(32 << 20), ..regular("a suite", 32 << 20) };
/// The configuration of the user interface.
pub const CONFIGURATION: Kind = regular("a configuration", 1 << 20);
/// A device's profile.
pub const PROFILE: Kind = regular("a profile", 4 << 20);
/// The manifest of a stored run, with the index arrays that its cases hold.
pub const MANIFEST: Kind = regular("a manifest", 256 << 20);
/// The events of a stored run, compressed or not. Runs of several hours produce a few megabytes.
pub const EVENTS: Kind = regular("an event log", 1 << 30);
/// A table or a chart of a stored run.
pub const REPORT: Kind = regular("a table or chart", 1 << 30);
/// A table of values that a paper prints.
pub const TABLE: Kind = regular("a table", 16 << 20);
/// The user's remark on a stored run.
pub const NOTE: Kind = regular("a note", 1 << 20);
/// An index array named by a recipe.
pub const INDICES: Kind = regular("an index file", 16 << 30);
/// An index array named on a command line.
pub const INDEX_STREAM: Kind = Kind { stream: Some(1 << 30), ..INDICES };
/// A file of the system, below `/proc`, `/sys` or `/etc`.
pub const SYSTEM: Kind = regular("a file of the system", 16 << 20);

/// Why a file is not read.
#[derive(Debug)]
pub enum Problem {
    Unreadable {
        path: PathBuf,
        error: io::Error,
    },
    Irregular {
        path: PathBuf,
        is: &'static str,
        kind: Kind,
    },
    Long {
        path: PathBuf,
        length: u64,
        kind: Kind,
    },
    /// A byte that is not UTF-8, with its line and column, from 1; the column counts bytes.
    NotText {
        path: PathBuf,
        line: usize,
        column: usize,
        byte: u8,
    },
    /// A container, or text of another encoding, where text is read.
    Foreign {
        path: PathBuf,
        is: &'static str,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unreadable { path, error } if error.raw_os_error() == Some(libc::ELOOP) => {
                write!(f, "cannot read {}: its symbolic links form a loop; accepted: a file", path.display())
            }
            Problem::Unreadable { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            Problem::Irregular { path, is, kind } => {
                let pipes = if kind.stream.is_some() { " or a pipe" } else { "" };
                write!(f, "{} is {is}; accepted: a regular file{pipes}", path.display())
            }
            Problem::Long { path, length, kind: Kind { what, most, .. } } => {
                let (length, most) = (fmt_bytes(*length), fmt_bytes(*most));
                write!(f, "{} is {length} long; {what} of at most {most} is read", path.display())
            }
            Problem::NotText { path, line, column, byte } => {
                write!(f, "{}:{line}:{column}: the byte {byte:#04x} is not UTF-8 text", path.display())
            }
            Problem::Foreign { path, is } => write!(f, "{} is {is}; accepted: UTF-8 text", path.display()),
        }
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// True if there is no such file, or none that this process could ever see: a folder on the way to it is no folder,
    /// has too long a name, or may not be searched. A file that is there and may not be read is not missing.
    pub fn is_missing(&self) -> bool {
        let Problem::Unreadable { path, error } = self else { return false };
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => true,
            ErrorKind::PermissionDenied => path.symlink_metadata().is_err(),
            _ => error.raw_os_error() == Some(libc::ELOOP),
        }
    }

    fn unreadable(path: &Path) -> impl Fn(io::Error) -> Problem + use<> {
        let path = path.to_owned();
        move |error| Problem::Unreadable { path: path.clone(), error }
    }
}

/// A file that is open for reading and ends with an error where it exceeds its kind's length.
pub type Opened = Bounded<File>;

/// Opens a file of this kind for reading.
///
/// # Errors
/// When the file cannot be opened, is neither a regular file nor an accepted stream, or is too long.
pub fn open(path: &Path, kind: &Kind) -> Result<Opened, Problem> {
    let unreadable = Problem::unreadable(path);
    // Opening a named pipe would wait for its writer, and a terminal could become ours.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = opened(OpenOptions::new().read(true).custom_flags(flags), path).map_err(&unreadable)?;
    let about = file.metadata().map_err(&unreadable)?;
    let what = about.file_type();
    if what.is_file() || is_null(&about) {
        let long = || Problem::Long { path: path.to_owned(), length: about.len(), kind: *kind };
        let bounded = Bounded { expected: about.len(), ..Bounded::new(file, kind.most) };
        return if about.len() > kind.most { Err(long()) } else { Ok(bounded) };
    }
    match kind.stream {
        Some(most) if what.is_fifo() => {
            wait_for_writer(&file).map_err(&unreadable)?;
            Ok(Bounded::new(file, most))
        }
        _ => Err(Problem::Irregular { path: path.to_owned(), is: named(what), kind: *kind }),
    }
}

/// Opens a regular file to append to it; `create` makes one that does not exist.
///
/// # Errors
/// When the file cannot be opened, or is not a regular file.
pub fn append(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(create).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    regular_only(opened(&mut options, path)?)
}

/// Opens an existing regular file for reading and writing.
///
/// # Errors
/// As for [`append`].
pub fn update(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    regular_only(opened(&mut options, path)?)
}

#[expect(clippy::disallowed_methods, reason = "this module checks what it has opened")]
fn opened(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

fn regular_only(file: File) -> io::Result<File> {
    let what = file.metadata()?.file_type();
    match what.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!("it is {}; accepted: a regular file", named(what)))),
    }
}

/// All bytes of a file.
///
/// # Errors
/// As for [`open`], or when the memory does not suffice.
pub fn bytes(path: &Path, kind: &Kind) -> Result<Vec<u8>, Problem> {
    open(path, kind)?.rest().map_err(Problem::unreadable(path))
}

/// The text in a file.
///
/// # Errors
/// As for [`bytes`] and [`text_of`].
pub fn text(path: &Path, kind: &Kind) -> Result<String, Problem> {
    text_of(path, bytes(path, kind)?)
}

/// The text that the bytes of a file are.
///
/// # Errors
/// When they are a container, or not UTF-8.
pub fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    if let Some(is) = content::foreign(&bytes) {
        return Err(Problem::Foreign { path: path.to_owned(), is });
    }
    String::from_utf8(bytes).map_err(|error| {
        let (before, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        Problem::NotText {
            path: path.to_owned(),
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: line.len() + 1,
            byte: rest.first().copied().unwrap_or_default(),
        }
    })
}

/// Whether a name leads to something, even if it cannot be opened: only then is it worth saying why.
pub fn is_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// The text in a file of the system; `None` if it cannot be read.
pub fn system(path: impl AsRef<Path>) -> Option<String> {
    text(path.as_ref(), &SYSTEM).ok()
}

/// A reader that fails once it has produced more than a number of bytes, because a few kilobytes of gzip, a
/// pipe or a growing file can fill any memory.
#[derive(Debug)]
pub struct Bounded<R> {
    source: R,
    most: u64,
    left: u64,
    /// Bytes of a regular file when it was opened; 0 where the length is not known.
    expected: u64,
}

/// Bytes that are read at a time where the length is not known.
const PIECE: usize = 1 << 20;

impl<R: Read> Bounded<R> {
    pub fn new(source: R, most: u64) -> Bounded<R> {
        Bounded { source, most, left: most, expected: 0 }
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// When there are too many bytes, or too many for the memory.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        self.rest_after(Vec::new())
    }

    /// Reads to the end, behind the bytes that were read before.
    ///
    /// # Errors
    /// As for [`Self::rest`].
    pub fn rest_after(&mut self, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let refused = |why| io::Error::new(ErrorKind::OutOfMemory, why);
        let expected = usize::try_from(self.expected.min(self.most)).unwrap_or(usize::MAX);
        // One byte more tells the end without further memory.
        let more = expected.saturating_sub(bytes.len()).saturating_add(1);
        memory::reserve(&mut bytes, more).map_err(refused)?;
        loop {
            let room = bytes.capacity() - bytes.len();
            if self.by_ref().take(room as u64).read_to_end(&mut bytes)? < room {
                return Ok(bytes);
            }
            memory::reserve(&mut bytes, PIECE).map_err(refused)?;
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        let left = self.left.checked_sub(read as u64);
        let long =
            || io::Error::other(format!("it is longer than {}, the most that is read", fmt_bytes(self.most)));
        self.left = left.ok_or_else(long)?;
        Ok(read)
    }
}

/// How much a gzip file may hold. Gzip makes a thousandth of what repeats, so that a megabyte could fill the memory.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// How many times the bytes that it has itself.
    times: u64,
    /// How many separators of words, for each of its bytes; `None` if it holds no text.
    separators: Option<u64>,
}

/// Text. Matrices, graphs and lists of different numbers shrink to a fourteenth at most, and a number takes half a byte or
/// more; but two numbers in four bytes of text may become 48 bytes of a matrix.
pub const TEXT: Expansion = Expansion { times: 20, separators: Some(4) };

/// Arrays of words, which take as much memory as they have bytes, and as much again where they are sorted.
pub const WORDS: Expansion = Expansion { times: 64, separators: None };

/// The events of a run, which are read line by line.
pub const EVENT_LINES: Expansion = Expansion { times: 128, separators: None };

/// Bytes, and separators, that a gzip file may hold however short it is.
const SHORT: u64 = 16 << 20;
const FEW: u64 = 4 << 20;

/// The contents of a gzip file of one or more members, up to this many bytes and to so much of what it has itself.
pub fn gzip(source: impl BufRead, most: u64, expansion: Expansion) -> Bounded<impl Read> {
    let source = MultiGzDecoder::new(Counted { source, taken: 0 });
    Bounded::new(Gzip { source, expansion, given: 0, separators: 0 }, most)
}

struct Gzip<R> {
    source: MultiGzDecoder<Counted<R>>,
    expansion: Expansion,
    /// Bytes and separators so far.
    given: u64,
    separators: u64,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let damaged =
            |why: io::Error| io::Error::new(why.kind(), format!("it is not a complete gzip file: {why}"));
        let read = self.source.read(into).map_err(damaged)?;
        let own = self.source.get_ref().taken;
        let within = |found: u64, short: u64, times: u64, what: &str| match found {
            _ if found <= short.max(own.saturating_mul(times)) => Ok(()),
            _ => Err(io::Error::other(format!(
                "its first {own} bytes unpack to more than {short} {what}, and to more than {times} for each of them, \
                 the most that is read; unpack it first"
            ))),
        };
        self.given += read as u64;
        within(self.given, SHORT, self.expansion.times, "bytes")?;
        if let Some(times) = self.expansion.separators {
            let separates = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b',' | b';');
            self.separators += into[..read].iter().filter(separates).count() as u64;
            within(self.separators, FEW, times, "words")?;
        }
        Ok(read)
    }
}

/// A reader that counts the bytes which are taken from it.
struct Counted<R> {
    source: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.taken += bytes as u64;
        self.source.consume(bytes);
    }
}

/// Waits until a pipe has a writer, for a while, and has its reads wait from then on. Without a writer the pipe
/// is read as empty.
fn wait_for_writer(pipe: &File) -> io::Result<()> {
    const PATIENCE: i32 = 2000;
    let descriptor = pipe.as_raw_fd();
    let mut wanted = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // SAFETY: the descriptor is open, and `wanted` is one valid entry; neither call keeps a reference.
    unsafe {
        // A failed wait is a short one.
        let _ = libc::poll(&raw mut wanted, 1, PATIENCE);
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        if flags < 0 || libc::fcntl(descriptor, libc::F_SETFL, flags & !libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// True if this is `/dev/null`, the conventional empty file.
fn is_null(about: &Metadata) -> bool {
    about.file_type().is_char_device() && about.rdev() == libc::makedev(1, 3)
}

fn named(what: FileType) -> &'static str {
    match what {
        _ if what.is_dir() => "a folder",
        _ if what.is_fifo() => "a pipe",
        _ if what.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(test)]
mod tests;

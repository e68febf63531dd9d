//! Writing to a process that may not read.

use std::io::{self, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Starts a thread that writes lines to the standard input of a process, so that one that does not read cannot block
/// us; returns where to send them.
///
/// # Errors
/// When the thread cannot be started.
pub fn writer(name: &str, mut input: impl Write + Send + 'static) -> io::Result<Sender<Vec<u8>>> {
    let (sender, lines) = mpsc::channel::<Vec<u8>>();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Broken pipe: the reader of the process's output notices its end.
        lines.into_iter().all(|line| input.write_all(&line).and_then(|()| input.flush()).is_ok())
    })?;
    Ok(sender)
}

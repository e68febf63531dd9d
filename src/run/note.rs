//! The user's remark on a run: one line in a small file of the run's folder.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;

use super::writes::replace;
use crate::case::units::escaped;
use crate::files;

/// The name of the note's file.
pub const FILE: &str = "note.txt";

/// Largest length of a note, characters.
pub const LONGEST: usize = 400;

/// Most bytes read from the file.
const MOST_BYTES: u64 = 4096;

/// The first line of a run's note, with control characters escaped; `None` without one.
pub fn read(run: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    files::open(&run.join(FILE), &files::NOTE).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = one_line(text.lines().next()?);
    (!line.is_empty()).then_some(line)
}

/// Writes a run's note atomically; an empty note removes the file.
///
/// # Errors
/// When the folder cannot be written.
pub fn write(run: &Path, text: &str) -> anyhow::Result<()> {
    let path = run.join(FILE);
    let line = one_line(text);
    let written = match line.is_empty() {
        true if !path.exists() => Ok(()),
        true => fs::remove_file(&path),
        false => replace(run, FILE, |file| {
            file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_all())
        }),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn one_line(text: &str) -> String {
    escaped(text.trim()).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_that_steers_no_terminal() {
        let run = tempfile::tempdir().expect("temporary folder");
        assert_eq!(read(run.path()), None);
        write(run.path(), "  before the\tBIOS update\u{1b}[2J \n").expect("written");
        assert_eq!(read(run.path()).as_deref(), Some(r"before the\tBIOS update\u{1b}[2J"));
        fs::write(run.path().join(FILE), b"\x1b]52;c;eA==\x07 \xff\nsecond\n").expect("written");
        assert_eq!(read(run.path()).as_deref(), Some("\\u{1b}]52;c;eA==\\u{7} \u{fffd}"));
        fs::write(run.path().join(FILE), "x".repeat(1 << 20)).expect("written");
        assert_eq!(read(run.path()).map(|note| note.len()), Some(LONGEST));
        write(run.path(), " ").expect("removed");
        assert!(!run.path().join(FILE).exists());
        write(run.path(), "").expect("nothing to remove");
        let error = write(&run.path().join("gone"), "x").expect_err("no folder").to_string();
        assert!(error.contains("gone/note.txt"), "{error}");
    }
}

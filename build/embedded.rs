//! Lists of files whose text the binary carries.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `LIST.rs`: an expression, a slice of each file's path in the source tree and its text.
///
/// # Errors
/// A list that cannot be written.
pub fn list(list: &Path, files: Vec<PathBuf>) -> io::Result<()> {
    let tree = env::current_dir()?;
    let mut text = String::from("&[\n");
    for file in files {
        // Whatever separates folders where this is built.
        let path = file.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        let _ = writeln!(text, "({path:?}, include_str!({:?})),", tree.join(file));
    }
    text.push_str("]\n");
    fs::write(list.with_extension("rs"), text)
}

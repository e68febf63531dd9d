//! Lists of files whose text the binary carries.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `LIST.rs`: a slice expression with the source-tree path and the text of each file.
///
/// # Errors
/// The list cannot be written.
pub fn list(list: &Path, files: Vec<PathBuf>) -> io::Result<()> {
    let tree = env::current_dir()?;
    let mut text = String::from("&[\n");
    for file in files {
        // Paths use `/`, whatever the separator of the build platform.
        let path = file.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        let _ = writeln!(text, "({path:?}, include_str!({:?})),", tree.join(file));
    }
    text.push_str("]\n");
    fs::write(list.with_extension("rs"), text)
}

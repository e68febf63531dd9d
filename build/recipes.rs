//! The recipes of `experiments/`, in the order in which the program lists them.

use std::io;
use std::path::{Path, PathBuf};

use super::{embedded, files, inside};

/// Writes `recipes.rs` into `out`. First come those that belong to no paper, `quickstart.yaml` before all; then
/// folders, by the year of a paper at the end of their names; of a folder the figures and tables, then the
/// others. Where that leaves an order open, it is that of the names.
///
/// # Errors
/// A folder that cannot be read, and a list that cannot be written.
pub fn list(out: &Path) -> io::Result<()> {
    let mut recipes = files("experiments", "yaml")?;
    let folders = inside("experiments")?.into_iter().filter(|path| path.is_dir());
    // The profiles are no recipes.
    for folder in folders.filter(|folder| !folder.ends_with("profiles")) {
        recipes.extend(files(&folder.to_string_lossy(), "yaml")?);
    }
    recipes.sort_by_cached_key(|path| place(path.as_path()));
    embedded::list(&out.join("recipes"), recipes)
}

/// What the order goes by.
fn place(path: &Path) -> (Option<u32>, PathBuf, bool, PathBuf) {
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let first = ["quickstart", "fig", "table"].iter().any(|word| name.starts_with(word));
    (year(&folder.to_string_lossy()), folder.to_owned(), !first, path.to_owned())
}

/// The digits at the end of a folder's name.
fn year(folder: &str) -> Option<u32> {
    folder[folder.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
}

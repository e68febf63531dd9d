//! The recipes of `experiments/`, in the order in which the program lists them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{embedded, files, inside};

/// Writes `recipes.rs` into `out`, `papers.rs` with the keys of papers, `claims.rs` with what they claim, and `published.rs`
/// with what they print. Recipes that belong to no paper come first, led by `quickstart.yaml`; then folders, ordered by the
/// year of publication that ends their names; within a folder, figures and tables precede the rest. Ties are broken by name.
///
/// # Errors
/// A folder cannot be read, or the list cannot be written.
pub fn list(out: &Path) -> io::Result<()> {
    let mut recipes = files("experiments", "yaml")?;
    let folders = inside("experiments")?.into_iter().filter(|path| path.is_dir());
    // Profiles are not recipes.
    for folder in folders.filter(|folder| !folder.ends_with("profiles")) {
        recipes.extend(files(&folder.to_string_lossy(), "yaml")?);
    }
    recipes.sort_by_cached_key(|path| place(path.as_path()));
    // Nor is what a paper claims.
    let claims = recipes.extract_if(.., |path| path.ends_with("paper.yaml")).collect();
    embedded::list(&out.join("claims"), claims)?;
    let papers = inside("experiments")?.into_iter().map(|path| path.join("published"));
    let mut published = Vec::new();
    for folder in papers.filter(|folder| folder.is_dir()) {
        published.extend(files(&folder.to_string_lossy(), "csv")?);
    }
    published.sort();
    let mut keys: Vec<_> = inside("experiments")?.into_iter().filter(|path| path.is_dir()).collect();
    // A paper's folder is named after its first author and its year.
    keys.retain(|path| year(&path.to_string_lossy()).is_some());
    keys.sort_by_cached_key(|path| (year(&path.to_string_lossy()), path.clone()));
    let keys: Vec<_> =
        keys.iter().filter_map(|path| path.file_name()).map(|key| key.to_string_lossy()).collect();
    fs::write(out.join("papers.rs"), format!("&{keys:?}"))?;
    embedded::list(&out.join("published"), published)?;
    embedded::list(&out.join("recipes"), recipes)
}

/// The sort key of a recipe.
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

//! The index files of a stored run: where a folder that was moved has them, and the arrays that its own copy of the
//! recipe names.

use std::path::Path;

use super::layout::RECIPE;
use super::stored;
use crate::case::{IndexFile, IndexFiles};
use crate::files;
use crate::inputs::indices::{self, LocalFiles};

/// The files that a recipe names, beside it. A stored run's own copy of its recipe names the arrays that the run has
/// measured, by their hashes, and finds them in the run's folder.
pub fn of_recipe(recipe: &Path) -> Box<dyn IndexFiles + Send + Sync> {
    let folder = recipe.parent().unwrap_or(Path::new(""));
    let beside = LocalFiles::of(folder);
    if recipe.file_name().is_none_or(|name| name != RECIPE) {
        return Box::new(beside);
    }
    // A folder without a run, or with a damaged one, is an ordinary folder.
    let here = if folder == Path::new("") { Path::new(".") } else { folder };
    let mut files = stored::manifest(here).map(|manifest| manifest.plan.indices).unwrap_or_default();
    locate(&mut files, here);
    Box::new(OfRun { folder: here.display().to_string(), files, beside })
}

/// Updates the places of a stored run's files, because its folder may have been moved: the copies, or without one the
/// file itself if it has been put into the folder.
pub fn locate(files: &mut [IndexFile], run: &Path) {
    indices::locate(files, run);
    for file in files {
        let beside = run.join(&file.path);
        if beside.is_file() && !file.source.as_deref().is_some_and(Path::exists) {
            file.source = std::path::absolute(beside).ok();
        }
    }
}

/// The arrays of a stored run.
struct OfRun {
    folder: String,
    files: Vec<IndexFile>,
    beside: LocalFiles,
}

impl IndexFiles for OfRun {
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        let named = |file: &&IndexFile| file.path == path && file.column.as_deref() == column;
        // A file that the run does not have was added to its recipe by hand.
        let Some(file) = self.files.iter().find(named) else { return self.beside.look(path, column) };
        let (folder, hash) = (&self.folder, file.hash.get(..12).unwrap_or(&file.hash));
        let places = [(&file.copy, None), (&file.source, column)];
        let mut missing = format!(
            "{path} is not in {folder}: its array, with the hash {hash}…, is neither below {folder}/{} nor in a file \
             {folder}/{path}",
            indices::FOLDER
        );
        for (place, column) in places {
            let Some(place) = place.as_deref().filter(|place| files::is_there(place)) else { continue };
            match self.beside.look_at(place, path, column) {
                Ok(found) if found.hash == file.hash => return Ok(file.clone()),
                Ok(_) => {
                    missing = format!(
                        "{} does not hold the array of the run in {folder}, which has the hash {hash}…; to run this \
                         one, copy the recipe into a folder of its own",
                        place.display()
                    );
                }
                Err(error) => missing = error,
            }
        }
        Err(missing)
    }

    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
        self.beside.indices(file)
    }
}

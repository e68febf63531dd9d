//! The files that a recipe names: beside it, with those of its paper, or in the folder of a stored run, which may have been
//! moved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layout::{EVENTS, MANIFEST, RECIPE};
use super::{events, stored};
use crate::case::peers::Program;
use crate::case::published::Table;
use crate::case::{IndexFile, IndexFiles, PaperFolder};
use crate::files;
use crate::inputs::indices::{self, LocalFiles};
use crate::recipe::paper::Known;
use crate::recipe::plan::Plan;
use crate::recipe::published::{find, is_table};
use crate::recipe::{paper, programs};

/// The files that a recipe names, beside it. A stored run's own copy of its recipe names the arrays that the run has
/// measured, by their hashes, and finds them in the run's folder.
pub fn of_recipe(recipe: &Path) -> Box<dyn IndexFiles + Send + Sync> {
    let folder = recipe.parent().unwrap_or(Path::new(""));
    let beside = LocalFiles::of(folder);
    if recipe.file_name().is_none_or(|name| name != RECIPE) || !is_run(folder) {
        return Box::new(OfFolder { folder: folder.to_owned(), beside });
    }
    let here = here(folder);
    // A damaged run has no arrays.
    let plan = stored::manifest(here).map(|manifest| manifest.plan).ok();
    let (mut files, programs) = plan.map(|plan| (plan.indices, plan.programs)).unwrap_or_default();
    locate(&mut files, here);
    Box::new(OfRun { folder: here.to_owned(), files, programs, beside })
}

/// The folder as a path that can be opened.
fn here(folder: &Path) -> &Path {
    if folder == Path::new("") { Path::new(".") } else { folder }
}

/// Whether a folder holds a run.
fn is_run(folder: &Path) -> bool {
    [MANIFEST, EVENTS, events::PACKED].into_iter().any(|name| files::is_there(&here(folder).join(name)))
}

/// The table `published/…` of the paper with this key in a folder, if it is there.
///
/// # Errors
/// When it cannot be read, or has a mistake.
pub fn table(folder: &Path, key: &str, file: &str) -> Result<Option<Table>, String> {
    let path = here(folder).join(file);
    if !is_table(file) || !files::is_there(&path) {
        return Ok(None);
    }
    let text = files::text(&path, &files::TABLE).map_err(|problem| problem.to_string())?;
    let read = Table::read(&path.display().to_string(), &text)?;
    Ok(Some(Table { path: format!("{key}/{file}"), ..read }))
}

/// Gives a stored run's plan the paper, and its charts the tables, that the run has kept; returns what is wrong with them.
pub(super) fn attach(plan: &mut Plan, run: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let keeps =
        |(key, known): &(&String, &Known)| matches!(known, Known::Each(_)) && paper::find(key).is_none();
    if let Some((key, _)) = plan.claims.iter().find(keeps) {
        let file = run.join(paper::FILE);
        let read = files::text(&file, &files::RECIPE).map_err(|problem| problem.to_string());
        let read = read.and_then(|text| {
            paper::parse(key, &file.to_string_lossy(), &text).map_err(|mistake| mistake.to_string())
        });
        match read {
            Ok(found) => plan.paper = Some(Arc::new(found)),
            Err(mistake) => wrong.push(format!("{mistake}; no claim of {key} is judged")),
        }
    }
    for published in plan.experiments.iter_mut().filter_map(|one| one.chart.overlay.as_mut()) {
        let Some((key, file)) = published.file.split_once('/') else { continue };
        match table(run, key, file) {
            Ok(Some(found)) => published.table = Some(Arc::new(found)),
            Ok(None) if find(&published.file).is_some() => {}
            Ok(None) => wrong.push(format!("{} has no {file}: its chart is drawn without", run.display())),
            Err(mistake) => wrong.push(format!("{mistake}; its chart is drawn without")),
        }
    }
    wrong
}

/// The files of an ordinary folder, which may be that of a paper.
struct OfFolder {
    folder: PathBuf,
    beside: LocalFiles,
}

impl IndexFiles for OfFolder {
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        self.beside.look(path, column)
    }

    fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
        self.beside.indices(file)
    }

    fn paper(&self) -> PaperFolder {
        let folder = here(&self.folder);
        let whole = folder.canonicalize().unwrap_or_default();
        let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if folder.join(paper::FILE).is_file() { PaperFolder::Of(name) } else { PaperFolder::Without(name) }
    }

    fn paper_text(&self) -> Option<String> {
        files::text(&here(&self.folder).join(paper::FILE), &files::RECIPE).ok()
    }

    fn table(&self, key: &str, file: &str) -> Result<Option<Table>, String> {
        match self.paper() {
            PaperFolder::Of(name) if name == key => table(&self.folder, key, file),
            _ => Ok(None),
        }
    }

    fn programs(&self) -> Result<Vec<Program>, String> {
        let folder = here(&self.folder);
        let path = folder.join(paper::FILE);
        if !files::is_there(&path) {
            return Ok(Vec::new());
        }
        let text = files::text(&path, &files::RECIPE).map_err(|problem| problem.to_string())?;
        let found =
            programs::programs(&path.display().to_string(), &text).map_err(|error| error.to_string())?;
        let folder = std::path::absolute(folder).ok();
        Ok(found.into_iter().map(|program| Program { folder: folder.clone(), ..program }).collect())
    }
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
    folder: PathBuf,
    files: Vec<IndexFile>,
    programs: Vec<Program>,
    beside: LocalFiles,
}

impl IndexFiles for OfRun {
    fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
        let named = |file: &&IndexFile| file.path == path && file.column.as_deref() == column;
        // A file that the run does not have was added to its recipe by hand.
        let Some(file) = self.files.iter().find(named) else { return self.beside.look(path, column) };
        let (folder, hash) = (self.folder.display(), file.hash.get(..12).unwrap_or(&file.hash));
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

    fn table(&self, key: &str, file: &str) -> Result<Option<Table>, String> {
        table(&self.folder, key, file)
    }

    fn programs(&self) -> Result<Vec<Program>, String> {
        Ok(self.programs.clone())
    }
}

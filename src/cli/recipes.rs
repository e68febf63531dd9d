//! Finds recipes: files, those shipped in the binary, and Spatter's suites.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::out;
use crate::case::IndexFiles;
use crate::files;
use crate::recipe;
use crate::recipe::plan::{self, Overrides, Plan};
use crate::recipe::shipped::{self, shipped};
use crate::run::index_files;
use crate::run::stored::Stored;
use crate::spatter::{self, suite};

/// A recipe's text and origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, or the shipped name.
    pub path: PathBuf,
    pub text: String,
    /// True for a recipe that ships with the program.
    pub shipped: bool,
}

impl Source {
    /// The text of a file.
    pub fn of_file(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into(), shipped: false }
    }

    /// Finds the file with this name, or else the shipped recipe with this name, with or without `experiments/`
    /// before it and `.yaml` after it, or shortened as long as it means one recipe: `he2007/fig9`.
    pub fn find(name: impl AsRef<OsStr>) -> anyhow::Result<Source> {
        let path = Path::new(&name);
        // No shipped recipe has a name that is not text.
        let name = &*path.to_string_lossy();
        if files::is_there(path) && !path.is_dir() {
            let text = files::text(path, &files::RECIPE)?;
            return Ok(Source::of_file(path, as_recipe(name, &text)?));
        }
        if path.is_dir() {
            bail!("{name} is a folder; give a recipe file, or the name of a shipped recipe");
        }
        let alike = shipped::abbreviated(name);
        let one = if let [one] = alike[..] { Some(one) } else { None };
        match (shipped::find(name).or(one), alike.as_slice()) {
            (Some(found), _) => Ok(Source { shipped: true, ..Source::of_file(found.path, found.text) }),
            (None, []) => {
                bail!("no such file, and no shipped recipe of this name: {name}{}", suggestion(name))
            }
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|found| shipped_name(found.path)).collect();
                bail!("no such file, and several shipped recipes of this name: {name}: {}", names.join(", "))
            }
        }
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Parses and resolves the recipe; index files are looked up beside it, and those of a stored run in its folder.
    pub fn resolve(&self, overrides: &Overrides) -> anyhow::Result<Plan> {
        self.resolve_until(overrides, &*index_files::of_recipe(&self.path), &|| true)
    }

    /// [`resolve`](Source::resolve) with index files from another source, as long as `wanted` holds.
    pub fn resolve_until(
        &self,
        overrides: &Overrides,
        files: &dyn IndexFiles,
        wanted: &dyn Fn() -> bool,
    ) -> anyhow::Result<Plan> {
        let name = self.name();
        let recipe = recipe::parse(&name, &as_recipe(&name, &self.text)?)?;
        Ok(plan::resolve_until(&recipe, overrides, files, wanted)?)
    }

    /// The file's name without folders and extension.
    pub fn stem(&self) -> String {
        self.path.file_stem().map_or_else(|| "run".into(), |s| s.to_string_lossy().into_owned())
    }
}

/// The text itself, or the recipe equivalent to it if it is a Spatter suite.
///
/// # Errors
/// The suite has a mistake.
pub fn as_recipe<'t>(name: &str, text: &'t str) -> anyhow::Result<Cow<'t, str>> {
    match suite::looks_like_a_suite(text) {
        true => Ok(Cow::Owned(spatter::recipe::of_suite(name, text)?)),
        false => Ok(Cow::Borrowed(text)),
    }
}

/// The stored run in a folder, for commands that take only folders of runs.
///
/// # Errors
/// As for [`Stored::open`]; a recipe's name and a missing folder get different messages.
pub fn open_run(path: &Path) -> anyhow::Result<Stored> {
    let name = path.display();
    if path.is_file() || (!files::is_there(path) && shipped::find(&name.to_string()).is_some()) {
        bail!("{name} is not a folder; this command takes folders of stored runs");
    }
    Stored::open(path).map(with_warnings)
}

/// The run, after its warnings are printed to standard error.
pub fn with_warnings(run: Stored) -> Stored {
    for warning in &run.warnings {
        out::complain("scatterlab", &format!("warning: {warning}"));
    }
    run
}

/// `he2007/fig01` for `he2007/fig01.yaml`.
pub fn shipped_name(path: &str) -> &str {
    path.trim_end_matches(".yaml")
}

/// The shipped recipes whose names, whole or up to the first hyphen, are most like this one, or how to list all.
fn suggestion(wanted: &str) -> String {
    const ALIKE: f64 = 0.6;
    let wanted = shipped_name(wanted);
    let likeness = |name: &str| {
        let figure = name.split('-').next().unwrap_or(name);
        let to = |name| strsim::normalized_damerau_levenshtein(name, wanted);
        to(name).max(to(figure))
    };
    let names = shipped().iter().map(|recipe| shipped_name(recipe.path));
    let mut near: Vec<(f64, &str)> = names.map(|name| (likeness(name), name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = near.first().map_or(0.0, |(likeness, _)| *likeness);
    near.retain(|(likeness, _)| *likeness > ALIKE.max(best - 0.1));
    let names: Vec<&str> = near.iter().take(4).map(|(_, name)| *name).collect();
    match names.as_slice() {
        [] => format!("; scatterlab without a command lists the {} shipped ones", shipped().len()),
        names => format!(" (did you mean {}?)", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_recipes_are_found_by_any_of_their_names() {
        for name in ["quickstart", "quickstart.yaml", "experiments/quickstart.yaml"] {
            assert!(Source::find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_recipe_is_no_stored_run() {
        let error = |path: &str| open_run(Path::new(path)).expect_err("no run").to_string();
        assert_eq!(
            error("quickstart"),
            "quickstart is not a folder; this command takes folders of stored runs"
        );
        assert!(error("Cargo.toml").contains("takes folders of stored runs"));
        assert_eq!(error("nowhere/at/all"), "nowhere/at/all: no such folder");
        assert_eq!(error("src"), "src holds no run: there is no manifest.json");
    }

    #[test]
    fn a_misspelt_recipe_is_answered_with_the_nearest() {
        let error = |name: &str| Source::find(name).expect_err("no such recipe").to_string();
        let misspelt = error("he2007/fig9-pases");
        assert!(misspelt.contains("did you mean he2007/fig09-passes"), "{misspelt}");
        let absent = error("he2007/fig99");
        assert!(absent.contains("he2007/fig09-passes, he2007/fig19-"), "{absent}");
        let file = error("x.yaml");
        assert!(file.contains("no such file") && file.contains("lists the") && file.len() < 160, "{file}");
    }

    #[test]
    fn a_shortened_name_is_taken_where_it_means_one_recipe() {
        let found = Source::find("he2007/fig9").expect("figure 9");
        assert_eq!(found.name(), "he2007/fig09-passes.yaml");
        let error = Source::find("fig6").expect_err("several papers have one").to_string();
        assert!(error.contains("several shipped recipes of this name: fig6: "), "{error}");
        assert!(
            error.contains("he2007/fig06-sequential") && error.contains("lavin2020/fig06-simd"),
            "{error}"
        );
    }
}

//! The user's recipes in a folder, read beside the user interface: a folder may hold anything, and the screen is
//! drawn meanwhile.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::recipes::as_recipe;
use crate::files::{self, Bounded, RECIPE};
use crate::primitives;
use crate::recipe::paper;
use crate::spatter::suite::looks_like_a_suite;
use crate::tui::{OWN, RecipeEntry};

/// Longest wait of the first picture for the recipes; an ordinary folder needs a fraction of it.
const GRACE: Duration = Duration::from_millis(100);

/// Starts to read a folder's recipes, which arrive in the order of their names.
///
/// # Errors
/// If the thread cannot be started.
pub fn recipes(folder: &Path) -> io::Result<Receiver<RecipeEntry>> {
    let (folder, (sender, entries)) = (folder.to_owned(), channel());
    thread::Builder::new().name("folder".into()).spawn(move || {
        let entries = candidates(&folder).into_iter().filter_map(|path| entry(&path));
        // The user may have left in the meantime.
        let _ = { entries }.try_for_each(|entry| sender.send(entry));
    })?;
    Ok(entries)
}

/// The recipes that are read soon, and the rest, if there may be more.
pub fn soon(entries: Receiver<RecipeEntry>) -> (Vec<RecipeEntry>, Option<Receiver<RecipeEntry>>) {
    let (mut first, deadline) = (Vec::new(), Instant::now() + GRACE);
    loop {
        match entries.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(entry) => first.push(entry),
            Err(RecvTimeoutError::Disconnected) => return (first, None),
            Err(RecvTimeoutError::Timeout) => return (first, Some(entries)),
        }
    }
}

/// Files with the endings of recipes and suites, by name.
fn candidates(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| is_suite(path).is_some() && !path.is_dir());
    paths.sort();
    paths
}

/// `true` for the ending of a suite, `false` for a recipe's; `None` for others.
fn is_suite(path: &Path) -> Option<bool> {
    if path.ends_with(paper::FILE) {
        return None;
    }
    match path.extension()?.to_str()? {
        "json" => Some(true),
        "yaml" | "yml" => Some(false),
        _ => None,
    }
}

/// A file's entry in the list; `None` if it holds something other than a recipe or a suite. A recipe with a
/// mistake is included, and its preview shows the error; so is a file that cannot be read, with the reason.
fn entry(path: &Path) -> Option<RecipeEntry> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (text, problem) = match read(path, is_suite(path)?) {
        Ok(text) => (text?, None),
        Err(problem) => (String::new(), Some(problem)),
    };
    // A suite with a mistake is kept as it is, and resolving it reports the error.
    let text = as_recipe(&name, &text).map(Cow::into_owned).unwrap_or(text);
    let title = path.file_stem()?.to_string_lossy().into_owned();
    Some(RecipeEntry { group: OWN.to_owned(), title, path: name, text, problem })
}

/// The text of a recipe or a suite; `None` if the file holds something else.
fn read(path: &Path, suite: bool) -> Result<Option<String>, String> {
    let mut file = files::open(path, &RECIPE).map_err(|problem| problem.to_string())?;
    let cannot = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let mut bytes = beginning(&mut file).map_err(cannot)?;
    if suite && !looks_like_a_suite(&String::from_utf8_lossy(&bytes)) {
        return Ok(None);
    }
    bytes.extend(file.rest().map_err(cannot)?);
    let text = files::text_of(path, bytes).map_err(|problem| problem.to_string())?;
    Ok((suite || looks_like_a_recipe(&text)).then_some(text))
}

/// The first bytes, which tell a suite from other JSON.
fn beginning(file: &mut Bounded<fs::File>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a YAML file is a recipe, since folders may hold other YAML files too: a recipe has a primitive or
/// `experiments` at its top level.
fn looks_like_a_recipe(text: &str) -> bool {
    let names = primitives::registry().iter().map(|p| p.name()).chain(["experiments"]);
    let keys: Vec<String> = names.map(|name| format!("{name}:")).collect();
    text.split(['\n', '\r']).any(|line| keys.iter().any(|key| line.starts_with(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::recipes::Source;
    use crate::recipe::plan::Overrides;

    fn listed(folder: &Path) -> Vec<RecipeEntry> {
        recipes(folder).expect("a thread").iter().collect()
    }

    #[test]
    fn recipes_of_the_folder_are_listed_and_other_yaml_is_not() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("file");
        write("mine.yaml", "scatter: {tuples: 1Ki}\n");
        write("broken.yml", "title: x\rgather: [\r");
        write("compose.yaml", "services:\n  scatter: {}\n");
        write("notes.txt", "scatter: {}\n");
        write("suite.json", "[{\"pattern\": \"UNIFORM:8:1\"}]");
        write("wrong.json", "[{\"patern\": 8}]");
        write("package.json", "{\"name\": \"x\"}");
        fs::create_dir(folder.path().join("folder.yaml")).expect("folder");
        let entries = listed(folder.path());
        let names: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(names, ["broken.yml", "mine.yaml", "suite.json", "wrong.json"]);
        assert!(entries.iter().all(|entry| entry.problem.is_none()));
        assert!(entries[2].text.contains("uniform: {length: 8, stride: 1}"), "{}", entries[2].text);
        let source = Source::of_file("wrong.json", &entries[3].text);
        let error = source.resolve(&Overrides::default()).expect_err("a mistake").to_string();
        assert!(error.contains("wrong.json:1:3: unknown key `patern`"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_listed_with_the_reason() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", path("endless.yaml")).expect("a link");
        fs::File::create(path("huge.json")).and_then(|file| file.set_len(3 << 30)).expect("a sparse file");
        fs::write(path("bytes.yml"), b"gather: {}\n\xff").expect("written");
        let problems = listed(folder.path()).into_iter().map(|entry| entry.problem.unwrap_or_default());
        let problems: Vec<String> = problems.collect();
        assert!(problems[0].ends_with("bytes.yml:2:1: the byte 0xff is not UTF-8 text"), "{problems:?}");
        assert!(problems[1].ends_with("endless.yaml is a device; accepted: a regular file"), "{problems:?}");
        let huge = "huge.json is 3.00 GiB long; a recipe of at most 32.0 MiB is read";
        assert!(problems[2].ends_with(huge), "{problems:?}");
    }
}

//! The documents: their links lead to files and headings of this checkout, and the recipes and commands that they name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scatterlab::recipe::paper;
use serde_json::Value as Json;

/// The documents of the checkout's top and of its folders.
fn documents() -> Vec<PathBuf> {
    let folders = [".", "docs", "kernels", "benches/peers", "experiments/profiles", "reports", "tests/guard"];
    let files =
        folders.map(|folder| fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap());
    let paths = files.into_iter().flatten().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The text without blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The targets of the text's links that are not on the web.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).collect()
}

/// The names of a document's headings in links.
fn headings(text: &str) -> BTreeSet<String> {
    let lines = prose(text);
    let titles =
        lines.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    };
    titles.map(|title| title.chars().filter_map(kept).collect()).collect()
}

/// Whether a link leads somewhere from a document.
fn leads(document: &Path, target: &str) -> bool {
    let (path, heading) =
        target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let file = if path.is_empty() { document.to_owned() } else { document.with_file_name("").join(path) };
    match heading {
        Some(heading) => fs::read_to_string(file).is_ok_and(|text| headings(&text).contains(heading)),
        None => file.exists(),
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut lost = Vec::new();
    let mut looked_at = 0;
    for document in documents() {
        let text = prose(&fs::read_to_string(&document).unwrap());
        let all = links(&text);
        looked_at += all.len();
        let astray = all.into_iter().filter(|target| !leads(&document, target));
        lost.extend(astray.map(|target| format!("{}: {target}", document.display())));
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(looked_at > 100, "{looked_at} links");
}

/// Recipes are also named in blocks of code.
#[test]
fn every_recipe_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lost = Vec::new();
    for document in documents().into_iter().filter(|path| !path.ends_with("CHANGES.md")) {
        let text = fs::read_to_string(&document).unwrap();
        let paths = text.split(|c: char| c.is_whitespace() || "`()[],;".contains(c));
        let recipes = paths.filter(|word| word.starts_with("experiments/") && word.ends_with(".yaml"));
        let named = recipes.filter(|word| !word.contains(['*', '<']) && !word.contains("NAME"));
        let absent = named.filter(|word| !root.join(word).exists());
        lost.extend(absent.map(|word| format!("{}: {word}", document.display())));
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn scripts_for_clusters_are_read_by_bash() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/cluster.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("```bash\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect();
    assert!(blocks.len() > 4, "{} scripts", blocks.len());
    for block in blocks {
        let read = Command::new("bash").args(["-n", "-c", block]).output().expect("bash starts");
        assert!(read.status.success(), "{block}{}", String::from_utf8_lossy(&read.stderr));
    }
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let below = |entry: PathBuf| if entry.is_dir() { files_below(&entry) } else { vec![entry] };
    fs::read_dir(folder).unwrap().flat_map(|entry| below(entry.unwrap().path())).collect()
}

/// Comments that are corrected when these files are compiled again, since stamps cover comments: `step.cuh`, `peer.cuh`,
/// `cub-histogram.cu`.
const LEFT: [&str; 3] = [
    "src/core/primitives/sssp/window.rs",
    "src/core/device/cuda/live/scrub.rs",
    "src/core/primitives/histogram/spec.rs",
];

/// A path may also be a module's. `NAME` is a reader's own; a line that names a revision is of that revision's files.
#[test]
fn every_source_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src", "kernels", "experiments", "benches/peers/cpu/src"];
    let sources = folders.into_iter().flat_map(|folder| files_below(&root.join(folder)));
    let peers = fs::read_dir(root.join("benches/peers")).unwrap().map(|entry| entry.unwrap().path());
    let sources = sources.chain(peers.filter(|path| path.is_file()));
    let commented = |path: &PathBuf| {
        path.extension().is_some_and(|end| ["rs", "cu", "cuh", "yaml"].iter().any(|known| end == *known))
    };
    let exists = |path: &str| root.join(path).exists() || root.join(format!("{path}.rs")).exists();
    let (mut lost, mut looked_at) = (Vec::new(), 0);
    for file in sources.filter(commented).chain(documents()) {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter(|line| !line.contains("revision "));
        let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && !"/._-".contains(c)));
        let paths = words.map(|word| word.trim_end_matches(['.', '/']));
        let paths = paths.filter(|word| word.starts_with("src/") || word.starts_with("kernels/"));
        let named: Vec<&str> = paths.filter(|word| !word.contains("NAME")).collect();
        looked_at += named.len();
        let absent = named.into_iter().filter(|path| !exists(path));
        lost.extend(absent.map(|path| format!("{}: {path}", file.display())));
    }
    lost.retain(|lost: &String| !LEFT.iter().any(|left| lost.ends_with(left)));
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(looked_at > 100, "{looked_at} paths");
}

/// `CITATION.cff` has the version and its date, and the papers, as the program and the changelog have them.
#[test]
fn what_is_cited_is_what_is_released_and_reproduced() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let cited: Json = serde_yaml::from_str(&read("CITATION.cff")).unwrap();
    let text = |of: &Json, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(text(&cited, "version"), scatterlab::VERSION);
    let release = format!("\n## [{}] - {}\n", scatterlab::VERSION, text(&cited, "date-released"));
    assert!(read("CHANGELOG.md").contains(&release), "{release}");
    let references = cited["references"].as_array().unwrap();
    assert_eq!(references.len(), paper::shipped().len());
    for paper in paper::shipped() {
        let reference = references.iter().find(|one| text(one, "title") == paper.title);
        let reference = reference.unwrap_or_else(|| panic!("{} is not cited", paper.key));
        let authors = reference["authors"].as_array().unwrap();
        let names =
            authors.iter().map(|one| format!("{} {}", text(one, "given-names"), text(one, "family-names")));
        assert_eq!(names.collect::<Vec<_>>(), paper.authors, "{}", paper.key);
        assert_eq!(reference["year"], paper.year, "{}", paper.key);
        let bibtex = paper.bibtex.as_deref().unwrap_or_default();
        assert_eq!(bibtex.contains("doi "), reference.get("doi").is_some(), "{}", paper.key);
        assert!(bibtex.contains(&text(reference, "doi")), "{}", paper.key);
    }
}

/// Every document but those among files of measurements is a page of the book, once.
#[test]
fn the_book_has_every_page() {
    let summary = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary).unwrap();
    let mut pages: Vec<PathBuf> = links(&text).iter().map(|link| summary.with_file_name(link)).collect();
    pages.iter_mut().for_each(|page| *page = page.canonicalize().unwrap());
    pages.sort();
    let mut all: Vec<PathBuf> = documents().iter().map(|path| path.canonicalize().unwrap()).collect();
    all.push(summary.with_file_name("../reports/faults/README.md").canonicalize().unwrap());
    all.retain(|path| !path.ends_with("docs/SUMMARY.md"));
    all.sort();
    assert_eq!(pages, all);
}

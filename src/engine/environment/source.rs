//! The source of facts: the files of a system, or of a directory that mimics one.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{case, files};

/// Name and value of a fact.
pub type Fact = (Cow<'static, str>, String);

/// The root directory of a system.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// The running system.
    pub fn here() -> System {
        System::under(Path::new("/"))
    }

    /// A directory that mimics a system's root.
    pub fn under(root: &Path) -> System {
        System { root: root.to_owned() }
    }

    /// The path of a file; `path` is relative to the root.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The trimmed text of a file; `None` if it is missing or empty.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = files::system(self.path(path))?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The number in a file; `None` if it is missing or not a number.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Whether this file or directory exists.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The chosen word of a file such as `always [madvise] never`.
    pub fn chosen(&self, path: &str) -> Option<String> {
        bracketed(&self.text(path)?)
    }

    /// The value after `key` and a colon in a file of such lines.
    pub fn field(&self, path: &str, key: &str) -> Option<String> {
        let text = self.text(path)?;
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = fields.find(|(name, _)| name.trim() == key)?;
        Some(value.trim().to_owned())
    }

    /// Sorted names in a directory; empty if it does not exist.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// The distinct values in order of first appearance, joined by commas; `None` if there are none.
pub fn distinct(values: impl IntoIterator<Item = String>) -> Option<String> {
    let found = case::distinct(values);
    (!found.is_empty()).then(|| found.join(", "))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A temporary root with these files.
    pub(crate) fn files(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder above it")).expect("made");
            fs::write(path, text).expect("written");
        }
        let system = System::under(root.path());
        (root, system)
    }

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(bracketed("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(bracketed(""), None);
    }

    #[test]
    fn files_are_read_without_the_space_around() {
        let (_root, system) = files(&[("a/b", " 12\n"), ("a/empty", "\n"), ("info", "a b\t: 7 kB\nc: \n")]);
        assert_eq!((system.number("a/b"), system.number("a/empty")), (Some(12), None));
        assert_eq!((system.text("a/b").as_deref(), system.text("a")), (Some("12"), None));
        assert_eq!(system.field("info", "a b").as_deref(), Some("7 kB"));
        assert_eq!(system.field("info", "d"), None);
        assert_eq!(system.names("a"), ["b", "empty"]);
    }

    #[test]
    fn values_are_named_once() {
        let three = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(distinct(three).as_deref(), Some("a, b"));
        assert_eq!(distinct([]), None);
    }
}

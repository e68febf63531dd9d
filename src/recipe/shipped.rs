//! The recipes embedded in the program.

use std::sync::LazyLock;

/// A recipe of the `experiments/` folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Path below `experiments/`: `quickstart.yaml`, `he2007/fig09-passes.yaml` …
    pub path: &'static str,
    /// The YAML.
    pub text: &'static str,
}

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

/// Every recipe: first those without a paper, starting with `quickstart.yaml`; then those of each paper by
/// year, with figures and tables first. A paper's `gpu-` recipes go beyond its figures.
pub fn shipped() -> &'static [Shipped] {
    static SHIPPED: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
        let path = |path: &'static str| path.strip_prefix("experiments/").unwrap_or(path);
        FOUND.iter().map(|&(at, text)| Shipped { path: path(at), text }).collect()
    });
    &SHIPPED
}

/// The recipe with this path, with or without the prefix `experiments/` and the suffix `.yaml`.
pub fn find(path: &str) -> Option<&'static Shipped> {
    let path = path.strip_prefix("experiments/").unwrap_or(path);
    shipped().iter().find(|s| s.path == path || s.path.strip_suffix(".yaml") == Some(path))
}

/// The recipes that an abbreviated path may mean: zeros before numbers do not count, the folder may be missing,
/// and so may the words after the first ones. `he2007/fig9` and `fig9-passes` mean `he2007/fig09-passes`.
pub fn abbreviated(path: &str) -> Vec<&'static Shipped> {
    let plain = |path: &str| without_zeros(path.trim_end_matches(".yaml"));
    let wanted = plain(path.strip_prefix("experiments/").unwrap_or(path));
    let begins = |found: &str| {
        let rest = found.strip_prefix(wanted.as_str());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let means = |found: &&Shipped| {
        let whole = plain(found.path);
        begins(&whole) || whole.rsplit_once('/').is_some_and(|(_, name)| begins(name))
    };
    if wanted.is_empty() { Vec::new() } else { shipped().iter().filter(means).collect() }
}

/// The text in lower case, its numbers without zeros before them: `fig9` for `Fig09`.
fn without_zeros(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let within = plain.ends_with(|last: char| last.is_ascii_digit());
        let more = letters.peek().is_some_and(char::is_ascii_digit);
        if c != '0' || within || !more {
            plain.extend(c.to_lowercase());
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_of_no_paper_come_first_and_figures_before_others() {
        let paths: Vec<&str> = shipped().iter().map(|s| s.path).collect();
        assert_eq!(paths[..2], ["quickstart.yaml", "ceilings.yaml"]);
        let at = |path: &str| paths.iter().position(|found| *found == path).expect(path);
        let order = [
            "several-gpus.yaml",
            "model/cpu-families.yaml",
            "he2007/fig13-tuples.yaml",
            "he2007/auto.yaml",
            "sengupta2007/fig05.yaml",
            "ashkiani2017/fig06-times.yaml",
            "ashkiani2017/table03-references.yaml",
            "ashkiani2017/gpu-radix.yaml",
            "lavin2020/fig03-cpu-stride.yaml",
        ];
        assert!(order.map(at).is_sorted(), "{paths:?}");
    }

    #[test]
    fn recipes_are_found_by_path() {
        assert_eq!(find("quickstart").map(|s| s.path), Some("quickstart.yaml"));
        assert_eq!(find("experiments/he2007/fig01.yaml").map(|s| s.path), Some("he2007/fig01.yaml"));
        assert_eq!(find("fig01"), None);
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_folders_may_be_missing() {
        let found = |path: &str| abbreviated(path).iter().map(|s| s.path).collect::<Vec<_>>();
        for path in ["he2007/fig9", "he2007/fig09", "fig9-passes", "experiments/HE2007/Fig009.yaml"] {
            assert_eq!(found(path), ["he2007/fig09-passes.yaml"], "{path}");
        }
        assert_eq!(found("he2007/fig1"), ["he2007/fig01.yaml"], "not figures 10 to 13");
        let sixes = found("fig6");
        assert!(sixes.len() > 1 && sixes.iter().all(|path| path.contains("/fig06")), "{sixes:?}");
        assert_eq!((found("he2007/fi"), found(""), found("fig99")), (vec![], vec![], vec![]));
    }
}

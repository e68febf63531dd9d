//! The command lines that repeat a stored run.

use std::path::Path;

use super::layout::{Manifest, RECIPE};
use crate::case::units::escaped;
use crate::shell::{options, quoted};

/// Commands that start a run; a run without one of them was started in the TUI.
const MEASURING: [&str; 2] = ["run", "replay"];

/// Command lines that repeat a run, ready to be pasted into a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Repeats the stored plan and compares the results with the folder.
    pub replay: String,
    /// Repeats the run as it was started: the manifest's command line with another output folder or, for a run
    /// started in the TUI, the folder's recipe with its overrides. Index files are resolved relative to the
    /// recipe, which the copy in the folder would break; a TUI run with index files is therefore repeated by
    /// `replay`, which uses their copies.
    pub run: String,
}

impl Repeat {
    pub fn of(folder: &Path, manifest: &Manifest) -> Repeat {
        let word = |path: &Path| quoted(&path.display().to_string());
        let measures = |words: &&[String]| words.iter().any(|word| MEASURING.contains(&word.as_str()));
        let typed = manifest.command_line.get(1..).filter(measures);
        let replay = format!("replay {}", word(folder));
        let run = match typed {
            Some(words) => without_out(words).map(quoted).collect::<Vec<_>>().join(" "),
            None if !manifest.plan.indices.is_empty() => replay.clone(),
            None => {
                let recipe = ["run".to_owned(), word(&folder.join(RECIPE))];
                let words: Vec<String> =
                    recipe.into_iter().chain(options(&manifest.plan.overrides)).collect();
                words.join(" ")
            }
        };
        // The manifest is untrusted, and its text may be pasted into a shell.
        Repeat {
            replay: format!("scatterlab {}", escaped(&replay)),
            run: format!("scatterlab {}", escaped(&run)),
        }
    }
}

/// The words without `--out` and its folder, which holds a run already.
fn without_out(words: &[String]) -> impl Iterator<Item = &str> {
    let mut folder = false;
    words.iter().map(String::as_str).filter(move |word| {
        let out = std::mem::replace(&mut folder, *word == "--out");
        !out && *word != "--out" && !word.starts_with("--out=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::IndexFile;
    use crate::report::judge::tests::manifest;

    #[test]
    fn a_run_is_repeated_as_it_was_typed_or_from_its_folder() {
        let folder = Path::new("reports/my run");
        let of = |words: &[&str]| {
            let command_line = words.iter().map(|word| word.to_string()).collect();
            Repeat::of(folder, &Manifest { command_line, ..manifest() })
        };
        let typed = of(&["/opt/bin/scatterlab", "run", "quickstart", "--set", "elements=1Mi..4Mi x2"]);
        assert_eq!(typed.run, "scatterlab run quickstart --set 'elements=1Mi..4Mi x2'");
        let out = of(&["scatterlab", "replay", "a", "--out", "b", "--rounds", "5", "--out=c"]);
        assert_eq!(out.run, "scatterlab replay a --rounds 5");
        assert_eq!(typed.replay, "scatterlab replay 'reports/my run'");
        assert_eq!(of(&["scatterlab"]).run, "scatterlab run 'reports/my run/recipe.yaml'");
        assert_eq!(of(&[]).run, of(&["scatterlab"]).run);
        assert_eq!(of(&["scatterlab", "--engine", "ssh host scatterlab engine"]).run, of(&[]).run);
        let foreign = of(&["scatterlab", "run", "x\n\u{1b}[2Jrm -r /"]).run;
        assert!(!foreign.contains(char::is_control), "{foreign:?}");
    }

    #[test]
    fn a_run_of_the_user_interface_is_repeated_with_its_changes() {
        let mut manifest = Manifest { command_line: vec!["scatterlab".to_owned()], ..manifest() };
        manifest.plan.overrides = vec!["--backend cpu".to_owned(), "--set tuples=1Mi..4Mi x2".to_owned()];
        let of = |manifest: &Manifest| Repeat::of(Path::new("a"), manifest);
        assert_eq!(
            of(&manifest).run,
            "scatterlab run a/recipe.yaml --backend cpu --set 'tuples=1Mi..4Mi x2'"
        );
        let (hash, path) = ("0".repeat(64), "i.npy".to_owned());
        let file = IndexFile {
            path,
            column: None,
            hash,
            length: 1,
            largest: 0,
            matrix: None,
            source: None,
            copy: None,
        };
        manifest.plan.indices.push(file);
        assert_eq!(of(&manifest).run, "scatterlab replay a", "the file is not beside the folder's recipe");
    }
}

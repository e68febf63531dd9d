//! The command lines that repeat a stored run.

use std::path::Path;

use super::folder::{Manifest, RECIPE};
use crate::case::units::escaped;
use crate::shell::{options, quoted};

/// Commands that make a run; without one of them it was started in the user interface.
const MEASURING: [&str; 2] = ["run", "replay"];

/// How a run is done again, to be copied into a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Runs the stored plan again and judges it against the folder.
    pub replay: String,
    /// Runs it as it was run: the manifest's command line into another folder, or the folder's recipe with its
    /// changes where it was started in the user interface. Files of indices are looked for beside a recipe, and the
    /// folder's is another place: then the same as `replay`, which has copies of them.
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
        // What stands in a manifest is pasted into somebody's shell.
        Repeat {
            replay: format!("scatterlab {}", escaped(&replay)),
            run: format!("scatterlab {}", escaped(&run)),
        }
    }
}

/// The words but for `--out` and its folder, which holds a run by now.
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
        let file = IndexFile { path, column: None, hash, length: 1, largest: 0, source: None, copy: None };
        manifest.plan.indices.push(file);
        assert_eq!(of(&manifest).run, "scatterlab replay a", "the file is not beside the folder's recipe");
    }
}

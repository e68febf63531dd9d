//! The command lines that repeat a run, wherever its folder is.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::layout::{Manifest, RECIPE};
use crate::recipe::hash;
use crate::recipe::plan::Plan;
use crate::recipe::shipped::{self, Shipped, shipped};
use crate::shell::{operand, quoted, words};

/// The command that repeats a stored plan.
const REPLAY: &str = "replay";
/// The override that only [`REPLAY`] knows.
const ROUNDS: &str = "--rounds ";

/// The words that a new run stores, so that they repeat it when they are typed in its folder. They name nothing that
/// only the run's machine has: no engine, peers, profiles or output folder. `typed` is the program's command line.
pub fn of_new(plan: &Plan, typed: &[String]) -> Vec<String> {
    let same = |recipe: &&Shipped| hash(recipe.text) == plan.recipe_hash;
    words_of(plan, shipped().iter().find(same).map_or(RECIPE, name), is_replay(typed))
}

/// The same words of a stored run. In runs of older versions, the manifest has what was typed.
pub fn of_stored(manifest: &Manifest) -> Vec<String> {
    let typed = &manifest.command_line;
    words_of(&manifest.plan, recipe(typed).unwrap_or(RECIPE), is_replay(typed))
}

/// The words that replay a run from its folder, and those that run the folder's recipe; `None` for a replay, which is
/// more than its recipe.
pub fn in_folder(plan: &Plan) -> (Vec<String>, Option<Vec<String>>) {
    let run = words_of(plan, RECIPE, false);
    (words_of(plan, RECIPE, true), Some(run).filter(|words| !is_replay(words)))
}

fn words_of(plan: &Plan, recipe: &str, replays: bool) -> Vec<String> {
    let own = |words: [&str; 3]| words.map(str::to_owned).to_vec();
    if replays || plan.overrides.iter().any(|word| word.starts_with(ROUNDS)) {
        return own(["scatterlab", REPLAY, "."]);
    }
    [own(["scatterlab", "run", recipe]), words(&plan.overrides)].concat()
}

/// The shipped recipe that a command line runs, if there is one and no other. A word after an option is its value.
fn recipe(typed: &[String]) -> Option<&'static str> {
    let values = typed.windows(2).filter(|pair| !pair[0].starts_with("--"));
    let mut named = values.filter_map(|pair| shipped::find(&pair[1]));
    let one = named.next()?;
    named.next().is_none().then(|| name(one))
}

fn name(recipe: &Shipped) -> &'static str {
    recipe.path.trim_end_matches(".yaml")
}

/// Whether a command line repeats a stored plan.
pub fn is_replay(words: &[impl AsRef<OsStr>]) -> bool {
    let verb = words.iter().find(|word| [REPLAY, "run"].iter().any(|verb| word.as_ref() == *verb));
    verb.is_some_and(|verb| verb.as_ref() == REPLAY)
}

/// Command lines that repeat a run from the current folder, ready to be pasted into a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Repeats the stored plan and compares the results with the folder.
    pub replay: String,
    /// Runs the recipe with the run's overrides: the shipped one, or the copy in the folder. The same as `replay` for a
    /// replay.
    pub run: String,
}

impl Repeat {
    pub fn of(folder: &Path, manifest: &Manifest) -> Repeat {
        let here = |words: Vec<String>| line(&from_here(folder, &words));
        Repeat { replay: here(in_folder(&manifest.plan).0), run: here(of_stored(manifest)) }
    }
}

/// Words that are typed in the folder, as they are typed here.
pub fn from_here(folder: &Path, words: &[String]) -> Vec<OsString> {
    let here = |(at, word): (usize, &String)| match word.as_str() {
        "." if at == 2 => operand(folder).as_os_str().to_owned(),
        RECIPE if at == 2 => operand(&folder.join(RECIPE)).as_os_str().to_owned(),
        word => word.into(),
    };
    words.iter().enumerate().map(here).collect()
}

/// The command line. The manifest is untrusted, and its text may be pasted into a shell.
pub fn line(words: &[impl AsRef<OsStr>]) -> String {
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// What a repeated run shall have more of.
#[derive(Clone, Debug, Default)]
pub struct More {
    /// Rounds of the case that needs the most of them.
    pub rounds: u32,
    /// Keys of a recipe and their values that allow these rounds; none leaves the command as it was.
    pub settings: Vec<(&'static str, String)>,
}

/// The words with these settings instead of what they say of their keys. A replay, whose rule is that of the stored
/// run, is asked for the rounds.
pub fn with_more(words: &[OsString], more: &More) -> Vec<OsString> {
    let mut words = words.to_vec();
    if more.settings.is_empty() {
        return words;
    }
    let mut options = Vec::new();
    if is_replay(&words) {
        words = without(&words, "--rounds");
        options.extend(["--rounds".into(), more.rounds.to_string().into()]);
    } else {
        for (key, value) in &more.settings {
            words = without_key(&words, key);
            options.extend(["--set".into(), format!("{key}={value}").into()]);
        }
    }
    // Behind two dashes there are no options.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(end..end, options);
    words
}

/// The words without this option and its value.
pub fn without(words: &[OsString], option: &str) -> Vec<OsString> {
    let mut value = false;
    let stays = |word: &&OsString| {
        let names = word.as_os_str() == option;
        let rest = word.as_encoded_bytes().strip_prefix(option.as_bytes());
        let joined = rest.is_some_and(|rest| rest.starts_with(b"="));
        !std::mem::replace(&mut value, names) && !names && !joined
    };
    words.iter().filter(stays).cloned().collect()
}

/// The words without each `--set` of this key.
fn without_key(words: &[OsString], key: &str) -> Vec<OsString> {
    let sets = |pair: &str| pair.split_once('=').is_some_and(|(known, _)| known.trim() == key);
    let mut kept: Vec<OsString> = Vec::new();
    for word in words {
        // A recipe's keys are text.
        let text = word.to_str().unwrap_or_default();
        if sets(text) && kept.last().is_some_and(|last| last == "--set") {
            kept.pop();
        } else if !text.strip_prefix("--set=").is_some_and(sets) {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::manifest;

    fn with(overrides: &[&str]) -> Plan {
        Plan { overrides: overrides.iter().map(|word| word.to_string()).collect(), ..manifest().plan }
    }

    fn typed(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_stored_is_typed_in_the_folder_and_names_nothing_outside() {
        let changed = with(&["--backend cpu", "--set tuples=1Mi..4Mi x2"]);
        let own = ["scatterlab", "run", "recipe.yaml", "--backend", "cpu", "--set", "tuples=1Mi..4Mi x2"];
        assert_eq!(of_new(&changed, &typed("/opt/s run /home/me/x.yaml --engine ssh --out /tmp/x")), own);
        let replay = ["scatterlab", "replay", "."];
        assert_eq!(of_new(&changed, &typed("s replay /tmp/x")), replay);
        assert_eq!(
            in_folder(&changed),
            (replay.map(str::to_owned).to_vec(), Some(own.map(str::to_owned).to_vec()))
        );
        let more = with(&["--rounds 5"]);
        assert_eq!((of_new(&more, &[]), in_folder(&more).1), (replay.map(str::to_owned).to_vec(), None));
        let known = shipped::find("quickstart").expect("shipped");
        let quickstart = Plan { recipe_hash: hash(known.text), ..changed };
        assert_eq!(of_new(&quickstart, &[])[2], "quickstart");
    }

    #[test]
    fn a_replay_is_told_by_the_first_command_that_a_line_names() {
        let of = |line: &str| is_replay(&typed(line));
        assert!(of("/opt/scatterlab --peers p replay a --out run") && of("scatterlab replay ."));
        assert!(!of("scatterlab run a --out replay") && !of("scatterlab"));
    }

    #[test]
    fn a_run_is_repeated_by_its_shipped_recipe_or_that_in_its_folder() {
        let of = |folder: &str, line: &str, overrides: &[&str]| {
            let (command_line, plan) = (typed(line), with(overrides));
            Repeat::of(Path::new(folder), &Manifest { command_line, plan, ..manifest() })
        };
        let shipped = of("a", "/opt/s run experiments/quickstart.yaml --out ceilings", &["--backend cpu"]);
        assert_eq!(shipped.run, "scatterlab run quickstart --backend cpu");
        let run = of("my 'old' runs/a", "/opt/s run /home/me/x.yaml --peers /p", &["--set n=1Mi..4Mi x2"]);
        let folder = r"'my '\''old'\'' runs/a";
        assert_eq!(run.run, format!("scatterlab run {folder}/recipe.yaml' --set 'n=1Mi..4Mi x2'"));
        assert_eq!(run.replay, format!("scatterlab replay {folder}'"));
        assert_eq!(of("a", "scatterlab", &[]).run, "scatterlab run a/recipe.yaml");
        assert_eq!(of("a", "s run quickstart ceilings", &[]).run, "scatterlab run a/recipe.yaml");
        assert_eq!(of("a", "scatterlab replay b --out c", &[]).run, "scatterlab replay a");
        let foreign = of("a", "scatterlab", &["--set x=\n\u{1b}[2Jrm -r /"]).run;
        assert_eq!(foreign, r"scatterlab run a/recipe.yaml --set $'x=\n\033[2Jrm -r /'");
        assert_eq!(of("-r", "scatterlab", &[]).run, "scatterlab run ./-r/recipe.yaml");
        assert_eq!(of("-r", "scatterlab replay b", &[]).run, "scatterlab replay ./-r");
        assert_eq!(of("x\ny", "scatterlab", &[]).replay, r"scatterlab replay $'x\ny'");
    }

    #[test]
    fn a_setting_replaces_what_the_command_says_of_its_key() {
        let with = |words: &[&str], more: &More| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            line(&with_more(&without(&words, "--out"), more))
        };
        let more = More { rounds: 9, settings: vec![("measure.rounds", "9".to_owned())] };
        let typed =
            ["scatterlab", "run", "x", "--out", "a", "--set", "measure.rounds=2", "--set", "tuples=1Mi"];
        assert_eq!(with(&typed, &more), "scatterlab run x --set tuples=1Mi --set measure.rounds=9");
        let joined = ["scatterlab", "run", "x", "--set=measure.rounds=2", "--out=a"];
        assert_eq!(with(&joined, &more), "scatterlab run x --set measure.rounds=9");
        let dashed = ["scatterlab", "run", "--set", "measure.rounds=2", "--", "-x.yaml"];
        assert_eq!(with(&dashed, &more), "scatterlab run --set measure.rounds=9 -- -x.yaml");
        let replayed = ["scatterlab", "replay", "b", "--rounds", "3", "--out", "c"];
        assert_eq!(with(&replayed, &more), "scatterlab replay b --rounds 9");
        assert_eq!(
            with(&typed, &More::default()),
            "scatterlab run x --set measure.rounds=2 --set tuples=1Mi"
        );
    }
}

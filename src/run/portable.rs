//! A manifest without what only the machine of its run knows: the folders, and with them the names of users, in command
//! lines and in the places of index files. No checksum covers a manifest, so that this breaks none.

use std::cmp::Reverse;
use std::path::Path;

use anyhow::Context;
use serde_json::Value as Json;

use super::folder::manifest_text;
use super::layout::{MANIFEST, Manifest, RECIPE, SCHEMA};
use super::repeat;
use super::stored::manifest;
use super::writes::write_durably;
use crate::case::IndexFile;
use crate::recipe::plan::Plan;
use crate::recipe::{with_changes, without_changes};

/// Replaces a run's manifest, and the comment in its copy of the recipe, whose text this is, by those for another
/// machine. Returns whether they differ.
///
/// # Errors
/// When a file cannot be read or written.
pub fn make(run: &Path, recipe: &str) -> anyhow::Result<bool> {
    let before = manifest(run)?;
    let after = redacted(&before, recipe)?;
    let write = |name: &str, text: &[u8]| {
        let path = run.join(name);
        write_durably(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    if after.plan.overrides != before.plan.overrides && !recipe.is_empty() {
        write(RECIPE, with_changes(recipe, &after.plan.overrides).as_bytes())?;
    }
    if after != before {
        write(MANIFEST, &manifest_text(run, &after)?)?;
    }
    Ok(after != before)
}

/// The manifest for another machine, marked if it differs. `recipe` is the run's copy of its recipe.
fn redacted(manifest: &Manifest, recipe: &str) -> serde_json::Result<Manifest> {
    let mut plan = manifest.plan.clone();
    for file in &mut plan.indices {
        (file.copy, file.source) = (None, None);
    }
    for program in &mut plan.programs {
        program.folder = None;
    }
    let mut named: Vec<&IndexFile> = named_by_overrides(&manifest.plan, recipe).collect();
    // A path may be the end of another one.
    named.sort_by_key(|file| Reverse(file.path.len()));
    for file in named {
        plan = renamed(&plan, &file.path, &short_name(file, &manifest.plan.indices))?;
    }
    let mut portable = Manifest { plan, ..manifest.clone() };
    portable.command_line = repeat::of_stored(&portable);
    Ok(if portable == *manifest { portable } else { Manifest { schema: SCHEMA, redacted: true, ..portable } })
}

/// The files with an absolute path that a command line has named. A path that the recipe names stays, because the
/// recipe's hash covers it.
fn named_by_overrides<'p>(plan: &'p Plan, recipe: &str) -> impl Iterator<Item = &'p IndexFile> {
    let recipe = without_changes(recipe);
    plan.indices.iter().filter(move |file| {
        Path::new(&file.path).is_absolute()
            && !recipe.contains(&file.path)
            && plan.overrides.iter().any(|word| word.contains(&file.path))
    })
}

/// The name of a file without its folders; with its hash if another file has the same name.
fn short_name(file: &IndexFile, all: &[IndexFile]) -> String {
    let name = |file: &IndexFile| {
        Path::new(&file.path).file_name().unwrap_or_default().to_string_lossy().into_owned()
    };
    let short = name(file);
    match all.iter().any(|other| other.path != file.path && name(other) == short) {
        true => format!("{}-{short}", file.hash.get(..12).unwrap_or(&file.hash)),
        false => short,
    }
}

/// The plan with a file's path replaced wherever it names it: in overrides, files, parameters and axes.
fn renamed(plan: &Plan, from: &str, to: &str) -> serde_json::Result<Plan> {
    fn replace(json: &mut Json, from: &str, to: &str) {
        match json {
            Json::String(text) if text == from => to.clone_into(text),
            Json::Array(all) => all.iter_mut().for_each(|one| replace(one, from, to)),
            Json::Object(all) => all.values_mut().for_each(|one| replace(one, from, to)),
            _ => {}
        }
    }
    let mut json = serde_json::to_value(plan)?;
    replace(&mut json, from, to);
    let mut plan: Plan = serde_json::from_value(json)?;
    plan.overrides.iter_mut().for_each(|word| *word = word.replace(from, to));
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::manifest;

    #[test]
    fn files_of_the_command_line_keep_their_names_and_no_folder() {
        let file = |path: &str, hash: &str| IndexFile {
            path: path.to_owned(),
            column: None,
            hash: hash.to_owned(),
            length: 1,
            largest: 0,
            matrix: None,
            source: Some("/home/me".into()),
            copy: Some("/home/me".into()),
        };
        let mut run = manifest();
        run.command_line = ["/home/me/s", "run", "x.yaml"].map(str::to_owned).to_vec();
        run.plan.indices = vec![file("/b/x.npy", "1"), file("/home/b/x.npy", "2"), file("/home/y.npy", "3")];
        run.plan.overrides = vec!["--set file=[/b/x.npy, /home/b/x.npy]".to_owned()];
        let after =
            redacted(&run, "# Run with: --set file=/b/x.npy\nfile: /home/y.npy\n").expect("a manifest");
        let paths: Vec<&str> = after.plan.indices.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["1-x.npy", "2-x.npy", "/home/y.npy"], "the recipe itself names the last");
        assert!(after.plan.indices.iter().all(|file| file.source.is_none() && file.copy.is_none()));
        assert_eq!(after.plan.overrides, ["--set file=[1-x.npy, 2-x.npy]"]);
        assert_eq!(after.command_line[2..], ["recipe.yaml", "--set", "file=[1-x.npy, 2-x.npy]"]);
        assert!(after.redacted && redacted(&after, "").is_ok_and(|again| again == after), "once is enough");
    }
}

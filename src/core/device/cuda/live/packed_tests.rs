use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::*;

/// All modules, each with the text of its committed PTX file.
fn all() -> Vec<(String, &'static Text)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/ptx");
    let text = |packed: &Packed| fs::read_to_string(folder.join(format!("{}.ptx", packed.name))).unwrap();
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(MODULES.len(), files.filter(|file| file.extension().is_some_and(|end| end == "ptx")).count());
    MODULES.iter().map(|packed| (text(packed), module(packed.name).unwrap())).collect()
}

/// Names of kernels, functions, variables, parameters and labels: words other than registers, numbers and
/// instructions.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "_$.%:".contains(c)));
    let words = words.map(|word| word.trim_end_matches(':'));
    let first = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c));
    words.filter(first).filter(|word| !word.contains('.') && !["ret", "exit", "trap", "bra"].contains(word))
}

/// The lines without comments, split into declarations and instructions.
fn lines(text: &str) -> (Vec<&str>, Vec<&str>) {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let declares = |line: &&str| line.starts_with('.') || line.ends_with(':');
    lines.filter(|line| !line.is_empty()).partition(declares)
}

#[test]
fn every_kernel_can_be_cut_out_and_nothing_is_lost() {
    for (text, module) in all() {
        assert_eq!(module.entries.len(), text.matches(".entry ").count(), "{}", module.name);
        let kernels: usize = module.entries.values().map(|entry| entry.lines().count()).sum();
        let comments = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("//");
        let outside = module.entries.values().fold(text.clone(), |rest, entry| rest.replacen(entry, "", 1));
        assert_eq!(outside.lines().count() + kernels, text.lines().count(), "{}", module.name);
        let left: Vec<&str> = outside.lines().filter(|line| !comments(line)).collect();
        assert_eq!(left, module.shared.lines().collect::<Vec<_>>(), "{}", module.name);
        for (name, entry) in &module.entries {
            let image = module.entry(name).unwrap().image();
            assert_eq!((image.matches(".entry ").count(), image.matches(".version ").count()), (1, 1));
            assert_eq!(entry.matches('{').count(), entry.matches('}').count(), "{name}");
        }
    }
}

#[test]
fn whatever_a_kernel_names_is_declared_beside_it() {
    for (_, module) in all() {
        for name in module.entries.keys() {
            let image = module.entry(name).unwrap().image();
            let (declaring, doing) = lines(&image);
            let declared: HashSet<&str> = declaring.iter().flat_map(|line| names(line)).collect();
            let kernel_names: HashSet<&str> = doing.iter().flat_map(|line| names(line)).collect();
            let unknown: Vec<&&str> = kernel_names.difference(&declared).collect();
            assert!(unknown.is_empty(), "{}: {name} names {unknown:?}", module.name);
        }
    }
}

#[test]
fn the_parameters_of_every_kernel_are_read() {
    for (_, module) in all() {
        for (name, entry) in &module.entries {
            let sizes = ptx::parameters(entry);
            let declared = entry.matches(&format!("{name}_param_")).count();
            assert!(declared >= sizes.len(), "{}: {name}", module.name);
            let last = format!("{name}_param_{}", sizes.len());
            assert!(!entry.contains(&last), "{}: {name} has more parameters than {sizes:?}", module.name);
            assert!(sizes.iter().all(|&bytes| bytes > 0), "{}: {name} {sizes:?}", module.name);
        }
    }
}

/// Module variables would be duplicated, because each kernel is compiled separately.
#[test]
fn kernels_share_no_memory() {
    for (_, module) in all() {
        let variables =
            module.shared.lines().filter(|line| line.contains(".global") || line.contains(".const"));
        let variables: Vec<&str> = variables.filter(|line| !line.starts_with('\t')).collect();
        assert!(variables.is_empty(), "{}: {variables:?}", module.name);
    }
}

#[test]
fn a_module_is_unpacked_once() {
    assert!(std::ptr::eq(module("scan").unwrap(), module("scan").unwrap()));
    assert!(module("nothing").is_err() && module("scan").unwrap().entry("nothing").is_err());
}

#[test]
fn modules_are_for_the_oldest_gpus_but_for_bulk_copies() {
    for (_, module) in all() {
        let target = if module.name.ends_with("_bulk") { "sm_90" } else { "sm_75" };
        assert!(module.shared.contains(&format!(".target {target}\n")), "{}", module.name);
    }
}

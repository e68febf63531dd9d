//! What the project is built from is pinned: the compiler, every crate, and every package that a check installs.

use std::fs;
use std::path::{Path, PathBuf};

/// Commands of cargo that choose versions of crates where no lock file must be kept.
const CHOOSING: [&str; 10] =
    ["bench", "build", "check", "clippy", "doc", "install", "package", "run", "rustc", "test"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The files of these folders, by their paths in the checkout.
fn files(folders: &[&str]) -> Vec<PathBuf> {
    let listed = |folder: &&str| fs::read_dir(root().join(folder)).expect("a folder");
    let paths = folders.iter().flat_map(listed).map(|entry| entry.expect("an entry").path());
    let own = |path: PathBuf| path.strip_prefix(root()).expect("below the root").to_owned();
    paths.filter(|path| path.is_file()).map(own).collect()
}

/// The lines that a shell runs: those of scripts, and those of documents in blocks of code.
fn commands() -> Vec<(String, String)> {
    let folders = [".", ".ci", "packaging", "docs", "kernels", "benches/peers", "reports"];
    let all = [files(&folders), files(&["tests/guard", "tests/scripts"])].concat();
    let mut found = Vec::new();
    for path in all {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        let shell =
            path.extension().is_some_and(|end| end == "sh") || text.starts_with("#!/usr/bin/env bash");
        let text = match path.extension() {
            Some(end) if end == "md" => text.split("```").skip(1).step_by(2).collect::<Vec<_>>().join("\n"),
            _ if shell => text.replace("\\\n", " "),
            _ => continue,
        };
        found.extend(text.lines().map(|line| (path.display().to_string(), line.trim().to_owned())));
    }
    found.retain(|(_, line)| !line.starts_with('#'));
    found
}

/// The words after `program ` wherever a line calls it.
fn calls<'l>(line: &'l str, program: &'l str) -> impl Iterator<Item = &'l str> {
    line.split(program).skip(1).filter_map(|rest| rest.strip_prefix(' '))
}

fn chooses(line: &str) -> bool {
    calls(line, "cargo").any(|rest| {
        let mut words = rest.split(' ');
        words.next().is_some_and(|word| CHOOSING.contains(&word)) && words.next() != Some("--version")
    })
}

#[test]
fn every_command_keeps_the_lock_file() {
    let commands = commands();
    let choosing: Vec<_> = commands.iter().filter(|(_, line)| chooses(line)).collect();
    assert!(choosing.len() > 20, "{} lines", choosing.len());
    let loose: Vec<_> = choosing.iter().filter(|(_, line)| !line.contains("--locked")).collect();
    assert!(loose.is_empty(), "without --locked: {loose:#?}");
    for line in ["cargo build", "A=b cargo test --lib", "x && cargo install y", "$(cargo run -- z)"] {
        assert!(chooses(line), "{line}");
    }
    for line in ["cargo fmt --check", "the cargo", "cargo --version", "cargo clippy --version >/dev/null"] {
        assert!(!chooses(line), "{line}");
    }
}

/// `kernels/nvcc.sh` is left: stamps hash it, so that it changes only with machine code that is compiled anew.
#[test]
fn every_package_of_python_has_a_hash() {
    let installs =
        |line: &str| calls(line, "pip\"").chain(calls(line, "pip")).any(|rest| rest.starts_with("install "));
    let all = commands();
    let scripts = all.iter().filter(|(path, line)| !path.ends_with(".md") && installs(line));
    let (checked, loose): (Vec<_>, Vec<_>) = scripts.partition(|(_, line)| line.contains("--require-hashes"));
    assert!(!checked.is_empty() && loose.iter().all(|(path, _)| path == "kernels/nvcc.sh"), "{loose:#?}");
    for name in [".ci/typos.txt", ".ci/notebook.txt", ".ci/reframe.txt", "packaging/zig.txt"] {
        let text = read(name).replace("\\\n", " ");
        let packages: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let is_pinned = |line: &&str| line.contains("==") && line.contains("--hash=sha256:");
        assert!(!packages.is_empty() && packages.iter().all(is_pinned), "{name}");
    }
}

/// The compiler that builds it is at least the one that it is said to need.
#[test]
fn the_compiler_is_pinned() {
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_else(|| panic!("no {key}"));
        line.trim().trim_matches('"').to_owned()
    };
    let pinned = value(&read("rust-toolchain.toml"), "channel =");
    let needed = value(&read("Cargo.toml"), "rust-version =");
    let numbers = |text: &str| text.split('.').map(|n| n.parse().expect("a number")).collect::<Vec<u32>>();
    assert!(numbers(&pinned).len() == 3 && numbers(&pinned) >= numbers(&needed), "{pinned} for {needed}");
}

//! Puts the git revision into the binary, so that every record can name the code that made it, and the
//! compiler's version.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Sets the variables `SCATTERLAB_REVISION` and `SCATTERLAB_RUSTC` for the crate.
pub fn tell() {
    // Naming a missing path (in a linked work tree or a published crate) would rerun this script on every
    // build.
    for path in [".git/HEAD", ".git/index"] {
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let revision = archived().or_else(packed).or_else(checked_out).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=SCATTERLAB_REVISION={revision}");
    println!("cargo:rustc-env=SCATTERLAB_RUSTC={}", compiler().unwrap_or_else(|| "unknown".to_owned()));
}

/// The revision that `git archive` wrote into `revision.txt`; `None` if no archive was unpacked here.
fn archived() -> Option<String> {
    let text = fs::read_to_string("build/revision.txt").ok()?;
    text.get(..12).filter(|revision| !revision.starts_with('$')).map(str::to_owned)
}

/// The revision that `cargo package` wrote into a packed crate; `None` elsewhere.
fn packed() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let revision = text.split("\"sha1\": \"").nth(1)?.get(..12)?;
    Some(marked(revision, text.contains("\"dirty\": true")))
}

/// The revision of the checkout here. A repository around this folder is another one, and not asked.
fn checked_out() -> Option<String> {
    Path::new(".git").exists().then_some(())?;
    let revision = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"]);
    Some(marked(&revision, changes.is_some_and(|changes| !changes.is_empty())))
}

/// The revision, marked if files differ from it.
fn marked(revision: &str, modified: bool) -> String {
    format!("{revision}{}", if modified { "-modified" } else { "" })
}

/// The compiler's version, such as `1.95.0`.
fn compiler() -> Option<String> {
    let rustc = std::env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok().filter(|o| o.status.success())?;
    String::from_utf8_lossy(&output.stdout).split(' ').nth(1).map(|version| version.trim().to_owned())
}

/// The output of a git command; `None` where it fails or git is missing.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

//! Puts the git revision into the binary, so that every record can name the code that made it, and the
//! compiler's version.

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
    let revision = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let dirty = git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"])
        .is_some_and(|s| !s.is_empty());
    println!("cargo:rustc-env=SCATTERLAB_REVISION={revision}{}", if dirty { "-modified" } else { "" });
    println!("cargo:rustc-env=SCATTERLAB_RUSTC={}", compiler().unwrap_or_else(|| "unknown".to_owned()));
}

/// The compiler's version, such as `1.95.0`.
fn compiler() -> Option<String> {
    let rustc = std::env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok().filter(|o| o.status.success())?;
    String::from_utf8_lossy(&output.stdout).split(' ').nth(1).map(|version| version.trim().to_owned())
}

/// The output of a git command; `None` outside a checkout or without git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

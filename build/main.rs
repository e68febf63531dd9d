//! Passes to the crate information that only its source tree holds: the revision and lists of embedded files.

mod embedded;
mod recipes;
mod revision;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build");
    revision::tell();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    recipes::list(&out)?;
    embedded::list(&out.join("profiles"), files("experiments/profiles", "yaml")?)?;
    Ok(())
}

/// The files of a folder with this extension, sorted by name.
fn files(folder: &str, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut paths = inside(folder)?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    Ok(paths)
}

/// Lists the entries of a folder, sorted by name. Cargo reruns this script when anything below the folder
/// changes, appears or disappears.
fn inside(folder: &str) -> io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={folder}");
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

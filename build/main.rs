//! Tells the crate what only its source tree knows: its revision, and the kernels' PTX, packed.

#[cfg(feature = "cuda")]
mod kernels;
mod revision;

use std::env;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build");
    revision::tell();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    #[cfg(feature = "cuda")]
    kernels::pack(&out)?;
    let _ = out;
    Ok(())
}

/// The files of a folder with this extension, in the order of their names. Cargo runs this script
/// again when one of them changes, comes or goes.
#[cfg(feature = "cuda")]
fn files(folder: &str, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={folder}");
    let paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    Ok(paths)
}

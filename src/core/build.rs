//! Lists the cases of `scatterlab verify`, which are in the folders of the primitives.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=primitives");
    println!("cargo:rerun-if-changed=build.rs");
    let mut folders =
        fs::read_dir("primitives")?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    folders.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for name in ["verify", "verify-cuda", "verify-large"] {
        list(name, &folders, &out.join(name).with_extension("rs"))?;
    }
    Ok(())
}

/// Writes a slice expression with the path and the text of each folder's file of this name.
fn list(name: &str, folders: &[PathBuf], out: &Path) -> io::Result<()> {
    let files = folders.iter().map(|folder| folder.join(name).with_extension("yaml"));
    let mut text = String::from("&[\n");
    for file in files.filter(|file| file.is_file()) {
        let path = Path::new("src/core").join(&file);
        let _ = writeln!(text, "({path:?}, include_str!({:?})),", env::current_dir()?.join(file));
    }
    text.push_str("]\n");
    fs::write(out, text)
}

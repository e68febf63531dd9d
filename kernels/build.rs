//! Compresses the PTX of every module, which would otherwise be most of the program.

use std::error::Error;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Writes each file of `ptx`, compressed, and `modules.rs`, an array that lists them by name.
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=ptx");
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut sources =
        fs::read_dir("ptx")?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    sources.sort();
    let mut list = String::from("[\n");
    for source in sources {
        let packed = out.join(source.file_stem().unwrap_or_default()).with_extension("ptx.gz");
        let length = pack(&source, &packed)?;
        let name = source.file_stem().unwrap_or_default();
        writeln!(list, "Packed {{ name: {name:?}, bytes: include_bytes!({packed:?}), length: {length} }},")?;
    }
    list.push_str("]\n");
    fs::write(out.join("modules.rs"), list)?;
    Ok(())
}

/// Compresses a file. Returns its length, bytes.
fn pack(source: &Path, packed: &Path) -> std::io::Result<usize> {
    let text = fs::read(source)?;
    let mut file = GzEncoder::new(File::create(packed)?, Compression::default());
    file.write_all(&text)?;
    file.finish()?;
    Ok(text.len())
}

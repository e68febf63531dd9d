//! Compresses the PTX of every module, which would otherwise be most of the binary.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Writes each file of `kernels/ptx`, compressed, into `out`, along with `kernels.rs`, which lists the files
/// for `device/cuda/live/packed.rs`.
///
/// # Errors
/// A file or a folder cannot be read or written.
pub fn pack(out: &Path) -> io::Result<()> {
    let sources = super::files("kernels/ptx", "ptx")?;
    let mut list = format!("static MODULES: [Packed; {}] = [\n", sources.len());
    for source in sources {
        let text = fs::read(&source)?;
        let name = source.file_stem().unwrap_or_default();
        let packed = out.join(name).with_extension("ptx.gz");
        let mut file = GzEncoder::new(File::create(&packed)?, Compression::default());
        file.write_all(&text)?;
        file.finish()?;
        let length = text.len();
        let _ = writeln!(list, "Packed::new({name:?}, include_bytes!({packed:?}), {length}),");
    }
    list.push_str("];\n");
    fs::write(out.join("kernels.rs"), list)
}

//! Compresses the PTX of every module, which would otherwise be most of the binary.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// Compresses to a tenth of the text within half a second. Level 19, the highest, saves another sixth but takes
/// a quarter of a minute.
const LEVEL: i32 = 9;

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
        let packed = out.join(name).with_extension("ptx.zst");
        fs::write(&packed, zstd::bulk::compress(&text, LEVEL)?)?;
        let length = text.len();
        let _ = writeln!(list, "Packed::new({name:?}, include_bytes!({packed:?}), {length}),");
    }
    list.push_str("];\n");
    fs::write(out.join("kernels.rs"), list)
}

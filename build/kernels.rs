//! Packs the PTX of every module, which is most of what the binary would weigh.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// A tenth of the text, within half a second. The highest level, 19, saves a sixth of that and takes a
/// quarter of a minute.
const LEVEL: i32 = 9;

/// Writes each file of `kernels/ptx`, packed, into `out`, and `kernels.rs`, which lists them for
/// `device/cuda/live/packed.rs`.
///
/// # Errors
/// A file or a folder that cannot be read or written.
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

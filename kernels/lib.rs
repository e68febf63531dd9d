//! The PTX of `kernels/ptx`, compressed by the build script: a tenth of the size of its text.

/// A module of `kernels/ptx`, compressed.
pub struct Packed {
    /// Name of the module, such as `scan` of `scan.ptx`.
    pub name: &'static str,
    /// The text as gzip.
    pub bytes: &'static [u8],
    /// Size of the text, bytes.
    pub length: usize,
}

/// All modules, by name.
pub const MODULES: &[Packed] = &include!(concat!(env!("OUT_DIR"), "/modules.rs"));

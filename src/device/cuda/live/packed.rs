//! The PTX that the binary carries: a module's text is packed by the build script, and is unpacked
//! and cut into its kernels when the module is first asked for.
//!
//! The driver compiles all that it is given, a tenth of a second for each kernel. So it gets one
//! kernel at a time: what the module's text has outside of its kernels, and the one that is asked for.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::ptx;
use crate::case::Failure;

// The build script's list `MODULES` of every module of `kernels/ptx`.
include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// A module as the binary carries it.
struct Packed {
    name: &'static str,
    bytes: &'static [u8],
    /// Bytes of its text.
    length: usize,
    text: OnceLock<Option<Text>>,
}

/// The text of a module, in pieces.
#[derive(Debug)]
pub(super) struct Text {
    /// The module's name.
    pub name: &'static str,
    /// What its kernels share: versions, declarations, and the functions that they call.
    pub shared: String,
    /// The kernels by their names.
    entries: HashMap<&'static str, &'static str>,
}

/// One kernel of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub module: &'static Text,
    pub name: &'static str,
    pub text: &'static str,
}

/// The text of a module.
///
/// # Errors
/// `Failed` if this build has none of this name.
pub(super) fn module(name: &str) -> Result<&'static Text, Failure> {
    let missing = || Failure::Failed(format!("no CUDA module `{name}` in this build"));
    let packed = MODULES.iter().find(|packed| packed.name == name).ok_or_else(missing)?;
    let damaged = || Failure::Failed(format!("{name}.ptx cannot be unpacked"));
    packed.text.get_or_init(|| packed.unpacked()).as_ref().ok_or_else(damaged)
}

impl Packed {
    const fn new(name: &'static str, bytes: &'static [u8], length: usize) -> Packed {
        Packed { name, bytes, length, text: OnceLock::new() }
    }

    fn unpacked(&self) -> Option<Text> {
        let text = zstd::bulk::decompress(self.bytes, self.length).ok()?;
        // A module stays for as long as the process, as the packed one does.
        let (shared, entries) = ptx::cut(String::from_utf8(text).ok()?.leak());
        Some(Text { name: self.name, shared, entries })
    }
}

impl Text {
    /// The kernel of this name.
    ///
    /// # Errors
    /// `Failed` if the module has none.
    pub fn entry(&'static self, name: &str) -> Result<Entry, Failure> {
        let missing = || Failure::Failed(format!("no kernel `{name}` in {}.ptx", self.name));
        let (name, text) = self.entries.get_key_value(name).ok_or_else(missing)?;
        Ok(Entry { module: self, name, text })
    }
}

impl Entry {
    /// What the driver compiles.
    pub fn image(&self) -> String {
        format!("{}\n{}", self.module.shared, self.text)
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;

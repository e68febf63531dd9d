//! The PTX embedded in the binary. The crate `scatterlab-kernels` has the compressed text of each module, which is
//! decompressed and split into its kernels at the first request.
//!
//! The driver compiles everything that it is given, at a tenth of a second per kernel. It is therefore given one
//! kernel at a time, with the module's text outside of kernels.

use std::collections::HashMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use scatterlab_kernels::{MODULES, Packed};

use super::ptx;
use crate::case::Failure;

/// The text of a module, split into kernels.
#[derive(Debug)]
pub(super) struct Text {
    /// The module's name.
    pub name: &'static str,
    /// Text shared by the kernels: versions, declarations, and the functions that they call.
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

/// The text of the module with this name.
///
/// # Errors
/// `Failed` if this build has no such module.
pub(super) fn module(name: &str) -> Result<&'static Text, Failure> {
    static TEXTS: [OnceLock<Option<Text>>; MODULES.len()] = [const { OnceLock::new() }; MODULES.len()];
    let missing = || Failure::Failed(format!("no CUDA module `{name}` in this build"));
    let at = MODULES.iter().position(|packed| packed.name == name).ok_or_else(missing)?;
    let damaged = || Failure::Failed(format!("{name}.ptx cannot be unpacked"));
    TEXTS[at].get_or_init(|| unpacked(&MODULES[at])).as_ref().ok_or_else(damaged)
}

fn unpacked(packed: &Packed) -> Option<Text> {
    let mut text = String::with_capacity(packed.length);
    GzDecoder::new(packed.bytes).read_to_string(&mut text).ok()?;
    // Leaked: a module lives as long as the process, like its compressed form.
    let (shared, entries) = ptx::cut(text.leak());
    Some(Text { name: packed.name, shared, entries })
}

impl Text {
    /// The kernel with this name.
    ///
    /// # Errors
    /// `Failed` if the module has no such kernel.
    pub fn entry(&'static self, name: &str) -> Result<Entry, Failure> {
        let missing = || Failure::Failed(format!("no kernel `{name}` in {}.ptx", self.name));
        let (name, text) = self.entries.get_key_value(name).ok_or_else(missing)?;
        Ok(Entry { module: self, name, text })
    }
}

impl Entry {
    /// The PTX image for the driver to compile.
    pub fn image(&self) -> String {
        format!("{}\n{}", self.module.shared, self.text)
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;

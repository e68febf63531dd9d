//! Files that are complete or as they were.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run::writes;

/// Writes to a temporary file and renames it, so that readers never see a partial file.
pub(crate) fn replace(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<PathBuf> {
    let written = writes::replace(folder, name, |file| {
        let mut out = BufWriter::new(file.try_clone()?);
        write(&mut out)?;
        Ok(out.into_inner().map_err(|e| e.into_error())?.sync_all()?)
    });
    let path = folder.join(name);
    written
        .map_err(|error: anyhow::Error| error)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

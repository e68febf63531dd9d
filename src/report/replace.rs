//! Files that are complete or as they were.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run::writes::draft;

/// Writes to a temporary file and renames it, so that readers never see a partial file.
pub(crate) fn replace(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<PathBuf> {
    let (path, draft) = (folder.join(name), draft(folder, name));
    let attempt = || {
        let mut out = BufWriter::new(File::create(&draft)?);
        write(&mut out)?;
        out.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        fs::rename(&draft, &path)?;
        Ok(path.clone())
    };
    let result: Result<PathBuf> = attempt();
    if result.is_err() {
        // The draft may not exist; the first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    result.with_context(|| format!("cannot write {}", path.display()))
}

//! `--export-markdown`: the results of runs as tables in a Markdown file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use super::{out, results};
use crate::case::units::escaped;
use crate::report::html::Measured;
use crate::report::replace::replace;
use crate::run::stored::Stored;

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Also write the results into this file, as Markdown tables
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export_markdown: Option<PathBuf>,
}

/// The file, which is written when all runs are in it; empty if none is asked for.
pub struct Export<'a>(Option<File<'a>>);

struct File<'a> {
    folder: &'a Path,
    name: &'a str,
    text: String,
}

impl ExportArguments {
    /// Refuses, before anything is measured, what cannot be written afterwards.
    pub fn open(&self) -> anyhow::Result<Export<'_>> {
        let Some(path) = &self.export_markdown else { return Ok(Export(None)) };
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.filter(|_| !path.is_dir());
        let name = name.with_context(|| format!("--export-markdown {}: not a file name", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.is_dir() {
            bail!("--export-markdown {}: there is no folder {}", path.display(), folder.display());
        }
        Ok(Export(Some(File { folder, name, text: String::new() })))
    }
}

impl Export<'_> {
    pub fn is_asked_for(&self) -> bool {
        self.0.is_some()
    }

    /// Adds the results of a run: a heading and a table for each experiment, and the remarks on it.
    pub fn add(&mut self, run: &Stored) {
        let Some(file) = &mut self.0 else { return };
        let plan = &run.manifest.plan;
        let break_before = if file.text.is_empty() { "" } else { "\n" };
        file.text.push_str(&format!("{break_before}# {}\n", escaped(&plan.title)));
        for (number, experiment) in plan.experiments.iter().enumerate() {
            if plan.experiments.len() > 1 {
                file.text.push_str(&format!("\n## {}\n", escaped(&experiment.title)));
            }
            let Measured { table, remarks } = results::measured(&run.ledger, number);
            if !table.rows.is_empty() {
                file.text.push_str(&format!("\n{}", table.markdown()));
            }
            let remarks: String = remarks.iter().map(|line| format!("- {}\n", escaped(line))).collect();
            if !remarks.is_empty() {
                file.text.push_str(&format!("\n{remarks}"));
            }
        }
    }

    pub fn end(self) -> anyhow::Result<()> {
        let Some(File { folder, name, text }) = self.0 else { return Ok(()) };
        let path = replace(folder, name, |out| Ok(out.write_all(text.as_bytes())?))?;
        out::line(&format!("written: {}", path.display()));
        Ok(())
    }
}

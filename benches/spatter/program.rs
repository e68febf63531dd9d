//! Programs that print Spatter's table.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program with the options of one of the settings to compare.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    command: Vec<OsString>,
}

/// Index in [`against`] of Spatter's default setting.
pub const DEFAULT: usize = 2;

/// Ours first, then Spatter's settings.
pub fn against(spatter: &Path, threads: u32) -> Vec<Program> {
    let ours = Path::new(env!("CARGO_BIN_EXE_scatterlab"));
    let threads = threads.to_string();
    let program = |name, program: &Path, options: &[&str]| {
        let options = options.iter().map(OsString::from);
        Program { name, command: std::iter::once(program.into()).chain(options).collect() }
    };
    vec![
        program("ours", ours, &["spatter", "-b", "openmp", "-t", &threads, "--dense-buffers"]),
        program("serial", spatter, &["-b", "serial"]),
        program("openmp", spatter, &["-b", "openmp", "-t", &threads]),
        program("dense", spatter, &["-b", "openmp", "-t", &threads, "--dense-buffers"]),
    ]
}

impl Program {
    /// The bandwidth, in GB/s, of the one configuration in `file`.
    pub fn run(&self, file: &Path) -> Result<f64> {
        let [program, options @ ..] = self.command.as_slice() else { bail!("no program") };
        let output = Command::new(program)
            .args(options)
            .arg("-f")
            .arg(file)
            .output()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("{}: {}: {}", self.name, output.status, why.lines().next_back().unwrap_or("says nothing"));
        }
        bandwidth(&text).with_context(|| format!("{}: no table of one configuration in {text:?}", self.name))
    }
}

/// GB/s of the row below the header.
fn bandwidth(text: &str) -> Option<f64> {
    let mut rows = text.lines().skip_while(|line| !line.starts_with("config")).skip(1);
    let megabytes: f64 = rows.next()?.split_whitespace().nth(3)?.parse().ok()?;
    rows.all(|line| line.trim().is_empty()).then_some(megabytes / 1e3)
}

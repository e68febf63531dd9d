//! Spatter's input files, one configuration at a time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::NamedTempFile;

/// A file with configurations.
#[derive(Debug)]
pub struct Suite {
    pub name: String,
    pub configurations: Vec<Configuration>,
}

#[derive(Debug)]
pub struct Configuration {
    pub id: usize,
    json: Value,
}

/// The four Spatter files that are measured by default.
pub fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spatter");
    ["amg", "lulesh", "cpu-ustride", "gpu-ustride"].map(|name| folder.join(format!("{name}.json"))).into()
}

impl Suite {
    pub fn read(file: &Path) -> Result<Suite> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let all: Vec<Value> = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let name = file.file_stem().unwrap_or(file.as_os_str()).display().to_string();
        let configurations = all.into_iter().enumerate().map(|(id, json)| Configuration { id, json });
        Ok(Suite { name, configurations: configurations.collect() })
    }
}

impl Configuration {
    /// A temporary file with this configuration only, deleted on drop.
    pub fn file(&self) -> Result<NamedTempFile> {
        let mut file = NamedTempFile::new()?;
        serde_json::to_writer(&mut file, &[&self.json])?;
        file.flush()?;
        Ok(file)
    }

    /// The kernel's name in lower case.
    pub fn kernel(&self) -> String {
        self.json["kernel"].as_str().unwrap_or("gather").to_lowercase()
    }

    /// The pattern as given, with a long list truncated to its beginning; and the delta.
    pub fn pattern(&self) -> String {
        match &self.json["pattern"] {
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let begins: Vec<_> = list.iter().take(4).map(Value::to_string).collect();
                format!("{},… δ {}", begins.join(","), self.json["delta"])
            }
            _ => String::new(),
        }
    }
}

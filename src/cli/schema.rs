//! `scatterlab schema`.

use std::process::ExitCode;

use super::out;
use crate::recipe::json_schema::json_schema;

/// Prints the recipe language as a JSON Schema.
pub fn run() -> anyhow::Result<ExitCode> {
    out::json(&(serde_json::to_string_pretty(&json_schema())? + "\n"));
    Ok(ExitCode::SUCCESS)
}

//! Parsing of PTX: its version and target, and its kernels. Pure.

use std::collections::HashMap;

use crate::case::Failure;
use crate::device::cuda::GpuFacts;

/// The driver's error code for PTX that is too new.
pub(super) const UNSUPPORTED_VERSION: u32 = 222;

/// `NotApplicable` if the driver or the device is too old for this PTX.
pub(super) fn check(text: &str, facts: &GpuFacts) -> Result<(), Failure> {
    let version = version(text)?;
    if version > newest_for(facts.driver_cuda) {
        return Err(too_new(text, facts));
    }
    let target = target(text)?;
    let (major, minor) = facts.compute_capability;
    if target > 10 * major + minor {
        return Err(Failure::NotApplicable(format!(
            "the kernels need compute capability {}.{}, but {} has {major}.{minor}",
            target / 10,
            target % 10,
            facts.name
        )));
    }
    Ok(())
}

/// The failure for PTX that is newer than the driver.
pub(super) fn too_new(text: &str, facts: &GpuFacts) -> Failure {
    let (major, minor) = match version(text) {
        Ok(version) => version,
        Err(failure) => return failure,
    };
    let (driver_major, driver_minor) = facts.driver_cuda;
    let (newest_major, newest_minor) = newest_for(facts.driver_cuda);
    Failure::NotApplicable(format!(
        "the kernels are PTX {major}.{minor}, but the driver (CUDA {driver_major}.{driver_minor}) takes PTX up to \
         {newest_major}.{newest_minor}: a newer driver is needed"
    ))
}

/// The newest PTX version supported by a driver for this CUDA version (PTX ISA, "Release Notes"): 7.x for 11.x;
/// 8.x for 12.x, but one minor version behind from 12.6 on; 9.x for 13.x.
fn newest_for((major, minor): (u32, u32)) -> (u32, u32) {
    match (major, minor) {
        (12, 6..) => (8, minor - 1),
        (0..4, _) => (0, 0),
        _ => (major - 4, minor),
    }
}

/// The version declared by `.version`.
fn version(text: &str) -> Result<(u32, u32), Failure> {
    let parse = |words: &str| {
        let (major, minor) = words.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    directive(text, ".version").and_then(parse).ok_or_else(|| Failure::Failed("PTX without a version".into()))
}

/// The compute capability declared by `.target`, times ten.
fn target(text: &str) -> Result<u32, Failure> {
    let parse = |word: &str| {
        let digits = word.strip_prefix("sm_")?;
        digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    };
    directive(text, ".target").and_then(parse).ok_or_else(|| Failure::Failed("PTX without a target".into()))
}

/// The first word after a directive at the start of a line.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split([',', ' ', '\t']).find(|word| !word.is_empty())
}

/// Start of a kernel. It ends with a closing brace on a line of its own.
const ENTRY: &str = ".visible .entry ";

/// Splits a module's text into the part outside of kernels, without comments, and its kernels by name.
pub(super) fn cut(text: &str) -> (String, HashMap<&str, &str>) {
    let (mut outside, mut entries) = (String::new(), HashMap::new());
    let mut rest = text;
    while let Some(begin) = rest.find(ENTRY) {
        let end = rest[begin..].find("\n}\n").map_or(rest.len(), |brace| begin + brace + "\n}\n".len());
        let entry = &rest[begin..end];
        let name = entry[ENTRY.len()..].split('(').next().unwrap_or_default();
        entries.insert(name.trim(), entry);
        outside.push_str(&rest[..begin]);
        rest = &rest[end..];
    }
    outside.push_str(rest);
    let told = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    (outside.lines().filter(told).flat_map(|line| [line, "\n"]).collect(), entries)
}

/// The mark of a kernel that waits for earlier launches by itself (`kernels/common/overlap.cuh`), its instructions on devices
/// that have them, and the first of these (PTX ISA, "griddepcontrol").
const OVERLAP: &str = "// scatterlab: overlap";
const WAITS_AND_TRIGGERS: &str = "griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;";
const OVERLAP_SINCE: (u32, u32) = (9, 0);

/// True if launches of this kernel overlap with earlier ones on this device.
pub(super) fn overlaps(entry: &str, facts: &GpuFacts) -> bool {
    facts.compute_capability >= OVERLAP_SINCE && entry.contains(OVERLAP)
}

/// The image with instructions in place of the marks, for a target that has these.
pub(super) fn overlapping(image: &str) -> Result<String, Failure> {
    let (major, minor) = OVERLAP_SINCE;
    let old = target(image)?;
    let new = old.max(10 * major + minor);
    let raised = image.replacen(&format!(".target sm_{old}"), &format!(".target sm_{new}"), 1);
    Ok(raised.replace(OVERLAP, WAITS_AND_TRIGGERS))
}

/// Size of each parameter of a kernel, bytes.
pub(super) fn parameters(entry: &str) -> Vec<usize> {
    let list = entry.split_once('(').map_or("", |(_, rest)| rest);
    let list = list.split_once(')').map_or(list, |(list, _)| list);
    list.split(',').filter(|p| p.contains(".param")).filter_map(parameter).collect()
}

/// Size of a parameter, bytes: `.param .u64 x`, or `.param .align 8 .b8 x[24]`.
fn parameter(declaration: &str) -> Option<usize> {
    let kind = declaration
        .split_whitespace()
        .rfind(|word| word.starts_with('.') && word.ends_with(char::is_numeric));
    let bits: usize = kind?.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let count = match declaration.split_once('[') {
        Some((_, count)) => count.split(']').next()?.trim().parse().ok()?,
        None => 1,
    };
    Some(bits / 8 * count)
}

#[cfg(test)]
#[path = "ptx_tests.rs"]
mod tests;

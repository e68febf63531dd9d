//! The PTX that the binary carries, and what its text says about itself. Pure.

use std::collections::HashMap;

use crate::case::Failure;
use crate::device::cuda::GpuFacts;

/// The driver's code for PTX that is newer than it.
pub(super) const UNSUPPORTED_VERSION: u32 = 222;

/// Every module: its name, and the PTX that `kernels/build.sh` made of its source.
const MODULES: &[(&str, &str)] = &[
    ("atop_scan", include_str!("../../../../kernels/ptx/atop_scan.ptx")),
    ("gate", include_str!("../../../../kernels/ptx/gate.ptx")),
    ("gather_scatter", include_str!("../../../../kernels/ptx/gather_scatter.ptx")),
    ("histogram", include_str!("../../../../kernels/ptx/histogram.ptx")),
    ("multisplit", include_str!("../../../../kernels/ptx/multisplit.ptx")),
    ("multisplit_bulk_0", include_str!("../../../../kernels/ptx/multisplit_bulk_0.ptx")),
    ("multisplit_bulk_4", include_str!("../../../../kernels/ptx/multisplit_bulk_4.ptx")),
    ("multisplit_bulk_8", include_str!("../../../../kernels/ptx/multisplit_bulk_8.ptx")),
    ("multisplit_bulk_digits", include_str!("../../../../kernels/ptx/multisplit_bulk_digits.ptx")),
    ("multisplit_digits", include_str!("../../../../kernels/ptx/multisplit_digits.ptx")),
    ("multisplit_fused", include_str!("../../../../kernels/ptx/multisplit_fused.ptx")),
    ("multisplit_fused_0", include_str!("../../../../kernels/ptx/multisplit_fused_0.ptx")),
    ("multisplit_fused_4", include_str!("../../../../kernels/ptx/multisplit_fused_4.ptx")),
    ("multisplit_fused_8", include_str!("../../../../kernels/ptx/multisplit_fused_8.ptx")),
    ("multisplit_paper", include_str!("../../../../kernels/ptx/multisplit_paper.ptx")),
    ("partitioned", include_str!("../../../../kernels/ptx/partitioned.ptx")),
    ("pattern", include_str!("../../../../kernels/ptx/pattern.ptx")),
    ("random_access", include_str!("../../../../kernels/ptx/random_access.ptx")),
    ("scan", include_str!("../../../../kernels/ptx/scan.ptx")),
    ("stream", include_str!("../../../../kernels/ptx/stream.ptx")),
];

/// The PTX of a module.
pub(super) fn embedded(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

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
            "the kernels need compute capability {}.{}, {} has {major}.{minor}",
            target / 10,
            target % 10,
            facts.name
        )));
    }
    Ok(())
}

/// What is said of PTX that is newer than the driver.
pub(super) fn too_new(text: &str, facts: &GpuFacts) -> Failure {
    let (major, minor) = match version(text) {
        Ok(version) => version,
        Err(failure) => return failure,
    };
    let (driver_major, driver_minor) = facts.driver_cuda;
    let (newest_major, newest_minor) = newest_for(facts.driver_cuda);
    Failure::NotApplicable(format!(
        "the kernels are PTX {major}.{minor}, the driver (CUDA {driver_major}.{driver_minor}) takes PTX up to \
         {newest_major}.{newest_minor}: a newer driver is needed"
    ))
}

/// The newest PTX that a driver of this CUDA version takes (PTX ISA, "Release Notes").
/// 11.x takes 7.x; 12.x lags behind from 12.6 on; 13.x takes 9.x.
fn newest_for((major, minor): (u32, u32)) -> (u32, u32) {
    match (major, minor) {
        (12, 6..) => (8, minor - 1),
        (0..4, _) => (0, 0),
        _ => (major - 4, minor),
    }
}

/// The version that `.version` declares.
fn version(text: &str) -> Result<(u32, u32), Failure> {
    let parse = |words: &str| {
        let (major, minor) = words.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    directive(text, ".version").and_then(parse).ok_or_else(|| Failure::Failed("PTX without a version".into()))
}

/// The compute capability that `.target` declares, times ten.
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

/// The kernels of a module and the bytes of each of their parameters.
pub(super) fn entries(text: &str) -> HashMap<&str, Vec<usize>> {
    let mut found = HashMap::new();
    for piece in text.split(".entry ").skip(1) {
        let Some((name, rest)) = piece.split_once('(') else { continue };
        let list = rest.split_once(')').map_or(rest, |(list, _)| list);
        let sizes = list.split(',').filter(|p| p.contains(".param")).filter_map(parameter).collect();
        found.insert(name.trim(), sizes);
    }
    found
}

/// Bytes of a parameter: `.param .u64 x`, or `.param .align 8 .b8 x[24]`.
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

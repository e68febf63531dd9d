//! The facts about a device that are known without measuring.

use crate::case::Device;
use crate::engine::clock;
use crate::model::Made;
use crate::model::calibrate::{Subject, Target};
use crate::model::profiles::{identity, size, uuid};
use crate::recipe::plan::slug;
use crate::run::client::Hello;

/// Page size of arrays of 2 MiB or more if the system grants huge pages; otherwise every array has pages of
/// `PAGE` bytes.
const HUGE_PAGE: u64 = 2 << 20;
const PAGE: u64 = 4 << 10;

/// The device as the engine describes it, and the doubts about its cases.
pub fn subject(
    name: Option<&str>,
    quick: bool,
    hello: &Hello,
    (target, device): (Target, &Device),
    doubtful: Option<String>,
) -> Subject {
    let mut ours = identity(device);
    let gpu = target != Target::Processors;
    if !gpu && hello.environment.memory > 0 {
        ours.memory = Some(hello.environment.memory);
    }
    let made = Made {
        at: clock::now(),
        host: hello.environment.host.clone(),
        uuid: uuid(device),
        version: hello.version.clone(),
        revision: hello.revision.clone(),
        doubtful,
    };
    let quick = if quick { " --quick" } else { "" };
    Subject {
        name: name.map_or_else(|| named(device, gpu, ours.processors), str::to_owned),
        source: format!("{}, scatterlab calibrate --backend {}{quick}", made.at, target.backend()),
        made,
        caches: caches(device, gpu),
        line: fact(device, "cache line").and_then(size),
        page: if gpu { None } else { page(hello.environment.transparent_huge_pages.as_deref()) },
        device: ours,
    }
}

/// A name such as `nvidia-h200`. CPUs of one model come in many core counts, so theirs is appended:
/// `amd-epyc-2`.
fn named(device: &Device, gpu: bool, processors: Option<u64>) -> String {
    let name = slug(&device.name);
    match processors.filter(|_| !gpu) {
        Some(count) => format!("{name}-{count}"),
        None => name,
    }
}

fn fact<'d>(device: &'d Device, wanted: &str) -> Option<&'d str> {
    device.facts.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
}

/// The device's caches with their sizes. A GPU's driver does not report the L1 cache, which gets no size.
fn caches(device: &Device, gpu: bool) -> Vec<(String, Option<u64>)> {
    let is_cache = |name: &str| {
        name.strip_prefix('L').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let told = device.facts.iter().filter(|(name, _)| is_cache(name));
    let told = told.map(|(name, value)| (name.clone(), size(value)));
    gpu.then(|| ("L1".to_owned(), None)).into_iter().chain(told).collect()
}

fn page(huge: Option<&str>) -> Option<u64> {
    match huge? {
        "never" => Some(PAGE),
        _ => Some(HUGE_PAGE),
    }
}

/// Peak bytes per second of a GPU's memory bus: its width, transferred twice per clock.
pub fn bus(device: &Device) -> Option<f64> {
    let number = |name: &str| fact(device, name)?.split(' ').next()?.parse::<f64>().ok();
    let clock = number("highest memory clock").or_else(|| number("memory clock"))?;
    Some(number("memory bus")? / 8.0 * clock * 1e6 * 2.0)
}

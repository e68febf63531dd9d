//! The roofline of an experiment (S. Williams, A. Waterman, D. Patterson, CACM 2009): throughput over intensity, under
//! the rates at which the machine moves bytes.
//!
//! A case of `e` elements that moves `b` bytes has the intensity `e / b`, in elements per byte. A memory of `r` bytes
//! per second sets the roof `r · e / b` elements per second, a rate of single accesses the same roof at every intensity.

use super::guide::{Ceiling, Level};
use crate::case::Direction;
use crate::case::units::fmt_bytes;
use crate::model::{Profile, Profiles};
use crate::recipe::plan::Plan;
use crate::report::copies::{self, Copies};
use crate::run::Record;

/// A cache that copies hardly faster than the memory beyond it is no roof of its own.
const FASTER: f64 = 1.1;

/// Elements per byte that the case moves, locations included; `None` if it moves none.
pub(super) fn intensity(record: &Record) -> Option<f64> {
    let work = record.work.as_ref()?;
    let intensity = work.elements as f64 / work.system_bytes as f64;
    (intensity.is_finite() && intensity > 0.0).then_some(intensity)
}

/// The roofs over a case: the plain copies of its run, and from its machine's profile copies within each cache and
/// random accesses beyond them.
pub(super) fn roofs(record: &Record, plan: &Plan, copies: &Copies, profiles: &Profiles) -> Vec<Ceiling> {
    let (backend, _) = record.case.place();
    let copy = Ceiling {
        label: format!("copy, {backend}"),
        about: "copy: median rate of the plain copies between this run's passes, read and written bytes"
            .to_owned(),
        level: copies::rate(plan, copies, backend),
        per_byte: true,
    };
    let memory = copy.level.ok();
    let profile = profiles.of(&record.case).ok();
    let calibrated = profile.map(|profile| of_profile(profile, backend, memory));
    [copy].into_iter().chain(calibrated.unwrap_or_default()).collect()
}

fn of_profile(profile: &Profile, backend: &str, memory: Option<f64>) -> Vec<Ceiling> {
    let Some(rates) = profile.rates.get(backend) else { return Vec::new() };
    let far = |curve: &crate::model::Curve| curve.points().last().map_or(f64::NAN, |(_, rate)| *rate);
    let mut below = memory.unwrap_or(far(&rates.copy) / 1e9);
    let mut roofs = Vec::new();
    for cache in profile.caches.iter().rev() {
        // Both arrays together take half the cache.
        let rate = rates.copy.at(cache.capacity as f64 / 2.0) / 1e9;
        if rate > below * FASTER {
            below = rate;
            let about = format!(
                "{}: copies of arrays that take half of it, from the profile {}",
                cache.name, profile.name
            );
            roofs.push(roof(format!("{} copy, {backend}", cache.name), about, Ok(rate), true));
        }
    }
    for (direction, word) in [(Direction::Read, "reads"), (Direction::Write, "writes")] {
        let own = rates.random.iter().filter(|random| random.direction == direction);
        if let Some(random) = own.min_by_key(|random| random.element) {
            let about = format!(
                "random {word}: single accesses of {} beyond the caches, from the profile {}",
                fmt_bytes(random.element),
                profile.name
            );
            roofs.push(roof(format!("random {word}, {backend}"), about, Ok(far(&random.rate)), false));
        }
    }
    roofs
}

fn roof(label: String, about: String, level: Level, per_byte: bool) -> Ceiling {
    Ceiling { label, about, level, per_byte }
}

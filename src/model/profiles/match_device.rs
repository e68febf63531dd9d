//! Assignment of profiles to devices, and warnings about poor matches.

use std::cmp::Reverse;
use std::fmt;

use super::{Kept, Origin, ProfileStore};
use crate::case::Device;
use crate::model::{self, Made, Profile};

/// A profile older than this many months gets a warning.
const MONTHS: u64 = 6;

/// Relative tolerance of two memory sizes: a driver keeps some memory for itself.
const SAME: f64 = 0.05;

/// A device and its machine, as an engine describes them.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    pub device: &'a Device,
    /// Name of the machine.
    pub host: &'a str,
    /// `YYYY-MM-DD HH:MM:SS` UTC.
    pub now: &'a str,
}

/// The profile found for a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub profile: Profile,
    pub origin: Origin,
    /// Reasons to doubt that the profile fits the device.
    pub notices: Vec<Notice>,
}

/// A reason to doubt that a profile fits a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Made with another driver, by another version of scatterlab, or long ago.
    Stale(String),
    /// Made on another machine with such a device.
    Foreign(String),
    /// Made for a device of another kind.
    Other(String),
    /// Made by a quick or noisy calibration.
    Doubtful(String),
    /// Made by a version that measured less.
    Lacking(String),
    /// Not a doubt: which other one was passed over, and why.
    Preferred(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Stale(why) => write!(f, "stale: {why}"),
            Notice::Foreign(why) => write!(f, "foreign: {why}"),
            Notice::Other(why) => write!(f, "of another device: {why}"),
            Notice::Doubtful(why) => write!(f, "its calibration is {why}"),
            Notice::Lacking(what) => {
                write!(f, "lacks {what}: cases that need it are predicted less well or not at all")
            }
            Notice::Preferred(why) => write!(f, "preferred to {why}"),
        }
    }
}

/// The rule by which one of several profiles of a device predicts, for people.
pub const RULE: &str = "this very machine before others, full calibrations before quick ones, the same driver before others, newer before older";

/// Place of a profile among those of a device, by [`RULE`]: the least predicts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Made on another machine or, for a GPU, on another GPU.
    elsewhere: bool,
    quick: bool,
    driver: bool,
    at: Reverse<Option<String>>,
}

impl Rank {
    fn of(kept: &Kept, machine: Machine<'_>) -> Rank {
        Rank {
            elsewhere: kept.elsewhere(machine).is_some(),
            quick: kept.profile.is_quick(),
            driver: kept.profile.device.driver != identity(machine.device).driver,
            at: Reverse(kept.profile.made.as_ref().map(|made| made.at.clone())),
        }
    }

    /// What a profile of the rank `other` lacks beside one of this rank.
    fn above(&self, other: &Rank) -> &'static str {
        let reasons = [
            (self.elsewhere != other.elsewhere, "which was made on another machine"),
            (self.quick != other.quick, "which comes from a quick calibration"),
            (self.driver != other.driver, "which was made with another driver"),
        ];
        reasons.iter().find(|(differs, _)| *differs).map_or("which is older", |(_, why)| why)
    }
}

impl ProfileStore {
    /// The profile of a device: the first by [`RULE`] of those made for a device of this name, memory size and
    /// number of processors that have rates of its backend. How noisy a calibration was does not decide: what it makes
    /// doubtful is said wherever it predicts. A notice names the next one, and why it was passed over. `None` if there
    /// is none.
    pub fn of_device(&self, machine: Machine<'_>) -> Option<Found> {
        let ours = identity(machine.device);
        // A profile that a person wrote by hand is used only if named.
        let fits = |kept: &&Kept| {
            kept.profile.made.is_some() && suits(&kept.profile, &ours, &machine.device.backend)
        };
        let mut fitting: Vec<&Kept> = self.kept.iter().filter(fits).collect();
        fitting.sort_by_cached_key(|kept| Rank::of(kept, machine));
        let (first, next) = (fitting.first()?, fitting.get(1));
        let mut found = first.for_device(machine);
        found.notices.extend(next.map(|next| first.preferred_to(next, machine)));
        Some(found)
    }

    /// The profile with this name or in this file, checked against a device.
    ///
    /// # Errors
    /// As for [`wanted`](Self::wanted).
    pub fn named_for(&self, name: &str, machine: Machine<'_>) -> anyhow::Result<Found> {
        Ok(self.wanted(name)?.for_device(machine))
    }
}

impl Kept {
    /// This profile, with the reasons to doubt that it fits the device.
    pub fn for_device(&self, machine: Machine<'_>) -> Found {
        let notices = notices(self, machine);
        Found { profile: self.profile.clone(), origin: self.origin.clone(), notices }
    }

    fn preferred_to(&self, next: &Kept, machine: Machine<'_>) -> Notice {
        let why = Rank::of(self, machine).above(&Rank::of(next, machine));
        Notice::Preferred(format!("{}, {why}", next.profile.name))
    }

    /// Why it is not this very machine's. Many machines have the same name, so what ships is another's unless the
    /// UUID of a GPU says that it is not.
    fn elsewhere(&self, machine: Machine<'_>) -> Option<String> {
        let made = self.profile.made.as_ref()?;
        let same = match (&made.uuid, uuid(machine.device)) {
            (Some(theirs), Some(ours)) => *theirs == ours,
            _ => self.origin != Origin::Shipped && made.host == machine.host,
        };
        (!same).then(|| format!("made on {}, on another {}", made.host, self.profile.device.name))
    }
}

impl Found {
    /// Whether it was made on this very machine.
    pub fn is_own(&self) -> bool {
        !self.notices.iter().any(|notice| matches!(notice, Notice::Foreign(_) | Notice::Other(_)))
    }

    /// The notices that are warnings: all but which other one was passed over.
    pub fn warnings(&self) -> Vec<String> {
        let doubts = self.notices.iter().filter(|notice| !matches!(notice, Notice::Preferred(_)));
        doubts.map(ToString::to_string).collect()
    }
}

/// The identity of a device, from the facts that its backend reports. The memory of a GPU is known to three
/// digits.
pub fn identity(device: &Device) -> model::Device {
    let fact = |name: &str| device.facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let processors = fact("SMs").or_else(|| fact("threads"));
    model::Device {
        name: device.name.clone(),
        driver: fact("driver").map(str::to_owned),
        memory: fact("memory").and_then(size),
        processors: processors.and_then(|count| count.parse().ok()),
    }
}

/// The UUID of a GPU, if it is reported.
pub(crate) fn uuid(device: &Device) -> Option<String> {
    device.facts.iter().find(|(key, _)| key == "UUID").map(|(_, value)| value.clone())
}

/// Parses a size as facts print it: `60.0 MiB`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ')?;
    let shift = ["B", "KiB", "MiB", "GiB", "TiB"].iter().position(|name| *name == unit)?;
    let bytes = number.parse::<f64>().ok()? * f64::from(1u32 << 10).powi(shift as i32);
    Some(bytes.round() as u64)
}

/// Whether a profile is of such a device. A profile of one thread fits any machine.
fn suits(profile: &Profile, ours: &model::Device, backend: &str) -> bool {
    let theirs = &profile.device;
    let near = |a: u64, b: u64| a.abs_diff(b) as f64 <= SAME * a.max(b) as f64;
    let memory = theirs.memory.zip(ours.memory).is_none_or(|(a, b)| near(a, b));
    let counted = backend != "scalar";
    let processors = theirs.processors.zip(ours.processors).is_none_or(|(a, b)| !counted || a == b);
    theirs.name == ours.name && memory && processors && profile.rates.contains_key(backend)
}

fn notices(kept: &Kept, machine: Machine<'_>) -> Vec<Notice> {
    let (profile, ours) = (&kept.profile, identity(machine.device));
    if !suits(profile, &ours, &machine.device.backend) {
        return vec![Notice::Other(format!("{} is of {}", profile.name, profile.device.name))];
    }
    let stale = [
        driver(&profile.device, &ours),
        profile.made.as_ref().and_then(version),
        profile.made.as_ref().and_then(|made| age(&made.at, machine.now)),
    ];
    let stale = stale.into_iter().flatten().map(Notice::Stale);
    let doubtful = profile.doubt().map(Notice::Doubtful);
    let lacks = profile.lacks();
    let lacking = (!lacks.is_empty()).then(|| Notice::Lacking(lacks.join(", ")));
    let foreign = kept.elsewhere(machine).map(Notice::Foreign);
    foreign.into_iter().chain(stale).chain(doubtful).chain(lacking).collect()
}

fn driver(theirs: &model::Device, ours: &model::Device) -> Option<String> {
    let (theirs, ours) = theirs.driver.as_ref().zip(ours.driver.as_ref())?;
    (theirs != ours).then(|| format!("made with driver {theirs}, this is {ours}"))
}

fn version(made: &Made) -> Option<String> {
    let other = made.version != crate::VERSION;
    other.then(|| format!("made by scatterlab {}, this is {}", made.version, crate::VERSION))
}

fn age(at: &str, now: &str) -> Option<String> {
    let old = months(now)?.checked_sub(months(at)?)?;
    (old >= MONTHS).then(|| format!("made {old} months ago"))
}

/// Months since the year 0, from a date that begins with `YYYY-MM`.
fn months(date: &str) -> Option<u64> {
    let (year, rest) = date.split_once('-')?;
    let (month, _) = rest.split_once('-')?;
    Some(year.parse::<u64>().ok()? * 12 + month.parse::<u64>().ok()?)
}

//! `scatterlab profiles`: lists the profiles, each with its device, or compares two.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::waiting::spawn;
use super::{DIFFERS, out};
use crate::case::units;
use crate::engine::clock;
use crate::model::Profile;
use crate::model::calibrate::{Difference, differences};
use crate::model::profiles::{self, Found, Kept, Machine, ProfileStore, RULE};
use crate::report::table::{Column, NO_UNIT, OWN_UNIT, Table};
use crate::run::client::{EngineCommand, Hello};

/// Figures of two calibrations that differ by a larger share do not agree.
const AGREE: f64 = 0.03;

/// Most disagreeing figures to print.
const SHOWN: usize = 40;

#[derive(Debug, Args)]
pub struct ProfilesArguments {
    /// Two profiles, by name or file, to compare figure by figure; without them, list all
    #[arg(value_name = "NAME|FILE", num_args = 0..=2)]
    compared: Vec<String>,
}

/// Lists the profiles, or compares two.
pub fn run(arguments: &ProfilesArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    match arguments.compared.as_slice() {
        [] => list(&spawn(engine)?.1),
        [before, after] => {
            let same = compare(&named(before)?, &named(after)?)?;
            return Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(DIFFERS) });
        }
        _ => bail!("one profile has nothing to be compared with: name two, or none to list all"),
    }
    Ok(ExitCode::SUCCESS)
}

type ProfileColumn<'a> = Column<'a, &'a Kept>;

fn list(hello: &Hello) {
    let (profiles, now) = (ProfileStore::open(), clock::now());
    let columns = [
        ProfileColumn::new("profile", NO_UNIT, |kept| kept.profile.name.clone()),
        ProfileColumn::new("device", NO_UNIT, |kept| kept.profile.device.name.clone()),
        ProfileColumn::new("backends", NO_UNIT, |kept| {
            let backends = kept.profile.rates.keys().chain(kept.profile.he2007.keys());
            backends.map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
        }),
        ProfileColumn::new("made", NO_UNIT, |kept| Some(kept.profile.made.as_ref()?.at.clone())),
        ProfileColumn::new("from", NO_UNIT, |kept| kept.origin.to_string()),
    ];
    Table::new(columns, &profiles.kept).lines().iter().for_each(|line| out::line(line));
    profiles.broken.iter().for_each(|text| out::line(text));
    out::line("");
    for device in hello.devices.iter().filter(|device| device.is_available()) {
        let machine = Machine { device, host: &hello.environment.host, now: &now };
        let head = format!("{:<8}{}:", device.backend, device.name);
        match profiles.of_device(machine) {
            None => out::line(&format!("{head} no profile; scatterlab calibrate makes one")),
            Some(found) => tell(&head, &found),
        }
    }
    out::line(&format!("of several: {RULE}; --profile NAME overrides"));
}

/// Says what predicts a device, and what is to be said about it.
pub fn tell(head: &str, found: &Found) {
    out::line(&format!("{head} {}", found.profile.name));
    found.notices.iter().for_each(|notice| out::line(&format!("        {notice}")));
}

/// The profile with this name or in this file.
fn named(name: &str) -> anyhow::Result<Profile> {
    match Path::new(name).is_file() {
        true => profiles::load(Path::new(name)),
        false => Ok(ProfileStore::open().wanted(name)?.profile),
    }
}

/// Prints the figures on which two profiles disagree. Returns whether they all agree.
pub fn compare(before: &Profile, after: &Profile) -> anyhow::Result<bool> {
    let all = differences(before, after)?;
    let (both, single): (Vec<_>, Vec<_>) = all.iter().partition(|d| d.share().is_finite());
    let mut apart: Vec<&Difference> = both.into_iter().filter(|d| d.share().abs() > AGREE).collect();
    apart.sort_by(|a, b| b.share().abs().total_cmp(&a.share().abs()));
    if !apart.is_empty() {
        let columns = [
            Column::new("figure", NO_UNIT, |d: &&&Difference| d.name()),
            Column::new("before", OWN_UNIT, |d: &&&Difference| d.before.map(|value| d.words(value))),
            Column::new("now", OWN_UNIT, |d: &&&Difference| d.after.map(|value| d.words(value))),
            Column::new("change", OWN_UNIT, |d: &&&Difference| change(d.share())),
        ];
        Table::new(columns, apart.iter().take(SHOWN)).lines().iter().for_each(|line| out::line(line));
    }
    if apart.len() > SHOWN {
        out::line(&format!("and {} more that differ less", apart.len() - SHOWN));
    }
    single_words(&single).iter().for_each(|line| out::line(line));
    let agree = all.len() - apart.len() - single.len();
    out::line(&format!("{agree} of {} figures agree within {} %", all.len(), AGREE * 100.0));
    Ok(agree == all.len())
}

/// `+11.1 %`, or from ten times on `× 12`.
fn change(share: f64) -> String {
    match share + 1.0 {
        times if times >= 10.0 => format!("× {}", units::fmt_count(times.round() as u64)),
        _ => units::fmt_change(share),
    }
}

/// `in one of them only: 2 figures before (rates.cuda), 28 figures now (rates.cpu)`.
fn single_words(single: &[&Difference]) -> Option<String> {
    let side = |when: &str, has: fn(&Difference) -> bool| {
        let own: Vec<_> = single.iter().filter(|d| has(d)).collect();
        let groups: BTreeSet<&str> = own.iter().map(|d| d.group()).collect();
        let groups = groups.into_iter().collect::<Vec<_>>().join(", ");
        (!own.is_empty()).then(|| format!("{} {when} ({groups})", units::number_of(own.len(), "figure")))
    };
    let sides = [side("before", |d| d.before.is_some()), side("now", |d| d.after.is_some())];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    (!sides.is_empty()).then(|| format!("in one of them only: {}", sides.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_one_profile_has_is_one_line() {
        let shipped = ProfileStore::of(None).wanted("h200").expect("shipped").profile;
        let processors = crate::model::processors_fixture();
        let all = differences(&shipped, &processors).expect("figures");
        let single: Vec<&Difference> = all.iter().filter(|d| !d.share().is_finite()).collect();
        let told = single_words(&single).expect("some");
        assert!(
            told.starts_with("in one of them only: 57 figures before (caches, he2007.cuda, rates.cuda)"),
            "{told}"
        );
        assert!(
            told.ends_with(" figures now (caches, he2007.cpu, he2007.scalar, rates.cpu, rates.scalar)"),
            "{told}"
        );
        assert_eq!(single_words(&[]), None);
        assert_eq!([0.111, -0.4, 11.0].map(change), ["+11.1 %", "−40.0 %", "× 12"]);
    }
}

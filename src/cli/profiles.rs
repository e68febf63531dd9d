//! `scatterlab profiles`: lists the profiles, each with its device.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::{DIFFERS, calibrate, out};
use crate::engine::clock;
use crate::model::profiles::{Kept, Machine, ProfileStore};
use crate::report::table::{Column, NO_UNIT, Table};
use crate::run::client::{Client, EngineCommand, Hello};

#[derive(Debug, Args)]
pub struct ProfilesArguments {
    /// Two profiles, by name or file, to compare figure by figure; without them, list all
    #[arg(value_name = "NAME|FILE", num_args = 0..=2)]
    compared: Vec<String>,
}

/// Lists the profiles, or compares two.
pub fn run(arguments: &ProfilesArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    match arguments.compared.as_slice() {
        [] => list(&Client::spawn(engine)?.1),
        [before, after] => {
            let same = calibrate::compare(&calibrate::profile(before)?, &calibrate::profile(after)?)?;
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
        let head = format!("{:<8}{}", device.backend, device.name);
        match profiles.of_device(machine) {
            None => out::line(&format!("{head}: no profile; scatterlab calibrate makes one")),
            Some(found) => {
                out::line(&format!("{head}: {}", found.profile.name));
                found.notices.iter().for_each(|notice| out::line(&format!("        {notice}")));
            }
        }
    }
}

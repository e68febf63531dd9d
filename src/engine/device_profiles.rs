//! The profiles of an engine's devices.

use super::protocol::Environment;
use crate::case::{Device, listed};
use crate::engine::clock;
use crate::model::profiles::{Machine, ProfileStore};
use crate::model::{DeviceProfile, Profile};

/// The profiles of all devices that have one; backends on the same device share it.
pub fn found(profiles: &ProfileStore, devices: &[Device], environment: &Environment) -> Vec<DeviceProfile> {
    let now = clock::now();
    let mut all: Vec<DeviceProfile> = Vec::new();
    for (number, device) in listed::numbered(devices) {
        if !device.is_available() {
            continue;
        }
        let machine = Machine { device, host: &environment.host, now: &now };
        let Some(found) = profiles.of_device(machine) else { continue };
        let notices = found.warnings();
        add(&mut all, (&device.backend, number as u64), found.profile, notices);
    }
    all
}

/// The profiles found by an engine, with those given by the user taking precedence.
pub fn given(profiles: &[Profile], found: Vec<DeviceProfile>, devices: &[Device]) -> Vec<DeviceProfile> {
    let mut all: Vec<DeviceProfile> = Vec::new();
    for (number, device) in listed::numbered(devices) {
        let place = (device.backend.as_str(), number as u64);
        let theirs = |held: &&DeviceProfile| {
            held.device == place.1 && held.backends.iter().any(|backend| backend == place.0)
        };
        match profiles.iter().find(|profile| profile.knows(place.0)) {
            Some(profile) => add(&mut all, place, profile.clone(), Vec::new()),
            None => {
                if let Some(held) = found.iter().find(theirs) {
                    add(&mut all, place, held.profile.clone(), held.notices.clone());
                }
            }
        }
    }
    all
}

fn add(all: &mut Vec<DeviceProfile>, (backend, device): (&str, u64), profile: Profile, notices: Vec<String>) {
    let same = |held: &&mut DeviceProfile| {
        held.device == device && held.profile == profile && held.notices == notices
    };
    match all.iter_mut().find(same) {
        Some(held) => held.backends.push(backend.to_owned()),
        None => all.push(DeviceProfile { backends: vec![backend.to_owned()], device, profile, notices }),
    }
}

/// The notices of all profiles: `profile h200 of cuda: stale: made 7 months ago`.
pub fn notices(held: &[DeviceProfile]) -> Vec<String> {
    let of = |held: &DeviceProfile| {
        let head = format!("profile {} of {}", held.profile.name, held.backends.join(", "));
        held.notices.iter().map(move |notice| format!("{head}: {notice}")).collect::<Vec<_>>()
    };
    held.iter().flat_map(of).collect()
}

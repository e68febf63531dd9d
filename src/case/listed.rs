//! Devices in a list of them, such as a manifest's: those of a backend count from 0.

use super::Device;

/// The device of a backend that has this number.
pub fn nth<'a>(devices: &'a [Device], backend: &str, number: usize) -> Option<&'a Device> {
    devices.iter().filter(|device| device.backend == backend).nth(number)
}

/// Each device with its number.
pub fn numbered(devices: &[Device]) -> impl Iterator<Item = (usize, &Device)> {
    let before = |at: usize, backend: &str| devices[..at].iter().filter(|d| d.backend == backend).count();
    devices.iter().enumerate().map(move |(at, device)| (before(at, &device.backend), device))
}

/// `cpu`; `cuda 1` where the backend has several.
pub fn called(devices: &[Device], backend: &str, number: usize) -> String {
    match nth(devices, backend, 1) {
        Some(_) => format!("{backend} {number}"),
        None => backend.to_owned(),
    }
}

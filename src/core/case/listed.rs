//! Devices in a list such as a manifest's. The devices of each backend are numbered from 0.

use super::Device;

/// The device of a backend with this number.
pub fn nth<'a>(devices: &'a [Device], backend: &str, number: usize) -> Option<&'a Device> {
    devices.iter().filter(|device| device.backend == backend).nth(number)
}

/// Each device with its number.
pub fn numbered(devices: &[Device]) -> impl Iterator<Item = (usize, &Device)> {
    let before = |at: usize, backend: &str| devices[..at].iter().filter(|d| d.backend == backend).count();
    devices.iter().enumerate().map(move |(at, device)| (before(at, &device.backend), device))
}

/// `cpu`, or `cuda 1` if the backend has several devices.
pub fn called(devices: &[Device], backend: &str, number: usize) -> String {
    match nth(devices, backend, 1) {
        Some(_) => format!("{backend} {number}"),
        None => backend.to_owned(),
    }
}

//! Globally unique identification of a device.

use std::ffi::c_int;
use std::mem::transmute;

use cust::device::Device;

use super::driver;

/// The UUID of the device, or of the MIG instance that CUDA sees as a device; `None` for drivers before CUDA
/// 11.4.
pub(super) fn uuid(device: Device) -> Option<String> {
    let address = driver::symbol(c"cuDeviceGetUuid_v2").ok()?;
    // SAFETY: the driver's function of this name has this type (CUDA driver API).
    let ask: unsafe extern "C" fn(*mut [u8; 16], c_int) -> u32 = unsafe { transmute(address) };
    let mut bytes = [0; 16];
    // SAFETY: the call writes 16 bytes to `bytes`.
    let code = unsafe { ask(&mut bytes, device.as_raw()) };
    (code == 0).then(|| written(&bytes))
}

/// The UUID in NVML's format, without the prefix `GPU-` or `MIG-`.
fn written(bytes: &[u8; 16]) -> String {
    let groups = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
    let hex = |group: &[u8]| group.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    groups.map(hex).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_five_groups() {
        let bytes = std::array::from_fn(|at| 0x10 * at as u8);
        assert_eq!(written(&bytes), "00102030-4050-6070-8090-a0b0c0d0e0f0");
    }
}

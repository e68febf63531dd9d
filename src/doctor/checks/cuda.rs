//! The engine's GPU.

use crate::case::{Availability, Device};
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "cuda",
    about: "the engine's GPU and its driver; notes why there is none",
    of: About::Engine,
    examine: |scene| {
        let devices = scene.engine.as_ref().map_or(&[][..], |hello| hello.devices.as_slice());
        judge(devices.iter().find(|device| device.backend == "cuda"))
    },
};

fn judge(device: Option<&Device>) -> Finding {
    let Some(device) = device else { return Finding::note("unknown") };
    match &device.availability {
        Availability::Available => {
            let facts = device.facts.iter().map(|(name, value)| format!("{name} {value}"));
            let parts: Vec<String> = std::iter::once(device.name.clone()).chain(facts).collect();
            Finding::ok(parts.join(" · "))
        }
        Availability::Unavailable { reason } => Finding::note(format!("n/a: {reason}")).advice(
            "its cases are n/a; --engine \"ssh -o BatchMode=yes HOST scatterlab engine\" measures elsewhere",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn no_gpu_is_no_fault() {
        let mut device = Device {
            backend: "cuda".into(),
            name: "GPU".into(),
            facts: vec![("SMs".into(), "132".into())],
            memory: None,
            availability: Availability::Available,
        };
        assert_eq!(judge(Some(&device)), Finding::ok("GPU · SMs 132"));
        device.availability = Availability::Unavailable { reason: "no CUDA driver".into() };
        assert_eq!(judge(Some(&device)).level, Level::Note);
        assert_eq!(judge(None).level, Level::Note);
    }
}

//! The engine, its GPU, and the library that reports the clocks of GPUs.

use crate::case::Device;
use crate::doctor::{About, Check, Finding};
use crate::run::client::Hello;

// ---- engine -------------------------------------------------------------------------------------

pub const ENGINE: Check = Check {
    name: "engine",
    about: "whether an engine starts, and on which machine; warns if none starts",
    of: About::Engine,
    examine: |scene| judge_engine(&scene.engine, scene.remote),
};

fn judge_engine(engine: &Result<Hello, String>, remote: bool) -> Finding {
    let hello = match engine {
        Ok(hello) => hello,
        Err(reason) => {
            return Finding::warning(reason.clone()).advice("scatterlab devices shows the engine's output");
        }
    };
    let environment = &hello.environment;
    let text = format!("{} ({}) on {}, {}", hello.version, hello.revision, environment.host, environment.cpu);
    match remote {
        false => Finding::ok(text),
        true => Finding::note(text).advice(
            "run scatterlab doctor on that machine: here it sees only the engine's \
                                            devices",
        ),
    }
}

// ---- cuda ---------------------------------------------------------------------------------------

pub const CUDA: Check = Check {
    name: "cuda",
    about: "the engine's GPU and its driver; if there is none, reports the reason",
    of: About::Engine,
    examine: |scene| {
        let devices = scene.engine.as_ref().map_or(&[][..], |hello| hello.devices.as_slice());
        judge_cuda(devices.iter().find(|device| device.backend == "cuda"))
    },
};

fn judge_cuda(device: Option<&Device>) -> Finding {
    let Some(device) = device else { return Finding::note("unknown") };
    match device.reason() {
        None => {
            let facts = device.facts.iter().map(|(name, value)| format!("{name} {value}"));
            let parts: Vec<String> = std::iter::once(device.name.clone()).chain(facts).collect();
            Finding::ok(parts.join(" · "))
        }
        Some(reason) => Finding::note(format!("n/a: {reason}")).advice(
            "cases on cuda are n/a; --engine \"ssh -o BatchMode=yes HOST scatterlab engine\" measures on another \
             machine",
        ),
    }
}

// ---- nvml ---------------------------------------------------------------------------------------

pub const NVML: Check = Check {
    name: "nvml",
    about: "the library that reports a GPU's clocks and throttling; reports if it is missing",
    of: About::Measuring,
    examine: |_| judge_nvml(nvml_version()),
};

/// The driver's version as NVML reports it.
#[cfg(all(feature = "cuda", target_os = "linux"))]
fn nvml_version() -> Result<String, String> {
    use nvml_wrapper::error::NvmlError;

    let library = nvml_wrapper::Nvml::init().map_err(|error| match error {
        // The loader's own message gives the same reason at length.
        NvmlError::LibloadingError(_) => "no libnvidia-ml.so.1".to_owned(),
        other => other.to_string(),
    })?;
    library.sys_driver_version().map_err(|error| error.to_string())
}

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
fn nvml_version() -> Result<String, String> {
    Err("this program was built without the `cuda` feature".to_owned())
}

fn judge_nvml(version: Result<String, String>) -> Finding {
    match version {
        Ok(version) => Finding::ok(format!("driver {version}")),
        Err(reason) => Finding::note(format!("n/a: {}", crate::case::units::escaped(&reason)))
            .advice("it comes with NVIDIA's driver; only cases on a GPU need it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Availability;
    use crate::doctor::Level;

    #[test]
    fn no_engine_is_a_warning_and_one_elsewhere_a_note() {
        let hello = Hello {
            version: "1".into(),
            revision: "abc".into(),
            devices: Vec::new(),
            environment: Default::default(),
            profiles: Vec::new(),
        };
        assert_eq!(judge_engine(&Err("no such file".into()), false).level, Level::Warning);
        assert_eq!(judge_engine(&Ok(hello.clone()), false).level, Level::Ok);
        assert_eq!(judge_engine(&Ok(hello), true).level, Level::Note);
    }

    #[test]
    fn no_gpu_is_no_fault() {
        let mut device = Device {
            backend: "cuda".into(),
            name: "GPU".into(),
            facts: vec![("SMs".into(), "132".into())],
            memory: None,
            availability: Availability::Available,
        };
        assert_eq!(judge_cuda(Some(&device)), Finding::ok("GPU · SMs 132"));
        device.availability = Availability::Unavailable { reason: "no CUDA driver".into() };
        assert_eq!(judge_cuda(Some(&device)).level, Level::Note);
        assert_eq!(judge_cuda(None).level, Level::Note);
    }

    #[test]
    fn without_the_library_it_is_a_note() {
        assert_eq!(judge_nvml(Err("no\nlibrary".into())).level, Level::Note);
        assert_eq!(judge_nvml(Ok("580.1".into())), Finding::ok("driver 580.1"));
    }
}

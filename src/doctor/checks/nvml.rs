//! NVML, the library that reports a GPU's clocks and the reasons for throttling.

use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "nvml",
    about: "the library that tells a GPU's clocks and throttling; notes where it is missing",
    of: About::Measuring,
    examine: |_| judge(version()),
};

/// The driver's version as NVML reports it.
#[cfg(all(feature = "cuda", target_os = "linux"))]
fn version() -> Result<String, String> {
    use nvml_wrapper::error::NvmlError;

    let library = nvml_wrapper::Nvml::init().map_err(|error| match error {
        // The loader's own message gives the same reason at length.
        NvmlError::LibloadingError(_) => "no libnvidia-ml.so.1".to_owned(),
        other => other.to_string(),
    })?;
    library.sys_driver_version().map_err(|error| error.to_string())
}

#[cfg(not(all(feature = "cuda", target_os = "linux")))]
fn version() -> Result<String, String> {
    Err("this program was built without the `cuda` feature".to_owned())
}

fn judge(version: Result<String, String>) -> Finding {
    match version {
        Ok(version) => Finding::ok(format!("driver {version}")),
        Err(reason) => Finding::note(format!("n/a: {}", crate::case::units::escaped(&reason)))
            .advice("it comes with NVIDIA's driver; only cases of a GPU need it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn without_the_library_it_is_a_note() {
        assert_eq!(judge(Err("no\nlibrary".into())).level, Level::Note);
        assert_eq!(judge(Ok("580.1".into())), Finding::ok("driver 580.1"));
    }
}

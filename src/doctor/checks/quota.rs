//! The control group's limit on CPU time.

use crate::doctor::{About, Check, Finding};
use crate::engine::environment::container::cpu_limit;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "quota",
    about: "a container's limit on CPU time; warns where it is below the CPUs of the mask",
    of: About::Measuring,
    examine: |scene| judge(cpu_limit(&System::here()), scene.mask.len()),
};

fn judge(limit: Option<f64>, cpus: usize) -> Finding {
    match limit {
        Some(limit) if limit < cpus as f64 => Finding::warning(format!(
            "the control group gets {limit:.1} of {cpus} CPUs: threads are stopped now and then"
        ))
        .advice("raise the container's CPU limit, or give fewer threads than it allows"),
        Some(limit) => Finding::ok(format!("the control group's limit is {limit:.1} CPUs")),
        None => Finding::ok("no limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_limit_below_the_mask_is_a_warning() {
        assert_eq!(judge(Some(1.5), 2).level, Level::Warning);
        assert_eq!(judge(Some(2.0), 2).level, Level::Ok);
    }
}

//! A limit of the control group on CPU time.

use std::path::Path;

use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "quota",
    about: "a container's limit on CPU time; warns where it is below the CPUs of the mask",
    of: About::Measuring,
    examine: |scene| judge(limits(), scene.mask.len()),
};

/// CPUs' worth of time that our control group and those above it may take.
fn limits() -> Option<f64> {
    let groups = text("/proc/self/cgroup")?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/').to_owned();
    let limit = |group: &Path| parse(&text(Path::new("/sys/fs/cgroup").join(group).join("cpu.max"))?);
    Path::new(&own).ancestors().filter_map(limit).reduce(f64::min)
}

/// `200000 100000` is two CPUs; `max 100000` is no limit.
fn parse(limit: &str) -> Option<f64> {
    let (quota, period) = limit.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|p| *p > 0.0)?)
}

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
        assert_eq!(parse("150000 100000"), Some(1.5));
        assert_eq!(parse("max 100000"), None);
        assert_eq!(judge(Some(1.5), 2).level, Level::Warning);
        assert_eq!(judge(Some(2.0), 2).level, Level::Ok);
    }
}

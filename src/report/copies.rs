//! Rates of a run's plain copies, the basis of ceilings.

use std::collections::BTreeMap;

use crate::case::Case;
use crate::case::gpus::Gpus;
use crate::recipe::plan::Plan;
use crate::stats::median;

/// GB/s of the plain copies of a run, by backend.
pub type Copies = BTreeMap<String, Vec<f64>>;

/// The median copy rate of a backend, GB/s, counting read and written bytes; or the reason why there is none.
pub fn rate(plan: &Plan, copies: &Copies, backend: &str) -> Result<f64, &'static str> {
    if has_several(plan, backend) {
        return Err("several devices");
    }
    let rate = copies.get(backend).and_then(|copies| median(copies));
    rate.filter(|rate| rate.is_finite() && *rate > 0.0).ok_or("none on file")
}

/// Whether the copies of a backend may be of different devices, or of one among several that a case uses.
fn has_several(plan: &Plan, backend: &str) -> bool {
    let cases = plan.cases.iter().filter(|c| c.place().0 == backend);
    if cases.clone().any(|case| Gpus::of(&case.params).several()) {
        return true;
    }
    let mut devices = cases.map(Case::device);
    devices.next().is_some_and(|first| devices.any(|device| device != first))
}

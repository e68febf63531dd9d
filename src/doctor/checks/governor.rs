//! The governor of the CPUs' clock frequencies.

use std::collections::BTreeSet;

use crate::doctor::{About, Check, Finding};
use crate::engine::environment::frequency::governors;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "governor",
    about: "the frequency governor of our CPUs; warns unless it is `performance`",
    of: About::Measuring,
    examine: |scene| judge(&governors(&System::here(), &scene.mask).into_iter().collect()),
};

fn judge(governors: &BTreeSet<String>) -> Finding {
    let names: Vec<&str> = governors.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Finding::note("unknown: this machine does not let its clock be read or set"),
        ["performance"] => Finding::ok("performance"),
        names => Finding::warning(names.join(", "))
            .advice("cpupower frequency-set -g performance: a clock that follows the load starts low"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_governor_that_saves_power_is_a_warning() {
        let level = |names: &[&str]| judge(&names.iter().map(|n| n.to_string()).collect()).level;
        assert_eq!([level(&[]), level(&["performance"])], [Level::Note, Level::Ok]);
        assert_eq!(level(&["performance", "powersave"]), Level::Warning);
    }
}

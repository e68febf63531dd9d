//! CPU time that the hypervisor gave to other guests.

use crate::doctor::scene::{Scene, Ticks};
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "steal",
    about: "time that the hypervisor took from our CPUs over a second; warns beyond 2 %",
    of: About::Measuring,
    examine: |scene| judge(share(scene)),
};

/// A share of stolen time that is ordinary noise on a virtual machine.
const DEFAULT_MODEL: f64 = 0.02;

fn share(scene: &Scene) -> Option<f64> {
    let ours = scene.mask.iter().filter_map(|cpu| scene.cpus.get(cpu));
    let sum = ours.fold(Ticks::default(), |sum, ticks| Ticks {
        stolen: sum.stolen + ticks.stolen,
        all: sum.all + ticks.all,
    });
    (sum.all > 0).then(|| sum.stolen as f64 / sum.all as f64)
}

fn judge(share: Option<f64>) -> Finding {
    match share {
        None => Finding::note("unknown"),
        Some(share) if share > DEFAULT_MODEL => {
            Finding::warning(format!("{:.0} % of the CPU time was stolen", share * 100.0))
                .advice("the host is busy: measure later, or on a machine with CPUs of its own")
        }
        Some(share) => Finding::ok(format!("{:.0} % of the CPU time was stolen", share * 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn stolen_time_beyond_the_usual_is_a_warning() {
        let level = |share| judge(share).level;
        assert_eq!(
            [level(Some(0.0)), level(Some(0.05)), level(None)],
            [Level::Ok, Level::Warning, Level::Note]
        );
    }
}

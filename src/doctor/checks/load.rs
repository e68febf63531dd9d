//! Load from other processes.

use crate::doctor::scene::Process;
use crate::doctor::{About, Check, Finding};
use crate::engine::environment::kernel;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "load",
    about: "what other processes keep busy over a second, and the load average; warns beyond a tenth of a CPU",
    of: About::Measuring,
    examine: |scene| judge(&scene.busy, &average()),
};

/// CPUs that background processes (a terminal, a logger, the scheduler) may keep busy without a warning.
const QUIET: f64 = 0.1;
/// Most processes that a finding names.
const NAMED: usize = 3;

fn average() -> String {
    let averages = kernel::load(&System::here());
    let first = averages.as_deref().and_then(|averages| averages.split(' ').next());
    first.unwrap_or("unknown").to_owned()
}

fn judge(busy: &[Process], average: &str) -> Finding {
    // An empty sum of floats is -0.0.
    let total = busy.iter().map(|process| process.cpus).sum::<f64>().max(0.0);
    let name = |p: &Process| format!("{} (process {}) {:.1}", p.name, p.id, p.cpus);
    let names: Vec<String> = busy.iter().take(NAMED).map(name).collect();
    match total > QUIET {
        true => Finding::warning(format!(
            "others keep {total:.1} CPUs busy: {} (load average {average})",
            names.join(", ")
        ))
        .advice("wait for them or stop them: their rounds are flagged and measured again once"),
        false => Finding::ok(format!("others keep {total:.2} CPUs busy (load average {average})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_neighbour_is_named() {
        let process = |name: &str, cpus| Process { id: 7, name: name.into(), cpus };
        let found = judge(&[process("rustc", 1.5), process("sshd", 0.1)], "2.10");
        assert_eq!(found.level, Level::Warning);
        assert!(found.text.contains("1.6 CPUs busy: rustc (process 7) 1.5, sshd"), "{}", found.text);
        assert_eq!(judge(&[process("sshd", 0.02)], "0.01").level, Level::Ok);
    }
}

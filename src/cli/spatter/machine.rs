//! Determines the machine to run on.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::device::cpu::affinity;
use crate::run::client::{Client, EngineCommand};
use crate::spatter::Machine;
use crate::spatter::options::Options;
use crate::spatter::table::Key;

/// Examines this machine. Asks an engine only where necessary: to find out whether there is a GPU, and about a
/// remote machine.
pub fn look(options: &Options, engine: &EngineCommand) -> Result<Machine> {
    let mut machine = of(affinity::allowed().len(), false);
    if *engine == EngineCommand::Own && options.of(Key::Backend).is_some() {
        return Ok(machine);
    }
    let (_client, hello) = Client::spawn(engine)?;
    machine.gpu = hello.devices.iter().any(|device| device.backend == "cuda" && device.is_available());
    if *engine != EngineCommand::Own {
        machine.cpus = hello.environment.affinity.len().max(1) as u64;
        // The variable is set on this machine, not on the remote one.
        machine.omp_threads = None;
    }
    Ok(machine)
}

/// A machine with this many usable CPUs, at the present time.
pub fn of(cpus: usize, gpu: bool) -> Machine {
    Machine {
        cpus: cpus.max(1) as u64,
        omp_threads: std::env::var("OMP_NUM_THREADS").ok().and_then(|text| threads(&text)),
        gpu,
        now: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    }
}

/// The number of threads of the outermost parallel region, from `8` or `8,2`.
fn threads(text: &str) -> Option<u64> {
    text.split(',').next()?.trim().parse().ok().filter(|threads| *threads > 0)
}

#[cfg(test)]
mod tests {
    use super::threads;

    #[test]
    fn the_first_number_counts() {
        assert_eq!(
            [threads("8"), threads(" 8, 2"), threads("0"), threads("many")],
            [Some(8), Some(8), None, None]
        );
    }
}

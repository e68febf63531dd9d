//! Commands that measure or check, started as several copies side by side by a launcher such as `mpirun` or `srun`.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use super::out;
use crate::engine::ranks::Launch;

/// Delay of other ranks that fail: a launcher ends all ranks as soon as one exits with an error, so rank 0 must
/// print first.
const RANK_0_SPEAKS: Duration = Duration::from_secs(1);

/// The launcher that started this process beside others. What it says in vain goes to standard error.
pub fn launch(program: &str) -> Option<Launch> {
    let (launch, ignored) = Launch::seen();
    ignored.iter().for_each(|remark| out::complain(program, remark));
    launch
}

/// Says why all copies end, once: rank 0 says it, and the others give it the time to.
pub fn end(launch: &Launch, program: &str, why: &str) {
    match launch.rank {
        None | Some(0) => out::complain(program, why),
        Some(_) => thread::sleep(RANK_0_SPEAKS),
    }
}

/// The exit status of a copy among several, which would share the machine that each of them measures. `None` for a
/// process of its own.
pub fn refused(verb: &str) -> Option<ExitCode> {
    let launch = launch("scatterlab")?;
    let why = format!(
        "{verb}: {}: copies side by side would disturb each other; start a single process, or unset {} if this is one \
         (only spatter runs as ranks)",
        launch.words(),
        launch.said_by
    );
    end(&launch, "scatterlab", &why);
    Some(ExitCode::FAILURE)
}

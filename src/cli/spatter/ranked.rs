//! `spatter` as one of several MPI ranks: each rank runs the same configurations on its own buffers, all at the
//! same time, and rank 0 prints the results.

mod tell;

use std::ffi::OsString;
use std::thread;

use serde::{Deserialize, Serialize};

use self::tell::Teller;
use super::{Ready, Wish, machine_of, resolve, rows, say, understand};
use crate::cli::{RANK_0_SPEAKS, out};
use crate::engine::executors;
use crate::engine::noise_monitor::Machine;
use crate::engine::ranked::{Outcome, Ranked};
use crate::engine::ranks::Launch;
use crate::engine::ranks::seats::Seats;
use crate::engine::ranks::{self, Ranks};
use crate::recipe::plan::Plan;
use crate::run::client::EngineCommand;
use crate::spatter::settings::Backend;
use crate::spatter::table::Key;
use crate::spatter::{Refused, SETUP};

/// Rank 0's interpretation of the command line, for all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Order {
    /// There is nothing to run; this is the exit status.
    End(u8),
    /// A recipe of which every rank runs all cases.
    Run(String),
}

/// Carries out a command line as one of the ranks that a launcher started. Returns the exit status.
pub fn run(launch: &Launch, program: &str, arguments: &[OsString], engine: &EngineCommand) -> u8 {
    let joined = out::keep_to_ourselves()
        .map_err(|error| format!("cannot set up standard output: {error}"))
        .and_then(|()| ranks::join(launch));
    match joined {
        Ok(ranks) => take_part(ranks.as_ref(), program, arguments, engine),
        Err(why) => {
            match launch.rank {
                None | Some(0) => say(&why),
                Some(_) => thread::sleep(RANK_0_SPEAKS),
            }
            SETUP
        }
    }
}

/// Carries out the command line once the ranks have joined. All ranks end with the same status.
fn take_part(ranks: &dyn Ranks, program: &str, arguments: &[OsString], engine: &EngineCommand) -> u8 {
    let status = carry_out(ranks, program, arguments, engine).unwrap_or_else(|refused| {
        if ranks.rank() == 0 {
            say(&refused.message);
        }
        refused.status
    });
    // No rank leaves before rank 0 has printed.
    ranks.barrier();
    status
}

/// A refusal is returned by every rank alike.
fn carry_out(
    ranks: &dyn Ranks,
    program: &str,
    arguments: &[OsString],
    engine: &EngineCommand,
) -> Result<u8, Refused> {
    alike(ranks, &format!("{} {} {arguments:?} {engine:?}", crate::VERSION, crate::REVISION))?;
    if *engine != EngineCommand::Own {
        return Err(Refused::usage("--engine: every rank is an engine itself"));
    }
    let seats = Seats::take(ranks);
    let mut rank = Ranked::new(ranks, seats.local[ranks.rank()], executors::all(), Box::new(Machine::new()));
    let mut ready = None;
    let order = ranks.first(|| match prepare(program, arguments, &seats, &rank) {
        Ok(Wish::Told(status)) => Order::End(status),
        Ok(Wish::Run(run)) => Order::Run(ready.insert(run).recipe.clone()),
        Err(refused) => {
            say(&refused.message);
            Order::End(refused.status)
        }
    });
    match order {
        Order::End(status) => Ok(status),
        Order::Run(recipe) => measure(&mut rank, &resolve(&recipe)?, ready),
    }
}

/// Refuses a rank with other arguments or another build, which would measure something else.
fn alike(ranks: &dyn Ranks, own: &str) -> Result<(), Refused> {
    let all = ranks.all(&own.to_owned());
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Refused::usage(format!(
            "rank {rank} has other arguments, or is another build, than rank 0: all ranks run the same"
        ))),
    }
}

/// Rank 0 reads the command line and the files that it names, on behalf of all ranks.
fn prepare(program: &str, arguments: &[OsString], seats: &Seats, rank: &Ranked) -> Result<Wish, Refused> {
    let wish = understand(program, arguments, |options| {
        let gpu = options.of(Key::Backend).is_none() && rank.has("cuda");
        Ok(machine_of(seats.fewest(), gpu))
    })?;
    if let Wish::Run(ready) = &wish {
        if ready.out.is_some() {
            return Err(Refused::usage(
                "--out keeps the run of one process; of several ranks, use --format json",
            ));
        }
        if ready.job.settings.backend == Backend::AllCuda {
            return Err(Refused::usage("--device all is for one process; of several ranks each has a GPU"));
        }
        if ready.job.settings.rounds > 1 {
            return Err(Refused::usage("--rounds is for one process; several ranks have one round"));
        }
        seats.doubts.iter().for_each(|doubt| rows::remark_before(&ready.job.settings, doubt));
    }
    Ok(wish)
}

/// Measures all cases in order. Only rank 0 has a `ready` job; the others know only the plan.
fn measure(rank: &mut Ranked, plan: &Plan, ready: Option<Box<Ready>>) -> Result<u8, Refused> {
    let places = match plan.cases.first() {
        Some(case) => rank.places(case).map_err(|why| Refused::usage(format!("-b: {why}")))?,
        None => Vec::new(),
    };
    let mut teller = ready.map(|ready| Teller::begin(*ready, &places));
    rank.set_index_store(plan);
    let measured = all_cases(rank, plan, &mut teller);
    teller.into_iter().for_each(Teller::end);
    measured
}

fn all_cases(rank: &mut Ranked, plan: &Plan, teller: &mut Option<Teller>) -> Result<u8, Refused> {
    let mut status = 0;
    for (at, case) in plan.cases.iter().enumerate() {
        let label = format!("configuration {at}");
        let outcome = rank.measure(&label, case, plan.experiments[case.experiment].measure);
        let outcome = outcome.map_err(|why| Refused::setup(format!("{label}: {why}")))?;
        if matches!(outcome, Outcome::NotApplicable(_)) {
            status = SETUP;
        }
        if let Some(teller) = teller {
            teller.tell(at, outcome);
        }
    }
    Ok(status)
}

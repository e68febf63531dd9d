//! The ranks of a parallel job: processes that a launcher such as `mpirun` or `srun` started together, each the
//! engine of its own copy of the work. [`Launch`] detects the launcher.
//!
//! | module | contents |
//! |---|---|
//! | [`seats`] | assignment of CPUs, and the index of a rank on its host |
//! | [`peers`] | liveness of the ranks on one host |
//! | `mpi` | ranks over the system's MPI, the only module that uses it (feature `mpi`) |
//! | `threads` | ranks as threads, for tests |

#[cfg(feature = "mpi")]
mod mpi;
pub mod peers;
pub mod seats;
#[cfg(test)]
pub mod threads;

use std::env;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "mpi")]
pub use mpi::join;

use crate::case::units::shown;

/// A launcher that started several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Number of processes, more than one.
    pub size: usize,
    /// Number of this process, from 0, if the launcher sets it.
    pub rank: Option<usize>,
    /// The variable that held the size.
    pub said_by: &'static str,
}

/// Variables in which launchers pass size and rank. Launchers that may run inside another one come first:
/// `mpirun` in a Slurm allocation. Slurm sets SLURM_NTASKS also in a batch script, which is a single process,
/// but SLURM_STEP_NUM_TASKS only in processes started by `srun`.
const VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

impl Launch {
    /// The launcher of this process; `None` if it was started alone. A remark for each variable that holds no number,
    /// and so is ignored.
    pub fn seen() -> (Option<Launch>, Vec<String>) {
        Launch::of(|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> (Option<Launch>, Vec<String>) {
        let mut ignored = Vec::new();
        let mut number = |name: &str| {
            let text = variable(name)?;
            let number = text.trim().parse::<usize>().ok();
            if number.is_none() {
                ignored.push(format!("{name}={} is ignored: it is no number of a launcher", shown(&text)));
            }
            number
        };
        let found = VARIABLES.iter().find_map(|(size, rank)| Some((*size, *rank, number(size)?)));
        let several = found.filter(|(.., size)| *size > 1);
        let launch = several.map(|(said_by, rank, size)| Launch { size, rank: number(rank), said_by });
        (launch, ignored)
    }

    /// `started as 4 ranks (PMI_SIZE=4)`.
    pub fn words(&self) -> String {
        format!("started as {} ranks ({}={})", self.size, self.said_by, self.size)
    }
}

/// One rank and its communication with the others. All operations are collective and every rank calls them in
/// the same order; a rank that cannot must abort.
pub trait Ranks {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// The lowest rank on this rank's host.
    fn host(&self) -> usize;

    /// Returns when every rank has arrived.
    fn barrier(&self);

    /// Gathers every rank's text in rank order. A rank with `patience` aborts if the others take longer.
    fn gather(&self, text: &str, patience: Option<Patience>) -> Vec<String>;

    /// Prints the reason on standard error and ends all ranks, whatever they are doing.
    fn abort(&self, why: &str) -> !;
}

/// How long to wait for other ranks, and the reason to report if they do not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience<'a> {
    pub lasts: Duration,
    pub why: &'a str,
}

impl dyn Ranks + '_ {
    /// Gathers every rank's value in rank order.
    pub fn all<T: Serialize + DeserializeOwned>(&self, value: &T) -> Vec<T> {
        self.all_within(value, None)
    }

    /// Like `all`, with a time limit.
    pub fn all_within<T>(&self, value: &T, patience: Option<Patience>) -> Vec<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let text = serde_json::to_string(value).unwrap_or_else(|error| self.abort(&error.to_string()));
        let read = |(rank, text): (usize, String)| {
            let unread = |error| self.abort(&format!("cannot read what rank {rank} sent: {error}"));
            serde_json::from_str(&text).unwrap_or_else(unread)
        };
        self.gather(&text, patience).into_iter().enumerate().map(read).collect()
    }

    /// Broadcasts the value of rank 0, which alone computes it.
    pub fn first<T: Serialize + DeserializeOwned>(&self, make: impl FnOnce() -> T) -> T {
        let own = (self.rank() == 0).then(make);
        let from_first = self.all(&own).into_iter().next().flatten();
        from_first.unwrap_or_else(|| self.abort("rank 0 sent nothing"))
    }
}

/// Refuses to start: independent copies would measure something else.
///
/// # Errors
/// Always, with advice on how to get MPI.
#[cfg(not(feature = "mpi"))]
pub fn join(launch: &Launch) -> Result<Box<dyn Ranks>, String> {
    Err(format!(
        "{}, and this build has no MPI: build one with `cargo install --locked --path . --features mpi`, \
         which needs mpicc and libclang, or start a single process",
        launch.words()
    ))
}

#[cfg(test)]
mod tests {
    use super::{Launch, threads};

    #[test]
    fn values_arrive_in_the_order_of_the_ranks() {
        let sums = threads::run(3, |ranks| {
            let all = ranks.all(&(ranks.rank() as f64 / 3.0));
            (all, ranks.first(|| format!("from {}", ranks.rank())))
        });
        for (all, first) in sums {
            assert_eq!((all, first.as_str()), (vec![0.0, 1.0 / 3.0, 2.0 / 3.0], "from 0"));
        }
    }

    fn of(variables: &[(&str, &str)]) -> Option<(usize, Option<usize>)> {
        let named = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let (launch, ignored) = Launch::of(named);
        assert!(ignored.is_empty(), "{ignored:?}");
        launch.map(|launch| (launch.size, launch.rank))
    }

    #[test]
    fn each_launcher_is_recognised() {
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")]), Some((4, Some(3))));
        assert_eq!(of(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]), Some((2, Some(0))));
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5")]), Some((8, Some(5))));
        assert_eq!(of(&[("PMI_SIZE", "2")]), Some((2, None)));
    }

    #[test]
    fn one_process_is_no_job() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("SLURM_STEP_NUM_TASKS", "4")]), None);
        assert_eq!(of(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")]), None, "a batch script");
    }

    #[test]
    fn what_is_no_number_is_ignored_with_a_word() {
        for text in ["many", "", "-2", "2.0", "0x2", "99999999999999999999"] {
            let (launch, ignored) = Launch::of(|name| (name == "PMI_SIZE").then(|| text.to_owned()));
            let said = format!("PMI_SIZE={text} is ignored: it is no number of a launcher");
            assert_eq!((launch, ignored), (None, vec![said]));
        }
        let variables = [("OMPI_COMM_WORLD_SIZE", "two"), ("PMI_SIZE", "2"), ("PMI_RANK", "first")];
        let named = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let (launch, ignored) = Launch::of(named);
        assert_eq!(launch, Some(Launch { size: 2, rank: None, said_by: "PMI_SIZE" }));
        assert_eq!(ignored.len(), 2, "{ignored:?}");
        assert!(ignored[1].starts_with("PMI_RANK=first is ignored"), "{ignored:?}");
    }
}

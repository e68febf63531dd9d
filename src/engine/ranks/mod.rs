//! The ranks of a parallel job: processes that a launcher such as `mpirun` or `srun` started together, each the
//! engine of its own copy of the work.
//!
//! | module | contents |
//! |---|---|
//! | [`launch`] | detection of a launcher from the environment |
//! | [`seats`] | assignment of CPUs, and the index of a rank on its host |
//! | [`peers`] | liveness of the ranks on one host |
//! | `mpi` | ranks over the system's MPI, the only module that uses it (feature `mpi`) |
//! | `threads` | ranks as threads, for tests |

pub mod launch;
#[cfg(feature = "mpi")]
mod mpi;
pub mod peers;
pub mod seats;
#[cfg(test)]
pub mod threads;

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "mpi")]
pub use mpi::join;

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
pub fn join(launch: &launch::Launch) -> Result<Box<dyn Ranks>, String> {
    Err(format!(
        "{} ({}={}), and this build has no MPI: build one with `cargo install --path . --features mpi`, \
         which needs mpicc and libclang, or start a single process",
        launch.words(),
        launch.said_by,
        launch.size
    ))
}

#[cfg(test)]
mod tests {
    use super::threads;

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
}

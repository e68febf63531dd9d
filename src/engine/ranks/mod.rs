//! The ranks of a parallel job: processes that a launcher such as `mpirun` or `srun`
//! started together, each the engine of its own copy of the work.
//!
//! | module | what it knows |
//! |---|---|
//! | [`launch`] | what a launcher tells of itself in the environment |
//! | [`seats`] | which CPUs and which GPU a rank has to itself |
//! | [`peers`] | whether the ranks of one host are still alive |
//! | `mpi` | the ranks over the system's MPI; nothing else names it (feature `mpi`) |
//! | `threads` | ranks that are threads, for tests |

#[cfg(not(feature = "mpi"))]
mod absent;
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

#[cfg(not(feature = "mpi"))]
pub use absent::join;
#[cfg(feature = "mpi")]
pub use mpi::join;

/// One rank, and its way to the others. Every rank comes to every meeting, in the same
/// order; whoever cannot, aborts.
pub trait Ranks {
    /// From 0.
    fn rank(&self) -> usize;

    /// Ranks in all.
    fn size(&self) -> usize;

    /// The lowest rank on this rank's host.
    fn host(&self) -> usize;

    /// Returns when every rank has come here.
    fn barrier(&self);

    /// Every rank's text, in the order of the ranks. Who has `patience` aborts where others
    /// take longer to come.
    fn gather(&self, text: &str, patience: Option<Patience>) -> Vec<String>;

    /// Says why on standard error and ends all ranks, wherever they are.
    fn abort(&self, why: &str) -> !;
}

/// How long to wait for others, and what it means that they do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience<'a> {
    pub lasts: Duration,
    pub why: &'a str,
}

impl dyn Ranks + '_ {
    /// Every rank's value, in the order of the ranks.
    pub fn all<T: Serialize + DeserializeOwned>(&self, value: &T) -> Vec<T> {
        self.all_within(value, None)
    }

    /// The same, for a rank that does not wait for ever.
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

    /// The value of rank 0, which alone makes it.
    pub fn first<T: Serialize + DeserializeOwned>(&self, make: impl FnOnce() -> T) -> T {
        let own = (self.rank() == 0).then(make);
        let from_first = self.all(&own).into_iter().next().flatten();
        from_first.unwrap_or_else(|| self.abort("rank 0 sent nothing"))
    }
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

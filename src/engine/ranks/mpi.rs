//! The ranks over the system's MPI.

use std::cell::RefCell;
use std::hint;
use std::io::{self, Write};
use std::panic;
use std::thread;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::request::{self, Request, Scope};
use mpi::topology::{Communicator, SimpleCommunicator};

use super::peers::{Peers, Process};
use super::{Launch, Patience, Ranks};

/// Busy polls before the waiting thread starts to yield its CPU.
const SPINS: u32 = 10_000;

/// Waits shorter than this trigger no liveness check.
const LATE: Duration = Duration::from_millis(100);

const TOO_MUCH: &str = "MPI cannot pass on more than 2 GiB";

/// Joins the ranks that a launcher started.
///
/// # Errors
/// When MPI sees a different number of ranks than the launcher started.
pub fn join(launch: &Launch) -> Result<Box<dyn Ranks>, String> {
    // Funneled: only the thread that starts the workers calls MPI.
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)
        .ok_or_else(|| "MPI is already in use by this process".to_owned())?;
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    if size != launch.size {
        return Err(format!(
            "{}, but MPI sees {size}: does the launcher belong to another MPI than this build's? srun needs \
             --mpi=pmix, or another type from `srun --mpi=list`",
            launch.words()
        ));
    }
    let mut ranks = Mpi { peers: RefCell::default(), host: rank, rank, size, world, _universe: universe };
    ranks.meet_host();
    abort_on_panic();
    Ok(Box::new(ranks))
}

struct Mpi {
    peers: RefCell<Peers>,
    host: usize,
    rank: usize,
    size: usize,
    world: SimpleCommunicator,
    /// Finalizes MPI when dropped, hence the last field.
    _universe: Universe,
}

/// A panicking rank would otherwise block in MPI_Finalize, and the other ranks with it.
fn abort_on_panic() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        say(info);
        SimpleCommunicator::world().abort(1);
    }));
}

fn say(rank: usize, text: &str) {
    let _ = writeln!(io::stderr(), "spatter: rank {rank}: {}", crate::case::units::escaped(text));
}

impl Mpi {
    /// Exchanges process ids with the other ranks on this host.
    fn meet_host(&mut self) {
        let on_host = self.world.split_shared(self.rank as i32);
        let mut members = vec![0i32; on_host.size() as usize];
        on_host.all_gather_into(&(self.rank as i32), &mut members[..]);
        self.host = members.iter().min().map_or(self.rank, |lowest| *lowest as usize);
        let processes: Vec<Option<Process>> = (self as &dyn Ranks).all(&Process::own());
        let others = members.iter().map(|rank| *rank as usize).filter(|rank| *rank != self.rank);
        let watched = others.filter_map(|rank| Some((rank, processes.get(rank)?.clone()?)));
        self.peers = RefCell::new(Peers::watch(self.rank, watched));
    }

    /// Waits by polling, as MPI's blocking calls do, so that all ranks leave a barrier together; meanwhile
    /// checks that the awaited ranks are alive.
    fn wait<'a, D: ?Sized, S: Scope<'a>>(&self, mut request: Request<'a, D, S>, patience: Option<Patience>) {
        let mut peers = self.peers.borrow_mut();
        let (mut spins, began) = (0, Instant::now());
        while let Err(pending) = request.test() {
            request = pending;
            spins += 1;
            if spins < SPINS {
                hint::spin_loop();
                continue;
            }
            thread::yield_now();
            let waited = began.elapsed();
            if let Some(patience) = patience.filter(|patience| waited > patience.lasts) {
                self.abort(patience.why);
            }
            if waited > LATE
                && let Err(why) = peers.look(|text| say(self.rank, text))
            {
                self.died(&peers, &why);
            }
        }
        peers.met();
    }

    /// If several ranks wait for a dead one, the lowest reports it, and the others give it time to do so.
    fn died(&self, peers: &Peers, why: &str) -> ! {
        if !peers.speaks() {
            thread::sleep(Duration::from_millis(500));
        }
        self.abort(why)
    }
}

/// The offsets of concatenated parts with these lengths, and the total length; `None` on overflow.
fn starts(lengths: &[i32]) -> Option<(Vec<i32>, usize)> {
    let mut total = 0i32;
    let mut starts = Vec::new();
    for length in lengths {
        starts.push(total);
        total = total.checked_add(*length)?;
    }
    Some((starts, total as usize))
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn host(&self) -> usize {
        self.host
    }

    fn barrier(&self) {
        self.wait(self.world.immediate_barrier(), None);
    }

    fn gather(&self, text: &str, patience: Option<Patience>) -> Vec<String> {
        let own = i32::try_from(text.len()).unwrap_or_else(|_| self.abort(TOO_MUCH));
        let mut lengths = vec![0i32; self.size];
        request::scope(|scope| {
            self.wait(self.world.immediate_all_gather_into(scope, &own, &mut lengths[..]), patience);
        });
        let (starts, total) = starts(&lengths).unwrap_or_else(|| self.abort(TOO_MUCH));
        let mut bytes = vec![0u8; total];
        let mut parts = PartitionMut::new(&mut bytes[..], &lengths[..], &starts[..]);
        request::scope(|scope| {
            let all = self.world.immediate_all_gather_varcount_into(scope, text.as_bytes(), &mut parts);
            self.wait(all, None);
        });
        let part = |(start, length): (&i32, &i32)| {
            String::from_utf8_lossy(&bytes[*start as usize..(start + length) as usize]).into_owned()
        };
        starts.iter().zip(&lengths).map(part).collect()
    }

    fn abort(&self, why: &str) -> ! {
        say(self.rank, why);
        self.world.abort(1)
    }
}

//! Whether the ranks of one host are still alive, for those who wait for them. A launcher
//! ends the job when a rank dies; one that was told to carry on does not, and MPI's own
//! calls would wait for ever. Ranks of other hosts are the launcher's to watch.

use std::fs;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How often to look: reading a few files of /proc is no matter to whoever waits anyway.
const EVERY: Duration = Duration::from_millis(500);

/// A process that cannot be mistaken for a later one of the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    id: u32,
    /// Clock ticks since the system started, as /proc tells them.
    started: u64,
}

/// Another rank of this host.
#[derive(Debug)]
struct Peer {
    rank: usize,
    process: Process,
    /// Whether somebody was told that it is stopped.
    told: bool,
}

/// The other ranks of this host.
#[derive(Debug, Default)]
pub struct Peers {
    own: usize,
    peers: Vec<Peer>,
    looked: Option<Instant>,
}

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Alive,
    /// By a signal.
    Stopped,
    Dead,
}

impl Process {
    /// This one; `None` where there is no /proc.
    pub fn own() -> Option<Process> {
        let id = std::process::id();
        Some(Process { id, started: stat(id)?.1 })
    }

    fn state(&self) -> State {
        match stat(self.id) {
            Some(('Z' | 'X', _)) | None => State::Dead,
            Some((_, started)) if started != self.started => State::Dead,
            Some(('T', _)) => State::Stopped,
            Some(_) => State::Alive,
        }
    }
}

/// A process's state and when it started.
fn stat(id: u32) -> Option<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may hold blanks and brackets.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.first()?.chars().next()?, fields.get(19)?.parse().ok()?))
}

impl Peers {
    /// Watches these ranks for another one.
    pub fn watch(own: usize, peers: impl Iterator<Item = (usize, Process)>) -> Peers {
        let peers = peers.map(|(rank, process)| Peer { rank, process, told: false }).collect();
        Peers { own, peers, looked: None }
    }

    /// Whether it is this rank that speaks for those who wait: no lower one is there to.
    pub fn speaks(&self) -> bool {
        let lower = self.peers.iter().filter(|peer| peer.rank < self.own);
        lower.into_iter().all(|peer| peer.process.state() != State::Alive)
    }

    /// Whoever waits asks again and again: looks now and then. What there is to say of ranks
    /// that are stopped goes to `say`.
    ///
    /// # Errors
    /// A rank that is dead.
    pub fn look(&mut self, mut say: impl FnMut(&str)) -> Result<(), String> {
        if self.looked.is_some_and(|last| last.elapsed() < EVERY) {
            return Ok(());
        }
        // A rank that comes in time is not looked for at all.
        if self.looked.replace(Instant::now()).is_none() {
            return Ok(());
        }
        let speaks = self.speaks();
        for peer in &mut self.peers {
            let (rank, id) = (peer.rank, peer.process.id);
            match peer.process.state() {
                State::Alive => peer.told = false,
                State::Dead => return Err(format!("rank {rank} (process {id}) has died")),
                State::Stopped if peer.told => {}
                State::Stopped => {
                    peer.told = true;
                    if speaks {
                        say(&format!(
                            "waits for rank {rank}, which is stopped; `kill -CONT {id}` lets it go on"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The wait is over.
    pub fn met(&mut self) {
        self.looked = None;
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread;

    use super::*;

    fn sleeper() -> (Child, Process) {
        let child = Command::new("sleep").arg("60").spawn().expect("starts");
        let (_, started) = stat(child.id()).expect("it runs");
        let process = Process { id: child.id(), started };
        (child, process)
    }

    fn signal(child: &Child, signal: i32) {
        // SAFETY: signals a child of ours that was not waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    }

    /// Waits for what peers tell in the end.
    fn until<T>(mut tell: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(told) = tell() {
                return told;
            }
            assert!(Instant::now() < deadline, "nothing was told");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_rank_that_stops_is_told_once_and_one_that_dies_is_an_error() {
        let (mut child, process) = sleeper();
        let mut peers = Peers::watch(1, [(3, process)].into_iter());
        assert_eq!(peers.look(|_| panic!("it runs")), Ok(()));
        signal(&child, libc::SIGSTOP);
        let mut told = Vec::new();
        until(|| {
            peers.look(|text| told.push(text.to_owned())).expect("it lives");
            (!told.is_empty()).then_some(())
        });
        assert!(told[0].contains("rank 3, which is stopped"), "{told:?}");
        thread::sleep(EVERY);
        peers.look(|_| panic!("told twice")).expect("it lives");
        child.kill().expect("killed");
        // Nobody has waited for it: it is a zombie, as under a launcher that does not care.
        let died = until(|| peers.look(|_| ()).err());
        assert!(died.starts_with("rank 3 (process"), "{died}");
        child.wait().expect("ended");
    }

    #[test]
    fn another_process_of_the_same_number_is_not_the_rank() {
        let own = Process::own().expect("/proc");
        assert_eq!(own.state(), State::Alive);
        assert_eq!(Process { started: own.started + 1, ..own }.state(), State::Dead);
    }

    #[test]
    fn the_lowest_rank_that_lives_speaks() {
        let alive = Process::own().expect("/proc");
        let dead = Process { started: alive.started + 1, ..alive.clone() };
        let speaks = |own, peers: [(usize, &Process); 2]| {
            Peers::watch(own, peers.into_iter().map(|(rank, process)| (rank, process.clone()))).speaks()
        };
        assert!(speaks(0, [(1, &alive), (2, &dead)]));
        assert!(!speaks(2, [(0, &dead), (1, &alive)]));
        assert!(speaks(1, [(0, &dead), (2, &alive)]));
    }
}

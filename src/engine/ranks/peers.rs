//! Liveness of the ranks on one host, checked while waiting for them. Most launchers end the job when a rank
//! dies, but one that is told to carry on does not, and MPI's own calls would wait for ever. Ranks on other
//! hosts are left to the launcher.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::files;

/// Interval between checks; reading a few files of /proc is negligible while waiting.
const EVERY: Duration = Duration::from_millis(500);

/// Identifies a process even if its id is reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    id: u32,
    /// Start time in clock ticks since boot, from /proc.
    started: u64,
}

/// Another rank on this host.
#[derive(Debug)]
struct Peer {
    rank: usize,
    process: Process,
    /// Whether the stopped state was reported.
    told: bool,
}

/// The other ranks on this host.
#[derive(Debug, Default)]
pub struct Peers {
    own: usize,
    peers: Vec<Peer>,
    looked: Option<Instant>,
}

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Alive,
    /// Stopped by a signal.
    Stopped,
    Dead,
}

impl Process {
    /// This process; `None` without /proc.
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

/// State and start time of a process.
fn stat(id: u32) -> Option<(char, u64)> {
    let text = files::system(format!("/proc/{id}/stat"))?;
    // Skip the process name, which may contain blanks and parentheses.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.first()?.chars().next()?, fields.get(19)?.parse().ok()?))
}

impl Peers {
    /// Watches the given ranks on behalf of rank `own`.
    pub fn watch(own: usize, peers: impl Iterator<Item = (usize, Process)>) -> Peers {
        let peers = peers.map(|(rank, process)| Peer { rank, process, told: false }).collect();
        Peers { own, peers, looked: None }
    }

    /// Whether this rank reports for all waiting ranks: no lower rank on the host is alive.
    pub fn speaks(&self) -> bool {
        let lower = self.peers.iter().filter(|peer| peer.rank < self.own);
        lower.into_iter().all(|peer| peer.process.state() != State::Alive)
    }

    /// Checks the watched ranks, rate-limited because it is called in a polling loop. Messages about stopped
    /// ranks go to `say`.
    ///
    /// # Errors
    /// Names a rank that has died.
    pub fn look(&mut self, mut say: impl FnMut(&str)) -> Result<(), String> {
        if self.looked.is_some_and(|last| last.elapsed() < EVERY) {
            return Ok(());
        }
        // The first call only starts the timer, so that ranks arriving in time are never checked.
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
                            "waits for rank {rank}, which is stopped; `kill -CONT {id}` resumes it"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the wait and resets the timer.
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
        // SAFETY: signals our own child, which has not been reaped.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    }

    /// Polls `tell` until it returns a value.
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
        // The child is not reaped, so it is a zombie, as under a launcher that ignores dead ranks.
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

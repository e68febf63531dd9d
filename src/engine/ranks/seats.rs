//! Assignment of CPUs to ranks. The binding of a launcher is kept; ranks on one host that have the same
//! affinity mask share it evenly.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Ranks;
use crate::device::cpu::affinity;
use crate::files;

/// A rank's host and the CPUs available to it there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Host number, as in [`Ranks::host`].
    pub host: usize,
    /// CPUs of the inherited mask, with those of one core adjacent.
    pub cpus: Vec<usize>,
}

/// The assignment of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    /// The CPUs of each rank.
    pub cpus: Vec<Vec<usize>>,
    /// Each rank's index among the ranks of its host.
    pub local: Vec<usize>,
    /// Warnings about the assignment, one line each.
    pub doubts: Vec<String>,
}

impl Seats {
    /// Assigns CPUs and restricts this rank to its own, for all threads started from now on.
    pub fn take(ranks: &dyn Ranks) -> Seats {
        let cpus = by_core(Path::new("/sys/devices/system/cpu"), affinity::allowed());
        let seats = Seats::of(&ranks.all(&Seat { host: ranks.host(), cpus }));
        let own = &seats.cpus[ranks.rank()];
        if !affinity::restrict(own) {
            ranks.abort(&format!("cannot keep to CPUs {own:?}"));
        }
        seats
    }

    /// The assignment for ranks with these hosts and masks.
    pub fn of(given: &[Seat]) -> Seats {
        let local = |rank: usize| given[..rank].iter().filter(|seat| seat.host == given[rank].host).count();
        let cpus: Vec<Vec<usize>> = (0..given.len()).map(|rank| slice(given, rank)).collect();
        let doubts = doubts(given, &cpus);
        Seats { local: (0..given.len()).map(local).collect(), cpus, doubts }
    }

    /// Smallest number of CPUs of any rank.
    pub fn fewest(&self) -> usize {
        self.cpus.iter().map(Vec::len).min().unwrap_or(0)
    }
}

/// A rank's slice of its mask, shared evenly with the ranks that have the same mask on the same host. Slices
/// are of equal size, so that all ranks have equal resources.
fn slice(given: &[Seat], rank: usize) -> Vec<usize> {
    let all = &given[rank].cpus;
    let sharing = given.iter().filter(|seat| **seat == given[rank]).count();
    let before = given[..rank].iter().filter(|seat| **seat == given[rank]).count();
    let each = all.len() / sharing;
    match all.len() {
        0 => Vec::new(),
        _ if each == 0 => vec![all[before % all.len()]],
        _ => all[before * each..(before + 1) * each].to_vec(),
    }
}

fn doubts(given: &[Seat], cpus: &[Vec<usize>]) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut hosts: Vec<usize> = given.iter().map(|seat| seat.host).collect();
    hosts.dedup();
    hosts.sort();
    hosts.dedup();
    for host in hosts {
        let ranks: Vec<usize> = (0..given.len()).filter(|rank| given[*rank].host == host).collect();
        let mut used: Vec<usize> = ranks.iter().flat_map(|rank| cpus[*rank].iter().copied()).collect();
        let seats = used.len();
        used.sort();
        used.dedup();
        if used.len() < seats {
            let (ranks, cpus) = (ranks.len(), used.len());
            doubts.push(format!(
                "oversubscribed: {ranks} ranks share the {cpus} CPUs that rank {host}'s host has for them; they wait \
                 for each other, so their bandwidths say nothing about its memory"
            ));
        }
    }
    let sizes: Vec<usize> = cpus.iter().map(Vec::len).collect();
    if let (Some(least), Some(most)) = (sizes.iter().min(), sizes.iter().max())
        && least < most
    {
        doubts.push(format!("ranks have different numbers of CPUs, {least} to {most}"));
    }
    doubts
}

/// Sorts CPUs by socket and core, so that two slices share a core only if they must. Without topology
/// information the order by number is kept.
fn by_core(root: &Path, mut cpus: Vec<usize>) -> Vec<usize> {
    let text = |cpu: &usize, name: &str| files::system(root.join(format!("cpu{cpu}/topology/{name}")));
    let socket =
        |cpu: &usize| text(cpu, "physical_package_id").and_then(|text| text.trim().parse::<u32>().ok());
    let core = |cpu: &usize| affinity::parse_list(&text(cpu, "thread_siblings_list")?)?.first().copied();
    cpus.sort_by_cached_key(|cpu| (socket(cpu).unwrap_or(0), core(cpu).unwrap_or(*cpu), *cpu));
    cpus
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn seat(host: usize, cpus: &[usize]) -> Seat {
        Seat { host, cpus: cpus.to_vec() }
    }

    #[test]
    fn what_the_launcher_bound_stays() {
        let seats = Seats::of(&[seat(0, &[0, 1]), seat(0, &[2, 3]), seat(2, &[0, 1])]);
        assert_eq!(seats.cpus, [[0, 1], [2, 3], [0, 1]]);
        assert_eq!((seats.local, seats.doubts), (vec![0, 1, 0], vec![]));
    }

    #[test]
    fn ranks_of_one_mask_share_it_evenly() {
        let five = [0, 1, 2, 3, 4];
        let seats = Seats::of(&[seat(0, &five), seat(0, &five), seat(2, &five), seat(2, &five)]);
        assert_eq!(seats.cpus, [[0, 1], [2, 3], [0, 1], [2, 3]]);
        assert_eq!((seats.local.as_slice(), seats.fewest()), (&[0, 1, 0, 1][..], 2));
        assert!(seats.doubts.is_empty());
    }

    #[test]
    fn more_ranks_than_cpus_are_told() {
        let seats = Seats::of(&[seat(0, &[4, 6]), seat(0, &[4, 6]), seat(0, &[4, 6])]);
        assert_eq!(seats.cpus, [[4], [6], [4]]);
        assert!(seats.doubts[0].contains("oversubscribed: 3 ranks share the 2 CPUs"), "{:?}", seats.doubts);
        let overlap = Seats::of(&[seat(0, &[0, 1]), seat(0, &[1, 2])]);
        assert!(overlap.doubts[0].contains("2 ranks share the 3 CPUs"), "{:?}", overlap.doubts);
        let uneven = Seats::of(&[seat(0, &[0, 1]), seat(0, &[2])]);
        assert_eq!(uneven.doubts, ["ranks have different numbers of CPUs, 1 to 2"]);
    }

    #[test]
    fn threads_of_a_core_stay_together() {
        let root = tempfile::tempdir().expect("a folder");
        for (cpu, socket, siblings) in [(0, "0", "0,4"), (1, "1", "1,5"), (4, "0", "0,4"), (5, "1", "1,5")] {
            let folder = root.path().join(format!("cpu{cpu}/topology"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("physical_package_id"), format!("{socket}\n")).expect("written");
            fs::write(folder.join("thread_siblings_list"), format!("{siblings}\n")).expect("written");
        }
        assert_eq!(by_core(root.path(), vec![0, 1, 4, 5]), [0, 4, 1, 5]);
        assert_eq!(by_core(Path::new("/nonexistent"), vec![2, 7]), [2, 7]);
    }
}

//! Which CPUs a rank has to itself. A launcher that binds its processes has settled that;
//! ranks of one host with the same affinity mask share it evenly.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Ranks;
use crate::device::cpu::affinity;

/// Where a rank is, and the CPUs that it was given there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// As [`Ranks::host`] tells it.
    pub host: usize,
    /// CPUs of the inherited mask, those of one core beside each other.
    pub cpus: Vec<usize>,
}

/// How the ranks sit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    /// The CPUs of each rank.
    pub cpus: Vec<Vec<usize>>,
    /// Each rank's place among the ranks of its host.
    pub local: Vec<usize>,
    /// What is wrong with that, one line each.
    pub doubts: Vec<String>,
}

impl Seats {
    /// Takes this rank's CPUs, for every thread that starts from now on.
    pub fn take(ranks: &dyn Ranks) -> Seats {
        let cpus = by_core(Path::new("/sys/devices/system/cpu"), affinity::allowed());
        let seats = Seats::of(&ranks.all(&Seat { host: ranks.host(), cpus }));
        let own = &seats.cpus[ranks.rank()];
        if !affinity::restrict(own) {
            ranks.abort(&format!("cannot keep to CPUs {own:?}"));
        }
        seats
    }

    /// The seats of ranks that were put so.
    pub fn of(given: &[Seat]) -> Seats {
        let local = |rank: usize| given[..rank].iter().filter(|seat| seat.host == given[rank].host).count();
        let cpus: Vec<Vec<usize>> = (0..given.len()).map(|rank| slice(given, rank)).collect();
        let doubts = doubts(given, &cpus);
        Seats { local: (0..given.len()).map(local).collect(), cpus, doubts }
    }

    /// CPUs of the rank that has the fewest.
    pub fn fewest(&self) -> usize {
        self.cpus.iter().map(Vec::len).min().unwrap_or(0)
    }
}

/// A rank's part of its mask, which it shares evenly with the ranks that have the same one
/// on the same host. Parts are of one size, so that all ranks do the same with as much.
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
                "oversubscribed: {ranks} ranks on the {cpus} CPUs that rank {host}'s host has for them; they wait for \
                 each other, and their bandwidths tell nothing of its memory"
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

/// CPUs of one core beside each other, and cores of one socket, so that no two slices share
/// a core without need. In their own order where the system does not tell.
fn by_core(root: &Path, mut cpus: Vec<usize>) -> Vec<usize> {
    let text =
        |cpu: &usize, name: &str| fs::read_to_string(root.join(format!("cpu{cpu}/topology/{name}"))).ok();
    let socket =
        |cpu: &usize| text(cpu, "physical_package_id").and_then(|text| text.trim().parse::<u32>().ok());
    let core = |cpu: &usize| affinity::parse_list(&text(cpu, "thread_siblings_list")?)?.first().copied();
    cpus.sort_by_cached_key(|cpu| (socket(cpu).unwrap_or(0), core(cpu).unwrap_or(*cpu), *cpu));
    cpus
}

#[cfg(test)]
mod tests {
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
        assert!(seats.doubts[0].contains("oversubscribed: 3 ranks on the 2 CPUs"), "{:?}", seats.doubts);
        let overlap = Seats::of(&[seat(0, &[0, 1]), seat(0, &[1, 2])]);
        assert!(overlap.doubts[0].contains("2 ranks on the 3 CPUs"), "{:?}", overlap.doubts);
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

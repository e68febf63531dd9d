//! Peers: external programs that do the same work in another way, for comparison with ours. Pure; their sources
//! are in `benches/peers/`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::schema::{Kind, Param, ParamDefault};

/// A program that can stand in for a backend. Its results are not certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Name in recipes, and of the program.
    pub name: &'static str,
    /// The backend of its cases.
    pub backend: &'static str,
    /// The backend to whose cases it is compared, and on whose device it runs.
    pub beside: &'static str,
}

/// The key of a setting that a peer chose is this and the setting's name.
pub const SETTING: &str = "peer.";

/// Every peer.
pub const ALL: &[Peer] = &[
    Peer { name: "plain", backend: "peer:plain", beside: "cuda" },
    Peer { name: "cudamemcpy", backend: "peer:cudamemcpy", beside: "cuda" },
    Peer { name: "spatter", backend: "peer:spatter", beside: "cuda" },
    Peer { name: "cub-exclusive-sum", backend: "peer:cub-exclusive-sum", beside: "cuda" },
    Peer { name: "cub-sum-by-key", backend: "peer:cub-sum-by-key", beside: "cuda" },
    Peer { name: "cub-reduce", backend: "peer:cub-reduce", beside: "cuda" },
    Peer { name: "cub-histogram", backend: "peer:cub-histogram", beside: "cuda" },
    Peer { name: "cub-radix-sort", backend: "peer:cub-radix-sort", beside: "cuda" },
    Peer { name: "cub-sort", backend: "peer:cub-sort", beside: "cuda" },
    Peer { name: "cub-partition", backend: "peer:cub-partition", beside: "cuda" },
    Peer { name: "cub-merge-sort", backend: "peer:cub-merge-sort", beside: "cuda" },
    Peer { name: "cusparse", backend: "peer:cusparse", beside: "cuda" },
    Peer { name: "cusparse-sell", backend: "peer:cusparse-sell", beside: "cuda" },
    Peer { name: "cusparse-gtsv2", backend: "peer:cusparse-gtsv2", beside: "cuda" },
    Peer { name: "rdst", backend: "peer:rdst", beside: "cpu" },
    Peer { name: "voracious", backend: "peer:voracious", beside: "cpu" },
    Peer { name: "rayon-sort", backend: "peer:rayon-sort", beside: "cpu" },
    Peer { name: "std-sort", backend: "peer:std-sort", beside: "cpu" },
    Peer { name: "hashbrown", backend: "peer:hashbrown", beside: "cpu" },
    Peer { name: "sprs", backend: "peer:sprs", beside: "cpu" },
    Peer { name: "faer", backend: "peer:faer", beside: "cpu" },
    Peer { name: "graph", backend: "peer:graph", beside: "cpu" },
    Peer { name: "petgraph", backend: "peer:petgraph", beside: "cpu" },
];

const NAMES: &[&str] = &{
    let mut names = [""; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        names[at] = ALL[at].name;
        at += 1;
    }
    names
};

/// The parameter `peers` of an experiment.
pub const PEERS: Param = Param {
    name: "peers",
    kind: Kind::Word(NAMES),
    default: ParamDefault::Unset,
    doc: "programs that do the same work as the cases on cuda or on cpu, measured in the same rounds but not \
          certified: those below, and those of the paper's folder, which are executed with --allow-programs. plain: kernels of one thread an element, for stream, gather and scatter; cudamemcpy: the driver's \
          copies and fills, for stream; spatter: kernels like those of Spatter 2.1.0, for pattern; cub-exclusive-sum: \
          CUB's ExclusiveSum, for scan; cub-sum-by-key: its sums by key, for segmented-scan; cub-reduce: \
          cub::DeviceReduce, for reduce; cub-histogram: cub::DeviceHistogram, for histogram; cub-radix-sort: \
          cub::DeviceRadixSort by the bits of the bucket, for multisplit, or of the case, for sort; cub-sort: the same \
          by the whole key, cub-partition: cub::DevicePartition for two buckets, both for multisplit; cub-merge-sort: \
          cub::DeviceMergeSort, for sort; cusparse: cuSPARSE's cusparseSpMV of compressed rows by the fastest of its \
          algorithms, cusparse-sell: the same of slices of rows, both for spmv; cusparse-gtsv2: the fastest of \
          cuSPARSE's tridiagonal solvers for the layout, for tridiagonal. On cpu they are crates of Rust. rdst: and \
          voracious: radix sorts by several threads, rayon-sort: a comparison sort by several, std-sort: one by a \
          single thread, all for sort; hashbrown: a hash table, for hash-search and hash-build; sprs: and faer: \
          products of sparse matrices and vectors, for spmv; graph: delta-stepping by several threads, petgraph: \
          Dijkstra's algorithm by one, both for sssp",
};

/// Why a peer that has its program copies nothing.
pub const NO_DEVICE: &str = "a peer has no device of its own";

/// The peer with this name.
pub fn named(name: &str) -> Option<&'static Peer> {
    ALL.iter().find(|peer| peer.name == name)
}

/// The beginning of the backend of a peer's cases; the peer's name follows.
pub const BACKEND: &str = "peer:";

/// The name of the peer whose cases have this backend: one of [`ALL`], or one that a paper's folder names.
pub fn of_backend(backend: &str) -> Option<&str> {
    backend.strip_prefix(BACKEND)
}

/// The name of the peer whose backend this is, and any other word as it is.
pub fn name(backend: &str) -> &str {
    of_backend(backend).unwrap_or(backend)
}

/// A peer that the folder of a paper names. Its program is executed only where that is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    pub name: String,
    /// The backend to whose cases it is compared: one of [`HOSTS`].
    pub beside: String,
    /// The program as the folder writes it: with a `/`, relative to the folder; without, a command of the machine.
    pub program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The folder, in which the program is executed; unknown on other machines.
    #[serde(with = "super::place", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<super::place::Written>")]
    pub folder: Option<PathBuf>,
}

/// The backends beside which a peer may run.
pub const HOSTS: [&str; 2] = ["cuda", "cpu"];

/// The option without which no program of a folder is executed.
pub const ALLOW: &str = "allow-programs";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_by_its_backend() {
        assert_eq!(ALL.iter().map(|peer| peer.name).collect::<Vec<_>>(), NAMES);
        for peer in ALL {
            assert_eq!((named(peer.name), of_backend(peer.backend)), (Some(peer), Some(peer.name)));
            assert!(HOSTS.contains(&peer.beside));
            assert!(crate::case::backends::names().any(|backend| backend == peer.beside));
            assert!(PEERS.doc.contains(&format!("{}:", peer.name)));
        }
        assert_eq!((named("cuda"), of_backend("cuda")), (None, None));
    }
}

//! What a case does to memory: its accesses, pass by pass, and its way through indices.

use serde::{Deserialize, Serialize};

use super::{Params, Refusal};

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Read,
    Write,
}

/// The order in which an access visits its footprint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Every element once, ascending.
    Sequential,
    /// Every `stride`-th element, ascending.
    Strided { stride: u64 },
    /// Each element of the footprint once, in random order.
    Random,
    /// The footprint in `chunks` equal parts, one after another, each element of a part once, in
    /// random order.
    Chunks { chunks: u64 },
    /// `partitions` ascending streams, the next element's stream chosen at random
    /// (he2007 §3.3.2, Case II).
    Partitions { partitions: u64 },
    /// The same streams, but `tile` elements at a time are put in order by their streams near the
    /// processor, so that those of a stream leave side by side.
    Staged { partitions: u64, tile: u64 },
    /// Independent draws with Zipf-distributed ranks, exponent `exponent`.
    Zipf { exponent: f64 },
    /// As an index array says that somebody brought.
    Given,
    /// A pattern moved by `delta` elements after each of its uses (lavin2020 §3.1).
    Pattern { indices: Vec<u64>, delta: u64 },
    /// A pattern whose next use starts one of `deltas` elements further, which are repeated;
    /// the uses may be visited in random order.
    Visits { indices: Vec<u64>, deltas: Vec<u64>, shuffled: bool },
}

/// How many of an access's operations may be in flight together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// All are independent of each other.
    Independent,
    /// So are these, but each goes with an element of an index array, so that neighbours are
    /// moved one by one wherever they lie.
    #[serde(rename = "led")]
    Indexed,
    /// Each needs the one before it.
    Chained,
}

/// One array's part in one pass of a method: what the models, the declared bytes
/// and the time estimate evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// The array in the definition's own letters: `R_in`, `R_out`, `L`, `a` …
    pub array: String,
    pub direction: Direction,
    /// Bytes of one element (he2007's z).
    pub element: u64,
    /// Accesses in the pass (he2007's n).
    pub count: u64,
    /// Bytes from which they are drawn.
    pub footprint: u64,
    pub order: Order,
    pub concurrency: Concurrency,
}

impl Access {
    /// `count` elements of `element` bytes, each once and in order.
    pub fn sequential(array: &str, direction: Direction, element: u64, count: u64) -> Access {
        let (order, concurrency) = (Order::Sequential, Concurrency::Independent);
        let footprint = element.saturating_mul(count);
        Access { array: array.to_owned(), direction, element, count, footprint, order, concurrency }
    }

    /// Bytes that the access asks for.
    pub fn bytes(&self) -> u64 {
        self.element * self.count
    }
}

/// A pass over memory, performed `times` times one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// How often (he2007's nChunk).
    pub times: u64,
    pub accesses: Vec<Access>,
}

impl Pass {
    /// One that is made once.
    pub fn once(accesses: Vec<Access>) -> Pass {
        Pass { times: 1, accesses }
    }
}

/// What a case does to memory, known before it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The method's accesses, pass by pass.
    pub passes: Vec<Pass>,
    /// Elements that the definition handles (tuples, pattern entries, keys).
    pub elements: u64,
    /// Bytes that count for the effective bandwidth.
    pub effective_bytes: u64,
    /// Bytes of the data tuples both ways and of the locations, each once.
    pub system_bytes: u64,
    /// Bytes of memory the timed arrays occupy on the device.
    pub footprint: u64,
    /// Further bytes that the certificate or the generation needs at its peak.
    pub scratch: u64,
}

impl Work {
    /// One pass whose accesses read or write arrays of their own once: all their bytes count.
    pub fn once(elements: u64, accesses: Vec<Access>) -> Work {
        let bytes = accesses.iter().map(Access::bytes).sum();
        Work {
            passes: vec![Pass::once(accesses)],
            elements,
            effective_bytes: bytes,
            system_bytes: bytes,
            footprint: bytes,
            scratch: 0,
        }
    }

    /// Bytes that the method asks for over all its passes.
    pub fn declared_bytes(&self) -> u64 {
        self.passes.iter().map(|p| p.times * p.accesses.iter().map(Access::bytes).sum::<u64>()).sum()
    }
}

/// A case's way through memory: the indices of one side, in the order of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Which side, in the definition's own letters: `L`, `p`, `p_g` …
    pub side: &'static str,
    /// Bytes of an element.
    pub element: u64,
    /// The first of them.
    pub indices: Vec<u64>,
    /// All there are.
    pub total: u64,
}

/// The speed of light of a primitive: what its parallel model moves, while nothing else takes time
/// (ashkiani2017 §6.2.2).
#[derive(Clone, Copy, Debug)]
pub struct SpeedOfLight {
    /// What is moved, and the source.
    pub moves: &'static str,
    /// Bytes of one execution.
    pub bytes: fn(&Params) -> Result<u64, Refusal>,
}

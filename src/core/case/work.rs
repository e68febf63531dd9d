//! The memory behaviour of a case: its accesses, pass by pass, and its index streams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IndexPattern, Params, Refusal};

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// One in `stride` elements, ascending, at random places; `run` of them follow each other on average, or as many as by
    /// chance if that is more.
    Strided {
        stride: u64,
        #[serde(default)]
        run: f64,
    },
    /// Each element of the footprint once, in random order.
    Random,
    /// The footprint in `chunks` equal parts, one after another; within a part, each element once, in random
    /// order.
    Chunks { chunks: u64 },
    /// `partitions` ascending streams; each element goes to a random stream (he2007 §3.3.2, Case II).
    Partitions { partitions: u64 },
    /// Like [`Order::Partitions`], but `tile` elements at a time are first sorted by stream on chip, so that
    /// the elements of a stream are written contiguously.
    Staged { partitions: u64, tile: u64 },
    /// Independent draws with Zipf-distributed ranks, exponent `exponent`.
    Zipf { exponent: f64 },
    /// Given by an index array of the user.
    Given,
    /// A pattern advanced by `delta` elements after each use (lavin2020 §3.1).
    Pattern { indices: IndexPattern, delta: u64 },
    /// A pattern whose start advances by `deltas`, applied cyclically; if `shuffled`, the uses are visited in
    /// random order.
    Visits { indices: IndexPattern, deltas: Vec<u64>, shuffled: bool },
}

impl Order {
    /// One in `stride` elements, ascending, at random places; every element if `stride` is 1.
    pub fn one_in(stride: u64) -> Order {
        if stride > 1 { Order::Strided { stride, run: 1.0 } } else { Order::Sequential }
    }
}

/// How many operations of an access may be in flight together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// All operations are independent.
    Independent,
    /// The operations are independent, but each belongs to an element of an index array, so neighbours are
    /// moved one by one wherever they are.
    #[serde(rename = "led")]
    Indexed,
    /// Each operation depends on the previous one.
    Chained,
}

/// The accesses to one array in one pass of a method: the input of the models, the declared bytes and the time
/// estimate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// The array in the notation of the definition: `R_in`, `R_out`, `L`, `a` …
    pub array: String,
    pub direction: Direction,
    /// Bytes per element (he2007's z).
    pub element: u64,
    /// Accesses in the pass (he2007's n).
    pub count: u64,
    /// Size in bytes of the accessed region.
    pub footprint: u64,
    pub order: Order,
    pub concurrency: Concurrency,
}

impl Access {
    /// `count` elements of `element` bytes, each read once in order, independently of the others.
    pub fn reads(array: &str, element: u64, count: u64) -> Access {
        let (array, direction) = (array.to_owned(), Direction::Read);
        let (order, concurrency) = (Order::Sequential, Concurrency::Independent);
        let footprint = element.saturating_mul(count);
        Access { array, direction, element, count, footprint, order, concurrency }
    }

    /// Like [`Access::reads`], but written.
    pub fn writes(array: &str, element: u64, count: u64) -> Access {
        Access { direction: Direction::Write, ..Access::reads(array, element, count) }
    }

    /// The same accesses in another order.
    pub fn ordered(self, order: Order) -> Access {
        Access { order, ..self }
    }

    /// The same accesses to a region of `footprint` bytes.
    pub fn within(self, footprint: u64) -> Access {
        Access { footprint, ..self }
    }

    /// The same accesses, each of which belongs to an element of an index array.
    pub fn indexed(self) -> Access {
        Access { concurrency: Concurrency::Indexed, ..self }
    }

    /// Bytes requested by the access.
    pub fn bytes(&self) -> u64 {
        self.element * self.count
    }
}

/// A pass over memory, repeated `times` times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Number of repetitions (he2007's nChunk).
    pub times: u64,
    pub accesses: Vec<Access>,
}

impl Pass {
    /// A pass performed once.
    pub fn once(accesses: impl IntoIterator<Item = Access>) -> Pass {
        Pass { times: 1, accesses: accesses.into_iter().collect() }
    }

    /// The same pass with further accesses: several, or an optional one.
    pub fn and(mut self, accesses: impl IntoIterator<Item = Access>) -> Pass {
        self.accesses.extend(accesses);
        self
    }

    /// The same pass `times` times as often.
    pub fn times(self, times: u64) -> Pass {
        Pass { times: times * self.times, ..self }
    }

    /// Bytes requested by all repetitions.
    pub fn bytes(&self) -> u64 {
        self.times * self.accesses.iter().map(Access::bytes).sum::<u64>()
    }
}

/// The memory behaviour of a case, known before it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The method's accesses, pass by pass.
    pub passes: Vec<Pass>,
    /// Elements processed according to the definition (tuples, pattern entries, keys).
    pub elements: u64,
    /// Bytes counted for the effective bandwidth.
    pub effective_bytes: u64,
    /// Bytes of the data tuples in both directions and of the locations, each once.
    pub system_bytes: u64,
    /// Device memory occupied by the timed arrays, bytes.
    pub footprint: u64,
    /// Peak additional bytes for certification or generation.
    pub scratch: u64,
}

impl Work {
    /// `elements` elements processed by these passes. `bytes` are the effective and the system bytes and the footprint,
    /// unless the latter two are set; there is no scratch memory.
    pub fn of(elements: u64, bytes: u64, passes: impl IntoIterator<Item = Pass>) -> Work {
        let [effective_bytes, system_bytes, footprint] = [bytes; 3];
        let passes = passes.into_iter().collect();
        Work { passes, elements, effective_bytes, system_bytes, footprint, scratch: 0 }
    }

    /// A single pass whose accesses each traverse their own array once: all their bytes count.
    pub fn once(elements: u64, accesses: impl IntoIterator<Item = Access>) -> Work {
        let pass = Pass::once(accesses);
        Work::of(elements, pass.bytes(), [pass])
    }

    /// The same work with other system bytes.
    pub fn system(self, system_bytes: u64) -> Work {
        Work { system_bytes, ..self }
    }

    /// The same work whose timed arrays occupy `footprint` bytes.
    pub fn footprint(self, footprint: u64) -> Work {
        Work { footprint, ..self }
    }

    /// The same work that needs `scratch` bytes more for certification or generation.
    pub fn scratch(self, scratch: u64) -> Work {
        Work { scratch, ..self }
    }

    /// Bytes requested by the method over all passes.
    pub fn declared_bytes(&self) -> u64 {
        self.passes.iter().map(Pass::bytes).sum()
    }

    /// Bytes of the inputs and of the results: of the arrays that are read before anything writes them, and of those
    /// that are written and not read afterwards. An array in place is both.
    pub fn inputs_and_results(&self) -> [u64; 2] {
        let mut arrays: Vec<(&str, u64, [Direction; 2])> = Vec::new();
        for access in self.passes.iter().flat_map(|pass| &pass.accesses) {
            match arrays.iter_mut().find(|(name, ..)| *name == access.array) {
                Some((_, bytes, [_, last])) => {
                    *bytes = access.footprint.max(*bytes);
                    *last = access.direction;
                }
                None => arrays.push((&access.array, access.footprint, [access.direction; 2])),
            }
        }
        let sum = |at: usize, direction| {
            let own = arrays.iter().filter(|(_, _, ends)| ends[at] == direction);
            own.map(|(_, bytes, _)| bytes).sum()
        };
        [sum(0, Direction::Read), sum(1, Direction::Write)]
    }
}

/// The index stream of one side of a case, in the order of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The side, in the notation of the definition: `L`, `p`, `p_g` …
    pub side: &'static str,
    /// Bytes per element.
    pub element: u64,
    /// The first indices of the stream.
    pub indices: Vec<u64>,
    /// Total number of indices.
    pub total: u64,
}

/// The keys that a method ranks on chip: its second roof beside the movement of data, if ranking is measured alone
/// during a run, on tiles that stay where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    /// The kind of keys and values, `u32 + 4B`, by which a measured rate is found.
    pub kind: String,
    /// Keys that an execution ranks, each once for each of its digits.
    pub keys: u64,
    /// The number of digits.
    pub digits: u64,
}

/// The speed of light of a primitive: the data movement of its parallel model, as if nothing else took time
/// (ashkiani2017 §6.2.2).
#[derive(Clone, Copy, Debug)]
pub struct SpeedOfLight {
    /// The data that is moved, and the source.
    pub moves: &'static str,
    /// Bytes per execution.
    pub bytes: fn(&Params) -> Result<u64, Refusal>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_first_and_results_are_written_last() {
        let reads = |array, count| Access::reads(array, 4, count);
        let writes = |array, count| Access::writes(array, 4, count);
        let passes = [
            Pass::once([reads("keys", 10), writes("counts", 2)]),
            Pass::once([reads("counts", 2), reads("keys", 10), writes("out", 10)]),
            Pass::once([reads("out", 10), writes("out", 12), reads("place", 3), writes("place", 3)]),
        ];
        let work = Work::of(0, 0, passes);
        assert_eq!(work.inputs_and_results(), [4 * (10 + 3), 4 * (12 + 3)]);
    }

    #[test]
    fn a_pass_grows_and_repeats() {
        let gathered = Access::reads("x", 8, 100).within(80).ordered(Order::Given).indexed();
        let pass = Pass::once([gathered]).and(None).and([Access::writes("y", 4, 10)]).times(2).times(3);
        assert_eq!((pass.times, pass.bytes()), (6, 6 * (800 + 40)));
        let of =
            |k: usize| (&pass.accesses[k].order, pass.accesses[k].concurrency, pass.accesses[k].footprint);
        assert_eq!(of(0), (&Order::Given, Concurrency::Indexed, 80));
        assert_eq!(of(1), (&Order::Sequential, Concurrency::Independent, 40));
        assert_eq!([1, 2].map(Order::one_in), [Order::Sequential, Order::Strided { stride: 2, run: 1.0 }]);
        let work = Work::of(10, 40, [pass]).system(50).scratch(60);
        assert_eq!((work.effective_bytes, work.system_bytes, work.footprint, work.scratch), (40, 50, 40, 60));
    }
}

//! gather and scatter of tuples through a location array L (he2007 §3.2).
//!
//! gather: `R_out[i] = R_in[L[i]]`; scatter: `R_out[L[i]] = R_in[i]`. The effective bytes are those of the data
//! tuples on one side, n·z (he2007 §3.2: without L); the system bytes are both sides and L, 2·n·z + n·index.
//! With a user-provided L, n is the length of L.

pub mod cpu;
pub mod cuda;
mod methods;
mod oracle;
mod tuned;
mod user_indices;

pub use methods::Method;

use super::{Definition, Elsewhere, IndexLookup, Primitive, Problem};
use crate::case::schema::{self, Kind, Param, Variant};
use crate::case::table::{Described, choice, count, float, parameters, sizes, variants, words};
use crate::case::{BlockCost, Params, Refusal, Value, Walk, Work, params};
use crate::inputs::mix::{index_of_word32, index_of_word64, word32, word64};
use crate::inputs::permutation::{MAX_ELEMENTS, Permutation};
use crate::inputs::zipf::{MAX_EXPONENT, Zipf};
use methods::Cut;
use user_indices::Given;

/// Maximum number of partitions.
const MAX_PARTITIONS: u64 = 1 << 16;

/// Maximum number of input chunks in which partitions are counted when L is generated.
const COUNTING_CHUNKS: u64 = 256;

words! {
    /// Which side of the move is indexed.
    pub enum Kernel {
        /// `R_out[i] = R_in[L[i]]`
        Gather = "gather",
        /// `R_out[L[i]] = R_in[i]`
        Scatter = "scatter",
    }
}

choice! {
    /// The distribution of L. What was brought is in [`Spec::user_indices`]; there a tuple may be addressed more than once
    /// or never.
    pub enum Locations {
        /// L[i] = i
        Sequential = "sequential",
        /// a pseudo-random permutation
        Random = "random",
        /// each tuple is in a random partition, within which the order is kept (he2007 §3.5)
        Partitions = "partitions" main "count" {
            /// partitions (he2007's p)
            count: u64 [count(1, MAX_PARTITIONS)],
        },
        /// independent draws, which make a few tuples hot
        Zipf = "zipf" main "exponent" {
            /// the tuple of rank r is drawn with a probability proportional to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)],
        },
        /// an index array in a file
        File = "file" main "path" {
            /// path of a .npy file, a text file or a file of raw 64-bit words, also as .gz; relative to the recipe's
            /// folder
            path: Elsewhere,
            /// name of the column, for a table with a header line
            column: Elsewhere = unset,
        },
        /// an index array in the recipe
        List = "list" main "indices" {
            /// the locations
            indices: Elsewhere [Kind::Indices { max_length: 1 << 16 }],
        },
    }
}

parameters! {
    /// A gather or scatter case, typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec {
        /// how it is computed
        method: Method = "direct",
        /// number of tuples in R_in and in R_out, and of locations (he2007's n); with `file` or `list`, number of
        /// tuples on the side that the locations address; there unset: the largest location + 1
        tuples: u64 [count(1, MAX_ELEMENTS)] = (schema::ParamDefault::RequiredUnless {
            key: "locations",
            variants: &["file", "list"],
        }),
        /// size of a tuple (he2007's z)
        tuple: u64 [sizes(&[4, 8, 16, 32])] = "8B",
        /// size of a location
        index: u64 [sizes(&[4, 8])] = "4B",
        /// the distribution of L
        locations: Locations = "random",
    }
    with {
        /// Which of the two primitives it is.
        kernel: Kernel = Kernel::Gather,
        /// L, where somebody brought it.
        user_indices: Option<Given> = None,
        /// How locations are cut, of the method `partitioned`.
        cut: Option<Cut> = None,
    }
}

/// The parameter table restricted to these methods and locations.
const fn rows(methods: &'static [Variant], locations: &'static [Variant]) -> [Param; 5] {
    let [method, tuples, tuple, index, distribution] = [0, 1, 2, 3, 4];
    let all = Spec::TABLE;
    [
        Param { kind: Kind::Choice(methods), ..all[method] },
        all[tuples],
        all[tuple],
        all[index],
        Param { kind: Kind::Choice(locations), ..all[distribution] },
    ]
}

/// Parameters of `gather`.
const GATHER: &[Param] = &rows(
    &variants(Method::KIND, ["direct", "streaming", "multipass", "segmented", "auto"]),
    &variants(Locations::KIND, ["sequential", "random", "partitions", "zipf", "file", "list"]),
);

/// Parameters of `scatter`.
const SCATTER: &[Param] = &rows(
    &variants(Method::KIND, ["direct", "multipass", "segmented", "partitioned", "auto"]),
    &variants(Locations::KIND, ["sequential", "random", "partitions", "file", "list"]),
);

/// The generator of L.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Sequential,
    Random(Permutation),
    /// No closed form: `inputs::partitions`.
    Partitions {
        count: u64,
        seed: u64,
    },
    Zipf(Box<Zipf>),
    /// No closed form: `super::user_indices`.
    Given,
}

impl Source {
    /// `L[i]` if L has a closed form; `i` must be below the number of tuples.
    #[inline(always)]
    pub fn location(&self, i: u64) -> Option<u64> {
        match self {
            Source::Sequential => Some(i),
            Source::Random(permutation) => Some(permutation.apply(i)),
            Source::Partitions { .. } | Source::Given => None,
            Source::Zipf(zipf) => Some(zipf.draw(i)),
        }
    }

    /// The i with `L[i] = j`, if L is a permutation with a closed form.
    #[inline(always)]
    pub fn inverse(&self, j: u64) -> Option<u64> {
        match self {
            Source::Sequential => Some(j),
            Source::Random(permutation) => Some(permutation.invert(j)),
            Source::Partitions { .. } | Source::Zipf(_) | Source::Given => None,
        }
    }
}

/// Word `w` of tuple `i` of R_in, for tuples of `tuple` bytes: u64 words or, for 4 bytes, one u32 word in the
/// lower half.
#[inline(always)]
pub fn tuple_word(seed: u64, tuple: u64, i: u64, w: u64) -> u64 {
    if tuple == 4 { u64::from(word32(seed, i as u32)) } else { word64(seed, i * (tuple / 8) + w) }
}

/// The inverse of [`tuple_word`]: the (tuple, word) whose value is `word`.
#[inline(always)]
pub fn index_of_tuple_word(seed: u64, tuple: u64, word: u64) -> (u64, u64) {
    if tuple == 4 {
        return (u64::from(index_of_word32(seed, word as u32)), 0);
    }
    let at = index_of_word64(seed, word);
    (at / (tuple / 8), at % (tuple / 8))
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(kernel: Kernel, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let user_indices = Given::of(params)?;
        let completed = user_indices.as_ref().map(|user_indices| user_indices.completed(params.clone()));
        let table = Spec::of_table(completed.as_ref().unwrap_or(params), seed)?;
        let mut spec = Spec { kernel, user_indices, ..table };
        spec.check_sizes()?;
        spec.cut = Cut::of(&spec)?;
        spec.check_scheme()?;
        spec.check_backend(params::asks_for_avx2(params))?;
        Ok(spec)
    }

    /// The generator of L.
    pub fn source(&self) -> Result<Source, Refusal> {
        let too_large = || Refusal::invalid("tuples", "at most 2^40");
        Ok(match self.locations {
            Locations::Sequential => Source::Sequential,
            Locations::Random => {
                Source::Random(Permutation::new(self.tuples, self.seed).ok_or_else(too_large)?)
            }
            Locations::Partitions { count } => Source::Partitions { count, seed: self.seed },
            Locations::Zipf { exponent } => {
                // With no tuples nothing is drawn, but a distribution needs at least one rank.
                let zipf = Zipf::new(self.tuples.max(1), exponent, self.seed);
                Source::Zipf(Box::new(zipf.ok_or_else(too_large)?))
            }
            Locations::File { .. } | Locations::List { .. } => Source::Given,
        })
    }

    /// Number of locations in L, which is the number of tuples moved.
    pub fn moves(&self) -> u64 {
        self.user_indices.as_ref().map_or(self.tuples, |user_indices| user_indices.count)
    }

    /// Number of tuples in R_in.
    pub fn input(&self) -> u64 {
        if self.scatters() { self.moves() } else { self.tuples }
    }

    /// Number of tuples in R_out.
    pub fn output(&self) -> u64 {
        if self.scatters() { self.tuples } else { self.moves() }
    }

    /// True if R_out is indexed, not R_in.
    pub fn scatters(&self) -> bool {
        self.kernel == Kernel::Scatter
    }

    /// True if several tuples may go to one place of R_out, and none to another.
    pub fn overwrites(&self) -> bool {
        self.scatters() && self.user_indices.is_some()
    }

    /// Words per tuple: u64, or one u32 for 4 bytes.
    pub fn words(&self) -> u64 {
        self.tuple.div_ceil(8)
    }

    fn check_sizes(&self) -> Result<(), Refusal> {
        params::bytes("tuples", &[self.tuples.max(self.moves()), self.tuple])?;
        if let Some(Given { end, .. }) = self.user_indices
            && self.tuples < end
        {
            let message = format!("{} is too few: the largest location is {}", self.tuples, end - 1);
            return Err(Refusal::invalid("tuples", message));
        }
        if self.index == 4 && self.tuples > 1 << 32 {
            return Err(Refusal::invalid("index", "4 bytes cannot address more than 2^32 tuples"));
        }
        if self.tuple == 4 && self.input() > 1 << 32 {
            return Err(Refusal::invalid(
                "tuple",
                "4-byte tuples cannot take more than 2^32 distinct values",
            ));
        }
        Ok(())
    }

    fn check_scheme(&self) -> Result<(), Refusal> {
        let (segments, passes) = self.method.segments_and_passes();
        let within = |key: &str, value: u64, tuples: u64| match value <= tuples.max(1) {
            true => Ok(()),
            false => Err(Refusal::invalid(key, format!("{value} exceeds the number of tuples ({tuples})"))),
        };
        let method = self.method.name();
        within(&format!("method.{method}.passes"), passes, self.tuples)?;
        within(&format!("method.{method}.segments"), segments, self.moves())?;
        match self.locations {
            Locations::Partitions { count } => within("locations.partitions.count", count, self.tuples),
            _ => Ok(()),
        }
    }

    fn check_backend(&self, avx2: bool) -> Result<(), Refusal> {
        let refuse = |holds: bool, reason: &str| match holds {
            true => Err(Refusal::NotApplicable(reason.to_owned())),
            false => Ok(()),
        };
        let (scatter, streaming) = (self.scatters(), self.method == Method::Streaming);
        refuse(scatter && streaming, "the stores of a scatter are not consecutive")?;
        let zipf = matches!(self.locations, Locations::Zipf { .. });
        refuse(scatter && zipf, "a scatter to repeated locations has no single result")?;
        if scatter && avx2 {
            return Err(params::avx2_cannot_scatter());
        }
        refuse(self.backend.is_cuda() && streaming, "non-temporal stores are a method of CPUs")?;
        self.cut.as_ref().map_or(Ok(()), |cut| cut.check(self))
    }
}

/// The start of part k when n elements are cut into `parts` parts: ⌊k·n/parts⌋.
pub fn part(k: u64, parts: u64, n: u64) -> u64 {
    (u128::from(k) * u128::from(n) / u128::from(parts)) as u64
}

const fn primitive(of: Kernel, summary: &'static str, params: &'static [Param]) -> Primitive {
    Primitive::of::<Spec>(of.name(), summary, params)
        .with_walks()
        .with_derived_params(user_indices::completed)
        .with_method_candidates(|name, params| methods::alternatives(kernel(name), params))
}

fn kernel(name: &str) -> Kernel {
    if name == Kernel::Scatter.name() { Kernel::Scatter } else { Kernel::Gather }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        primitive(
            Kernel::Gather,
            "R_out[i] = R_in[L[i]]: tuples read through a location array (he2007)",
            GATHER,
        ),
        primitive(
            Kernel::Scatter,
            "R_out[L[i]] = R_in[i]: tuples written through a location array (he2007)",
            SCATTER,
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(kernel(name), params, seed)
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        tuned::offered(name, params)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let (data, locations) = (self.moves() * self.tuple, self.moves() * self.index);
        let (costs, tuples) = (methods::costs(self), (self.input() + self.output()) * self.tuple);
        let footprint = tuples + locations + costs.own_bytes;
        Work::of(self.moves(), data, costs.passes())
            .system(2 * data + locations)
            .footprint(footprint)
            .scratch(user_indices::scratch(self))
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn open(&self) -> bool {
        self.method == Method::Auto
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.cut.as_ref().map_or_else(Vec::new, Cut::resolved)
    }

    fn blocks(&self) -> Option<u64> {
        tuned::blocks(self).filter(|_| self.backend.is_cuda())
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        methods::costs(self).block_costs()
    }

    fn walks(&self, most: u64, stored: IndexLookup) -> Result<Vec<Walk>, String> {
        user_indices::walk(self, most, stored).map(|walk| vec![walk])
    }
}

#[cfg(test)]
mod tests;

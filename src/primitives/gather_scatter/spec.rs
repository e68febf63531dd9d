//! What a gather or scatter case computes: its parameters, typed, and its data.

use super::{levels, partitioned};
use crate::case::tuning::Tuning;
use crate::case::{Backend, Params, Refusal, reader};
use crate::inputs::mix::{index_of_word32, index_of_word64, word32, word64};
use crate::inputs::permutation::{MAX_ELEMENTS, Permutation};
use crate::inputs::zipf::{self, Zipf};

/// Most partitions.
pub const MAX_PARTITIONS: u64 = 1 << 16;

/// Most passes over one segment.
pub const MAX_PASSES: u64 = 4096;

/// Which side of the move is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// `R_out[i] = R_in[L[i]]`
    Gather,
    /// `R_out[L[i]] = R_in[i]`
    Scatter,
}

impl Kernel {
    /// The primitive's name.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Gather => "gather",
            Kernel::Scatter => "scatter",
        }
    }
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One scan of L.
    Direct,
    /// One scan of L; the gather's R_out is written with non-temporal stores.
    Streaming,
    /// Pass k of `passes` (he2007's nChunk) scans L and handles the tuples whose
    /// location is in [k·n/passes, (k+1)·n/passes) (he2007 §3.4).
    Multipass { passes: u64 },
    /// Segment s of `segments` (he2007's #bin), tuples [s·n/segments,
    /// (s+1)·n/segments), one after another, each in `passes` passes (he2007 Fig. 10).
    Segmented { segments: u64, passes: u64 },
    /// A scatter's pairs (L\[i\], R_in\[i\]) are partitioned by the `bits` high bits of L in
    /// `passes` passes, then written, one chunk of R_out after another
    /// ([`super::partitioned`]).
    Partitioned { bits: u64, passes: u64 },
    /// Still to be chosen among `super::auto`'s. Until then its work is that of `Direct`.
    Auto,
}

impl Method {
    /// Segments and passes of he2007's scheme; of what moves all tuples at once, one each.
    pub fn segments_and_passes(self) -> (u64, u64) {
        match self {
            Method::Direct | Method::Streaming | Method::Partitioned { .. } | Method::Auto => (1, 1),
            Method::Multipass { passes } => (1, passes),
            Method::Segmented { segments, passes } => (segments, passes),
        }
    }
}

/// The distribution of L.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Locations {
    /// `L[i] = i`
    Sequential,
    /// A pseudo-random permutation.
    Random,
    /// Each tuple's partition independent, stable within a partition (he2007 §3.5).
    Partitions { count: u64 },
    /// Independent draws, ranks Zipf-distributed.
    Zipf { exponent: f64 },
    /// An array that somebody brought ([`super::given`]): so many locations, all below
    /// `end`, of which the largest is `end` − 1. A tuple may be addressed more than once
    /// or never.
    Given { count: u64, end: u64 },
}

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
    /// No closed form: `super::given`.
    Given,
}

impl Source {
    /// `L[i]` where it has a closed form; `i` below the number of tuples.
    #[inline(always)]
    pub fn location(&self, i: u64) -> Option<u64> {
        match self {
            Source::Sequential => Some(i),
            Source::Random(permutation) => Some(permutation.apply(i)),
            Source::Partitions { .. } | Source::Given => None,
            Source::Zipf(zipf) => Some(zipf.draw(i)),
        }
    }

    /// The i with `L[i] = j`, where L is a permutation with a closed form.
    #[inline(always)]
    pub fn inverse(&self, j: u64) -> Option<u64> {
        match self {
            Source::Sequential => Some(j),
            Source::Random(permutation) => Some(permutation.invert(j)),
            Source::Partitions { .. } | Source::Zipf(_) | Source::Given => None,
        }
    }
}

/// Word `w` of tuple `i` of R_in, tuples of `tuple` bytes: u64 words, or for 4 bytes
/// one u32 word in the lower half.
#[inline(always)]
pub fn tuple_word(seed: u64, tuple: u64, i: u64, w: u64) -> u64 {
    if tuple == 4 { u64::from(word32(seed, i as u32)) } else { word64(seed, i * (tuple / 8) + w) }
}

/// The (tuple, word) whose [`tuple_word`] is `word`.
#[inline(always)]
pub fn index_of_tuple_word(seed: u64, tuple: u64, word: u64) -> (u64, u64) {
    if tuple == 4 {
        return (u64::from(index_of_word32(seed, word as u32)), 0);
    }
    let at = index_of_word64(seed, word);
    (at / (tuple / 8), at % (tuple / 8))
}

/// A gather or scatter case, typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    pub kernel: Kernel,
    pub method: Method,
    /// Tuples of R_in, of R_out and locations of L (he2007's n), up to 2^40. A recipe asks
    /// for at least 1; `verify` runs 0 as well. With [`Locations::Given`]: tuples of the
    /// array that is accessed through L; see [`Spec::moves`].
    pub tuples: u64,
    /// Bytes of a tuple (he2007's z): 4, 8, 16 or 32.
    pub tuple: u64,
    /// Bytes of a location: 4 or 8.
    pub index: u64,
    pub locations: Locations,
    pub seed: u64,
    pub backend: Backend,
    pub tuning: Tuning,
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(kernel: Kernel, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let locations = locations(params)?;
        let tuples = tuples(params, locations)?;
        let tuple = reader::one_of(params, "tuple", &[4, 8, 16, 32], 8)?;
        let spec = Spec {
            kernel,
            method: method(params, tuples, tuple)?,
            tuples,
            tuple,
            index: reader::one_of(params, "index", &[4, 8], 4)?,
            locations,
            seed,
            backend: Backend::of(params),
            tuning: Tuning::of(params)?,
        };
        spec.check_sizes()?;
        spec.check_scheme()?;
        spec.check_backend(params)?;
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
                // Nothing is drawn for no tuples, but a distribution has at least one rank.
                let zipf = Zipf::new(self.tuples.max(1), exponent, self.seed);
                Source::Zipf(Box::new(zipf.ok_or_else(too_large)?))
            }
            Locations::Given { .. } => Source::Given,
        })
    }

    /// Locations in L, and with them the tuples that are moved.
    pub fn moves(&self) -> u64 {
        match self.locations {
            Locations::Given { count, .. } => count,
            _ => self.tuples,
        }
    }

    /// Tuples of R_in.
    pub fn input(&self) -> u64 {
        if self.kernel == Kernel::Gather { self.tuples } else { self.moves() }
    }

    /// Tuples of R_out.
    pub fn output(&self) -> u64 {
        if self.kernel == Kernel::Gather { self.moves() } else { self.tuples }
    }

    /// Whether several tuples may go to one place of R_out, and none to another.
    pub fn overwrites(&self) -> bool {
        self.kernel == Kernel::Scatter && matches!(self.locations, Locations::Given { .. })
    }

    /// Words of a tuple: u64, or one u32 for 4 bytes.
    pub fn words(&self) -> u64 {
        self.tuple.div_ceil(8)
    }

    fn check_sizes(&self) -> Result<(), Refusal> {
        reader::bytes("tuples", &[self.tuples.max(self.moves()), self.tuple])?;
        if self.tuples > MAX_ELEMENTS {
            return Err(Refusal::invalid("tuples", "at most 2^40"));
        }
        if self.index == 4 && self.tuples > 1 << 32 {
            return Err(Refusal::invalid("index", "4 bytes cannot address more than 2^32 tuples"));
        }
        if self.tuple == 4 && self.input() > 1 << 32 {
            return Err(Refusal::invalid("tuple", "more than 2^32 tuples of 4 bytes are not distinct"));
        }
        Ok(())
    }

    fn check_scheme(&self) -> Result<(), Refusal> {
        let (segments, passes) = self.method.segments_and_passes();
        let name = if matches!(self.method, Method::Segmented { .. }) { "segmented" } else { "multipass" };
        let within = |parameter: &str, value: u64, tuples: u64| match value <= tuples.max(1) {
            true => Ok(()),
            false => Err(Refusal::invalid(
                format!("method.{name}.{parameter}"),
                format!("{value} is more than there are tuples ({tuples})"),
            )),
        };
        within("passes", passes, self.tuples)?;
        if passes > MAX_PASSES {
            let key = format!("method.{name}.passes");
            return Err(Refusal::invalid(key, format!("at most {MAX_PASSES}")));
        }
        within("segments", segments, self.moves())?;
        match self.locations {
            Locations::Partitions { count } if count > self.tuples.clamp(1, MAX_PARTITIONS) => {
                Err(Refusal::invalid(
                    "locations.partitions.count",
                    format!("{count} is more than there are tuples, or than {MAX_PARTITIONS}"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether the GPU's kernels can partition so.
    fn check_levels(&self) -> Result<(), Refusal> {
        let not_applicable = |reason: String| Err(Refusal::NotApplicable(reason));
        let digit = self.cut().and_then(|cut| cut.digits.iter().map(|digit| digit.bits).max());
        if digit.is_some_and(|bits| bits > levels::MAX_DIGIT) {
            return not_applicable(format!(
                "a pass on a GPU partitions by at most {} bits",
                levels::MAX_DIGIT
            ));
        }
        if self.index == 4 && self.moves() > 1 << 32 {
            return not_applicable("more than 2^32 pairs have no 4-byte positions".to_owned());
        }
        Ok(())
    }

    fn check_backend(&self, params: &Params) -> Result<(), Refusal> {
        let not_applicable = |reason: &str| Err(Refusal::NotApplicable(reason.to_owned()));
        if self.kernel == Kernel::Scatter {
            if self.method == Method::Streaming {
                return not_applicable("the stores of a scatter are not consecutive");
            }
            if matches!(self.locations, Locations::Zipf { .. }) {
                return not_applicable("a scatter to repeated locations has no single result");
            }
            if reader::asks_for_avx2(params) {
                return Err(reader::avx2_cannot_scatter());
            }
        }
        let partitioned = matches!(self.method, Method::Partitioned { .. });
        if self.kernel == Kernel::Gather && partitioned {
            return not_applicable("a gather's tuples would have to be put back into the order of L");
        }
        if partitioned && reader::on_cuda(params) {
            self.check_levels()?;
        }
        if self.method == Method::Streaming && reader::on_cuda(params) {
            return not_applicable("non-temporal stores are a method of CPUs");
        }
        Ok(())
    }
}

fn method(params: &Params, tuples: u64, tuple: u64) -> Result<Method, Refusal> {
    Ok(match params.text("method") {
        Some("partitioned") => partitioned::method(params, tuples, tuple)?,
        Some("streaming") => Method::Streaming,
        Some("auto") => Method::Auto,
        Some("multipass") => {
            Method::Multipass { passes: reader::positive(params, "method.multipass.passes")? }
        }
        Some("segmented") => Method::Segmented {
            segments: reader::positive(params, "method.segmented.segments")?,
            passes: reader::positive(params, "method.segmented.passes")?,
        },
        _ => reader::word_or(params, "method", &[("direct", Method::Direct)], Method::Direct)?,
    })
}

fn tuples(params: &Params, locations: Locations) -> Result<u64, Refusal> {
    let Locations::Given { end, .. } = locations else {
        return reader::int(params, "tuples");
    };
    match params.get("tuples") {
        None => Ok(end),
        Some(_) => match reader::int(params, "tuples")? {
            tuples if tuples >= end => Ok(tuples),
            tuples => {
                let message = format!("{tuples} is too few: the largest location is {}", end - 1);
                Err(Refusal::invalid("tuples", message))
            }
        },
    }
}

fn locations(params: &Params) -> Result<Locations, Refusal> {
    Ok(match params.text("locations") {
        Some("file" | "list") => super::given::locations(params)?,
        Some("partitions") => {
            Locations::Partitions { count: reader::positive(params, "locations.partitions.count")? }
        }
        Some("zipf") => Locations::Zipf { exponent: exponent(params)? },
        _ => {
            let plain = [("sequential", Locations::Sequential), ("random", Locations::Random)];
            reader::word_or(params, "locations", &plain, Locations::Random)?
        }
    })
}

fn exponent(params: &Params) -> Result<f64, Refusal> {
    let key = "locations.zipf.exponent";
    match params.float(key) {
        Some(s) if (0.0..=zipf::MAX_EXPONENT).contains(&s) => Ok(s),
        Some(_) => Err(Refusal::invalid(key, format!("must be from 0 to {}", zipf::MAX_EXPONENT))),
        None => Err(Refusal::invalid(key, "is missing")),
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;

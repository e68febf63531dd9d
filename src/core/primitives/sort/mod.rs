//! sort: n unsigned keys in ascending order of a field of their bits, alone or each with a value.
//!
//! ```text
//! f(u)      bits begin … end − 1 of key u; by default the whole key
//! output    keys k'[0] … k'[n−1], a permutation of the input with f(k'[i]) ≤ f(k'[i+1]); a value stays with its key,
//!           and keys with values whose fields are equal stay in the order of the input
//! ```
//!
//! The effective bytes are keys and values, read once and written once: 2 · n · (key + value).
//!
//! Radix sorts order the keys digit by digit. *LSD* begins with the lowest digit, and each pass is a stable split
//! of all keys (a multisplit, ashkiani2017 §7.1); *MSD* begins with the highest digit, and then sorts each part
//! alone, in a cache (he2007 §4.1). The sorts of sengupta2007 split by one bit, or by pivots, at a time: all keys, or
//! tiles that are then merged. A *bitonic* sort is a network of comparisons, which the keys do not change.

pub mod cpu;
pub mod cuda;
pub mod keys;
pub mod methods;
mod oracle;
mod work;

pub use methods::Method;

use std::sync::Arc;

use super::multisplit::Values;
use super::{Definition, Elsewhere, Primitive, Problem};
use crate::case::schema::ParamDefault;
use crate::case::table::{choice, count, count_or, float, parameters, words};
use crate::case::{BlockCost, Failure, Params, Ranking, Refusal, SpeedOfLight, Value, Work, params};
use crate::inputs::zipf::MAX_EXPONENT;
use keys::Digits;
use keys::Keys;

/// Upper limit on the number of keys: counts of keys leave two of 32 bits to the states of descriptors.
pub const MAX_KEYS: u64 = 1 << 30;

const AUTO: &[&str] = &["auto"];

words! {
    /// The type of a key.
    pub enum Key {
        U32 = "u32",
        U64 = "u64",
    }
}

choice! {
    /// How the input keys are distributed.
    pub enum Distribution {
        /// random bits
        Uniform = "uniform",
        /// draws from n random keys by Zipf's law, which make a few of them frequent
        Zipf = "zipf" main "exponent" {
            /// the key of rank r is drawn with a probability proportional to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)] = "1.0",
        },
        /// already ascending, at equal distances
        Sorted = "sorted",
        /// descending, at equal distances
        Reversed = "reversed",
        /// all the same
        Equal = "equal",
        /// draws from a few random keys
        Few = "few" main "distinct" {
            /// number of distinct keys
            distinct: u64 [count(1, 1 << 16)] = "16",
        },
        /// the bits of several random words joined by and, so that ones become rare (Thearling and Smith 1992)
        Entropy = "entropy" main "words" {
            /// number of random words: the entropy of a bit is 1 of one word, 0.811 of 2, 0.544 of 3, 0.337 of 4,
            /// 0.201 of 5
            words: u64 [count(1, 64)],
        },
        /// keys in a file, all or the first ones
        File = "file" main "path" {
            /// path of a .npy file, a text file or a file of raw 64-bit words, also as .gz; relative to the recipe's
            /// folder; keys are integers below 2^40, those of u32 below 2^32
            path: Elsewhere,
            /// name of the column, for a table with a header line
            column: Elsewhere = unset,
        },
    }
}

parameters! {
    /// A sort, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// keys; unset with a file: all that it holds
        keys: u64 [count(1, MAX_KEYS)] = (ParamDefault::RequiredUnless { key: "distribution", variants: &["file"] }),
        /// type of a key
        key: Key = "u32",
        /// keys alone, or each with a value of this size
        values: Values = "none",
        /// how the input keys are distributed
        distribution: Distribution = "uniform",
        /// the lowest bit by which keys are sorted
        begin: u64 [count(0, 63)] = "0",
        /// one more than the highest bit by which keys are sorted; auto: all bits from begin upwards
        end: Option<u64> [count_or(1, 64, AUTO)] = "auto",
        /// how the keys are sorted
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; onesweep until a model has chosen for `auto`.
        method: Method = methods::ONESWEEP,
        /// The hash of keys in a file.
        file: Option<blake3::Hash> = None,
    }
}

/// Parameters that the plan adds to `distribution.file`: the hash of the array, its length and its largest key.
const HASH: &str = "distribution.file.hash";
const LENGTH: &str = "distribution.file.length";
const LARGEST: &str = "distribution.file.largest";

/// Adds the number of keys in a file.
fn completed(params: Params) -> Params {
    let open = params.text("distribution") == Some("file") && params.get("keys").is_none();
    match params.int(LENGTH) {
        Some(length) if open => params.with("keys", Value::Int(length)),
        _ => params,
    }
}

impl Spec {
    /// Reads and checks a case's parameters.
    ///
    /// # Errors
    /// Names the key, or states that the combination does not exist.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(&completed(params.clone()), seed)?;
        if let Distribution::File { .. } = spec.distribution {
            spec.file = Some(spec.of_file(params)?);
        }
        spec.method = methods::chosen(&spec)?;
        let (begin, end) = (spec.begin, spec.digits(8).end.into());
        if end > 8 * spec.key_bytes() {
            let message = format!("bit {end} is beyond a key of {} bits", 8 * spec.key_bytes());
            return Err(Refusal::invalid("end", message));
        }
        if begin >= end {
            return Err(Refusal::invalid("begin", format!("{begin} is not below the end, {end}")));
        }
        methods::refusal(&spec).map_or(Ok(spec), |reason| Err(Refusal::NotApplicable(reason.to_owned())))
    }

    /// The hash of the file's keys, of which the plan tells how many there are, and the largest.
    fn of_file(&self, params: &Params) -> Result<blake3::Hash, Refusal> {
        let (length, largest) = (params::positive(params, LENGTH)?, params::int(params, LARGEST)?);
        if self.keys > length {
            return Err(Refusal::invalid(
                "keys",
                format!("the file holds {length} keys, but {} are wanted", self.keys),
            ));
        }
        if self.key == Key::U32 && largest > u32::MAX.into() {
            let message =
                format!("the largest key of the file, {largest}, has more than 32 bits; accepted: u64");
            return Err(Refusal::invalid("key", message));
        }
        let hash = params.text(HASH).ok_or_else(|| Refusal::Missing { key: HASH.to_owned() })?;
        blake3::Hash::from_hex(hash).map_err(|error| Refusal::invalid(HASH, error.to_string()))
    }

    /// The bits that keys are sorted by, in digits of at most `radix` bits.
    pub fn digits(&self, radix: u32) -> Digits {
        let end = self.end.unwrap_or(8 * self.key_bytes());
        Digits { begin: self.begin as u32, end: end as u32, radix }
    }

    /// Bytes of a key.
    pub fn key_bytes(&self) -> u64 {
        if self.key == Key::U32 { 4 } else { 8 }
    }

    /// Bytes of a value: 0, 4 or 8.
    pub fn value(&self) -> u64 {
        self.values.bytes()
    }

    /// Bytes of a key, and of a value.
    pub fn sizes(&self) -> [u64; 2] {
        [self.key_bytes(), self.value()]
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.keys * self.sizes().iter().sum::<u64>()
    }

    /// The generated keys and values of the case; those of a file are unknown.
    pub fn source(&self) -> Keys {
        Keys::new(self)
    }

    /// The keys and values of the case; `stored` fetches the array with a given hash.
    ///
    /// # Errors
    /// Those of `stored`, and an array that is not the plan's.
    pub fn source_with(
        &self,
        stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
    ) -> Result<Keys, Failure> {
        let Some(hash) = &self.file else { return Ok(self.source()) };
        let given = stored(&hash.to_hex())?;
        let fits = |key: &u64| self.key == Key::U64 || *key <= u32::MAX.into();
        if (given.len() as u64) < self.keys || !given.iter().take(self.keys as usize).all(fits) {
            return Err(Failure::Failed("the keys of the file differ from the plan".to_owned()));
        }
        Ok(Keys { given: Some(given), ..self.source() })
    }

    /// The place in the input whose value this is.
    #[inline]
    pub fn source_index(&self, value: u64) -> u64 {
        keys::index(self.seed, value, self.value())
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "sort",
        "keys, alone or with values, in ascending order of all their bits or of a field of bits",
        Spec::TABLE,
    )
    .with_derived_params(completed)
    .with_method_candidates(|_, params| methods::candidates(params))
    .with_speed_of_light(SpeedOfLight {
        moves: "keys are read and counted, then keys and values are read and stored for each digit of 8 bits (Adinets \
                and Merrill 2022)",
        bytes: |params| Spec::from_params(params, 0).map(|spec| work::speed_of_light(&spec)),
    })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let costs = methods::costs(self);
        let footprint = 2 * self.bytes() + costs.own_bytes;
        // Keys of a file stay beside the input, in 8 bytes each, for the certificate.
        let given = if self.file.is_some() { 8 * self.keys } else { 0 };
        Work::of(self.keys, 2 * self.bytes(), costs.passes()).footprint(footprint).scratch(given)
    }

    /// The method that `best` resolved to, and what it has chosen.
    fn resolved(&self) -> Vec<(String, Value)> {
        let method = || ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        (self.asked == Method::Best).then(method).into_iter().chain(methods::resolved(self)).collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        match self.backend.is_cuda() {
            _ if self.file.is_some() => Err("no model knows the keys of a file".to_owned()),
            true => methods::costs(self).block_costs(),
            false => Err("no profile gives the time that CPUs take to rank keys".to_owned()),
        }
    }

    fn ranking(&self) -> Option<Ranking> {
        methods::onesweep::ranking(self)
    }

    fn open(&self) -> bool {
        self.asked == Method::Auto
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        match self.file {
            Some(_) => Err("the oracle does not read the keys of a file; their certificate does".to_owned()),
            None => oracle::check(self, &self.source(), output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    fn refusal(words: &str) -> String {
        Spec::from_params(&params(words), 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        assert!(refusal("keys=4 begin=8 end=8").starts_with("begin: "));
        assert!(refusal("keys=4 end=33").starts_with("end: bit 33"));
        assert!(refusal("keys=4 begin=40").starts_with("begin: 40"));
        assert!(refusal("keys=1073741825").starts_with("keys: "));
        assert!(refusal("keys=4 method=onesweep backend=cpu").starts_with("n/a: a method of GPUs"));
        assert!(refusal("keys=4 method=msd backend=cuda").starts_with("n/a: a method of CPUs"));
        assert!(
            refusal("keys=4 key=u64 method=multisplit-lsd backend=cuda").starts_with("n/a: the multisplits")
        );
        let division = "keys=4 method=multisplit-lsd method.multisplit-lsd.found=division";
        assert!(refusal(&format!("{division} backend=cpu")).starts_with("n/a: only bms"));
        assert!(
            refusal("keys=4 begin=1 method=library backend=cpu").starts_with("n/a: the standard library")
        );
        assert!(refusal("keys=4 values=4B method=library backend=scalar").starts_with("n/a: the standard"));
        assert!(refusal("keys=4 method=auto backend=cpu").starts_with("n/a: no model predicts"));
    }
}

//! The typed parameters of a sort.

use super::digits::{Digit, Digits};
use crate::case::table::{choice, count, count_or, float, parameters, words};
use crate::case::{Params, Refusal};
use crate::inputs::zipf::MAX_EXPONENT;
use crate::primitives::candidates;
use crate::primitives::multisplit::Values;

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
    /// The keys of the input.
    pub enum Distribution {
        /// random bits
        Uniform = "uniform",
        /// Zipf draws of n random keys, a few of them frequent
        Zipf = "zipf" main "exponent" {
            /// the key of rank r is drawn in proportion to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)] = "1.0",
        },
        /// ascending already, at equal distances
        Sorted = "sorted",
        /// descending, at equal distances
        Reversed = "reversed",
        /// all the same
        Equal = "equal",
        /// draws of a few random keys
        Few = "few" main "distinct" {
            /// different keys
            distinct: u64 [count(1, 1 << 16)] = "16",
        },
    }
}

choice! {
    /// How the keys are sorted.
    #[derive(Eq)]
    pub enum Method {
        /// ours: onesweep on GPUs; on CPUs msd, or lsd for at most 2^16 keys
        Best = "best",
        /// GPUs: a histogram of all digits, then one pass per digit of 8 bits, which reads and writes each key once; a
        /// digit that all keys have in common takes no pass; from 2^22 keys on blocks have 128 KiB of shared memory
        Onesweep = "onesweep" main "tile" {
            /// keys that a block orders at once: 2,048 (small), about 4,096 to 8,192 (medium), up to 16,384 (large); auto:
            /// larger ones for more keys
            tile: Tile = "auto",
        },
        /// CPUs: a stable split by each digit of 8 bits, the lowest first, with combined writes
        Lsd = "lsd",
        /// CPUs: one split of all keys by their highest digit, with combined writes; then each worker sorts parts that
        /// fit in its cache, digit by digit, or in networks (keys of 32 bits alone, with AVX-512); as lsd where one part
        /// has more keys than a worker's share
        Msd = "msd",
        /// one multisplit of all keys per digit, the lowest first (ashkiani2017 §7.1): on GPUs as bms or fused, on CPUs
        /// as write-combining
        MultisplitLsd = "multisplit-lsd" main "radix" {
            /// bits of a digit; the last digit has those that are left
            radix: u64 [count(1, 8)] = "7",
            /// GPUs: the method of the multisplits
            by: Splits = "bms",
            /// how GPUs find a key's digit: shift: ⌊u / 2^kr⌋ mod 2^r by a shift; division: by an integer division, as the
            /// paper's delta-buckets, which bms alone has
            found: Found = "shift",
        },
        /// a stable split by each bit, the lowest first (sengupta2007 §5)
        SplitRadix = "split-radix" main "scope" {
            /// global: of all keys, bit after bit; block: of tiles that fit in a block's shared memory, on CPUs in a cache,
            /// which are then merged, two sorted runs at a time, by merge path (the paper merges bitonically)
            scope: Scope = "global",
        },
        /// tiles as those of split-radix, each sorted in passes of segmented scans, which part every segment at its first
        /// key, and then merged (sengupta2007 §4.1)
        Quicksort = "quicksort" main "passes" {
            /// passes at most; a tile that is not in order by then is sorted by splits
            passes: u64 [count(1, 1 << 16)] = "128",
        },
        /// he2007 §4.1: phases that split each part by its next highest bits, each a histogram with one-byte counters of
        /// threads, a prefix sum and a multi-pass scatter, until parts have at most 4096 keys; GPUs sort these by bitonic
        /// sort in shared memory; on CPUs each thread sorts its share so, the parts digit by digit in its cache, and all
        /// merge the shares
        He2007Msd = "he2007-msd" {
            /// bits of a phase; unset: the paper's 5 on GPUs, 6 on CPUs
            bits: Option<u64> [count(1, 8)] = unset,
            /// GPUs: passes of each scatter, each over a chunk of the output; 1: off
            passes: u64 [count(1, 64)] = "4",
            /// CPUs: cache: phases of so few bits that the parts' ends stay in cache; none: a single phase with the bits of all
            optimised: Optimised = "cache",
        },
        /// the bitonic sorting network of all keys, in cache or shared memory where its spans fit; values follow their keys
        /// at the end, and equal keys are compared by their places
        Bitonic = "bitonic",
        /// CPUs: the standard library's unstable sort of keys alone, which one thread computes
        Library = "library",
        /// GPUs: the method that the model `sector` expects to be the fastest, from the device's profile: onesweep, or
        /// multisplit-lsd by 4 to 8 bits
        Auto = "auto",
    }
}

words! {
    /// The size of a tile.
    pub enum Tile {
        Auto = "auto",
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
}

words! {
    /// The method of a sort's multisplits on GPUs.
    pub enum Splits {
        Bms = "bms",
        Fused = "fused",
    }
}

words! {
    /// How a multisplit finds the digit of a key.
    pub enum Found {
        Shift = "shift",
        Division = "division",
    }
}

words! {
    /// What is split at once.
    pub enum Scope {
        Global = "global",
        Block = "block",
    }
}

words! {
    /// The optimisation of he2007's sort on CPUs.
    pub enum Optimised {
        Cache = "cache",
        None = "none",
    }
}

parameters! {
    /// A sort, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// keys
        keys: u64 [count(1, MAX_KEYS)],
        /// type of a key
        key: Key = "u32",
        /// keys alone, or each with a value of this size
        values: Values = "none",
        /// the keys of the input
        distribution: Distribution = "uniform",
        /// the lowest bit that keys are sorted by
        begin: u64 [count(0, 63)] = "0",
        /// the bit behind the highest one that keys are sorted by; auto: all bits from begin on
        end: Option<u64> [count_or(1, 64, AUTO)] = "auto",
        /// how the keys are sorted
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; onesweep until a model has chosen for `auto`.
        method: Method = Method::Onesweep { tile: Tile::Auto },
    }
}

/// Bytes of a small L2 cache.
const L2: u64 = 1 << 19;

/// At most this many keys are sorted by `lsd` where CPUs choose: parts of them would be too short.
const FEW: u64 = 1 << 16;

impl Spec {
    /// Reads and checks a case's parameters.
    ///
    /// # Errors
    /// Names the key, or states that the combination does not exist.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        spec.method = match (spec.asked, spec.keys) {
            (Method::Auto, _) if spec.backend.is_cpu() => {
                let reason = "no model predicts the sorts of CPUs; best goes by the number of keys";
                return Err(Refusal::NotApplicable(reason.to_owned()));
            }
            (Method::Best | Method::Auto, _) if spec.backend.is_cuda() => {
                Method::Onesweep { tile: Tile::Auto }
            }
            (Method::Best, 0..=FEW) => Method::Lsd,
            (Method::Best, _) => Method::Msd,
            (asked, _) => asked,
        };
        spec.checked()
    }

    /// The parameters with each method that `auto` may become, the simplest first.
    pub fn candidates(params: &Params) -> Vec<Params> {
        let splits = (4..=8).map(|radix| ("multisplit-lsd", vec![("radix", radix)]));
        let methods = [("onesweep", vec![])].into_iter().chain(splits);
        candidates::of(params, methods, |params| Spec::from_params(params, 0).is_ok())
    }

    fn checked(self) -> Result<Spec, Refusal> {
        let not_applicable = |reason: &str| Err(Refusal::NotApplicable(reason.to_owned()));
        let (begin, end) = (self.begin, self.digits(8).end.into());
        if end > 8 * self.key_bytes() {
            let message = format!("bit {end} is beyond a key of {} bits", 8 * self.key_bytes());
            return Err(Refusal::invalid("end", message));
        }
        if begin >= end {
            return Err(Refusal::invalid("begin", format!("{begin} is not below the end, {end}")));
        }
        match self.method {
            Method::Onesweep { .. } if self.backend.is_cpu() => not_applicable("a method of GPUs"),
            Method::Lsd | Method::Msd | Method::Library if self.backend.is_cuda() => {
                not_applicable("a method of CPUs")
            }
            Method::MultisplitLsd { .. } if self.key == Key::U64 && self.backend.is_cuda() => {
                not_applicable("the multisplits of GPUs take u32 keys")
            }
            Method::MultisplitLsd { by, found: Found::Division, .. }
                if by != Splits::Bms || self.backend.is_cpu() =>
            {
                not_applicable("only bms on GPUs divides")
            }
            Method::Library if self.value() > 0 || self.digits(8).is_field(8 * self.key_bytes()) => {
                not_applicable("the standard library's sort takes whole keys alone")
            }
            _ => Ok(self),
        }
    }

    /// The bits that keys are sorted by, in digits of at most `radix` bits.
    pub fn digits(&self, radix: u32) -> Digits {
        let end = self.end.unwrap_or(8 * self.key_bytes());
        Digits { begin: self.begin as u32, end: end as u32, radix }
    }

    /// The highest digit, by which msd splits all keys: so many parts that one of them and its copy fit in an L2
    /// cache if keys are uniform, but no more than writes can be combined for.
    pub fn high_digit(&self) -> Digit {
        let Digits { begin, end, .. } = self.digits(8);
        let parts = (2 * self.bytes()).div_ceil(L2).next_power_of_two().ilog2();
        let bits = parts.clamp(8, 11).min(end - begin);
        Digit { shift: end - bits, bits }
    }

    /// Bytes of a key.
    pub fn key_bytes(&self) -> u64 {
        if self.key == Key::U32 { 4 } else { 8 }
    }

    /// Bytes of a value: 0, 4 or 8.
    pub fn value(&self) -> u64 {
        self.values.bytes()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.keys * (self.key_bytes() + self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use crate::primitives::words::params;

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
    }

    /// Multisplits of GPUs take keys of 32 bits.
    #[test]
    fn auto_is_chosen_among_the_methods_of_gpus() {
        let methods = |words: &str| {
            let all = Spec::candidates(&params(words)).into_iter();
            all.map(|params| params.text("method").unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let splits = ["multisplit-lsd"; 5];
        assert_eq!(methods("keys=4 method=auto backend=cuda"), [&["onesweep"][..], &splits].concat());
        assert_eq!(methods("keys=4 key=u64 method=auto backend=cuda"), ["onesweep"]);
        assert!(methods("keys=4 backend=cuda").is_empty());
        assert!(refusal("keys=4 method=auto backend=cpu").starts_with("n/a: no model predicts"));
    }

    #[test]
    fn best_becomes_a_method() {
        let method = |words: &str| spec(words).method;
        assert_eq!(method("keys=4 backend=cuda"), Method::Onesweep { tile: Tile::Auto });
        assert_eq!(method("keys=65536 backend=cpu"), Method::Lsd);
        assert_eq!(method("keys=65537 backend=scalar"), Method::Msd);
        assert_eq!(method("keys=4 method=lsd"), Method::Lsd);
    }
}

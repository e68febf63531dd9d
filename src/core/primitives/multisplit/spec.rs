//! The typed parameters of a multisplit case.

use super::rounds::{Rounds, has_digits};
use super::subproblems::Localisation::{self, Block, Direct, Warp};
use super::subproblems::{MOST_BUCKETS, Subproblems};
use crate::case::table::{choice, count, count_or, float, parameters, words};
use crate::case::{Params, Refusal, Value};

/// Upper limit on the number of keys: 32 bits count more than these.
pub const MAX_KEYS: u64 = 1 << 31;
/// Upper limit on the number of buckets: this many deltas, none of them empty, make up 2^32.
pub const MAX_BUCKETS: u64 = 1 << 16;
/// Bytes per key.
pub const KEY: u64 = 4;
/// Bytes per offset.
pub const OFFSET: u64 = 4;

const MOST_WARPS: u64 = 8;
const MOST_TILES: u64 = 64;
/// Upper limit on the windows per warp in a tile: a thread keeps one key of each window.
const MOST_WINDOWS: u64 = 8;
/// Upper limit on the windows per subproblem of dms, which has no tiles.
const MOST_DIRECT_WINDOWS: u64 = 64;

const AUTO: &[&str] = &["auto"];

words! {
    /// The value that accompanies a key: none, or as many words of 4 bytes as its place here.
    pub enum Values {
        None = "none",
        Four = "4B",
        Eight = "8B",
    }
}

impl Values {
    /// Bytes of a value: 0, 4 or 8.
    pub fn bytes(self) -> u64 {
        4 * self as u64
    }
}

choice! {
    /// The function from a key to its bucket.
    #[derive(Eq)]
    pub enum By {
        /// ⌊u/Δ⌋ with Δ = ⌈2^32/m⌉: buckets of the same width
        DeltaBuckets = "delta-buckets",
        /// the ⌈log2 m⌉ bits of the key from `shift` on
        Identity = "identity" main "shift" {
            /// lowest bit of the field
            shift: u32 [count(0, 31)] = "0",
        },
        /// between random splitters, a search for every key
        Range = "range",
        /// a hash of the key, scaled to the buckets
        Hash = "hash",
        /// primes before all others; 2 buckets (ashkiani2017 Fig. 1)
        Prime = "prime",
    }
}

choice! {
    /// How the keys are distributed among the buckets.
    pub enum Distribution {
        /// every bucket is as likely
        Uniform = "uniform",
        /// a share alpha of the keys is uniform, the others are in one random bucket (ashkiani2017 §6.4)
        AlphaUniform = "alpha-uniform" main "alpha" {
            /// share of the keys that are uniform
            alpha: f64 [float(0.0, 1.0)] = "0.25",
        },
        /// B(m − 1, 1/2) (ashkiani2017 §6.4)
        Binomial = "binomial",
        /// each bucket half as likely as the one before
        Skewed = "skewed",
        /// all keys in one random bucket
        OneBucket = "one-bucket",
    }
}

choice! {
    /// The method requested by a recipe.
    #[derive(Eq)]
    pub enum Asked {
        /// ours: on CPUs write-combining; on GPUs fused, but rb-sort of keys alone among more than 4 splitters, and by
        /// splitters or hashes above 256 buckets
        Best = "best",
        /// CPUs: every thread counts its keys, then stores each where it belongs
        Direct = "direct",
        /// CPUs: the same, but keys of a bucket gather in cache and leave it in whole lines by streaming stores
        WriteCombining = "write-combining",
        /// GPUs: a stable split in two by each bit of the buckets' numbers, with a scan of flags (ashkiani2017 §3.2)
        ScanSplit = "scan-split",
        /// GPUs: a radix sort of the buckets' numbers, with key, pair or a pair's place (ashkiani2017 §3.3)
        RbSort = "rb-sort",
        /// GPUs: a count of every tile, then one pass that reorders tiles and stores their runs; above 256 buckets
        /// two rounds by digits of the number of a delta-bucket or field (ashkiani2017 §6.3)
        Fused = "fused",
        /// GPUs: warps count their windows by voting, a scan, warps store (ashkiani2017 Algorithm 1); up to 256 buckets
        Dms = "dms" {
            /// warps of a block, a power of two; auto: the paper's 8, or 4 for bms without values up to 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys of a warp, its subproblem; auto: the paper's 4
            windows: Option<u64> [count_or(1, MOST_DIRECT_WINDOWS, AUTO)] = "auto",
        },
        /// GPUs: as dms, but a warp orders the keys of a tile by their buckets before it stores them (§5.6.1)
        Wms = "wms" {
            /// warps of a block, a power of two; auto: the paper's 8, or 4 for bms without values up to 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys that a warp has of a tile; auto: the paper's 4, or 7 for bms without values up to
            /// 32 buckets
            windows: Option<u64> [count_or(1, MOST_WINDOWS, AUTO)] = "auto",
            /// tiles of a subproblem, one after another: of a warp (wms) or of a block (bms)
            tiles: u64 [count(1, MOST_TILES)] = "1",
        },
        /// GPUs: as wms, but subproblems and tiles are blocks' (§5.6.2)
        Bms = "bms" {
            /// warps of a block, a power of two; auto: the paper's 8, or 4 for bms without values up to 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys that a warp has of a tile; auto: the paper's 4, or 7 for bms without values up to
            /// 32 buckets
            windows: Option<u64> [count_or(1, MOST_WINDOWS, AUTO)] = "auto",
            /// tiles of a subproblem, one after another: of a warp (wms) or of a block (bms)
            tiles: u64 [count(1, MOST_TILES)] = "1",
        },
    }
}

/// The method that a case is computed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A counting pass and a plain scatter.
    Direct,
    /// A counting pass and a scatter with stores combined in software.
    WriteCombining,
    /// A split by each bit of the buckets' numbers, by a scan of flags (ashkiani2017 §3.2).
    ScanSplit,
    /// A sort of labels (ashkiani2017 §3.3).
    RbSort,
    /// A count of each tile, then a single pass over the keys.
    Fused,
    /// Counts of subproblems, the scan of the counts, and a store of each subproblem's keys (ashkiani2017 §5).
    Localised(Subproblems),
}

parameters! {
    /// A multisplit case, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// u32 keys (ashkiani2017's n)
        keys: u64 [count(1, MAX_KEYS)],
        /// keys alone, or each with a value of this size
        values: Values = "none",
        /// buckets (ashkiani2017's m)
        buckets: u64 [count(2, MAX_BUCKETS)],
        /// a key's bucket as a function of the key
        by: By = "delta-buckets",
        /// how the keys are distributed among the buckets
        distribution: Distribution = "uniform",
        /// how it is computed
        asked as "method": Asked = "best",
    }
    with {
        /// Whether the method was `best`, which has given way to what it stands for.
        open: bool = false,
        method: Method = Method::WriteCombining,
        /// Bytes of a value: 0, 4 or 8.
        value: u64 = 0,
    }
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        spec.value = spec.values.bytes();
        spec.open = spec.asked == Asked::Best;
        if spec.open {
            spec.asked = spec.best();
        }
        spec.method = match spec.asked {
            Asked::Best | Asked::WriteCombining => Method::WriteCombining,
            Asked::Direct => Method::Direct,
            Asked::ScanSplit => Method::ScanSplit,
            Asked::RbSort => Method::RbSort,
            Asked::Fused => Method::Fused,
            Asked::Dms { warps, windows } => spec.localised(Direct, [warps, windows], 1),
            Asked::Wms { warps, windows, tiles } => spec.localised(Warp, [warps, windows], tiles),
            Asked::Bms { warps, windows, tiles } => spec.localised(Block, [warps, windows], tiles),
        };
        spec.checked()
    }

    /// A multisplit on GPUs of `keys` keys and their values by a field of `bits` bits.
    ///
    /// # Errors
    /// As for [`from_params`](Spec::from_params).
    pub fn of_field(keys: u64, values: Values, bits: u32, method: &str) -> Result<Spec, Refusal> {
        let word = |text: &str| Value::Text(text.to_owned());
        let params = Params::default()
            .with("backend", word("cuda"))
            .with("keys", Value::Int(keys))
            .with("values", word(values.name()))
            .with("buckets", Value::Int(1 << bits))
            .with("by", word("identity"))
            .with("method", word(method));
        Spec::from_params(&params, 0)
    }

    /// A reduced-bit sort evaluates the bucket function once per key, and fused twice. Among splitters the
    /// second evaluation costs more than labels of keys without values do (on an H200 from 8 buckets on). In
    /// its rounds, fused needs the digits of the bucket's number, which only some functions provide.
    fn best(&self) -> Asked {
        match self.by {
            _ if !self.backend.is_cuda() => Asked::WriteCombining,
            By::Range if self.value == 0 && self.buckets > 4 => Asked::RbSort,
            By::Range | By::Hash if self.buckets > MOST_BUCKETS => Asked::RbSort,
            _ => Asked::Fused,
        }
    }

    /// The localised method with these sizes; sizes left open are the paper's.
    fn localised(&self, localisation: Localisation, sizes: [Option<u64>; 2], tiles: u64) -> Method {
        let papers = Subproblems::papers(localisation, self.value, self.buckets);
        let [warps, windows] = sizes;
        let (warps, windows) = (warps.unwrap_or(papers.warps), windows.unwrap_or(papers.windows));
        Method::Localised(Subproblems { localisation, warps, windows, tiles })
    }

    /// Checks the constraints between parameters.
    fn checked(self) -> Result<Spec, Refusal> {
        let not_applicable = |reason: String| Err(Refusal::NotApplicable(reason));
        if let By::Identity { shift } = self.by
            && shift + self.bits() > 32
        {
            let message = format!("{} bits from bit {shift} on are more than a key has", self.bits());
            return Err(Refusal::invalid("by.identity.shift", message));
        }
        let of_cpus = matches!(self.method, Method::Direct | Method::WriteCombining);
        match self.method {
            Method::Localised(Subproblems { warps, .. }) if !warps.is_power_of_two() => {
                let key = format!("method.{}.warps", self.asked.name());
                Err(Refusal::invalid(key, format!("{warps} is not a power of two")))
            }
            _ if of_cpus && self.backend.is_cuda() => not_applicable("a method of CPUs".to_owned()),
            _ if !of_cpus && self.backend.is_cpu() => not_applicable("a method of GPUs".to_owned()),
            Method::Localised(_) if self.buckets > MOST_BUCKETS => not_applicable(format!(
                "warps keep the counts of at most {MOST_BUCKETS} buckets; fused and rb-sort take more"
            )),
            Method::Fused if Rounds::of(&self).is_some() && !has_digits(&self) => {
                let digits = "above 256 buckets fused goes by digits of the bucket's number, which this function does \
                              not have without the number: rb-sort keeps it";
                not_applicable(digits.to_owned())
            }
            _ if self.by == By::Prime && self.buckets != 2 => {
                not_applicable("by: prime takes exactly 2 buckets".to_owned())
            }
            _ => Ok(self),
        }
    }

    /// Bits of a bucket's number: ⌈log2 m⌉.
    pub fn bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2()
    }

    /// The width Δ of the delta-buckets.
    pub fn delta(&self) -> u64 {
        (1u64 << 32).div_ceil(self.buckets)
    }

    /// Bytes of the keys without values.
    pub fn key_bytes(&self) -> u64 {
        self.keys * KEY
    }

    /// Bytes of the values.
    pub fn value_bytes(&self) -> u64 {
        self.keys * self.value
    }

    /// Bytes of the input: keys and values.
    pub fn input(&self) -> u64 {
        self.key_bytes() + self.value_bytes()
    }

    /// Bytes of the offsets.
    pub fn offset_bytes(&self) -> u64 {
        (self.buckets + 1) * OFFSET
    }

    /// Bytes of the whole output: keys, values, offsets.
    pub fn output(&self) -> u64 {
        self.input() + self.offset_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{params, spec};
    use super::*;
    use crate::primitives::Problem;

    fn refusal(words: &str) -> String {
        Spec::from_params(&params(words), 1).expect_err("refused").to_string()
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        assert!(refusal("keys=4 buckets=1").starts_with("buckets: "));
        assert!(refusal("keys=4 buckets=65537").starts_with("buckets: "));
        assert!(refusal("keys=2147483649 buckets=2").starts_with("keys: "));
        assert!(refusal("keys=4 buckets=2 values=16B").starts_with("values: "));
        assert!(refusal("keys=4 buckets=2 by=odd").starts_with("by: "));
        assert!(refusal("keys=4 buckets=3 by=prime").starts_with("n/a: "));
        assert!(
            refusal("keys=4 buckets=257 by=identity by.identity.shift=24")
                .starts_with("by.identity.shift: 9 bits")
        );
        assert!(
            refusal("keys=4 buckets=2 by=identity by.identity.shift=32").starts_with("by.identity.shift: ")
        );
        let alpha = "distribution=alpha-uniform distribution.alpha-uniform.alpha";
        assert!(
            refusal(&format!("keys=4 buckets=2 {alpha}=1.5"))
                .starts_with("distribution.alpha-uniform.alpha: ")
        );
        assert!(refusal("keys=4 buckets=2 backend=cuda method=direct").starts_with("n/a: a method of CPUs"));
    }

    /// The digits of delta-buckets and fields follow from the key; for other functions above 256 buckets the
    /// error names the method to use instead.
    #[test]
    fn many_buckets_are_for_methods_that_have_digits() {
        for by in ["delta-buckets", "identity"] {
            assert_eq!(spec(&format!("keys=4 buckets=257 by={by} method=fused")).method, Method::Fused);
        }
        for by in ["range", "hash"] {
            let refused = refusal(&format!("keys=4 buckets=257 by={by} method=fused"));
            assert!(refused.starts_with("n/a: ") && refused.contains("rb-sort"), "{refused}");
        }
        for method in ["dms", "wms", "bms"] {
            let refused = refusal(&format!("keys=4 buckets=257 method={method}"));
            assert!(refused.starts_with("n/a: ") && refused.contains("fused and rb-sort"), "{refused}");
        }
    }

    /// For every backend and case the best method exists, and the record states what it resolved to.
    #[test]
    fn the_best_method_is_the_backends() {
        let of = |words: &str| {
            let (left, best) =
                (spec(&format!("keys=4 {words}")), spec(&format!("keys=4 {words} method=best")));
            assert_eq!(left, best);
            let method = Value::Text(left.asked.name().to_owned());
            assert_eq!(left.resolved()[0], ("method".to_owned(), method));
            left.asked.name()
        };
        for words in ["buckets=2", "buckets=65536 values=8B", "buckets=300 by=range"] {
            assert_eq!(
                ["scalar", "cpu"].map(|on| of(&format!("{words} backend={on}"))),
                ["write-combining"; 2]
            );
        }
        for (words, method) in [
            ("buckets=2", "fused"),
            ("buckets=257", "fused"),
            ("buckets=65536 by=identity", "fused"),
            ("buckets=256 by=hash", "fused"),
            ("buckets=257 by=hash", "rb-sort"),
            ("buckets=4 by=range", "fused"),
            ("buckets=5 by=range", "rb-sort"),
            ("buckets=5 by=range values=4B", "fused"),
            ("buckets=257 by=range values=4B", "rb-sort"),
            ("buckets=2 by=prime", "fused"),
        ] {
            assert_eq!(of(&format!("{words} backend=cuda")), method, "{words}");
        }
        assert_eq!(spec("keys=4 buckets=8 method=direct").resolved(), []);
        let rounds = spec("keys=4 buckets=300 method=fused").resolved();
        let wanted = [("split.rounds", 2), ("split.super-buckets", 10)];
        assert_eq!(rounds, wanted.map(|(key, value)| (key.to_owned(), Value::Int(value))));
    }

    #[test]
    fn what_is_left_out_has_a_meaning() {
        let bare = spec("keys=9 buckets=5");
        assert_eq!((bare.by, bare.distribution), (By::DeltaBuckets, Distribution::Uniform));
        assert_eq!((bare.value, bare.bits(), bare.delta(), bare.output()), (0, 3, 858_993_460, 36 + 24));
        let identity = spec("keys=9 buckets=256 by=identity by.identity.shift=24 values=8B");
        assert_eq!((identity.by, identity.output()), (By::Identity { shift: 24 }, 36 + 72 + 4 * 257));
        let quarter = spec("keys=9 buckets=5 distribution=alpha-uniform");
        assert_eq!(quarter.distribution, Distribution::AlphaUniform { alpha: 0.25 });
    }
}

//! multisplit: n keys, alone or each with a value, permuted so that the keys of a bucket are contiguous, bucket
//! after bucket (ashkiani2017 §3.1).
//!
//! Keys are u32. A function assigns each of them to one of m buckets ([`buckets`]); the result is *stable*:
//! within a bucket the keys, and the values with them, stay in the order of the input. An execution also
//! returns where each bucket begins: m + 1 offsets of 4 bytes each, the first 0 and the last n.
//!
//! ```text
//! delta-buckets  f(u) = ⌊u / Δ⌋,  Δ = ⌈2^32 / m⌉                  (§6)
//! identity       f(u) = the ⌈log2 m⌉ bits of u from `shift` on    (§7.1)
//! range          f(u) = how many of m − 1 splitters are ≤ u        (§6, §7.3)
//! hash           f(u) = ⌊h(u) · m / 2^32⌋, h a bijection           (§6.3)
//! prime          f(u) = 0 for primes, 1 for all others; m = 2      (Fig. 1)
//! ```
//!
//! Keys are generated so that the buckets have the wanted sizes ([`keys`]), whatever the function. The
//! effective bytes are keys and values, read once and written once: 2 · n · (4 + value). The speed of light
//! counts the traffic of the paper's parallel model: keys three times, values twice (§6.2.2).

pub mod arrangement;
pub mod block_costs;
pub mod buckets;
pub mod cpu;
pub mod cuda;
pub mod keys;
pub mod methods;
mod oracle;
pub mod tiles;
mod work;

pub use block_costs::scattered;
pub use methods::Method;
pub use work::back;

pub use tiles::Launches;

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::table::{choice, count, float, parameters, words};
use crate::case::{BlockCost, Params, Refusal, SpeedOfLight, Value, Walk, Work};

/// Upper limit on the number of keys: 32 bits count more than these.
pub const MAX_KEYS: u64 = 1 << 31;
/// Upper limit on the number of buckets: this many deltas, none of them empty, make up 2^32.
pub const MAX_BUCKETS: u64 = 1 << 16;
/// Bytes per key.
pub const KEY: u64 = 4;
/// Bytes per offset.
pub const OFFSET: u64 = 4;

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

words! {
    /// How delta-buckets are computed.
    pub enum Found {
        Reciprocal = "reciprocal",
        Division = "division",
    }
}

choice! {
    /// The function from a key to its bucket.
    #[derive(Eq)]
    pub enum By {
        /// ⌊u/Δ⌋ with Δ = ⌈2^32/m⌉: buckets of equal width
        DeltaBuckets = "delta-buckets" main "found" {
            /// how the quotient is computed: by a multiplication with a reciprocal or, with dms, wms and bms only, by an
            /// integer division, as in the paper (ashkiani2017 §7.1); unset: reciprocal
            found: Option<Found> = unset,
        },
        /// the ⌈log2 m⌉ bits of the key from `shift` on
        Identity = "identity" main "shift" {
            /// lowest bit of the field
            shift: u32 [count(0, 31)] = "0",
        },
        /// intervals between random splitters; each key takes a search
        Range = "range",
        /// a hash of the key, scaled to the number of buckets
        Hash = "hash",
        /// primes before all other keys; 2 buckets (ashkiani2017 Fig. 1)
        Prime = "prime",
    }
}

choice! {
    /// How the keys are distributed among the buckets.
    pub enum Distribution {
        /// all buckets are equally likely
        Uniform = "uniform",
        /// a fraction alpha of the keys is uniform; the others are in one random bucket (ashkiani2017 §6.4)
        AlphaUniform = "alpha-uniform" main "alpha" {
            /// fraction of the keys that are uniform
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
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for.
        method: Method = Method::WriteCombining,
        /// Bytes of a value: 0, 4 or 8.
        value: u64 = 0,
    }
}

impl Spec {
    /// The launches that the case asks for.
    fn asked_launches(&self) -> Option<Launches> {
        match self.method {
            Method::Fused { launches } => launches,
            _ => None,
        }
    }

    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let mut spec = Spec::of_table(params, seed)?;
        spec.value = spec.values.bytes();
        spec.method = if spec.asked == Method::Best { methods::best(&spec) } else { spec.asked };
        if let By::Identity { shift } = spec.by
            && shift + spec.bits() > 32
        {
            let message = format!("a key does not have {} bits from bit {shift} on", spec.bits());
            return Err(Refusal::invalid("by.identity.shift", message));
        }
        methods::check(&spec)?;
        if spec.by == By::Prime && spec.buckets != 2 {
            return Err(Refusal::NotApplicable("by: prime takes exactly 2 buckets".to_owned()));
        }
        Ok(spec)
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

    /// Bits of a bucket's number: ⌈log2 m⌉.
    pub fn bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2()
    }

    /// True if each key's bucket takes an integer division.
    pub fn divides(&self) -> bool {
        self.by == By::DeltaBuckets { found: Some(Found::Division) }
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

    /// Bytes that the paper's parallel model moves: all keys are read once before the global scan, then keys and
    /// values are read and stored, and the scan is free (§6.2.2): 12 bytes per key, 20 per pair of 4-byte key and
    /// 4-byte value.
    fn speed_of_light(&self) -> u64 {
        3 * self.key_bytes() + 2 * self.value_bytes()
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

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "multisplit",
        "keys, alone or with values, grouped by bucket and in their original order within each",
        Spec::TABLE,
    )
    .with_walks()
    .with_speed_of_light(SpeedOfLight {
        moves: "keys are read and counted, then keys and values are read and stored (ashkiani2017 §6.2.2)",
        bytes: |params| Spec::from_params(params, 0).map(|spec| spec.speed_of_light()),
    })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let costs = methods::costs(self);
        let footprint = self.input() + self.output() + costs.own_bytes;
        Work::of(self.keys, 2 * self.input(), costs.passes()).footprint(footprint)
    }

    /// The method that `best` stands for, and the further parameters of methods that choose some.
    fn resolved(&self) -> Vec<(String, Value)> {
        let name = || Value::Text(self.method.name().to_owned());
        let best = (self.asked == Method::Best).then(|| ("method".to_owned(), name()));
        let sizes = methods::sizes(self).into_iter().map(|(key, value)| (key, Value::Int(value)));
        best.into_iter().chain(methods::chosen(self)).chain(sizes).collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() {
            return methods::costs(self).block_costs();
        }
        // Ranking takes several times as long as moving, and no figure of a profile covers it.
        Err("no profile gives the time that CPUs take to rank keys".to_owned())
    }

    /// The places of the keys in the order in which methods of three kinds store them: `dms`, `wms` and `bms`.
    fn walks(&self, most: u64, _stored: IndexLookup) -> Result<Vec<Walk>, String> {
        Ok(arrangement::walks(self, most))
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    pub(super) use super::super::words::params;
    use super::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    pub(super) fn work(words: &str) -> Work {
        self::spec(words).work()
    }

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
                .starts_with("by.identity.shift: a key does not have 9 bits")
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
        let one = "buckets=2 method=fused method.fused.launches=one";
        assert!(
            refusal(&format!("keys=1048577 {one}")).starts_with("n/a: one launch keeps at most 1048576 keys")
        );
        for by in ["range", "prime"] {
            assert!(
                refusal(&format!("keys=4 {one} by={by}")).starts_with("n/a: one launch takes delta-buckets")
            );
        }
        assert_eq!(
            spec(&format!("keys=1048576 {one}")).method,
            Method::Fused { launches: Some(Launches::One) }
        );
        for method in ["fused", "rb-sort", "scan-split", "direct"] {
            let divided =
                refusal(&format!("keys=4 buckets=2 by.delta-buckets.found=division method={method}"));
            assert!(divided.starts_with("n/a: "), "{divided}");
        }
    }

    /// The digits of delta-buckets and fields follow from the key; for other functions above 256 buckets the
    /// error names the method to use instead.
    #[test]
    fn many_buckets_are_for_methods_that_have_digits() {
        for by in ["delta-buckets", "identity"] {
            assert_eq!(
                spec(&format!("keys=4 buckets=257 by={by} method=fused")).method,
                Method::Fused { launches: None }
            );
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
            let method = Value::Text(left.method.name().to_owned());
            assert_eq!(left.resolved()[0], ("method".to_owned(), method));
            left.method.name()
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
        let wanted = wanted.map(|(key, value)| (key.to_owned(), Value::Int(value)));
        let launches = ("method.fused.launches".to_owned(), Value::Text("one".to_owned()));
        assert_eq!(rounds, [vec![launches], wanted.to_vec()].concat());
        let asked = spec("keys=4 buckets=8 method=fused method.fused.launches=three");
        assert_eq!(asked.resolved(), []);
    }

    #[test]
    fn what_is_left_out_has_a_meaning() {
        let bare = spec("keys=9 buckets=5");
        assert_eq!((bare.by, bare.distribution), (By::DeltaBuckets { found: None }, Distribution::Uniform));
        assert_eq!((bare.value, bare.bits(), bare.delta(), bare.output()), (0, 3, 858_993_460, 36 + 24));
        let identity = spec("keys=9 buckets=256 by=identity by.identity.shift=24 values=8B");
        assert_eq!((identity.by, identity.output()), (By::Identity { shift: 24 }, 36 + 72 + 4 * 257));
        let quarter = spec("keys=9 buckets=5 distribution=alpha-uniform");
        assert_eq!(quarter.distribution, Distribution::AlphaUniform { alpha: 0.25 });
    }
}

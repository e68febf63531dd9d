//! What a multisplit case computes: its parameters, typed.

use super::rounds::{Rounds, has_digits};
use super::subproblems::{Localisation, MOST_BUCKETS, Subproblems};
use crate::case::{Backend, Params, Refusal, Value, reader};

/// Most keys: 32 bits count them and more.
pub const MAX_KEYS: u64 = 1 << 31;
/// Most buckets: so many deltas, none of them empty, make up 2^32.
pub const MAX_BUCKETS: u64 = 1 << 16;
/// Bytes of a key.
pub const KEY: u64 = 4;
/// Bytes of an offset.
pub const OFFSET: u64 = 4;

/// What a key's bucket follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    DeltaBuckets,
    /// The field of ⌈log2 m⌉ bits from bit `shift` on.
    Identity {
        shift: u32,
    },
    Range,
    Hash,
    Prime,
}

/// How the keys are distributed among the buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    /// This share is uniform, the rest in one bucket.
    AlphaUniform {
        alpha: f64,
    },
    Binomial,
    Skewed,
    OneBucket,
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A counting pass and a plain scatter.
    Direct,
    /// The same with stores that are combined in software.
    WriteCombining,
    /// A split by each bit of the buckets' numbers, by a scan of flags (ashkiani2017 §3.2).
    ScanSplit,
    /// A sort of labels (ashkiani2017 §3.3).
    RbSort,
    /// A count of tiles, and a single pass.
    Fused,
    /// Counts of subproblems, their scan, and a store of the keys of each (ashkiani2017 §5).
    Localised(Subproblems),
}

impl Method {
    /// Its name in recipes.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Direct => "direct",
            Method::WriteCombining => "write-combining",
            Method::ScanSplit => "scan-split",
            Method::RbSort => "rb-sort",
            Method::Fused => "fused",
            Method::Localised(shape) => shape.localisation.name(),
        }
    }

    /// Whether it is one of the processors'; the others are those of GPUs.
    pub fn on_cpus(self) -> bool {
        match self {
            Method::Direct | Method::WriteCombining => true,
            Method::ScanSplit | Method::RbSort | Method::Fused | Method::Localised(_) => false,
        }
    }
}

/// A multisplit case, typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    pub by: By,
    pub distribution: Distribution,
    pub method: Method,
    /// Whether the method was `best`.
    pub open: bool,
    /// n. A recipe asks for at least 1; `verify` runs 0 as well.
    pub keys: u64,
    /// Bytes of a value: 0, 4 or 8.
    pub value: u64,
    /// m.
    pub buckets: u64,
    pub seed: u64,
    pub backend: Backend,
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let value = reader::word_or(params, "values", &[("none", 0), ("4B", 4), ("8B", 8)], 0)?;
        let buckets = reader::int(params, "buckets")?;
        let by = by(params)?;
        let spec = Spec {
            by,
            distribution: distribution(params)?,
            method: method(params, by, value, buckets)?,
            open: matches!(params.text("method"), None | Some("best")),
            keys: reader::int(params, "keys")?,
            value,
            buckets,
            seed,
            backend: Backend::of(params),
        };
        spec.values_in_range()?;
        match (params.text("backend"), spec.method.on_cpus()) {
            (Some("cuda"), true) => not_applicable("a method of CPUs"),
            (Some("scalar" | "cpu"), false) => not_applicable("a method of GPUs"),
            _ => spec.within_its_method().map(|()| spec),
        }
    }

    fn values_in_range(&self) -> Result<(), Refusal> {
        if self.keys > MAX_KEYS {
            return Err(Refusal::invalid("keys", format!("{} is more than {MAX_KEYS}", self.keys)));
        }
        if !(2..=MAX_BUCKETS).contains(&self.buckets) {
            let range = format!("{} is not from 2 to {MAX_BUCKETS}", self.buckets);
            return Err(Refusal::invalid("buckets", range));
        }
        match self.by {
            By::Identity { shift } if shift + self.bits() > 32 => Err(Refusal::invalid(
                "by.identity.shift",
                format!("{} bits from bit {shift} on are more than a key has", self.bits()),
            )),
            _ => Ok(()),
        }
    }

    fn within_its_method(&self) -> Result<(), Refusal> {
        if matches!(self.method, Method::Localised(_)) && self.buckets > MOST_BUCKETS {
            let most = format!(
                "warps keep the counts of at most {MOST_BUCKETS} buckets; fused and rb-sort take more"
            );
            return not_applicable(&most);
        }
        if self.method == Method::Fused && Rounds::of(self).is_some() && !has_digits(self) {
            let digits = "above 256 buckets fused goes by digits of the bucket's number, which this function does not have \
                          without the number: rb-sort keeps it";
            return not_applicable(digits);
        }
        match self.by {
            By::Prime if self.buckets != 2 => not_applicable("primes and all others are 2 buckets"),
            _ => Ok(()),
        }
    }

    /// Bits of a bucket's number, ⌈log2 m⌉.
    pub fn bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2()
    }

    /// Δ, the width of the delta-buckets.
    pub fn delta(&self) -> u64 {
        (1u64 << 32).div_ceil(self.buckets)
    }

    /// Bytes of the keys, alone.
    pub fn key_bytes(&self) -> u64 {
        self.keys * KEY
    }

    /// Bytes of the values.
    pub fn value_bytes(&self) -> u64 {
        self.keys * self.value
    }

    /// Bytes of the offsets.
    pub fn offset_bytes(&self) -> u64 {
        (self.buckets + 1) * OFFSET
    }

    /// What was open, and the rounds of a method that takes some, for the record.
    pub fn resolved(&self) -> Vec<(String, Value)> {
        let method = self.open.then(|| ("method".to_owned(), Value::Text(self.method.name().to_owned())));
        let open = match &self.method {
            Method::Localised(shape) => shape.resolved(),
            _ => Vec::new(),
        };
        let rounds = Rounds::of(self).filter(|_| self.method == Method::Fused);
        let rounds = rounds.map(|Rounds { supers, .. }| {
            [("rounds", 2), ("super-buckets", supers)]
                .map(|(name, value)| (format!("split.{name}"), Value::Int(value)))
        });
        method.into_iter().chain(open).chain(rounds.into_iter().flatten()).collect()
    }

    /// Bytes of the whole output: keys, values, offsets.
    pub fn output(&self) -> u64 {
        self.key_bytes() + self.value_bytes() + self.offset_bytes()
    }
}

fn not_applicable<T>(reason: &str) -> Result<T, Refusal> {
    Err(Refusal::NotApplicable(reason.to_owned()))
}

fn by(params: &Params) -> Result<By, Refusal> {
    const KEY: &str = "by.identity.shift";
    match params.text("by") {
        Some("identity") => match params.get(KEY).map_or(Ok(0), |_| reader::int(params, KEY))? {
            shift @ 0..32 => Ok(By::Identity { shift: shift as u32 }),
            shift => Err(Refusal::invalid(KEY, format!("{shift} is not from 0 to 31"))),
        },
        _ => {
            let names = [
                ("delta-buckets", By::DeltaBuckets),
                ("range", By::Range),
                ("hash", By::Hash),
                ("prime", By::Prime),
            ];
            reader::word_or(params, "by", &names, By::DeltaBuckets)
        }
    }
}

fn distribution(params: &Params) -> Result<Distribution, Refusal> {
    const KEY: &str = "distribution.alpha-uniform.alpha";
    match params.text("distribution") {
        Some("alpha-uniform") => {
            let alpha = params.get(KEY).map_or(Some(0.25), |_| params.float(KEY));
            match alpha.filter(|alpha| (0.0..=1.0).contains(alpha)) {
                Some(alpha) => Ok(Distribution::AlphaUniform { alpha }),
                None => Err(Refusal::invalid(KEY, "is not from 0 to 1")),
            }
        }
        _ => {
            let names = [
                ("uniform", Distribution::Uniform),
                ("binomial", Distribution::Binomial),
                ("skewed", Distribution::Skewed),
                ("one-bucket", Distribution::OneBucket),
            ];
            reader::word_or(params, "distribution", &names, Distribution::Uniform)
        }
    }
}

fn method(params: &Params, by: By, value: u64, buckets: u64) -> Result<Method, Refusal> {
    let localised = [Localisation::Direct, Localisation::Warp, Localisation::Block];
    if let Some(one) = localised.into_iter().find(|one| params.text("method") == Some(one.name())) {
        return Subproblems::of(params, one, value, buckets).map(Method::Localised);
    }
    let best =
        if reader::on_cuda(params) { best_on_gpus(by, value, buckets) } else { Method::WriteCombining };
    let names = [
        ("best", best),
        ("direct", Method::Direct),
        ("write-combining", Method::WriteCombining),
        ("scan-split", Method::ScanSplit),
        ("rb-sort", Method::RbSort),
        ("fused", Method::Fused),
    ];
    reader::word_or(params, "method", &names, best)
}

/// A reduced-bit sort asks once for a key's bucket, and fused twice, which among splitters costs more than labels of
/// keys alone do (on an H200 from 8 buckets on); and in its rounds fused knows but digits of some functions.
fn best_on_gpus(by: By, value: u64, buckets: u64) -> Method {
    match by {
        By::Range if value == 0 && buckets > 4 => Method::RbSort,
        By::Range | By::Hash if buckets > MOST_BUCKETS => Method::RbSort,
        _ => Method::Fused,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{params, spec};
    use super::*;

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

    /// Digits of the numbers of deltas and of fields are had from a key; of others above 256 buckets
    /// the reason says what to take.
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

    /// Whatever the backend and the case, it exists, and the record says what it became.
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

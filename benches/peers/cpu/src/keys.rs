//! The keys and values of the primitive sort as integer functions of (seed, i).

use crate::case::{Case, NotApplicable, refused};
use crate::inputs::mix::{index_of_word32, index_of_word64, mix64, scale, word32, word64};
use crate::inputs::zipf::Zipf;

/// Tag of the seed for the values.
const VALUE: u64 = 0x534F_5254_5641_4C55;

/// How the keys are distributed.
#[derive(Clone, Debug)]
enum Distribution {
    Uniform,
    Zipf(Box<Zipf>),
    Sorted,
    Reversed,
    Equal,
    /// The number of different keys.
    Few(u64),
    /// The number of random words that are joined by and.
    Entropy(u64),
}

/// The input of a case.
#[derive(Clone, Debug)]
pub struct SortKeys {
    seed: u64,
    pub n: u64,
    distribution: Distribution,
    /// Bits by which a key is narrower than 64.
    drop: u32,
    /// Bytes of a value, or 0.
    pub value: u64,
}

impl SortKeys {
    /// The input of a case of the primitive sort.
    pub fn of(case: &mut Case) -> Result<SortKeys, NotApplicable> {
        case.one_of("primitive", &["sort"])?;
        // Ours.
        case.text("method", "");
        let (n, seed) = (case.number("keys", "")?, case.number("seed", "1")?);
        let width: u32 = if case.one_of("key", &["u32", "u64"])? == "u64" { 64 } else { 32 };
        let values = case.one_of("values", &["none", "4B", "8B"])?;
        let end = match case.text("end", "auto").as_str() {
            "auto" => width,
            _ => case.number("end", "auto")?,
        };
        if case.number::<u32>("begin", "0")? > 0 || end < width {
            return refused("it sorts by whole keys");
        }
        let value = match values {
            "none" => 0,
            "4B" => 4,
            _ => 8,
        };
        if n == 0 || n > 1 << 32 {
            return refused("it sorts 1 to 2^32 keys");
        }
        let distribution = Distribution::of(case, n, seed)?;
        Ok(SortKeys { seed, n, distribution, drop: 64 - width, value })
    }

    /// Whether keys have 64 bits.
    pub fn wide(&self) -> bool {
        self.drop == 0
    }

    /// Key `i`.
    pub fn key(&self, i: u64) -> u64 {
        let step = ((u64::MAX >> self.drop) / self.n).max(1);
        let number = match &self.distribution {
            Distribution::Uniform => i,
            Distribution::Zipf(zipf) => zipf.draw(i),
            Distribution::Sorted => return i * step,
            Distribution::Reversed => return (self.n - 1 - i) * step,
            Distribution::Equal => 0,
            Distribution::Entropy(words) => {
                let word = |w: u64| word64(self.seed, i + w * self.n) >> self.drop;
                return (0..*words).fold(u64::MAX, |key, w| key & word(w));
            }
            Distribution::Few(distinct) => scale(mix64(word64(self.seed, i)), *distinct),
        };
        word64(self.seed, number) >> self.drop
    }

    /// Value `i` in 4 or 8 bytes, a bijection of i.
    pub fn value(&self, i: u64) -> u64 {
        let seed = self.seed ^ VALUE;
        if self.value == 4 { word32(seed, i as u32).into() } else { word64(seed, i) }
    }

    /// The i of a value.
    pub fn index(&self, value: u64) -> u64 {
        let seed = self.seed ^ VALUE;
        if self.value == 4 {
            index_of_word32(seed, value as u32).into()
        } else {
            index_of_word64(seed, value)
        }
    }
}

impl Distribution {
    fn of(case: &mut Case, n: u64, seed: u64) -> Result<Distribution, NotApplicable> {
        const NAMES: [&str; 7] = ["uniform", "zipf", "sorted", "reversed", "equal", "few", "entropy"];
        let name = case.one_of("distribution", &NAMES)?;
        let exponent: f64 = case.number("distribution.zipf.exponent", "1.0")?;
        let distinct: u64 = case.number("distribution.few.distinct", "16")?;
        Ok(match name {
            "entropy" => match case.number("distribution.entropy.words", "")? {
                0 => return refused("a key is of at least one word"),
                words => Distribution::Entropy(words),
            },
            "zipf" => match Zipf::new(n, exponent, seed) {
                Some(zipf) => Distribution::Zipf(Box::new(zipf)),
                None => return refused("there is no such Zipf distribution"),
            },
            "sorted" => Distribution::Sorted,
            "reversed" => Distribution::Reversed,
            "equal" => Distribution::Equal,
            "few" if distinct == 0 => return refused("there is a key"),
            "few" => Distribution::Few(distinct),
            _ => Distribution::Uniform,
        })
    }
}

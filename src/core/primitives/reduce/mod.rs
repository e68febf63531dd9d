//! reduce: the sum, minimum or maximum of n elements, or of the products of two arrays.
//!
//! ```text
//! t[i] = x[i], or x[i] · y[i]            result = t[0] ⊕ t[1] ⊕ … ⊕ t[n−1]
//! sum      integers modulo 2^32 or 2^64; floats in f64, rounded to the type once; 0 if there are no terms. The sum
//!          starts at +0, so it is never −0; a NaN among the terms makes it NaN
//! min max  −0 is less than +0, and a NaN among the terms makes the result NaN (IEEE 754-2019 minimum, maximum);
//!          without terms the greatest or the least value of the type, for floats ∞ or −∞
//! product  integers modulo 2^32 or 2^64; floats in f64 if they are summed (exact for f32), else rounded to the type
//! ```
//!
//! A sum of products is a dot product. The effective bytes are the arrays, read once.
//!
//! Terms are combined as *words*: integers as they are, floats to be summed as f64, and floats to be compared
//! as keys whose unsigned order is the order above ([`key32`], [`key64`]), so that min and max are independent
//! of the order of combination, bit for bit. Sums of floats are not: the certificate allows for the rounding
//! error of the additions in f64 ([`Spec::bound`]).

pub mod cpu;
pub mod cuda;

use super::oracle;
use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, parameters, words};
use crate::case::{Access, Params, Refusal, Work, params};
use crate::inputs::mix::word64;

words! {
    /// ⊕.
    pub enum Operator {
        Sum = "sum",
        Min = "min",
        Max = "max",
    }
}

words! {
    /// The type of an element, and of the result.
    pub enum Type {
        U32 = "u32",
        U64 = "u64",
        F32 = "f32",
        F64 = "f64",
    }
}

words! {
    /// The terms that are reduced.
    pub enum Of {
        Elements = "elements",
        Products = "products",
    }
}

words! {
    /// The contents of the arrays.
    pub enum Contents {
        Numbers = "numbers",
        Zeros = "zeros",
        OneNan = "one-nan",
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// one pass: every thread reduces a share, and the last block or thread to finish combines the results
        Direct = "direct",
    }
}

parameters! {
    /// A reduction, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// ⊕: integers wrap; floats are summed in f64; a NaN makes the result NaN, and −0 is less than +0
        operator: Operator = "sum",
        /// type of an element and of the result
        ty as "type": Type = "u32",
        /// elements of x
        elements: u64 [count(1, 1 << 40)],
        /// what is reduced: the elements of x, or the products x[i] · y[i], whose sum is a dot product
        of: Of = "elements",
        /// what the arrays hold: numbers or, for floats only, zeros of both signs, or numbers and one NaN
        contents: Contents = "numbers",
        /// how it is computed
        method: Method = "direct",
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "reduce",
        "the sum, minimum or maximum of the elements of an array, or of the products of two arrays",
        Spec::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let spec = Spec::of_table(params, seed)?;
        params::bytes("elements", &[spec.elements, spec.element()])?;
        if spec.contents != Contents::Numbers && !spec.is_float() {
            return Err(Refusal::NotApplicable(format!("{} has neither −0 nor NaN", spec.ty.name())));
        }
        Ok(spec)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let read = |array: &&str| Access::reads(array, self.element(), self.elements);
        let arrays = if self.products() { &["x", "y"][..] } else { &["x"] };
        Work::once(self.elements, arrays.iter().map(read))
    }

    /// Combines one term after another, as in the definition.
    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_length(output, self.element())?;
        let expected = self.joined((0..self.elements).map(|i| self.term(i)));
        let found = oracle::words(output, self.element()).next().unwrap_or_default();
        self.mistake(found, expected).map_or(Ok(()), Err)
    }
}

impl Spec {
    /// Bytes per element.
    pub fn element(&self) -> u64 {
        if matches!(self.ty, Type::U64 | Type::F64) { 8 } else { 4 }
    }

    /// True if elements are floats.
    pub fn is_float(&self) -> bool {
        matches!(self.ty, Type::F32 | Type::F64)
    }

    /// True if the products of two arrays are reduced.
    pub fn products(&self) -> bool {
        self.of == Of::Products
    }

    /// True if words are sums in f64.
    pub fn in_f64(&self) -> bool {
        self.is_float() && self.operator == Operator::Sum
    }

    /// The position of the element that is the minimum, maximum or NaN: depending on the seed, the last one or
    /// the middle one.
    pub fn planted(&self) -> u64 {
        if self.seed.is_multiple_of(2) { self.elements.saturating_sub(1) } else { self.elements / 2 }
    }

    /// The bits of element `i` of x, or of y; the twin of `element_of` in `kernels/reduce/reduce.cu`. With w =
    /// word64(seed, i), integers are w | 1, for a maximum multiples of 4; floats are ±[1/2, 1) with 23 bits of
    /// w. The planted element, and the one behind the last, which only a deliberate mistake reads, lie beyond
    /// all others.
    pub fn bits(&self, second: bool, i: u64) -> u64 {
        let w = word64(self.seed.wrapping_add(second.into()), i);
        let sign = if w & 1 == 0 { 1.0 } else { -1.0 };
        let beyond = if i == self.elements { 2 } else { u64::from(i == self.planted()) };
        let special = beyond == 2 || beyond == 1 && self.operator != Operator::Sum;
        let (far, shift) = (1.25 + 0.25 * beyond as f64, 64 - 8 * self.element());
        match (self.contents, self.operator) {
            (Contents::OneNan, _) if beyond == 1 => self.float_bits(f64::NAN),
            (Contents::Zeros, _) if !second => self.float_bits(sign * 0.0),
            (Contents::Zeros, _) => self.one(),
            _ if special && second => self.one(),
            (_, Operator::Sum) if special => 0,
            (_, Operator::Min) if special && self.is_float() => self.float_bits(-far),
            (_, Operator::Min) if special => 2 - beyond,
            (_, Operator::Max) if special && self.is_float() => self.float_bits(far),
            (_, Operator::Max) if special => (u64::MAX >> shift) - 2 + beyond,
            _ if self.is_float() => self.float_bits(sign * ((1 << 23) + (w >> 41)) as f64 / (1 << 24) as f64),
            (_, Operator::Max) => w >> shift & !3,
            _ => w >> shift | 1,
        }
    }

    fn one(&self) -> u64 {
        if self.is_float() { self.float_bits(1.0) } else { 1 }
    }

    fn float_bits(&self, value: f64) -> u64 {
        if self.ty == Type::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }

    fn value(&self, bits: u64) -> f64 {
        if self.ty == Type::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
    }

    /// Term `i` as a word.
    pub fn term(&self, i: u64) -> u64 {
        let (x, y) = (self.bits(false, i), if self.products() { self.bits(true, i) } else { self.one() });
        match self.ty {
            Type::U32 => u64::from((x as u32).wrapping_mul(y as u32)),
            Type::U64 => x.wrapping_mul(y),
            Type::F32 | Type::F64 => self.word(self.value(x) * self.value(y)),
        }
    }

    /// A float as a word.
    fn word(&self, value: f64) -> u64 {
        let greatest = self.operator == Operator::Max;
        match self.ty {
            _ if self.in_f64() => value.to_bits(),
            Type::F32 => key32(value as f32, greatest).into(),
            _ => key64(value, greatest),
        }
    }

    /// The word of no terms: the identity of the operator.
    pub fn identity(&self) -> u64 {
        match self.operator {
            Operator::Sum => 0,
            Operator::Min if self.is_float() => self.word(f64::INFINITY),
            Operator::Max if self.is_float() => self.word(f64::NEG_INFINITY),
            Operator::Min => u64::MAX >> (64 - 8 * self.element()),
            Operator::Max => 0,
        }
    }

    /// The combination of several words.
    pub fn joined(&self, words: impl IntoIterator<Item = u64>) -> u64 {
        words.into_iter().fold(self.identity(), |all, word| self.join(all, word))
    }

    /// The combination of two words.
    pub fn join(&self, a: u64, b: u64) -> u64 {
        match (self.operator, self.ty) {
            (Operator::Min, _) => a.min(b),
            (Operator::Max, _) => a.max(b),
            (Operator::Sum, Type::U32) => (a as u32).wrapping_add(b as u32).into(),
            (Operator::Sum, Type::U64) => a.wrapping_add(b),
            (Operator::Sum, _) => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        }
    }

    /// The bits of the result that a word represents.
    pub fn result(&self, word: u64) -> u64 {
        match self.ty {
            Type::U32 | Type::U64 => word,
            _ if self.in_f64() => self.float_bits(f64::from_bits(word)),
            Type::F32 => of_key32(word as u32).to_bits().into(),
            Type::F64 => of_key64(word).to_bits(),
        }
    }

    /// The maximum difference between two f64 sums of the same terms in any order. Signs are random, so that no sum of k terms
    /// below 1 exceeds 8·√k. Elements are multiples of 2^-24, so that the sums of all that there may be, 2^40, are exact. Each of n
    /// additions of products loses at most 2^-53 of a partial sum, and these errors, of either sign, sum up to no more than
    /// 8·√n of the largest: 64·n·2^-53 (Higham and Mary: A new approach to probabilistic rounding error analysis, SIAM J. Sci.
    /// Comput. 41, 2019, §2), or, of fewer than 64 terms, n²·2^-53. Both sums have that error.
    pub fn bound(&self) -> f64 {
        let (n, exact) = (self.elements as f64, !self.products() || self.contents == Contents::Zeros);
        if exact { 0.0 } else { 2.0 * n.min(64.0) * n * 2f64.powi(-53) }
    }

    /// The largest error that the certificate lets pass, relative to the sum of the terms' magnitudes, which is at least n/4, and of
    /// f32 also to the result.
    pub fn tolerance(&self) -> f64 {
        match self.in_f64() && self.bound() > 0.0 {
            false => 0.0,
            true => self.bound() / (self.elements as f64 / 4.0) + self.last_rounding(),
        }
    }

    /// The relative difference of two neighbours of the type, if sums are rounded to it.
    fn last_rounding(&self) -> f64 {
        if self.ty == Type::F32 { 2f64.powi(-23) } else { 0.0 }
    }

    /// Describes the difference between a result's bits and the expected word.
    pub fn mistake(&self, found: u64, expected: u64) -> Option<String> {
        if !self.is_float() {
            return (found != expected).then(|| format!("the result is {found} instead of {expected}"));
        }
        let wanted = self.result(expected);
        let (value, right) = (self.value(found), self.value(wanted));
        let rounding = right.abs() * self.last_rounding();
        let within = self.in_f64() && self.bound() > 0.0 && (value - right).abs() <= self.bound() + rounding;
        let same = found == wanted || within || (value.is_nan() && right.is_nan());
        (!same).then(|| format!("the result is {value:e} instead of {right:e}"))
    }
}

macro_rules! keys {
    ($($key:ident, $of_key:ident: $float:ident as $bits:ident;)*) => { $(
        /// A float as an integer with the same order among unsigned integers; −0 is below +0. NaN is beyond all
        /// other values: above them if the `greatest` is sought, else below.
        #[inline(always)]
        pub fn $key(value: $float, greatest: bool) -> $bits {
            let (bits, sign) = (value.to_bits(), 1 << ($bits::BITS - 1));
            let key = bits ^ ((bits.cast_signed() >> ($bits::BITS - 1)).cast_unsigned() | sign);
            if value.is_nan() { if greatest { $bits::MAX } else { 0 } } else { key }
        }

        fn $of_key(key: $bits) -> $float {
            let sign = 1 << ($bits::BITS - 1);
            $float::from_bits(if key & sign == 0 { !key } else { key ^ sign })
        }
    )* };
}

keys! {
    key32, of_key32: f32 as u32;
    key64, of_key64: f64 as u64;
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;
    use proptest::prelude::*;

    fn spec(words: &str) -> Spec {
        Spec::read("reduce", &params(words), 7).expect("a case")
    }

    /// Evaluates the definition in the type itself, without the words that implementations combine.
    #[test]
    fn words_come_to_what_the_definition_says() {
        for n in [0, 1, 2, 33, 1000] {
            let of = |words: &str| spec(&format!("elements={n} {words}"));
            let sum = of("type=u32 of=products");
            let terms = (0..n).map(|i| (sum.bits(false, i) as u32).wrapping_mul(sum.bits(true, i) as u32));
            let right = terms.fold(0, u32::wrapping_add).to_le_bytes();
            assert_eq!(sum.check(&right), Ok(()), "{n}");
            assert!(sum.check(&right.map(|byte| !byte)).is_err());
            let min = of("type=f64 operator=min contents=zeros");
            let negative = (0..n).any(|i| f64::from_bits(min.bits(false, i)).is_sign_negative());
            let least = if n == 0 { f64::INFINITY } else { 0f64.copysign(if negative { -1.0 } else { 1.0 }) };
            assert_eq!(min.check(&least.to_le_bytes()), Ok(()), "{n}");
            assert!(min.check(&(-least).to_le_bytes()).is_err());
        }
    }

    #[test]
    fn one_nan_is_the_result_and_a_sum_of_zeros_is_plus_zero() {
        for operator in ["sum", "min", "max"] {
            let nan = spec(&format!("elements=9 type=f32 operator={operator} contents=one-nan"));
            assert_eq!(nan.check(&f32::NAN.to_le_bytes()), Ok(()));
            assert!(nan.check(&1f32.to_le_bytes()).is_err(), "{operator}");
        }
        let zeros = spec("elements=9 type=f64 contents=zeros");
        assert_eq!(zeros.check(&0f64.to_le_bytes()), Ok(()));
        assert!(zeros.check(&(-0f64).to_le_bytes()).is_err());
        assert!(Spec::read("reduce", &params("elements=9 contents=one-nan"), 1).is_err());
    }

    /// A dot product may deviate by the bound, but may not omit an element.
    #[test]
    fn a_sum_of_floats_allows_for_its_rounding_alone() {
        let dot = spec("elements=65537 type=f64 of=products");
        assert!(dot.bound() > 0.0 && dot.bound() < 1e-6);
        let right = (0..65537).fold(0.0, |sum, i| sum + f64::from_bits(dot.term(i)));
        assert_eq!(dot.check(&(right + 0.9 * dot.bound()).to_le_bytes()), Ok(()));
        assert!(dot.check(&(right + f64::from_bits(dot.term(5))).to_le_bytes()).is_err());
        assert_eq!(spec("elements=65537 type=f32").bound(), 0.0);
        assert_eq!(spec("elements=65537 type=f64 of=products contents=zeros").bound(), 0.0, "+0 alone");
    }

    /// Of a thousand million terms none may be missing, the smallest product included, in whatever order they are added.
    #[test]
    fn a_missing_term_of_many_shows() {
        let dot = spec(&format!("elements={} type=f64 of=products", 1u64 << 30));
        assert!(2.0 * dot.bound() < 0.25, "{}", dot.bound());
        assert_eq!(spec(&format!("elements={} type=f64", 1u64 << 30)).bound(), 0.0);
        let some = spec("elements=4194304 type=f64 of=products");
        let terms: Vec<f64> = (0..some.elements).map(|i| f64::from_bits(some.term(i))).collect();
        let exact =
            terms.iter().map(|term| (term * 2f64.powi(48)) as i128).sum::<i128>() as f64 / 2f64.powi(48);
        let lanes: f64 = (0..64).map(|lane| terms.iter().skip(lane).step_by(64).sum::<f64>()).sum();
        for sum in [terms.iter().sum(), terms.iter().rev().sum(), lanes] {
            assert!((sum - exact).abs() <= 0.5 * some.bound(), "{sum} {exact}");
        }
    }

    /// In every type and number of terms: what adds up exactly is right to the last bit, a dot product to its rounding, and neither a
    /// missing term nor one that counts twice is as little as that.
    #[test]
    fn sums_are_right_to_what_their_type_holds() {
        for words in [
            "elements=1048576 type=f32",
            "elements=1048577 type=f64",
            "elements=3 type=f64",
            "elements=1048576 type=f32 of=products",
            "elements=1048575 type=f64 of=products",
            "elements=2 type=f64 of=products",
        ] {
            let some = spec(words);
            let terms: Vec<f64> = (0..some.elements).map(|i| f64::from_bits(some.term(i))).collect();
            let exact =
                terms.iter().map(|term| (term * 2f64.powi(48)) as i128).sum::<i128>() as f64 / 2f64.powi(48);
            let said = |sum: f64| match some.ty {
                Type::F32 => some.check(&(sum as f32).to_le_bytes()),
                _ => some.check(&sum.to_le_bytes()),
            };
            for sum in [exact, terms.iter().sum(), terms.iter().rev().sum()] {
                assert_eq!(said(sum), Ok(()), "{words}");
            }
            let least = terms.iter().copied().fold(1.0, |least: f64, term| least.min(term.abs()));
            let last = terms[terms.len() - 1];
            // Four times what the type or the order of the terms decides.
            let close = if some.ty == Type::F32 { exact.abs() * 2f64.powi(-21) } else { 1e-6 };
            for wrong in [exact - last, exact + last, exact + least, exact + close, f64::NAN, f64::INFINITY] {
                assert!(said(wrong).is_err(), "{words}: {wrong:e} instead of {exact:e}");
            }
        }
    }

    proptest! {
        #[test]
        fn keys_are_in_the_order_of_numbers(a: f64, b: f64, greatest: bool) {
            let (x, y) = (key64(a, greatest), key64(b, greatest));
            prop_assert_eq!(x.cmp(&y), a.total_cmp(&b));
            prop_assert_eq!(of_key64(x).to_bits(), a.to_bits());
            let (a, b) = (a as f32, b as f32);
            prop_assert_eq!(key32(a, greatest).cmp(&key32(b, greatest)), a.total_cmp(&b));
            prop_assert_eq!(of_key32(key32(a, greatest)).to_bits(), a.to_bits());
        }
    }
}

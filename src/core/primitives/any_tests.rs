//! No parameters make a case panic, and the sizes of an accepted case are consistent.

use super::{Primitive, registry};
use crate::case::schema::{Kind, Param, ParamDefault, Variant};
use crate::case::{Fault, Params, Value};
use crate::inputs::mix::word64;
use proptest::prelude::*;

/// Random parameters that follow the schema, occasionally invalid.
struct Draw {
    seed: u64,
    drawn: u64,
    params: Params,
}

impl Draw {
    fn word(&mut self) -> u64 {
        self.drawn += 1;
        word64(self.seed, self.drawn)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let at = self.word() as usize % of.len().max(1);
        of.get(at).copied()
    }

    /// Small numbers are as likely as large ones.
    fn number(&mut self) -> u64 {
        let bits = self.word() % 64;
        self.word() >> bits
    }

    fn word_of(&mut self, words: &[&str]) -> Value {
        let word = if self.word().is_multiple_of(32) { None } else { self.one_of(words) };
        Value::Text(word.unwrap_or("none").to_owned())
    }

    /// The bracketed parameters of the chosen variant, such as `method.multipass.passes`.
    fn variant(&mut self, key: &str, variants: &[Variant]) -> Value {
        let chosen = self.word_of(&variants.iter().map(|variant| variant.name).collect::<Vec<_>>());
        for variant in variants.iter().filter(|variant| Value::Text(variant.name.to_owned()) == chosen) {
            self.all(&format!("{key}.{}.", variant.name), variant.params);
        }
        chosen
    }

    fn value(&mut self, key: &str, kind: &Kind) -> Value {
        match kind {
            Kind::Bytes { accepted, .. } if !accepted.is_empty() => {
                let size = self.one_of(accepted).unwrap_or(0);
                Value::Int(size + u64::from(self.word().is_multiple_of(32)))
            }
            Kind::CountOr { words, .. } if self.word().is_multiple_of(2) => self.word_of(words),
            Kind::Count { .. } | Kind::CountOr { .. } | Kind::Bytes { .. } => Value::Int(self.number()),
            Kind::Float { min, max } => {
                Value::Float(self.one_of(&[*min, *max, 0.5, 1.25, f64::NAN]).unwrap_or(0.0))
            }
            Kind::Word(words) => self.word_of(words),
            Kind::Choice(variants) | Kind::Inline(variants) => self.variant(key, variants),
            Kind::Indices { .. } => {
                let length = self.word() % 6;
                Value::Indices((0..length).map(|_| self.number()).collect::<Vec<u64>>().into())
            }
            Kind::Text => Value::Text("file".to_owned()),
        }
    }

    fn all(&mut self, before: &str, params: &[Param]) {
        for param in params {
            if matches!(param.default, ParamDefault::Required) || !self.word().is_multiple_of(4) {
                let key = format!("{before}{}", param.name);
                let value = self.value(&key, &param.kind);
                self.params = std::mem::take(&mut self.params).with(&key, value);
            }
        }
    }
}

/// Random parameters of a primitive.
fn drawn(primitive: &Primitive, seed: u64) -> Params {
    let mut draw = Draw { seed, drawn: 0, params: Params::default() };
    let backend = draw.one_of(&["scalar", "cpu", "cuda"]).unwrap_or("cpu");
    draw.all("", primitive.params());
    draw.params.with("backend", Value::Text(backend.to_owned()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_parameters_make_a_case_panic(seed: u64) {
        for primitive in registry() {
            let params = drawn(primitive, seed);
            let Ok(case) = primitive.case(&params, seed) else { continue };
            let (work, what) = (case.work(), format!("{} {params:?}", primitive.name()));
            prop_assert!(work.declared_bytes() >= work.effective_bytes, "{what}");
            prop_assert!(work.system_bytes >= work.effective_bytes, "{what}");
            prop_assert!(work.passes.len() <= 64, "{what}");
            let accesses = || work.passes.iter().flat_map(|pass| &pass.accesses);
            prop_assert!(accesses().all(|access| access.count == 0 || access.footprint > 0), "{what}");
            let _ = (case.block_costs().is_ok(), case.blocks(), Fault::ALL.map(|fault| case.unjudged(fault)));
        }
    }
}

/// Ensures that the test above tries each method. Random parameters of a pattern are hardly ever consistent, so
/// pattern has a test of its own.
#[test]
fn every_method_is_drawn() {
    for primitive in registry().iter().filter(|primitive| primitive.name() != "pattern") {
        let mut methods = primitive.methods();
        for params in (0..20_000).map(|seed| drawn(primitive, seed)) {
            if primitive.case(&params, 1).is_ok() {
                methods.retain(|method| params.text("method").is_some_and(|drawn| drawn != *method));
            }
        }
        assert!(methods.is_empty(), "{}: never {methods:?}", primitive.name());
    }
}

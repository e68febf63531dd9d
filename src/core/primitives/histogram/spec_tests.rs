use super::super::oracle::bin;
use super::super::tests::{params, spec};
use super::*;
use crate::primitives::Definition;
use proptest::prelude::*;

fn refusal(words: &str) -> String {
    Spec::from_params(&params(words), 1).expect_err("refused").to_string()
}

#[test]
fn what_does_not_exist_is_refused_at_its_key() {
    assert!(refusal("elements=4 bins=1").starts_with("bins: "));
    assert!(refusal("elements=4 bins=4097").starts_with("bins: "));
    assert!(refusal("elements=4611686018427387904 bins=2").starts_with("elements: "));
    assert!(
        refusal("elements=4 bins=2 distribution=zipf").starts_with("distribution.zipf.exponent: is missing")
    );
    assert!(refusal("elements=4 bins=257 method=ballot backend=cuda").starts_with("n/a: "));
    assert!(refusal("elements=4 bins=2 method=ballot backend=cpu").starts_with("n/a: ballots"));
    let items = params("elements=4 bins=2 backend=cuda backend.cuda.items=2");
    assert!(Spec::tunables("histogram", &items).is_err_and(|refused| refused.to_string().contains("items")));
}

#[test]
fn splitters_ascend_within_the_domain() {
    for words in ["bins=2", "bins=3", "bins=4096", "bins=4096 by=range", "bins=2 by=range"] {
        let spec = spec(&format!("elements=1 {words}"));
        let splitters = spec.splitters();
        assert_eq!(splitters.len() as u64, spec.bins - 1);
        assert!(splitters.is_sorted() && splitters.iter().all(|s| (1..1 << BITS).contains(s)), "{words}");
    }
}

proptest! {
    /// Comparing f32 values with the bounds agrees with the integer definition, also next to the bounds.
    #[test]
    fn bounds_are_the_bins(bins in 2u64..=4096, range: bool, at in 0usize..4095, beside in 0u32..3) {
        let spec = spec(&format!("elements=1 bins={bins} by={}", if range { "range" } else { "even" }));
        let (splitters, bounds) = (spec.splitters(), spec.bounds());
        let k = (splitters[at % splitters.len()] + beside).saturating_sub(1).min((1 << BITS) - 1);
        let above = bounds.iter().filter(|&&bound| bound <= real(k)).count();
        prop_assert_eq!(above, bin(&spec, &splitters, k));
    }

    /// The truncated product of a value and m / 1024, which the kernels compute, is the bin.
    #[test]
    fn an_exact_product_is_the_bin(bins in 2u64..=4096, k in 0u32..1 << BITS) {
        let spec = spec(&format!("elements=1 bins={bins}"));
        let product = f64::from(real(k)) * (bins as f64 / f64::from(DOMAIN));
        prop_assert_eq!(product as usize, bin(&spec, &[], k));
    }
}

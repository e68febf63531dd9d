use super::*;
use crate::case::Value;
use proptest::prelude::*;

fn text(v: &str) -> Value {
    Value::Text(v.to_owned())
}

fn base(tuples: u64) -> Params {
    Params::default().with("tuples", Value::Int(tuples))
}

fn refusal(kernel: Kernel, params: &Params) -> String {
    Spec::from_params(kernel, params, 1).expect_err("refused").to_string()
}

#[test]
fn defaults() {
    let s = Spec::from_params(Kernel::Gather, &base(100), 1).unwrap();
    let wanted = (Method::Direct, 8, 4, Locations::Random, 1);
    assert_eq!((s.method, s.tuple, s.index, s.locations, s.words()), wanted);
}

#[test]
fn methods_and_locations() {
    let p = base(100)
        .with("method", text("segmented"))
        .with("method.segmented.segments", Value::Int(4))
        .with("method.segmented.passes", Value::Int(3))
        .with("locations", text("partitions"))
        .with("locations.partitions.count", Value::Int(7));
    let s = Spec::from_params(Kernel::Scatter, &p, 1).unwrap();
    assert_eq!(s.method, Method::Segmented { segments: 4, passes: 3 });
    assert_eq!(s.locations, Locations::Partitions { count: 7 });
    assert_eq!(s.source().unwrap().location(3), None);
    let zipf = base(100).with("locations", text("zipf")).with("locations.zipf.exponent", Value::Float(1.1));
    let s = Spec::from_params(Kernel::Gather, &zipf, 1).unwrap();
    assert!(s.source().unwrap().location(3).unwrap() < 100);
    assert!(refusal(Kernel::Scatter, &zipf).starts_with("n/a"));
}

#[test]
fn what_does_not_exist_is_not_applicable() {
    let streaming = base(100).with("method", text("streaming"));
    assert!(Spec::from_params(Kernel::Gather, &streaming, 1).is_ok());
    assert!(refusal(Kernel::Scatter, &streaming).starts_with("n/a"));
    assert!(refusal(Kernel::Gather, &streaming.with("backend", text("cuda"))).starts_with("n/a"));
    let avx2 = base(100).with("backend.cpu.isa", text("avx2"));
    assert!(Spec::from_params(Kernel::Gather, &avx2, 1).is_ok());
    assert_eq!(refusal(Kernel::Scatter, &avx2), "n/a: AVX2 has no scatter instruction");
}

#[test]
fn what_cannot_be_is_refused_at_its_key() {
    let multipass = |passes| {
        base(8).with("method", text("multipass")).with("method.multipass.passes", Value::Int(passes))
    };
    assert!(Spec::from_params(Kernel::Scatter, &multipass(8), 1).is_ok());
    assert!(refusal(Kernel::Scatter, &multipass(9)).starts_with("method.multipass.passes"));
    assert!(refusal(Kernel::Scatter, &multipass(0)).starts_with("method.multipass.passes"));
    assert!(refusal(Kernel::Gather, &base((1 << 32) + 1)).starts_with("index"));
    assert!(refusal(Kernel::Gather, &base(u64::MAX)).starts_with("tuples"));
    let wide = base((1 << 32) + 1).with("index", Value::Int(8));
    assert!(Spec::from_params(Kernel::Gather, &wide, 1).is_ok());
    assert!(refusal(Kernel::Gather, &wide.with("tuple", Value::Int(4))).starts_with("tuple"));
    assert!(refusal(Kernel::Gather, &base(8).with("tuple", Value::Int(12))).starts_with("tuple"));
    assert!(refusal(Kernel::Gather, &base(8).with("method", text("magic"))).starts_with("method"));
    let partitions =
        base(8).with("locations", text("partitions")).with("locations.partitions.count", Value::Int(9));
    assert!(refusal(Kernel::Gather, &partitions).starts_with("locations.partitions.count"));
}

proptest! {
    #[test]
    fn words_decode(seed: u64, i in 0u64..1 << 32, w in 0u64..4) {
        for tuple in [4u64, 8, 16, 32] {
            let w = w % tuple.div_ceil(8);
            prop_assert_eq!(index_of_tuple_word(seed, tuple, tuple_word(seed, tuple, i, w)), (i, w));
        }
    }
}

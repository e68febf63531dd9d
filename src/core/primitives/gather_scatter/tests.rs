use super::*;
use crate::case::Direction;
use crate::case::work::{Order, Pass};
use crate::inputs::partitions;
use crate::primitives::words;
use proptest::prelude::*;

/// The case with the parameters in `words`.
pub(super) fn spec(kernel: Kernel, words: &str) -> Spec {
    Spec::from_params(kernel, &words::params(words), 9).expect("a case")
}

fn params(tuples: u64, tuple: u64, locations: &str) -> Params {
    Params::default()
        .with("tuples", Value::Int(tuples))
        .with("tuple", Value::Int(tuple))
        .with("locations", Value::Text(locations.into()))
        .with("locations.partitions.count", Value::Int(3))
        .with("locations.zipf.exponent", Value::Float(1.0))
}

fn tuple(spec: &Spec, i: u64) -> Vec<u8> {
    let words = (0..spec.words()).flat_map(|w| tuple_word(spec.seed, spec.tuple, i, w).to_le_bytes());
    words.take(spec.tuple as usize).collect()
}

/// R_out computed from closed forms and inverses, which the oracle does not use.
fn computed(spec: &Spec) -> Vec<u8> {
    let source = spec.source().unwrap();
    let stored = partitions::locations(spec.seed, spec.tuples, 3);
    let place = |i| source.location(i).unwrap_or(stored[i as usize]);
    let inverse = |j| {
        source.inverse(j).unwrap_or_else(|| (0..spec.tuples).find(|&i| place(i) == j).expect("a permutation"))
    };
    (0..spec.tuples)
        .flat_map(|at| tuple(spec, if spec.kernel == Kernel::Gather { place(at) } else { inverse(at) }))
        .collect()
}

#[test]
fn the_oracle_accepts_the_definition_and_nothing_else() {
    for kernel in [Kernel::Gather, Kernel::Scatter] {
        for locations in ["sequential", "random", "partitions", "zipf"] {
            for size in [4, 8, 16, 32] {
                let p = params(37, size, locations);
                let Ok(spec) = Spec::from_params(kernel, &p, 9) else {
                    assert_eq!((kernel, locations), (Kernel::Scatter, "zipf"));
                    continue;
                };
                let mut out = computed(&spec);
                assert_eq!(spec.check(&out), Ok(()), "{locations} {size}");
                let last = out.len() - 1;
                out[last] ^= 1;
                let mistake = spec.check(&out).unwrap_err();
                assert!(mistake.starts_with("tuple 36"), "{mistake}");
                assert!(spec.check(&out[1..]).is_err());
            }
        }
    }
}

/// If several tuples go to one place, each word there may come from a different tuple; places that receive none
/// keep their poison.
#[test]
fn the_oracle_knows_what_a_scatter_through_a_list_may_leave() {
    let list = [3u64, 1, 3, 0];
    let p = Params::default()
        .with("tuple", Value::Int(16))
        .with("locations", Value::Text("list".into()))
        .with("locations.list.indices", Value::Indices(list.to_vec().into()));
    let spec = Spec::from_params(Kernel::Scatter, &p, 9).unwrap();
    let words = |i, w| tuple_word(9, 16, i, w).to_le_bytes();
    let poison = 0xDEAD_BEEF_DEAD_BEEFu64.to_le_bytes();
    let out = |third: [[u8; 8]; 2], fourth: [[u8; 8]; 2]| {
        [words(3, 0), words(3, 1), words(1, 0), words(1, 1), third[0], third[1], fourth[0], fourth[1]]
            .concat()
    };
    let check = |output: Vec<u8>| spec.check(&output);
    assert_eq!((spec.input(), spec.output()), (4, 4));
    for fourth in [[words(0, 0), words(0, 1)], [words(2, 0), words(2, 1)], [words(0, 0), words(2, 1)]] {
        assert_eq!(check(out([poison, poison], fourth)), Ok(()));
    }
    assert!(check(out([poison, poison], [words(1, 0), words(0, 1)])).is_err());
    assert!(check(out([poison, poison], [words(0, 1), words(0, 0)])).is_err());
    assert!(check(out([poison, words(0, 1)], [words(0, 0), words(0, 1)])).is_err());
    assert!(check(out([poison, poison], [poison, poison])).is_err());
    let gathered: Vec<u8> = list.iter().flat_map(|&l| [words(l, 0), words(l, 1)].concat()).collect();
    assert_eq!(Spec::from_params(Kernel::Gather, &p, 9).unwrap().check(&gathered), Ok(()));
}

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

fn of(kernel: Kernel, words: &str) -> Work {
    spec(kernel, words).work()
}

#[test]
fn a_direct_gather_is_eq_10() {
    let w = of(Kernel::Gather, "tuples=100");
    let seen: Vec<_> =
        w.passes[0].accesses.iter().map(|a| (a.array.as_str(), a.direction, a.count, a.footprint)).collect();
    let wanted = [
        ("L", Direction::Read, 100, 400),
        ("R_in", Direction::Read, 100, 800),
        ("R_out", Direction::Write, 100, 800),
    ];
    assert_eq!((w.passes.len(), w.passes[0].times, seen.as_slice()), (1, 1, &wanted[..]));
    assert_eq!(w.passes[0].accesses[1].order, Order::Random);
    assert_eq!(w.passes[0].accesses[2].order, Order::Sequential);
    assert_eq!((w.effective_bytes, w.system_bytes, w.footprint), (800, 2000, 2000));
}

#[test]
fn a_multipass_scatter_scans_l_in_every_pass() {
    let w = of(Kernel::Scatter, "tuples=102 method=multipass method.multipass.passes=4");
    let seen: Vec<_> =
        w.passes.iter().map(|p| (p.times, p.accesses[1].count, p.accesses[1].footprint)).collect();
    assert_eq!(seen, [(2, 26, 26 * 8), (2, 25, 26 * 8)]);
    assert_eq!(w.passes[0].accesses[2].order, Order::Strided { stride: 4, run: 1.0 });
    assert_eq!(w.passes[0].accesses[2].footprint, 102 * 8);
    assert_eq!(w.declared_bytes(), 4 * 102 * 4 + 2 * 102 * 8);
}

#[test]
fn partitions_are_shared_among_the_passes() {
    let order = |count: u64| {
        let scheme = "tuples=128 method=multipass method.multipass.passes=4";
        let w =
            of(Kernel::Scatter, &format!("{scheme} locations=partitions locations.partitions.count={count}"));
        (
            w.passes[0].accesses[1].order.clone(),
            w.passes[0].accesses[2].order.clone(),
            w.passes[0].accesses[2].footprint,
        )
    };
    assert_eq!(
        order(32),
        (Order::Partitions { partitions: 8 }, Order::Strided { stride: 4, run: 1.0 }, 1024)
    );
    assert_eq!(order(2), (Order::Partitions { partitions: 1 }, Order::Strided { stride: 2, run: 1.0 }, 512));
}

#[test]
fn the_sides_of_a_given_l_have_their_own_sizes() {
    let user_indices = "locations=file locations.file.length=10 locations.file.largest=99";
    let w = of(Kernel::Gather, &format!("{user_indices} method=multipass method.multipass.passes=4"));
    assert_eq!((w.elements, w.effective_bytes, w.system_bytes), (10, 80, 200));
    assert_eq!((w.footprint, w.scratch), (110 * 8 + 40, 80));
    assert_eq!(w.passes[0].accesses[1].order, Order::Given);
    assert_eq!(w.passes[0].accesses[1].footprint, 200);
    assert_eq!(w.declared_bytes(), 4 * 10 * 4 + 2 * 10 * 8);
    assert_eq!(of(Kernel::Scatter, user_indices).scratch, 80 + 13);
}

#[test]
fn a_partitioned_scatter_counts_partitions_and_confines() {
    let of = |bits: u64, passes: u64, locations: &str| {
        let cut = format!("method.partitioned.bits={bits} method.partitioned.passes={passes}");
        of(Kernel::Scatter, &format!("tuples=1000 method=partitioned {cut} locations={locations}"))
    };
    let seen = |w: &Work| -> Vec<Vec<(String, Order)>> {
        let pass = |p: &Pass| p.accesses.iter().map(|a| (a.array.clone(), a.order.clone())).collect();
        w.passes.iter().map(pass).collect()
    };
    let named = |accesses: &[(&str, &Order)]| -> Vec<(String, Order)> {
        accesses.iter().map(|(array, order)| ((*array).to_owned(), (*order).clone())).collect()
    };
    let one = of(4, 1, "random");
    let streams = |partitions, tile| Order::Staged { partitions, tile };
    let (plain, sixteen) = (Order::Sequential, streams(16, 16 * 64));
    let wanted = [
        named(&[("L", &plain)]),
        named(&[("L", &plain), ("R_in", &plain), ("L'", &sixteen), ("R'", &sixteen)]),
        named(&[("L'", &plain), ("R'", &plain), ("R_out", &Order::Chunks { chunks: 16 })]),
    ];
    assert_eq!(seen(&one), wanted);
    assert_eq!(one.declared_bytes(), 1000 * (4 * 4 + 4 * 8));
    assert_eq!((one.effective_bytes, one.system_bytes, one.footprint), (8000, 20_000, 32_000));
    let two = of(5, 2, "random");
    let ways: Vec<Order> = two.passes.iter().filter_map(|p| Some(p.accesses.get(2)?.order.clone())).collect();
    assert_eq!(ways, [streams(4, 4 * 64), streams(8, 8 * 64), Order::Chunks { chunks: 32 }]);
    assert_eq!(two.declared_bytes(), 1000 * (4 * 7 + 8 * 6));
    assert_eq!(two.footprint, 20_000 + 2 * 12_000);
    let sequential = of(4, 1, "sequential");
    assert!(sequential.passes.iter().flat_map(|p| &p.accesses).all(|a| a.order == Order::Sequential));
}

proptest! {
    /// Every tuple is moved once and L is scanned once per pass, regardless of the number of parts.
    #[test]
    fn the_declared_bytes_add_up(
        tuples in 1u64..5000, segments in 1u64..60, passes in 1u64..60, gather: bool, sequential: bool,
    ) {
        let (segments, passes) = (segments.min(tuples), passes.min(tuples));
        let kernel = if gather { Kernel::Gather } else { Kernel::Scatter };
        let locations = if sequential { "sequential" } else { "random" };
        let scheme = format!("method.segmented.segments={segments} method.segmented.passes={passes}");
        let w = of(kernel, &format!("tuples={tuples} method=segmented {scheme} locations={locations}"));
        prop_assert_eq!(w.declared_bytes(), passes * tuples * 4 + 2 * tuples * 8);
        prop_assert_eq!(w.passes.iter().map(|p| p.times).sum::<u64>(), segments * passes);
    }
}

use super::*;
use crate::case::Value;
use crate::inputs::partitions;
use crate::primitives::words;
use spec::tuple_word;

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

use super::spec::POISON;
use super::*;
use crate::case::Direction;
use crate::inputs::mix::word64;

fn text(v: &str) -> Value {
    Value::Text(v.to_owned())
}

fn custom(params: Params, key: &str, indices: &[u64]) -> Params {
    params
        .with(key, text("custom"))
        .with(&format!("{key}.custom.indices"), Value::Indices(indices.to_vec().into()))
}

fn case(kernel: &str, count: u64, delta: u64) -> Params {
    let p = Params::default().with("kernel", text(kernel)).with("count", Value::Int(count));
    match kernel {
        "gs" => custom(custom(p, "gather", &[0, 3, 1]), "scatter", &[2, 2, 5])
            .with("delta-gather", Value::Int(delta))
            .with("delta-scatter", Value::Int(delta)),
        "multigather" => {
            custom(custom(p, "source", &[4, 0, 9]), "gather", &[2, 2, 0]).with("delta", Value::Int(delta))
        }
        "multiscatter" => {
            custom(custom(p, "source", &[4, 0, 9]), "scatter", &[2, 2, 0]).with("delta", Value::Int(delta))
        }
        _ => custom(p, "source", &[4, 0, 9]).with("delta", Value::Int(delta)),
    }
}

/// Spatter's loops over plain vectors; among a location's writers, the last one wins.
fn computed(spec: &Spec) -> Vec<u64> {
    let p = spec.applied();
    let (length, count) = (spec.length() as usize, spec.count as usize);
    let source: Vec<u64> =
        (0..spec.sparse_words().max(spec.source_words())).map(|k| word64(spec.seed, k)).collect();
    let mut sparse = vec![POISON; spec.sparse_words() as usize];
    let mut dense = Vec::new();
    for i in 0..count {
        for j in 0..length {
            match spec.kernel {
                Kernel::Gather | Kernel::Multigather => {
                    dense.push(source[p[j] as usize + spec.delta as usize * i])
                }
                Kernel::Scatter | Kernel::Multiscatter => {
                    sparse[p[j] as usize + spec.delta as usize * i] =
                        word64(spec.seed, (i * length + j) as u64);
                }
                Kernel::Gs => {
                    sparse[spec.scatter[j] as usize + spec.delta_scatter as usize * i] =
                        source[spec.gather[j] as usize + spec.delta_gather as usize * i];
                }
            }
        }
    }
    if spec.kernel.scatters() { sparse } else { dense }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn work(params: &Params) -> Work {
    Spec::from_params(params, 0).unwrap().work()
}

const KERNELS: [&str; 5] = ["gather", "scatter", "gs", "multigather", "multiscatter"];

#[test]
fn the_oracle_accepts_the_definition_and_nothing_else() {
    for kernel in KERNELS {
        for (count, delta) in [(1, 8), (5, 0), (5, 2), (4, 20)] {
            let p = case(kernel, count, delta);
            let spec = Spec::from_params(&p, 3).unwrap();
            let words = computed(&spec);
            assert_eq!(spec.check(&bytes(&words)), Ok(()), "{kernel} {count} {delta}");
            for at in 0..words.len() {
                let mut wrong = words.clone();
                wrong[at] ^= 1 << 63;
                let mistake = spec.check(&bytes(&wrong)).unwrap_err();
                assert!(mistake.starts_with(&format!("word {at} ")), "{kernel}: {mistake}");
            }
            assert!(spec.check(&bytes(&words[1..])).is_err());
        }
    }
}

#[test]
fn a_scatter_accepts_any_writer_but_needs_one() {
    let p = case("scatter", 5, 0);
    let spec = Spec::from_params(&p, 3).unwrap();
    let mut words = computed(&spec);
    words[4] = word64(3, 2 * 3);
    assert_eq!(spec.check(&bytes(&words)), Ok(()));
    words[4] = word64(3, 2 * 3 + 1);
    assert!(spec.check(&bytes(&words)).is_err(), "that is the writer of word 0");
    words[4] = POISON;
    assert!(spec.check(&bytes(&words)).is_err(), "nobody wrote it");
}

#[test]
fn bytes_are_spatters() {
    let work = |kernel| work(&case(kernel, 10, 8));
    assert_eq!(KERNELS.map(|k| work(k).effective_bytes), [240, 240, 480, 240, 240]);
    assert_eq!(KERNELS.map(|k| work(k).elements), [30; 5]);
    let gather = work("gather");
    assert_eq!(gather.passes[0].accesses[0].footprint, 8 * (9 + 8 * 9 + 1));
    assert_eq!(gather.footprint, 8 * (9 + 8 * 9 + 1) + 8 * 3 + 4 * 3);
}

/// A certificate works in windows, so its scratch memory does not grow with the count.
#[test]
fn the_scratch_is_bounded() {
    let scratch = |kernel, count, delta| work(&case(kernel, count, delta)).scratch;
    assert_eq!((scratch("gather", 10, 8), scratch("multigather", 10, 0)), (240, 240));
    assert_eq!(scratch("gather", 1 << 40, 1), KEPT / 24 * 24);
    assert_eq!(scratch("scatter", 1 << 40, 0), MADE / 24 * 24 + 8);
    assert_eq!(scratch("gs", 1 << 20, 1), 2 * 8 * ((1u64 << 20) + 5).div_ceil(64));
    let sum = case("gather", 1 << 40, 1).with("method", text("read-only"));
    assert_eq!(work(&sum).scratch, 0);
}

/// Reading the starts of uses is declared, but does not count as bytes.
#[test]
fn starts_are_an_access_that_no_bandwidth_counts() {
    let work = |kernel: &str, more: &[(&str, Value)]| {
        let params = more.iter().fold(case(kernel, 10, 8), |p, (key, value)| p.with(key, value.clone()));
        self::work(&params)
    };
    for (kernel, sides) in [("gather", 1), ("gs", 2)] {
        let (plain, shuffled) = (work(kernel, &[]), work(kernel, &[("visits", text("random"))]));
        assert_eq!(shuffled.effective_bytes, plain.effective_bytes);
        assert_eq!(shuffled.footprint, plain.footprint + 40 * sides);
        assert_eq!(shuffled.declared_bytes(), plain.declared_bytes() + 40 * sides);
    }
    let list = work("scatter", &[("delta", Value::Indices(vec![8, 16].into()))]);
    let order = &list.passes[0].accesses[1].order;
    assert!(
        matches!(order, Order::Visits { deltas, shuffled: false, .. } if deltas == &[8, 16]),
        "{order:?}"
    );
    let walks = |more: Value| {
        let params = case("gather", 3, 8).with("delta", more);
        Spec::from_params(&params, 1).unwrap().walks(100, &|_| Err(String::new())).unwrap().remove(0).indices
    };
    assert_eq!(walks(Value::Indices(vec![1, 20].into())), [4, 0, 9, 5, 1, 10, 25, 21, 30]);
}

#[test]
fn read_only_has_no_dense_side() {
    let p = case("gather", 10, 8).with("method", text("read-only"));
    assert_eq!(work(&p).passes[0].accesses.len(), 1);
}

/// A gather's stores to global memory count as traffic, too.
#[test]
fn stores_to_global_memory_are_system_bytes() {
    let p = case("gather", 10, 8).with("method", text("global")).with("backend", text("cuda"));
    let work = work(&p);
    assert_eq!((work.effective_bytes, work.system_bytes), (8 * work.elements, 16 * work.elements));
    assert_eq!(work.passes[0].accesses[1].direction, Direction::Write);
}

#[test]
fn annotations_say_what_the_pattern_is() {
    let p = Params::default()
        .with("source", text("app"))
        .with("source.app.name", text("LULESH-S1"))
        .with("count", Value::Int(7));
    let wanted = vec![
        ("class", text("stride-24")),
        ("pattern-length", Value::Int(16)),
        ("pattern-delta", Value::Int(8)),
        ("pattern-count", Value::Int(7)),
    ];
    let annotations = |p: &Params| Spec::from_params(p, 1).map(|spec| spec.annotations());
    assert_eq!(annotations(&p), Ok(wanted));
    let list = annotations(&p.with("delta", Value::Indices(vec![8, 16].into()))).unwrap();
    assert!(list.len() == 3 && list.iter().all(|(name, _)| *name != "pattern-delta"), "{list:?}");
    assert!(annotations(&Params::default()).is_err());
}

use super::*;
use crate::primitives::Problem;
use proptest::prelude::*;

fn int(v: u64) -> Value {
    Value::Int(v)
}

fn text(v: &str) -> Value {
    Value::Text(v.to_owned())
}

fn uniform(length: u64, stride: u64) -> Params {
    Params::default()
        .with("source", text("uniform"))
        .with("source.uniform.length", int(length))
        .with("source.uniform.stride", int(stride))
}

fn custom(params: Params, key: &str, indices: &[u64]) -> Params {
    params
        .with(key, text("custom"))
        .with(&format!("{key}.custom.indices"), Value::Indices(indices.to_vec().into()))
}

fn app(name: &str) -> Params {
    Params::default().with("source", text("app")).with("source.app.name", text(name)).with("count", int(10))
}

/// A case with this pattern.
pub(in crate::primitives::pattern) fn spec_of(kernel: &str, pattern: &[u64], delta: u64, count: u64) -> Spec {
    let params = custom(Params::default(), "source", pattern).with("kernel", text(kernel));
    spec(&params.with("delta", int(delta)).with("count", int(count)))
}

fn spec(params: &Params) -> Spec {
    Spec::from_params(params, 1).expect("valid")
}

fn refusal(params: &Params) -> String {
    Spec::from_params(params, 1).expect_err("refused").to_string()
}

#[test]
fn the_letter_of_an_application_chooses_the_kernel() {
    assert_eq!(spec(&app("LULESH-S3")).kernel, Kernel::Scatter);
    assert_eq!(spec(&app("LULESH-G3")).kernel, Kernel::Gather);
    assert_eq!(spec(&app("LULESH-G3").with("kernel", text("scatter"))).kernel, Kernel::Scatter);
    assert!(refusal(&app("LULESH-S9")).contains("source.app.name"));
}

#[test]
fn deltas_default_as_documented() {
    let delta = |params: Params| spec(&params.with("count", int(5))).delta;
    assert_eq!(delta(uniform(8, 4)), 8);
    assert_eq!(delta(uniform(8, 4).with("delta", text("no-reuse"))), 32);
    assert_eq!(delta(uniform(8, 4).with("delta", int(0))), 0);
    assert_eq!(delta(custom(Params::default(), "source", &[3, 9, 1]).with("delta", text("no-reuse"))), 10);
    assert_eq!(delta(app("PENNANT-G6")), 480);
    assert_eq!(delta(app("PENNANT-G6").with("delta", text("default"))), 480);
    let laplacian = Params::default()
        .with("source", text("laplacian"))
        .with("source.laplacian.dimensions", int(2))
        .with("source.laplacian.length", int(2))
        .with("source.laplacian.size", int(100));
    assert_eq!(delta(laplacian), 1);
}

#[test]
fn a_count_is_resolved_from_what_is_given() {
    let no_reuse = uniform(8, 4).with("delta", text("no-reuse"));
    let s = spec(&no_reuse.clone().with("footprint", int(8 * 29 + 8 * 32 * 3 + 7)));
    assert_eq!((s.count, s.sparse_words()), (4, 28 + 32 * 3 + 1));
    assert_eq!(spec(&no_reuse.clone().with("footprint", int(8 * 29))).count, 1);
    assert!(refusal(&no_reuse.clone().with("footprint", int(8 * 29 - 1))).starts_with("footprint"));
    assert_eq!(spec(&no_reuse.clone().with("traffic", int(1000))).count, 15);
    assert!(refusal(&no_reuse.clone().with("traffic", int(63))).starts_with("traffic"));
    assert!(refusal(&no_reuse).starts_with("count"));
    assert!(refusal(&no_reuse.clone().with("count", int(1)).with("traffic", int(1))).starts_with("traffic"));
    assert!(refusal(&no_reuse.with("count", int(0))).starts_with("count"));
    assert!(
        refusal(&uniform(8, 4).with("delta", int(0)).with("footprint", int(1 << 20)))
            .starts_with("footprint")
    );
}

#[test]
fn gs_has_two_sides() {
    let gs = Params::default().with("kernel", text("gs")).with("delta-scatter", int(3));
    let gs = custom(custom(gs, "gather", &[0, 7]), "scatter", &[4, 1]);
    let s = spec(&gs.clone().with("count", int(3)));
    assert_eq!((s.delta_gather, s.delta_scatter), (8, 3));
    assert_eq!((s.source_words(), s.sparse_words(), s.dense_words()), (7 + 16 + 1, 4 + 6 + 1, 0));
    assert_eq!((s.length(), s.bytes_each()), (2, 32));
    assert_eq!(spec(&gs.clone().with("footprint", int(8 * 16))).count, 2);
    assert_eq!(spec(&gs.clone().with("traffic", int(96))).count, 3);
    assert!(refusal(&gs.clone().with("count", int(1)).with("wrap", int(2))).starts_with("wrap"));
    let unequal = custom(gs, "scatter", &[1, 2, 3]).with("count", int(1));
    assert!(refusal(&unequal).starts_with("scatter"));
}

#[test]
fn multi_kernels_index_the_pattern_by_a_pattern() {
    let multi = uniform(4, 10).with("kernel", text("multigather")).with("count", int(2)).with("wrap", int(3));
    let s = spec(&custom(multi.clone(), "gather", &[3, 0, 3]));
    assert_eq!((&*s.applied(), s.length(), s.dense_words()), (&[30, 0, 30][..], 3, 9));
    assert_eq!(s.sparse_words(), 30 + 8 + 1);
    assert!(refusal(&custom(multi.clone(), "gather", &[4])).starts_with("gather"));
    assert!(refusal(&multi).starts_with("gather"));
    assert!(refusal(&custom(multi, "scatter", &[1])).starts_with("gather"));
}

#[test]
fn what_does_not_exist_is_not_applicable() {
    let scatter = uniform(8, 1).with("count", int(4)).with("kernel", text("scatter"));
    assert!(refusal(&scatter.clone().with("method", text("read-only"))).starts_with("n/a"));
    assert!(refusal(&scatter.clone().with("method", text("global"))).starts_with("n/a"));
    let global = uniform(8, 1).with("count", int(4)).with("method", text("global"));
    assert!(spec(&global).global() && spec(&global.clone().with("backend", text("cuda"))).global());
    assert!(refusal(&global.clone().with("backend", text("cpu"))).starts_with("n/a: global requires a GPU"));
    assert_eq!(
        refusal(&scatter.with("backend.cpu.isa", text("avx2"))),
        "n/a: AVX2 has no scatter instruction"
    );
    assert!(
        Spec::from_params(&uniform(8, 1).with("count", int(4)).with("backend.cpu.isa", text("avx2")), 0)
            .is_ok()
    );
}

#[test]
fn a_list_of_deltas_is_repeated() {
    let list = |deltas: &[u64]| uniform(8, 1).with("delta", Value::Indices(deltas.to_vec().into()));
    let five = spec(&list(&[8, 0, 16]).with("count", int(5)));
    let starts: Vec<u64> = (0..5).map(|i| five.starts().at(i)).collect();
    assert_eq!((starts, five.sparse_words()), (vec![0, 8, 8, 24, 32], 7 + 32 + 1));
    assert_eq!((five.base_bytes(), five.bases_bytes()), (4, 20));
    assert_eq!(spec(&list(&[8, 0, 16]).with("footprint", int(8 * 32))).count, 4);
    assert_eq!(spec(&list(&[1 << 32]).with("count", int(2))).base_bytes(), 8);
    assert!(refusal(&list(&[0, 0]).with("footprint", int(1 << 20))).starts_with("footprint"));
    assert!(refusal(&list(&[1 << 45, 1 << 45]).with("count", int(1 << 40))).starts_with("count"));
    let gs = Params::default().with("kernel", text("gs")).with("delta", Value::Indices(vec![8].into()));
    assert!(refusal(&custom(custom(gs, "gather", &[0]), "scatter", &[1])).starts_with("delta: gs takes"));
}

#[test]
fn a_shuffle_keeps_the_sizes() {
    let plain = uniform(8, 1).with("count", int(100));
    let (one, other) = (spec(&plain), spec(&plain.clone().with("visits", text("random"))));
    assert_eq!((one.sparse_words(), one.based()), (other.sparse_words(), false));
    assert!(other.based() && other.starts() != one.starts());
    assert_eq!(spec(&plain.clone().with("visits", text("sequential"))), one);
    assert_eq!(spec(&plain.with("label", text("a name"))), one, "a label computes nothing");
}

#[test]
fn atomic_stores_are_for_gpus_and_fences_for_cpus() {
    let case = |kernel: &str, backend: &str| {
        let p = uniform(8, 1).with("count", int(4)).with("kernel", text(kernel));
        p.with("backend", text(backend))
    };
    let atomic = |p: Params| p.with("method", text("atomic"));
    assert!(spec(&atomic(case("scatter", "cuda"))).atomic());
    assert_eq!(refusal(&atomic(case("scatter", "cpu"))), "n/a: atomic exchanges are for GPUs");
    let gather = "n/a: atomic does not apply to a gather: its stores never conflict";
    assert_eq!(refusal(&atomic(case("gather", "cuda"))), gather);
    let fence = |backend: &str| case("gather", backend).with("fence", text("release"));
    assert!(spec(&fence("cpu")).fenced);
    for elsewhere in ["scalar", "cuda"] {
        assert_eq!(refusal(&fence(elsewhere)), "n/a: a fence orders the stores of CPU threads");
    }
    assert!(!spec(&case("gather", "cuda").with("fence", text("none"))).fenced);
}

#[test]
fn sizes_are_limited() {
    assert!(refusal(&uniform(8, 1).with("count", int(u64::MAX))).starts_with("count"));
    assert!(refusal(&uniform(8, 1 << 40).with("count", int(1))).starts_with("index"));
    let wide = uniform(8, 1 << 40).with("index", int(8)).with("count", int(1));
    assert_eq!(spec(&wide).sparse_words(), 7 * (1 << 40) + 1);
    assert!(refusal(&wide.with("wrap", int(u64::MAX))).starts_with("wrap"));
}

prop_compose! {
    fn any_params()(
        kernel in prop::sample::select(vec!["gather", "scatter", "gs", "multigather", "multiscatter"]),
        source in prop::option::of(prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..6)),
        gather in prop::option::of(prop::collection::vec(0..8u64, 0..6)),
        scatter in prop::option::of(prop::collection::vec(0..8u64, 0..6)),
        numbers in prop::collection::btree_map(
            prop::sample::select(vec!["count", "footprint", "traffic", "delta", "delta-gather", "delta-scatter", "wrap", "index"]),
            any::<u64>().prop_map(|v| v >> (v % 64)), 0..5),
    ) -> Params {
        let mut params = Params::default().with("kernel", text(kernel));
        for (key, list) in [("source", source), ("gather", gather), ("scatter", scatter)] {
            if let Some(list) = list {
                params = custom(params, key, &list);
            }
        }
        numbers.into_iter().fold(params, |p, (key, value)| p.with(key, int(value)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// In addition, an accepted case has consistent sizes.
    #[test]
    fn no_parameters_make_it_panic(params in any_params()) {
        if let Ok(s) = Spec::from_params(&params, 1) {
            prop_assert!(s.sparse_words() <= params::MAX_BYTES / 8);
            prop_assert!(s.source_words() <= params::MAX_BYTES / 8);
            prop_assert!(s.dense_words() <= params::MAX_BYTES / 8);
            let work = s.work();
            prop_assert!(work.effective_bytes >= 8 && work.declared_bytes() >= work.effective_bytes);
            prop_assert!(s.count >= 1 && s.length() >= 1);
            if let Some(footprint) = params.int("footprint") {
                prop_assert!(s.sparse_words() * 8 <= footprint && s.source_words() * 8 <= footprint);
            }
        }
    }
}

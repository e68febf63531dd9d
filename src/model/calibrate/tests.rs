//! Runs the real recipes on invented machines, whose characteristics are known.

use super::*;
use crate::case::{Case, Direction};
use crate::model::{Device, Made, Profile};
use crate::recipe::plan::{self, Overrides};
use crate::{primitives, recipe};

/// A GPU: two caches, lines of 128 bytes, sectors of 32, fetches of 64.
struct Gpu {
    noise: f64,
}

const L1: f64 = 196_608.0;
const L2: f64 = 48e6;
const LAUNCH: f64 = 4e-6;
const MEMORY: f64 = 4.6e12;

impl Gpu {
    /// Cost of an access if `near` is that of the first cache, `far` of the second and `memory` of memory.
    fn mixed(&self, footprint: f64, [near, far, memory]: [f64; 3]) -> f64 {
        let (one, two) = ((L1 / footprint).min(1.0), (L2 / footprint).min(1.0));
        one * near + (two - one) * far + (1.0 - two) * memory
    }

    fn seconds(&self, case: &Case) -> f64 {
        let work = primitives::find(&case.primitive).expect("known").work(&case.params).expect("a case");
        let (n, footprint) = (work.elements as f64, work.footprint as f64);
        let word = |key: &str| case.params.text(key).unwrap_or("").to_owned();
        let int = |key: &str| case.params.int(key).map(|v| v as f64);
        let busy = match (case.primitive.as_str(), word("method").as_str()) {
            ("stream", _) => work.effective_bytes as f64 / MEMORY,
            ("random-access", "chained") => n * self.mixed(footprint, [33e-9, 220e-9, 650e-9]),
            ("random-access", _) => n * self.mixed(footprint, [2e-12, 7e-12, 22e-12]),
            ("gather", _) => int("method.multipass.passes").expect("passes") * (1e-6 + n * 4.0 / 2e12),
            ("pattern", _) if int("backend.cuda.items").is_some() => {
                let blocks = primitives::problem(case).expect("a case").blocks().expect("tiles");
                blocks as f64 * 1e-9 + n * 8.0 / 3e13 + n / 5e12
            }
            ("pattern", method) => match (int("delta"), int("source.uniform.stride")) {
                (Some(1.0), Some(_)) => n * 1e-11,
                (Some(delta), None) => n * (8.0 * delta).min(64.0) / MEMORY,
                (_, Some(stride)) if word("kernel") == "scatter" => n * (8.0 * stride).min(32.0) / 6e12,
                // An answer combines two lines; contiguous words take answers of 128 bytes.
                (_, Some(17.0)) => n * 128.0 / 3e13 / 2.0,
                (_, stride) => {
                    let stored = if method == "direct" { n / 5e12 } else { 0.0 };
                    n * (8.0 * stride.unwrap_or(1.0)).min(128.0) / 3e13 + stored
                }
            },
            other => panic!("{other:?} is not calibrated with"),
        };
        (LAUNCH + busy) * (1.0 + self.noise)
    }
}

/// Two processors with three caches, lines of 64 bytes.
struct Cpus;

const CACHES: [f64; 3] = [32_768.0, 1_048_576.0, 33_554_432.0];

/// Seconds of a move in the first cache; a random access takes three times as long.
const MOVE: f64 = 1e-10;

impl Cpus {
    /// Mean cost of an access, from the cost of each cache and of memory.
    fn mixed(footprint: f64, costs: [f64; 4]) -> f64 {
        let shares = CACHES.map(|size| (size / footprint).min(1.0));
        let [one, two, three] = shares;
        one * costs[0] + (two - one) * costs[1] + (three - two) * costs[2] + (1.0 - three) * costs[3]
    }

    fn seconds(case: &Case) -> f64 {
        let work = primitives::find(&case.primitive).expect("known").work(&case.params).expect("a case");
        let (n, footprint) = (work.elements as f64, work.footprint as f64);
        let threads = if case.backend() == "cpu" { 2.0 } else { 1.0 };
        let word = |key: &str| case.params.text(key).unwrap_or("").to_owned();
        let int = |key: &str| case.params.int(key).map(|v| v as f64);
        let alone = match (case.primitive.as_str(), word("method").as_str()) {
            ("stream", _) => work.effective_bytes as f64 / 2e10,
            ("random-access", "chained") => n * Cpus::mixed(footprint, [1e-9, 4e-9, 15e-9, 120e-9]),
            ("random-access", _) => n * Cpus::mixed(footprint, [3e-10, 6e-10, 1e-9, 1.2e-8]),
            ("gather", "multipass") => {
                int("method.multipass.passes").expect("passes") * (1e-6 + n * 4.0 / 2e10)
            }
            ("gather" | "scatter", _) => match int("locations.partitions.count") {
                Some(partitions) => n * (1e-9 + 1e-12 * partitions),
                None => n * MOVE,
            },
            ("pattern", _) => n * (8.0 * int("source.uniform.stride").expect("a stride")).min(64.0) / 2e10,
            other => panic!("{other:?} is not calibrated with"),
        };
        2e-8 + alone / threads
    }
}

fn measured(target: Target, quick: bool, seconds: impl Fn(&Case) -> f64) -> Vec<Measured> {
    let recipe = recipe::parse("calibration", &target.recipe(quick)).expect("a recipe");
    let plan = plan::resolve(&recipe, &Overrides::default()).expect("a plan");
    let one = |case: &Case| Measured {
        backend: case.backend().to_owned(),
        primitive: case.primitive.clone(),
        params: case.params.clone(),
        work: primitives::work(case, &[]).expect("a case"),
        rounds: vec![seconds(case); 5],
        threads: (case.backend() == "cpu").then_some(2),
    };
    plan.cases.iter().map(one).collect()
}

fn subject() -> Subject {
    let text = |text: &str| text.to_owned();
    Subject {
        name: text("test"),
        source: text("a test"),
        made: Made {
            at: text("2026-11-22 00:00:00"),
            host: text("here"),
            uuid: None,
            version: text("1"),
            revision: text("2"),
            doubtful: None,
        },
        device: Device { name: text("a GPU"), driver: None, memory: Some(1 << 37), processors: Some(132) },
        caches: vec![(text("L1"), None), (text("L2"), Some(60 << 20))],
        line: None,
        page: None,
    }
}

fn profile(noise: f64, quick: bool) -> Profile {
    let gpu = Gpu { noise };
    derive(&subject(), &measured(Target::Gpu(0), quick, |case| gpu.seconds(case))).expect("a profile")
}

fn near(found: f64, wanted: f64, within: f64) {
    assert!((found / wanted - 1.0).abs() < within, "{found} instead of {wanted}");
}

#[test]
fn what_a_gpu_is_made_of_is_found() {
    for quick in [false, true] {
        let profile = profile(0.0, quick);
        let names: Vec<&str> = profile.caches.iter().map(|cache| cache.name.as_str()).collect();
        assert_eq!(names, ["L1", "L2"]);
        near(profile.caches[0].capacity as f64, L1, 0.1);
        near(profile.caches[1].capacity as f64, L2, 0.1);
        assert_eq!(profile.caches.iter().map(|c| (c.line, c.sector)).collect::<Vec<_>>(), [(128, 32); 2]);
        let rates = &profile.rates["cuda"];
        assert_eq!((rates.fetch, rates.group, rates.tile, rates.tlb_reach), (64, 32, Some(2048), None));
        near(rates.launch, LAUNCH, 0.001);
        near(rates.pass.expect("passes"), 1e-6, 0.01);
        near(rates.scan.as_ref().expect("scans").at(1e9), 5e11, 0.01);
        near(rates.read.at(4e9), MEMORY, 0.01);
        near(rates.latency.as_ref().expect("chains").at(8e9), 650e-9, 0.02);
        assert_eq!((rates.random.len(), rates.interleaved.len(), rates.strided.len()), (6, 4, 5));
        assert_eq!(rates.answer_lines, Some(2));
        assert_eq!(
            rates.interleaved.iter().map(|s| s.footprint >> 20).collect::<Vec<_>>(),
            [128, 4096, 128, 4096]
        );
        let stores = rates.strided.last().expect("stores");
        assert_eq!(
            (stores.direction, stores.footprint, stores.rate.points().len()),
            (Direction::Write, 16384, 1)
        );
        near(stores.rate.at(8.0), 5e12, 0.01);
        let starts: Vec<Direction> = rates.blocks.iter().map(|start| start.direction).collect();
        assert_eq!(starts, [Direction::Read, Direction::Write]);
        rates.blocks.iter().for_each(|start| near(start.seconds, 1e-9, 0.05));
        let he2007 = &profile.he2007["cuda"];
        near(he2007.b_seq, MEMORY, 0.1);
        assert_eq!((he2007.block, he2007.transfer, he2007.warp), (64, 32, 32));
        near(he2007.delta, 7e-12, 0.1);
    }
}

#[test]
fn what_processors_are_made_of_is_found() {
    let caches = (1..).zip(CACHES).map(|(level, size)| (format!("L{level}"), Some(size as u64)));
    let subject = Subject { caches: caches.collect(), line: Some(64), page: Some(2 << 20), ..subject() };
    for quick in [false, true] {
        let profile =
            derive(&subject, &measured(Target::Processors, quick, Cpus::seconds)).expect("a profile");
        assert_eq!(profile.caches.len(), 3);
        for (cache, size) in profile.caches.iter().zip(CACHES) {
            near(cache.capacity as f64, size, 0.25);
        }
        let rates = &profile.rates["cpu"];
        assert_eq!((rates.fetch, rates.group, rates.tile, rates.threads), (64, 1, None, Some(2)));
        assert_eq!((rates.random.len(), rates.strided.len(), rates.interleaved.len()), (2, 2, 2));
        near(rates.latency.as_ref().expect("chains").at(4096.0), 1e-9, 0.01);
        assert_eq!(rates.moves.iter().map(|m| m.element).collect::<Vec<_>>(), [4, 8, 16, 4, 8, 16]);
        rates.moves.iter().for_each(|moves| near(moves.rate, 2.0 / MOVE, 0.01));
        // The time to compute places is subtracted from reads; for writes it is hidden.
        near(rates.random[0].rate.at(4096.0), 2.0 / MOVE, 0.01);
        near(rates.random[0].rate.at(65_536.0), 2.0 / (4.5e-10 - 2e-10), 0.01);
        near(rates.random[1].rate.at(4096.0), 2.0 / 3e-10, 0.01);
        assert_eq!(rates.strided[0].rate.points().len(), 10);
        for streams in &rates.interleaved {
            assert_eq!(
                (streams.rate.points().len(), streams.footprint >> 20),
                (4, if quick { 32 } else { 128 })
            );
            near(streams.rate.at(4096.0), 2.0 / 5.096e-9, 0.01);
        }
        assert_eq!(profile.rates["scalar"].threads, Some(1));
    }
}

#[test]
fn a_curve_covers_the_sizes_that_models_ask_for() {
    let rates = &profile(0.0, false).rates["cuda"];
    let span = |points: &[(f64, f64)]| (points[0].0, points[points.len() - 1].0);
    assert_eq!(span(rates.read.points()), (16384.0, f64::from(1u32 << 31) * 2.0));
    assert_eq!(span(rates.copy.points()), (32768.0, f64::from(1u32 << 31) * 4.0));
    assert_eq!(span(rates.random[0].rate.points()), (4096.0, f64::from(1u32 << 31) * 4.0));
    assert_eq!(span(rates.strided[0].rate.points()), (8.0, 8192.0));
    assert_eq!(span(rates.strided[1].rate.points()), (8.0, 256.0));
    assert_eq!(span(rates.interleaved[0].rate.points()), (1.0, 4096.0));
}

#[test]
fn what_is_missing_is_told() {
    let gpu = Gpu { noise: 0.0 };
    let all = measured(Target::Gpu(0), true, |case| gpu.seconds(case));
    let without = |primitive: &str| {
        let rest: Vec<Measured> = all.iter().filter(|m| m.primitive != primitive).cloned().collect();
        derive(&subject(), &rest)
    };
    assert_eq!(without("stream"), Err("cuda: the smallest executions were not measured".to_owned()));
    assert_eq!(without("pattern"), Err("cuda: no stride is slower than another".to_owned()));
    assert!(without("random-access").expect("a profile").caches.is_empty());
    assert_eq!(derive(&subject(), &[]), Err("nothing was measured".to_owned()));
}

#[test]
fn the_recipes_are_recipes() {
    for (target, quick) in
        [Target::Processors, Target::Gpu(3)].into_iter().flat_map(|t| [(t, false), (t, true)])
    {
        let recipe = recipe::parse("calibration", &target.recipe(quick)).expect("a recipe");
        let plan = plan::resolve(&recipe, &Overrides::default()).expect("a plan");
        assert!(plan.cases.iter().all(|case| case.not_applicable.is_none()), "{target:?}");
        let wanted = if target == Target::Processors { 0 } else { 3 };
        assert!(plan.cases.iter().all(|case| case.device() == wanted));
    }
}

#[test]
fn profiles_agree_where_their_figures_do() {
    let (one, other) = (profile(0.0, false), profile(0.02, false));
    let all = differences(&one, &other).expect("figures");
    assert!(all.iter().all(|d| d.share().abs() < 0.03), "{all:?}");
    assert!(all.len() > 150, "{}", all.len());
    assert!(all.iter().any(|d| d.figure == "rates.cuda.launch" && (d.share() - 0.02).abs() < 1e-3));
    let small = "rates.cuda.read at 16384";
    assert!(all.iter().all(|d| d.figure != small), "a stream of one launch is no stream");
    let mut without = other.clone();
    without.caches.pop();
    let all = differences(&one, &without).expect("figures");
    let missing: Vec<&str> = all.iter().filter(|d| d.after.is_none()).map(|d| d.figure.as_str()).collect();
    assert_eq!(missing[0], "caches[L2].capacity");
    let mut without = other.clone();
    let rates = without.rates.get_mut("cuda").expect("rates");
    (rates.scan, rates.interleaved) = (None, Vec::new());
    let lacks = differences(&one, &without).expect("figures");
    let lacks = lacks.iter().filter(|d| d.after.is_none() && d.figure.contains(" at "));
    let lacks: Vec<&str> = lacks.map(|d| d.figure.as_str()).collect();
    assert_eq!(
        lacks,
        [
            "rates.cuda.scan at 262144",
            "rates.cuda.interleaved[read 8 134217728].rate at 1",
            "rates.cuda.interleaved[write 8 134217728].rate at 1",
        ]
    );
    assert!(
        all[0].share().is_finite()
            && differences(&one, &one).expect("figures").iter().all(|d| d.share() == 0.0)
    );
}

#[test]
fn what_was_detected_stands_beside_what_is_stated() {
    let rows = rows(&profile(0.0, false), Some(4.9e12));
    let text: Vec<String> =
        rows.iter().map(|row| format!("{} | {} | {}", row.figure, row.detected, row.stated)).collect();
    insta::assert_snapshot!(text.join("\n"));
}

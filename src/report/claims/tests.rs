//! Claims on hand-made runs, and folders with mistakes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::values::folded;
use super::*;
use crate::engine::protocol::Environment;
use crate::inputs::mix;
use crate::recipe::paper;
use crate::recipe::plan::{Overrides, resolve};
use crate::report::Origin;
use crate::report::judge::tests::Run;
use crate::run::Ledger;
use crate::stats::noise::Flag;

/// A claim with these statements, of sizes 1024, 2048 … of scatters.
fn claim(shape: &[&str], size: &[&str]) -> Claim {
    let list = |all: &[&str]| all.iter().map(|one| format!("'{one}'")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "title: a\nyear: 2020\nplatforms: {{G80: {{device: Other}}}}\nclaims:\n  - {{id: a, at: b, says: c, from: r, \
         printed: {{none: figure}}, platform: G80, shape: [{}], size: [{}]}}\n",
        list(shape),
        list(size)
    );
    paper::parse("it", "it", &text).expect("it parses").claims.remove(0)
}

fn on(run: &Run, claim: &Claim) -> Verdict {
    let rows = of_run(run.side(), 0, false, |_| true);
    judge(claim, &rows, |_| false).expect("it can be asked")
}

fn shape(run: &Run, statements: &[&str]) -> Outcome {
    on(run, &claim(statements, &[])).shape.expect("a shape").outcome
}

const SECOND_IS_SLOWER: &str = "time of tuples=2048 over tuples=1024 > 1";

#[test]
fn a_slow_down_flips_the_outcome() {
    let (fast, slow) = (vec![1.0, 1.01, 0.99], vec![2.0, 2.02, 1.98]);
    assert_eq!(shape(&Run::new(&[fast.clone(), slow.clone()], None), &[SECOND_IS_SLOWER]), Outcome::Holds);
    assert_eq!(shape(&Run::new(&[slow, fast], None), &[SECOND_IS_SLOWER]), Outcome::Fails);
}

#[test]
fn a_busy_neighbour_leaves_it_open() {
    let noisy = Run::new(&[vec![1.3, 2.1, 1.2], vec![1.0, 1.9, 1.1]], None);
    let Outcome::CannotTell(why) = shape(&noisy, &[SECOND_IS_SLOWER]) else { panic!("it is told") };
    assert!(why.contains("holds both"), "{why}");
    let flagged = Run::flagged(&[vec![2.0, 2.01, 2.02], vec![1.0, 1.01, 0.99]], &[Flag::Background]);
    let Outcome::CannotTell(why) = shape(&flagged, &[SECOND_IS_SLOWER]) else { panic!("it is told") };
    assert_eq!(why, "every round of both cases is in doubt");
}

#[test]
fn what_has_too_few_rounds_or_none_is_not_told() {
    let few = Run::new(&[vec![1.0, 1.0], vec![2.0, 2.0]], None);
    let Outcome::CannotTell(why) = shape(&few, &[SECOND_IS_SLOWER]) else { panic!("it is told") };
    assert_eq!(why, "a case has 2 of the 3 rounds that an interval needs");
    let none = Run::new(&[vec![1.0; 3], vec![]], None);
    assert_eq!(shape(&none, &[SECOND_IS_SLOWER]), Outcome::CannotTell("a case was not measured".into()));
    let absent = shape(&none, &["time of tuples=7 over tuples=1024 > 1"]);
    assert_eq!(absent, Outcome::NotApplicable("no case of it is in the run".into()));
}

#[test]
fn one_failure_decides_and_one_success_is_enough_for_some() {
    let run = Run::new(&[vec![1.0, 1.01, 0.99], vec![2.0, 2.02, 1.98], vec![]], None);
    for (statement, outcome) in [
        ("time of tuples<=2048 < 3 s", "holds"),
        ("time of tuples<=4096 < 3 s", "cannot tell"),
        ("time of tuples<=4096 < 1.5 s", "fails"),
        ("some time of tuples<=4096 > 1.5 s", "holds"),
        ("some time of tuples<=2048 > 9 s", "fails"),
        ("some time of tuples<=4096 > 9 s", "cannot tell"),
        // Whatever the third case takes, the greatest time is above that of the second.
        ("greatest time of tuples<=4096 > 1.5 s", "holds"),
        ("greatest time of tuples<=4096 < 9 s", "cannot tell"),
        ("least time of tuples<=4096 < 1.5 s", "holds"),
        ("mean time of tuples<=2048 in 1.4..1.6 s", "holds"),
        ("spread time of tuples<=2048 within 10% of 2", "holds"),
    ] {
        let judged = super::statement(
            &Statement::parse(statement).expect(statement),
            &of_run(run.side(), 0, false, |_| true),
            0.95,
        );
        assert_eq!(judged.expect(statement).outcome.word(), outcome, "{statement}");
    }
    // A failure elsewhere outweighs what cannot be told.
    let both = shape(
        &run,
        &["time of tuples=4096 over tuples=1024 > 1", "time of tuples=2048 over tuples=1024 < 1"],
    );
    assert_eq!(both, Outcome::Fails);
}

/// Whatever is missing in the run: the number is about another machine.
#[test]
fn a_size_with_a_unit_is_of_the_named_machine_alone() {
    for rounds in [vec![1.0; 3], vec![]] {
        let run = Run::new(&[rounds], None);
        let rows = of_run(run.side(), 0, false, |_| true);
        let is_named = |devices: &[String]| devices.iter().all(|device| device == "Other");
        let verdict = judge(&claim(&[], &["time of tuples=1024 < 3 s"]), &rows, is_named);
        let size = verdict.expect("it can be asked").size.expect("a size");
        assert_eq!(size.outcome, Outcome::NotApplicable("a size with a unit, which is about G80".to_owned()));
    }
}

/// A gather of 1 Mi tuples is beside the scatter of 1 Mi, and no other.
#[test]
fn cases_of_two_primitives_are_pairs_where_their_parameters_agree() {
    let text = "title: t\nexperiments:\n- {scatter: {tuples: [1Ki, 2Ki, 4Ki]}, backend: cpu, chart: {x: tuples}}\n\
                - {gather: {tuples: [1Ki, 2Ki, 4Ki]}, backend: cpu, chart: {x: tuples}}\n";
    let recipe = crate::recipe::parse("t", text).expect("a recipe");
    let ledger = Ledger::new(resolve(&recipe, &Overrides::default()).expect("a plan"));
    let environment = Environment::default();
    let origin =
        Origin { plan: ledger.plan(), version: "", date: "", environment: &environment, devices: &[] };
    let rows = of_records(&origin, ledger.records(), ledger.references(), (0, true), |_| true);
    let found = |figure: &str| {
        let statement = Statement::parse(&format!("{figure} > 1")).expect(figure);
        values(&statement.expression, None, &rows, 0.95).expect(figure).all.len()
    };
    assert_eq!(found("time of primitive=scatter over primitive=gather"), 3);
    assert_eq!(found("time of primitive=scatter tuples=1Ki over primitive=gather tuples=2Ki"), 1);
}

#[test]
fn the_best_value_of_an_axis_is_told_only_if_it_is_clearly_faster() {
    let at = |times: [f64; 3]| Run::new(&times.map(|t| vec![t, t * 1.01, t * 0.99]), None);
    let clear = at([2.0, 1.0, 3.0]);
    assert_eq!(shape(&clear, &["best tuples of backend=cpu = 2048"]), Outcome::Holds);
    assert_eq!(shape(&clear, &["best tuples of backend=cpu = 1024"]), Outcome::Fails);
    let close = at([1.0, 1.001, 3.0]);
    assert_eq!(shape(&close, &["best tuples of backend=cpu = 1024"]).word(), "cannot tell");
    // Both of the close ones pass.
    assert_eq!(shape(&close, &["best tuples of backend=cpu <= 2048"]), Outcome::Holds);
}

#[test]
fn steps_are_ratios_to_the_value_before() {
    let halving = Run::new(&[4.0, 2.0, 1.0].map(|t| vec![t, t * 1.01, t * 0.99]), None);
    assert_eq!(shape(&halving, &["steps along tuples of time of backend=cpu halves"]), Outcome::Holds);
    assert_eq!(shape(&halving, &["steps along tuples of time of backend=cpu rises"]), Outcome::Fails);
    assert_eq!(shape(&halving, &["steps along tuples of time of backend=cpu falls"]), Outcome::Holds);
}

#[test]
fn a_crossing_beyond_the_data_is_never_a_failure() {
    let table = |a: &[f64], b: &[f64]| {
        let mut text = "platform,primitive,method,buckets,median_s\n".to_owned();
        for (method, times) in [("a", a), ("b", b)] {
            for (at, time) in times.iter().enumerate() {
                text += &format!("G80,multisplit,{method},{},{time}\n", 2 << at);
            }
        }
        crate::case::published::Table::read("t", &text).expect("a table")
    };
    let judged = |a: &[f64], b: &[f64], test: &str| {
        let rows = of_table(&table(a, b), &["G80".to_owned()]);
        let claim = claim(&[&format!("crossing buckets of method=a over method=b {test}")], &[]);
        judge(&claim, &rows, |_| true).expect("it can be asked").shape.expect("a shape").outcome
    };
    let (falling, rising) = ([1.0, 1.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]);
    assert_eq!(judged(&falling, &rising, "= 8"), Outcome::Holds);
    assert_eq!(judged(&falling, &rising, "<= 4"), Outcome::Fails);
    assert_eq!(judged(&[1.0; 4], &rising, "in 4..64").word(), "cannot tell");
    // It begins with the first value or before.
    assert_eq!(judged(&[3.0; 4], &rising, "in 4..64"), Outcome::Fails);
    assert_eq!(judged(&[3.0; 4], &rising, "<= 4"), Outcome::Holds);
}

#[test]
fn many_comparisons_need_wider_intervals() {
    let pair = [vec![1.0, 1.02, 0.98], vec![1.06, 1.08, 1.04]];
    let one = Run::new(&pair, None);
    assert_eq!(shape(&one, &[SECOND_IS_SLOWER]), Outcome::Holds);
    let statements = vec![SECOND_IS_SLOWER; 40];
    assert_eq!(shape(&one, &statements).word(), "cannot tell");
}

#[test]
fn a_size_with_a_unit_is_about_one_machine() {
    let run = Run::new(&[vec![1.0; 3]], None);
    let size = |named| {
        let rows = of_run(run.side(), 0, false, |_| true);
        judge(&claim(&[], &["time of tuples=1024 = 1 s"]), &rows, |_| named)
            .expect("it")
            .size
            .expect("a size")
            .outcome
    };
    assert_eq!(size(true), Outcome::Holds);
    assert_eq!(size(false).why(), Some("a size with a unit, which is about G80"));
}

#[test]
fn what_is_true_is_refuted_less_often_than_one_time_in_twenty() {
    let mut thrown = 0;
    let mut normal = || {
        let uniform = |k: u64| mix::word64(11, k) as f64 / 2f64.powi(64);
        thrown += 12;
        (thrown - 12..thrown).map(uniform).sum::<f64>() - 6.0
    };
    let trials = 400;
    let claim = claim(
        &["time of tuples>=2048 over tuples=1024 <= 1", "time of tuples=1024 over tuples>=2048 <= 1"],
        &[],
    );
    let refuted = (0..trials).filter(|_| {
        // All cases take the same time, which both statements allow.
        let cases: Vec<Vec<f64>> =
            (0..5).map(|_| (0..4).map(|_| (0.05 * normal()).exp()).collect()).collect();
        on(&Run::new(&cases, None), &claim).shape.expect("a shape").outcome == Outcome::Fails
    });
    let refuted = refuted.count();
    assert!(refuted < trials / 20, "{refuted} of {trials}");
}

fn numbers() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    proptest::collection::vec((0.1..5.0f64, 0.0..2.0f64, 0.0..=1.0f64), 1..6)
}

proptest! {
    #[test]
    fn a_fold_lies_within_its_interval_wherever_its_values_are(
        numbers in numbers(),
        fold in prop::sample::select(vec![Fold::Least, Fold::Greatest, Fold::Mean, Fold::GeometricMean, Fold::HarmonicMean, Fold::Spread]),
        unknown in any::<bool>(),
    ) {
        let value = |typical: f64, low, high| Value { name: String::new(), typical: Some(typical), low, high, why: None };
        let mut intervals: Vec<Value> = numbers.iter().map(|(low, width, at)| value(low + width * at, *low, low + width)).collect();
        if unknown {
            (intervals[0].low, intervals[0].high) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        let exact: Vec<Value> = intervals.iter().filter_map(|one| Some(value(one.typical?, one.typical?, one.typical?))).collect();
        let (whole, point) = (folded(fold, &intervals), folded(fold, &exact).low);
        prop_assert!(whole.low <= point * (1.0 + 1e-12) && point <= whole.high * (1.0 + 1e-12), "{whole:?} {point}");
    }
}

const RECIPE: &str = "title: Sizes\npaper: {key: mine}\ngather:\n  tuples: [1Ki, 2Ki]\n  tuple: 8B\n  index: 4B\n  locations: random\n  \
                      method: direct\nbackend: cpu\nchart: {x: tuples}\n";
const TABLE: &str =
    "platform,primitive,backend,tuples,median_s\nG80,gather,cuda,1024,1\nG80,gather,cuda,2048,2\n";

/// The folder of a paper with this claim.
fn folder(root: &Path, claim: &str) -> anyhow::Result<Folder> {
    let folder = root.join("he2007");
    fs::create_dir_all(folder.join("published"))?;
    fs::write(folder.join("sizes.yaml"), RECIPE.replace("mine", "he2007"))?;
    fs::write(folder.join("published/t.csv"), TABLE)?;
    let head = "title: Mine\nyear: 2020\nplatforms: {G80: }\nclaims:\n";
    fs::write(folder.join("paper.yaml"), format!("{head}  - {{id: a, at: '1', says: b, {claim}}}\n"))?;
    Folder::open(&folder)
}

#[test]
fn a_claim_fits_its_recipe_and_its_table() {
    let root = tempfile::tempdir().expect("a folder");
    let good = "from: sizes, printed: t, shape: [time of tuples=2Ki over tuples=1Ki > 1]";
    let found = folder(root.path(), good).expect("it fits");
    let printed = found.printed(&found.paper.claims[0]).expect("printed");
    assert_eq!((printed.len(), printed[0].1.words().as_str()), (1, "shape holds (2.00)"));
    for (claim, part) in [
        ("from: size, printed: t, shape: [time of tuples=2Ki over tuples=1Ki > 1]", "did you mean `sizes`?"),
        (
            "from: sizes/a, printed: t, shape: [time of tuples=2Ki over tuples=1Ki > 1]",
            "sizes has no experiment `a`; accepted: sizes",
        ),
        (
            "from: sizes, printed: u, shape: [time of tuples=2Ki over tuples=1Ki > 1]",
            "no table published/u.csv; accepted: t",
        ),
        (
            "from: sizes, printed: t, shape: [time of tuples=3Ki over tuples=1Ki > 1]",
            "no case of the recipe matches",
        ),
        (
            "from: sizes, printed: t, shape: [time of tuple-count=2Ki over tuples=1Ki > 1]",
            "unknown column `tuple-count`",
        ),
        (
            "from: sizes, printed: t, shape: [speed of tuples=2Ki over tuples=1Ki > 1]",
            "unknown quantity `speed`",
        ),
        (
            "from: sizes, printed: t, shape: [time of tuples=2Ki over tuples=1Ki < 1]",
            "it fails on its own table (G80: 2.00)",
        ),
        (
            "from: sizes, printed: t, erratum: why, shape: [time of tuples=2Ki over tuples=1Ki > 1]",
            "holds on its own table",
        ),
        (
            "from: sizes, printed: t, except: tuples>=2Ki, shape: [time of tuples=2Ki over tuples=1Ki > 1]",
            "no row of the table",
        ),
    ] {
        let error = folder(root.path(), claim).expect_err(claim).to_string();
        assert!(
            error.contains(part) && error.contains("paper.yaml:5:") && !error.contains('\n'),
            "{claim}: {error}"
        );
    }
    let known = "from: sizes, printed: t, erratum: 'a slip', shape: [time of tuples=2Ki over tuples=1Ki < 1]";
    folder(root.path(), known).expect("an erratum explains it");
}

#[test]
fn the_shipped_papers_fit_their_recipes_and_tables() {
    for paper in paper::shipped() {
        Folder::shipped(paper).unwrap_or_else(|error| panic!("{error:#}"));
    }
}

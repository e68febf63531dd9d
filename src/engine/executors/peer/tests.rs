//! Tests the protocol with `tests/fixtures/peers/plain`, whose behaviour is selected by the number of tuples.

use std::thread;
use std::time::Instant;

use super::*;
use crate::case::{Params, Value};
use crate::recipe::parse;
use crate::recipe::plan::{Overrides, resolve};

/// Long enough for a shell on a busy machine, short enough to wait for a hang in a test.
const SHORT: Duration = Duration::from_secs(2);

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peers")
}

fn executor(patience: Duration) -> PeerExecutor {
    let plain = all(Some(&fixture())).next().expect("a peer");
    PeerExecutor { patience, ..plain }
}

fn case(tuples: u64) -> Case {
    let params = Params::default()
        .with("backend", Value::Text("peer:plain".to_owned()))
        .with("tuples", Value::Int(tuples));
    let primitive = "gather".to_owned();
    Case { id: String::new(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
}

fn prepare(executor: &PeerExecutor, tuples: u64) -> Result<Box<dyn Prepared>, Failure> {
    executor.prepare(&case(tuples), None, &Cancel::default())
}

/// Prepares a case and takes a sample of three executions.
fn sample(executor: &PeerExecutor, tuples: u64) -> Result<f64, Failure> {
    prepare(executor, tuples)?.sample(3)
}

fn pid(executor: &PeerExecutor) -> Option<u32> {
    executor.running.borrow().as_ref().map(Process::id)
}

fn failed(what: &str) -> Result<f64, Failure> {
    Err(Failure::Failed(format!("the peer plain {what}")))
}

#[test]
fn a_program_stays_between_cases_and_tells_what_it_holds() {
    let executor = executor(PATIENCE);
    assert_eq!(sample(&executor, 1), Ok(3e-3));
    let first = pid(&executor).expect("it runs");
    let mut prepared = prepare(&executor, 1).expect("prepared again");
    assert_eq!((prepared.memory(), prepared.sample(1)), (4096, Ok(1e-3)));
    assert!(matches!(prepared.certify(&Cancel::default()), Err(Failure::NotApplicable(_))));
    drop(prepared);
    assert_eq!(sample(&executor, 2), Err(Failure::NotApplicable("two tuples are too few".to_owned())));
    assert_eq!(pid(&executor), Some(first), "a case that it cannot run is no failure");
}

#[test]
fn whatever_it_does_wrong_is_one_line_and_the_next_case_gets_a_fresh_one() {
    let executor = executor(PATIENCE);
    let long = format!("answered `{}", "x".repeat(20));
    for (tuples, what) in [
        (3, "ended at `prepare` (exit status: 7)"),
        (4, "answered `what a lovely day` to `prepare`"),
        (7, long.as_str()),
        (8, "failed: out of everything"),
        (9, "ended at `sample` (signal: 9 (SIGKILL))"),
        (11, "answered `seconds soon` to `sample`"),
    ] {
        let Err(Failure::Failed(line)) = sample(&executor, tuples) else { panic!("{tuples} tuples") };
        assert!(line.starts_with(&format!("the peer plain {what}")), "{line}");
        assert!(line.len() < 200 && !line.contains('\n'), "{line}");
        assert_eq!(pid(&executor), None);
        assert_eq!(sample(&executor, 1), Ok(3e-3));
    }
}

/// The values resolved by the program that is told to prepare this many tuples.
fn settings(tuples: u64) -> Result<Vec<(String, Value)>, Failure> {
    Ok(prepare(&executor(PATIENCE), tuples)?.resolved())
}

#[test]
fn what_it_settled_is_told_under_keys_of_its_own() {
    assert_eq!(settings(1), Ok(Vec::new()));
    let tuned = ("peer.tuning".to_owned(), Value::Text("one-sweep".to_owned()));
    assert_eq!(settings(13), Ok(vec![("peer.counts".to_owned(), Value::Int(64)), tuned]));
    let of = |peer: &str| {
        let peer = peers::named(peer).expect("a peer");
        resolved(peer.beside, vec![("threads".to_owned(), Value::Int(2))])[0].0.clone()
    };
    assert_eq!((of("plain"), of("rdst")), ("peer.threads".to_owned(), "backend.cpu.threads".to_owned()));
}

#[test]
fn a_setting_that_is_none_is_no_answer() {
    for (tuples, word) in [(14, "counts"), (15, "method.x=2"), (16, "counts=")] {
        let Err(Failure::Failed(line)) = settings(tuples) else { panic!("{tuples} tuples") };
        assert_eq!(line, format!("the peer plain answered `ready 1 {word}` to `prepare`"));
    }
    let Err(Failure::Failed(_)) = settings(17) else { panic!("seventeen settings") };
}

/// The superfluous answer may arrive before or after the next order is sent.
#[test]
fn an_answer_too_many_is_no_answer_to_the_next_question() {
    let executor = executor(PATIENCE);
    let Err(Failure::Failed(line)) = sample(&executor, 6) else { panic!("it was believed") };
    assert!(line.contains("`ready 2`"), "{line}");
}

#[test]
fn one_that_hangs_is_ended() {
    let executor = executor(SHORT);
    assert_eq!(sample(&executor, 5), failed("did not answer `prepare` within 2 s"));
    assert_eq!(sample(&executor, 10), failed("did not answer `sample` within 2 s"));
    assert_eq!(pid(&executor), None);
}

#[test]
fn nobody_waits_for_what_is_cancelled() {
    let executor = executor(PATIENCE);
    let cancel = Cancel::default();
    let mut prepared = executor.prepare(&case(10), None, &cancel).expect("prepared");
    let (began, other) = (Instant::now(), cancel.clone());
    let clock = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        other.request();
    });
    assert_eq!(prepared.sample(1), Err(Failure::Cancelled));
    assert!(began.elapsed() < PATIENCE / 2);
    clock.join().expect("no panic");
}

#[test]
fn one_that_ends_instead_of_releasing_is_started_again() {
    let executor = executor(PATIENCE);
    assert_eq!(sample(&executor, 12), Ok(3e-3));
    assert_eq!(pid(&executor), None);
    assert_eq!(sample(&executor, 1), Ok(3e-3));
}

#[test]
fn without_a_program_its_cases_cannot_run() {
    let here = fixture();
    let missing = all(Some(&here)).nth(1).expect("another peer");
    let Err(Failure::NotApplicable(reason)) = sample(&missing, 1) else { panic!("it has no program") };
    assert!(reason.ends_with("peers/cudamemcpy; bash benches/peers/build.sh builds the peers"), "{reason}");
    assert_eq!(missing.device().availability, Availability::Unavailable { reason });
    assert!(missing.devices().is_empty(), "it is no device");
    let nowhere = all(None).next().expect("a peer");
    assert!(matches!(sample(&nowhere, 1), Err(Failure::NotApplicable(reason)) if reason.contains(FOLDER)));
}

#[test]
fn programs_are_looked_for_where_data_are() {
    let of = |values: &[(&str, &str)]| {
        folder(|key| values.iter().find(|(k, _)| *k == key).map(|(_, value)| value.into()))
    };
    let home = ("HOME", "/home/me");
    assert_eq!(of(&[home]), Some("/home/me/.local/share/scatterlab/peers".into()));
    assert_eq!(of(&[home, ("XDG_DATA_HOME", "/data")]), Some("/data/scatterlab/peers".into()));
    assert_eq!(of(&[home, (FOLDER, "mine")]), Some("mine".into()));
    assert_eq!(of(&[]), None);
}

fn told(recipe: &str) -> Vec<String> {
    let plan = resolve(&parse("a.yaml", recipe).expect("a recipe"), &Overrides::default()).expect("a plan");
    let peers = plan.cases.iter().filter(|case| case.peer().is_some());
    peers.map(|case| words(case).expect("words")).collect()
}

#[test]
fn a_case_is_told_by_its_full_keys_without_our_method() {
    let gather = "gather: {method: [direct, {multipass: {passes: 2}}], tuples: 1Ki}\nbackend: {cuda: {device: 1}}\n\
        peers: plain\nchart: {x: tuples, lines: method}\nmeasure: {cache: cold}\nseed: 7\n";
    assert_eq!(
        told(gather),
        ["primitive=gather seed=7 backend.cuda.device=1 index=4 locations=random tuple=8 tuples=1024"]
    );
}

#[test]
fn a_pattern_is_told_in_numbers() {
    let pattern = "pattern: {kernel: [gather, gs], uniform: {length: 2, stride: 4}, delta: no-reuse, \
        footprint: 1kB, label: my case}\nbackend: cuda\npeers: spatter\nchart: {x: kernel}\n";
    let plan = pattern.replace("[gather, gs]", "gather");
    assert_eq!(
        told(&plan),
        ["primitive=pattern seed=1 count=16 delta=8 index=4 kernel=gather source=custom \
          source.custom.indices=0,4 wrap=1"]
    );
}

#[test]
fn a_word_holds_no_space() {
    assert_eq!(escaped("my file\n50%.npy"), "my%20file%0A50%25.npy");
}

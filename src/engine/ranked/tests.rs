use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::case::Fault;
use crate::engine::executors::mock::{Mock, Script};
use crate::engine::ranks::threads;
use crate::recipe;
use crate::recipe::plan::{self, Overrides};
use crate::stats::noise::Conditions;

/// A monitor that never observes any noise.
struct Quiet;

impl Watch for Quiet {
    fn begin(&mut self) {}

    fn end(&mut self) -> Conditions {
        Conditions::default()
    }
}

fn plan(measure: &str) -> Plan {
    let text = format!(
        "title: One\nbackend: cpu\nmeasure: {{rounds: 1, samples: 3{measure}}}\nchart: {{x: kernel}}\n\
         stream: {{kernel: copy, elements: 8}}\n"
    );
    let recipe = recipe::parse("one.yaml", &text).expect("a recipe");
    plan::resolve(&recipe, &Overrides::default()).expect("a plan")
}

/// The outcome on two ranks, each with its own script for the case; `Err` with the reason if one aborted.
fn two(scripts: [fn(&Case) -> Script; 2]) -> Result<Vec<Result<Outcome, String>>, String> {
    let plan = plan("");
    threads::try_run(2, |ranks| {
        let mock = Mock::new("cpu", scripts[ranks.rank()]);
        let mut rank = Ranked::new(ranks, ranks.rank(), vec![Box::new(mock)], Box::new(Quiet));
        rank.set_index_store(&plan);
        rank.measure("case 0", &plan.cases[0], plan.experiments[0].measure)
    })
}

/// Asserts that all ranks got the same value, and returns it.
fn heard<T: Clone + PartialEq + std::fmt::Debug>(ranks: Vec<T>) -> T {
    assert!(ranks.iter().all(|other| *other == ranks[0]), "{ranks:?}");
    ranks[0].clone()
}

#[test]
fn ranks_of_a_host_take_one_gpu_each() {
    let case = |backend: &str, device: u64| {
        let mut case = plan("").cases[0].clone();
        case.params =
            case.params.with("backend", Value::Text(backend.to_owned())).with(DEVICE, Value::Int(device));
        case
    };
    let of = |device, locals: [usize; 3], among| {
        locals.map(|local| device_of(&case("cuda", device), local, among))
    };
    assert_eq!(of(0, [0, 1, 2], 4), [0, 1, 2]);
    assert_eq!(of(2, [0, 1, 2], 4), [2, 3, 0], "from --device on");
    assert_eq!(of(0, [0, 1, 2], 1), [0, 0, 0], "each sees its own alone");
    assert_eq!(of(7, [0, 1, 2], 4), [7, 7, 7], "which is not there");
    assert_eq!(device_of(&plan("").cases[0], 3, 1), 0, "CPUs are shared");
}

#[test]
fn every_rank_hears_the_times_of_all() {
    let outcome = two([|_| Script::Seconds(0.25), |_| Script::Seconds(0.5)]).expect("nobody aborts");
    let Ok(Outcome::Measured(shares)) = heard(outcome) else { panic!("measured") };
    let seconds: Vec<&[f64]> = shares.iter().map(|share| share.seconds.as_slice()).collect();
    assert_eq!(seconds, [[0.25; 3], [0.5; 3]]);
    assert!(shares.iter().all(|share| share.verdict == Some(Verdict::Certified { checked: 1 })));
}

#[test]
fn what_no_rank_can_run_is_left_out_and_what_one_cannot_is_an_error() {
    let refuses = |_: &Case| Script::Fails(Failure::NotApplicable("too large".into()));
    let nowhere = two([refuses, refuses]).expect("nobody aborts");
    assert_eq!(heard(nowhere), Ok(Outcome::NotApplicable("too large".into())));
    let once = two([|_| Script::Seconds(0.1), refuses]).expect("nobody aborts");
    assert_eq!(heard(once), Err("rank 1: n/a: too large; other ranks can run it".into()));
}

#[test]
fn a_wrong_result_of_one_rank_is_an_error_of_all() {
    let outcome = two([|_| Script::Wrong, |_| Script::Seconds(0.1)]).expect("nobody aborts");
    let said = heard(outcome).expect_err("wrong");
    assert!(said.starts_with("rank 0: the result is wrong: after the last sample: out[0]"), "{said}");
}

#[test]
fn a_failure_of_one_rank_ends_all() {
    let ended = two([|_| Script::Seconds(0.1), |_| Script::Fails(Failure::Failed("no memory".into()))]);
    assert_eq!(ended, Err("rank 1: case 0: no memory".into()));
    let ended = two([|_| Script::Seconds(f64::NAN), |_| Script::Seconds(0.1)]);
    assert_eq!(ended, Err("rank 0: case 0: the clock reported NaN s".into()));
}

/// A backend that records the requested batches.
struct Counting {
    seconds: f64,
    batches: Rc<RefCell<Vec<u32>>>,
    mock: Mock,
}

impl Executor for Counting {
    fn backend(&self) -> &'static str {
        self.mock.backend()
    }

    fn device(&self) -> Device {
        self.mock.device()
    }

    fn prepare(&self, _: &Case, _: Option<Fault>, _: &Cancel) -> Result<Box<dyn Prepared>, Failure> {
        Ok(Box::new(Counted { seconds: self.seconds, batches: self.batches.clone() }))
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        self.mock.copy_probe()
    }

    fn evict(&self) -> Result<u64, Failure> {
        self.mock.evict()
    }
}

struct Counted {
    seconds: f64,
    batches: Rc<RefCell<Vec<u32>>>,
}

impl Prepared for Counted {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.batches.borrow_mut().push(batch);
        Ok(self.seconds * f64::from(batch))
    }

    fn clear(&mut self, _: &Cancel) -> Result<(), Failure> {
        Ok(())
    }

    fn judge(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
        Ok(Verdict::Certified { checked: 1 })
    }

    fn certify(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
        Ok(Verdict::Certified { checked: 1 })
    }

    fn memory(&self) -> u64 {
        0
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }
}

/// The batches of two ranks' samples, and how often each rank evicted its caches.
fn batches(measure: &str, seconds: [f64; 2]) -> Vec<(Vec<u32>, u32)> {
    let plan = plan(measure);
    threads::run(2, |ranks| {
        let batches = Rc::new(RefCell::new(Vec::new()));
        let mock = Mock::new("cpu", |_| Script::Seconds(0.0));
        let evictions = mock.evictions.clone();
        let counting = Counting { seconds: seconds[ranks.rank()], batches: batches.clone(), mock };
        let mut rank = Ranked::new(ranks, ranks.rank(), vec![Box::new(counting)], Box::new(Quiet));
        rank.measure("case 0", &plan.cases[0], plan.experiments[0].measure).expect("measured");
        let sampled = batches.borrow().iter().rev().take(3).copied().collect();
        (sampled, evictions.load(std::sync::atomic::Ordering::Relaxed))
    })
}

#[test]
fn all_ranks_sample_batches_of_one_size() {
    assert_eq!(batches("", [1e-3, 1e-3]), [(vec![1; 3], 0), (vec![1; 3], 0)]);
    assert_eq!(batches("", [2e-6, 1e-3]), [(vec![63; 3], 0), (vec![63; 3], 0)]);
    assert_eq!(batches(", cache: cold", [2e-6, 1e-3]), [(vec![1; 3], 3), (vec![1; 3], 3)]);
}

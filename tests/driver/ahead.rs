//! Kernels are compiled before a case needs them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

use scatterlab::case::{Cancel, Case};
use scatterlab::device::cuda::Gpu;
use scatterlab::device::timing_lock;
use scatterlab::engine::Executor;
use scatterlab::engine::executors::{self, cuda::CudaExecutor};
use scatterlab::engine::protocol::{Command, Event};
use scatterlab::engine::server::serve;
use scatterlab::model::profiles::ProfileStore;
use scatterlab::recipe;
use scatterlab::recipe::plan::{Overrides, Plan, resolve};

use crate::Nobody;
use crate::fake::Fake;

const RECIPE: &str = "title: T
stream: {kernel: [copy, triad], elements: 8..64 x2}
backend: cuda
chart: {x: elements, y: time, lines: kernel}
measure: {rounds: 2, certify: never}
";

fn plan() -> Plan {
    resolve(&recipe::parse("two.yaml", RECIPE).unwrap(), &Overrides::default()).unwrap()
}

/// The names of all kernels that the cases need.
fn asked(gpu: &Gpu, cases: &[Case]) -> BTreeSet<String> {
    let of = |case| executors::kernels(case, gpu.device().compute_capability).unwrap();
    cases.iter().flat_map(|case| of(case).names()).map(|(_, name)| name).collect()
}

/// Waits until this many kernels are compiled.
fn wait_for(fake: &Fake, kernels: usize) {
    let began = Instant::now();
    while fake.loaded() < i64::try_from(kernels).unwrap() {
        assert!(began.elapsed() < Duration::from_secs(60), "{} of {kernels} kernels", fake.loaded());
        thread::yield_now();
    }
}

/// Runs a plan in an engine and returns the number of measured rounds.
fn run(plan: Plan) -> usize {
    let (input, mut commands) = pipe().unwrap();
    let (events, output) = pipe().unwrap();
    let server = thread::spawn(|| {
        let executors: Vec<Box<dyn Executor>> = vec![Box::new(CudaExecutor::default())];
        serve(BufReader::new(input), output, executors, Box::new(Nobody), &ProfileStore::default())
    });
    let mut send =
        |command: &Command| writeln!(commands, "{}", serde_json::to_string(command).unwrap()).unwrap();
    send(&Command::Run { plan: Box::new(plan), finished: Default::default(), pictures: Default::default() });
    let mut rounds = 0;
    for line in BufReader::new(events).lines() {
        match serde_json::from_str(&line.unwrap()).unwrap() {
            Event::Round { seq, .. } => {
                rounds += 1;
                send(&Command::Ack { seq });
            }
            Event::Finished { .. } => break,
            _ => {}
        }
    }
    drop(commands);
    server.join().unwrap().unwrap();
    rounds
}

#[test]
fn an_engine_compiles_each_kernel_once_and_none_while_it_measures() {
    let Some(fake) = Fake::new() else { return };
    let plan = plan();
    let mut wanted = asked(&Gpu::open().unwrap(), &plan.cases);
    wanted.insert("gate".into());
    let rounds = 2 * plan.cases.len();
    assert_eq!(run(plan), rounds);
    let compiled = fake.compiled();
    assert_eq!(compiled.len(), wanted.len(), "{compiled:?}");
    assert_eq!(compiled.into_iter().collect::<BTreeSet<_>>(), wanted);
    assert_eq!((fake.disturbed(), fake.loaded()), (0, 0), "no thread holds a GPU after the engine's end");
}

#[test]
fn a_case_finds_its_kernels_compiled() {
    let Some(fake) = Fake::new() else { return };
    let cases = plan().cases;
    let executor = CudaExecutor::default();
    executor.compile_ahead(&cases.iter().collect::<Vec<_>>());
    let wanted = asked(&Gpu::open().unwrap(), &cases).len();
    wait_for(&fake, wanted + 1);
    assert_eq!(fake.compiled().len(), wanted + 1, "the gate's, too");
    for case in &cases {
        executor.prepare(case, None, &Cancel::default()).unwrap().sample(1).unwrap();
    }
    assert_eq!(fake.compiled(), [] as [String; 0]);
}

#[test]
fn nothing_is_compiled_ahead_while_something_is_timed() {
    let Some(fake) = Fake::new() else { return };
    let cases = plan().cases;
    let executor = CudaExecutor::default();
    let timing = timing_lock::timing();
    executor.compile_ahead(&cases.iter().collect::<Vec<_>>());
    thread::sleep(Duration::from_millis(100));
    assert_eq!(fake.loaded(), 0);
    executor.prepare(&cases[0], None, &Cancel::default()).unwrap();
    let needed = fake.compiled();
    assert_eq!(needed.len(), 4, "who needs a kernel now does not wait");
    drop(timing);
    wait_for(&fake, needed.len() + 1);
    executor.compile_ahead(&[]);
    let more = fake.compiled();
    assert!(!more.is_empty() && more.iter().all(|name| !needed.contains(name)), "{more:?}");
}

#[test]
fn what_fails_ahead_is_tried_again_by_the_case() {
    let Some(fake) = Fake::new() else { return };
    let cases = plan().cases;
    let executor = CudaExecutor::default();
    fake.fail("cuLibraryLoadData", 2);
    executor.compile_ahead(&cases.iter().collect::<Vec<_>>());
    executor.compile_ahead(&[]);
    let failure = executor.prepare(&cases[0], None, &Cancel::default()).err().unwrap();
    assert!(failure.to_string().contains("cuLibraryLoadData(stream_copy"), "{failure}");
    fake.fail("", 0);
    assert_eq!(executor.prepare(&cases[0], None, &Cancel::default()).err(), None);
}

use super::*;
use crate::case::Availability;
use crate::recipe::plan::Plan;

fn device(backend: &str, driver: &str) -> Device {
    Device {
        backend: backend.into(),
        name: "NVIDIA H200".into(),
        facts: vec![("driver".into(), driver.into()), ("free".into(), driver.into())],
        memory: Some(driver.len() as u64),
        availability: Availability::Available,
    }
}

fn environment(host: &str, affinity: &[usize], load: &str) -> Environment {
    Environment {
        host: host.into(),
        affinity: affinity.to_vec(),
        facts: vec![("load".into(), load.into())],
        ..Environment::default()
    }
}

fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        version: "0.1.0".into(),
        revision: "abc".into(),
        started: String::new(),
        command_line: Vec::new(),
        environment: environment("here", &[0, 1], "0.1"),
        devices: vec![device("cuda", "580.65.06")],
        plan: Plan::default(),
        redacted: false,
    }
}

fn hello() -> Hello {
    let Manifest { version, revision, devices, environment, .. } = manifest();
    Hello { version, revision, devices, environment, profiles: Vec::new() }
}

/// The differences in words.
fn lines(manifest: &Manifest, hello: &Hello) -> Vec<String> {
    differences(manifest, hello).iter().map(ToString::to_string).collect()
}

#[test]
fn the_same_machine_is_the_same_whatever_its_load() {
    assert_eq!(lines(&manifest(), &hello()), [""; 0]);
    let busy = Hello { environment: environment("here", &[0, 1], "7.5"), ..hello() };
    assert_eq!(lines(&manifest(), &busy), [""; 0]);
}

#[test]
fn each_difference_is_one_line_with_both_values() {
    let other = Hello {
        version: "0.2.0".into(),
        environment: environment("there", &[0], "0.1"),
        devices: vec![device("cuda", "590.1")],
        ..hello()
    };
    let lines = lines(&manifest(), &other);
    for (line, (what, is, was)) in lines.iter().zip([
        ("version", "0.2.0", "0.1.0"),
        ("host", "there", "here"),
        ("affinity", "0", "0,1"),
        ("cuda driver", "590.1", "580.65.06"),
    ]) {
        assert_eq!(line, &format!("changed since the run began: {what} is {is}, was {was}"));
    }
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn what_the_other_version_did_not_ask_for_is_no_difference() {
    let more = Environment {
        kernel: "6.1".into(),
        facts: vec![("governor".into(), "powersave".into())],
        ..environment("here", &[0, 1], "0.1")
    };
    assert_eq!(lines(&manifest(), &Hello { environment: more, ..hello() }), [""; 0]);
}

#[test]
fn a_device_that_is_gone_is_one_difference() {
    let mut without = hello();
    without.devices[0].availability = Availability::Unavailable { reason: "no CUDA driver".into() };
    without.devices[0].facts.clear();
    let lines = lines(&manifest(), &without);
    assert_eq!(lines, ["changed since the run began: cuda device is n/a: no CUDA driver, was NVIDIA H200"]);
}

/// One of several GPUs.
fn gpu(number: usize, name: &str) -> Device {
    let mut gpu = Device { name: name.into(), ..device("cuda", "580.65.06") };
    gpu.facts.insert(0, ("number".into(), number.to_string()));
    gpu.facts.push(("PCI bus id".into(), format!("00000000:{number}9:00.0")));
    gpu
}

#[test]
fn each_of_several_devices_is_held_against_its_own() {
    let manifest = Manifest { devices: vec![gpu(0, "NVIDIA H200"), gpu(1, "NVIDIA L4")], ..manifest() };
    let same = Hello { devices: manifest.devices.clone(), ..hello() };
    assert_eq!(lines(&manifest, &same), [""; 0]);
    let other = Hello { devices: vec![gpu(0, "NVIDIA H200"), gpu(1, "NVIDIA T4")], ..hello() };
    let line = "changed since the run began: cuda 1 device is NVIDIA T4, was NVIDIA L4";
    assert_eq!(lines(&manifest, &other), [line]);
}

/// A manifest and a ledger of four cases that need the GPU, and a hello from an engine without it.
fn on_a_gpu() -> (Manifest, Ledger, Hello) {
    let mut plan = crate::run::tests::plan("rounds: 1, ci: none");
    for case in &mut plan.cases {
        case.params = case.params.clone().with("backend", crate::case::Value::Text("cuda".into()));
    }
    let mut without = hello();
    without.devices[0].availability = Availability::Unavailable { reason: "no CUDA driver".into() };
    (Manifest { plan: plan.clone(), ..manifest() }, Ledger::new(plan), without)
}

#[test]
fn a_device_that_is_missed_is_told() {
    let (manifest, mut ledger, without) = on_a_gpu();
    let told = |ledger: &Ledger, hello: &Hello| missing(&manifest, hello, ledger);
    assert_eq!(told(&ledger, &hello()), None, "it is there");
    let text = told(&ledger, &without).expect("four cases");
    assert_eq!(text, "cuda is no longer there (no CUDA driver), and 4 cases are left on it");
    let other = Hello { devices: Vec::new(), ..hello() };
    assert!(told(&ledger, &other).is_some_and(|text| text.contains("does not know")));
    for case in 0..4 {
        assert!(told(&ledger, &without).is_some());
        ledger.apply(&crate::run::tests::attempt(&manifest.plan, case, 0, 0, 1.0, false));
    }
    assert_eq!(told(&ledger, &without), None, "nothing is left for it");
}

#[test]
fn a_device_that_was_never_there_is_not_missed() {
    let (mut manifest, ledger, without) = on_a_gpu();
    manifest.devices = without.devices.clone();
    assert_eq!(missing(&manifest, &without, &ledger), None);
}

#[test]
fn of_several_devices_the_one_that_is_missed_is_told() {
    let (mut manifest, _, none) = on_a_gpu();
    manifest.devices = vec![gpu(0, "NVIDIA H200"), gpu(1, "NVIDIA H200")];
    for case in &mut manifest.plan.cases[1..] {
        case.params = case.params.clone().with("backend.cuda.device", crate::case::Value::Int(1));
    }
    let ledger = Ledger::new(manifest.plan.clone());
    let told =
        |devices: &[Device]| missing(&manifest, &Hello { devices: devices.to_vec(), ..hello() }, &ledger);
    assert_eq!(told(&manifest.devices), None);
    let second = "cuda 1 is no longer there (the engine does not know it), and 3 cases are left on it";
    assert_eq!(told(&manifest.devices[..1]).as_deref(), Some(second));
    let first = "cuda 0 is no longer there (no CUDA driver), and a case is left on it";
    assert_eq!(told(&none.devices).as_deref(), Some(first));
    let both = &mut manifest.plan.cases[0].params;
    *both = both.clone().with("backend.cuda.gpus", crate::case::Value::Int(2));
    let ledger = Ledger::new(manifest.plan.clone());
    let hello = Hello { devices: manifest.devices[..1].to_vec(), ..hello() };
    let told = missing(&manifest, &hello, &ledger).expect("one is missed");
    assert!(told.ends_with("and 4 cases are left on it"), "{told}");
}

/// The ids of the cases whose rounds these differences set aside.
fn aside(manifest: &Manifest, hello: &Hello, ledger: &Ledger) -> Vec<String> {
    let case = |event: Event| match event {
        Event::SetAside { case, reason } => {
            assert!(!reason.is_empty());
            case
        }
        other => panic!("{other:?}"),
    };
    set_aside(&differences(manifest, hello), ledger).into_iter().map(case).collect()
}

/// Two cases on CPUs and two on a GPU, each with a round on file.
fn on_both() -> (Manifest, Ledger) {
    let mut plan = crate::run::tests::plan("rounds: 1, ci: none");
    for case in &mut plan.cases[2..] {
        case.params = case.params.clone().with("backend", crate::case::Value::Text("cuda".into()));
    }
    let mut ledger = Ledger::new(plan.clone());
    for case in 0..4 {
        ledger.apply(&crate::run::tests::attempt(&plan, case, 0, 0, 1.0, false));
    }
    let mut environment = environment("here", &[0, 1], "0.1");
    environment.kernel = "6.1".into();
    (Manifest { plan, environment, ..manifest() }, ledger)
}

#[test]
fn what_is_not_comparable_is_set_aside_and_nothing_else() {
    let (manifest, ledger) = on_both();
    let ids: Vec<String> = manifest.plan.cases.iter().map(|case| case.id.clone()).collect();
    let same = || Hello { environment: manifest.environment.clone(), ..hello() };
    let with = |change: &dyn Fn(&mut Hello)| {
        let mut hello = same();
        change(&mut hello);
        aside(&manifest, &hello, &ledger)
    };
    assert_eq!(with(&|_| ()), [""; 0]);
    assert_eq!(with(&|hello| hello.environment.host = "there".into()), [""; 0], "a name decides nothing");
    assert_eq!(with(&|hello| hello.environment.affinity = vec![0]), ids[..2]);
    assert_eq!(with(&|hello| hello.environment.kernel = "6.2".into()), ids[..2]);
    assert_eq!(with(&|hello| hello.devices = vec![device("cuda", "590.1")]), ids[2..]);
    assert_eq!(with(&|hello| hello.version = "0.2.0".into()), ids);
    let gone = |hello: &mut Hello| {
        hello.devices[0].availability = Availability::Unavailable { reason: "no CUDA driver".into() };
    };
    assert_eq!(with(&gone), [""; 0], "what a device gave before it went cannot be measured again");
}

#[test]
fn rounds_that_are_set_aside_count_nowhere_and_are_told() {
    let (manifest, mut ledger) = on_both();
    let slow = Hello { environment: environment("here", &[1], "0.1"), ..hello() };
    let events = set_aside(&differences(&manifest, &slow), &ledger);
    assert_eq!(told(&events, &ledger), "2 rounds of 2 cases (affinity is 1, was 0,1)");
    assert!(ledger.is_complete());
    for event in &events {
        ledger.apply(event);
    }
    let record = &ledger.records()[0];
    assert_eq!((record.rounds.len(), record.superseded.len()), (0, 1));
    assert_eq!((record.statistics.as_ref(), record.verdict.as_ref()), (None, None));
    assert!(!ledger.is_complete() && ledger.left().len() == 2);
    ledger.apply(&crate::run::tests::attempt(&manifest.plan, 0, 0, 0, 3.0, false));
    let record = &ledger.records()[0];
    assert_eq!(record.statistics.as_ref().map(|s| (s.rounds, s.median)), Some((1, 3.0)));
    assert_eq!(
        aside(&manifest, &hello(), &Ledger::new(manifest.plan.clone())),
        [""; 0],
        "nothing is on file"
    );
}

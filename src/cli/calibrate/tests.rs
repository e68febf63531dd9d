use clap::Parser;

use super::*;
use crate::case::Availability;
use crate::engine::protocol::Environment;

fn device(backend: &str, available: bool) -> Device {
    let facts = [
        ("threads", "2"),
        ("L1d", "48 KiB"),
        ("L2", "60.0 MiB"),
        ("cache line", "64 B"),
        ("memory", "140 GiB"),
        ("memory bus", "6144 bit"),
        ("highest memory clock", "3201 MHz"),
        ("UUID", "GPU-1"),
    ];
    let availability = match available {
        true => Availability::Available,
        false => Availability::Unavailable { reason: "no CUDA driver".into() },
    };
    Device {
        backend: backend.into(),
        name: if available { format!("A {backend}") } else { String::new() },
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        memory: None,
        availability,
    }
}

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: CalibrateArguments,
}

fn arguments(words: &[&str]) -> CalibrateArguments {
    Line::try_parse_from([&["calibrate"], words].concat()).expect("a command line").arguments
}

fn chosen(words: &[&str], devices: &[Device]) -> Result<Vec<Target>, String> {
    let found = targets(&arguments(words), devices).map_err(|error| error.to_string())?;
    Ok(found.into_iter().map(|(target, _)| target).collect())
}

#[test]
fn what_is_there_is_calibrated_unless_one_is_asked_for() {
    let all = [device("scalar", true), device("cpu", true), device("cuda", true), device("cuda", true)];
    assert_eq!(chosen(&[], &all), Ok(vec![Target::Processors, Target::Gpu(0), Target::Gpu(1)]));
    assert_eq!(chosen(&["--backend", "cpu"], &all), Ok(vec![Target::Processors]));
    assert_eq!(chosen(&["--backend", "cuda"], &all), Ok(vec![Target::Gpu(0), Target::Gpu(1)]));
    assert_eq!(chosen(&["--device", "1"], &all), Ok(vec![Target::Gpu(1)]));
    assert!(chosen(&["--device", "2"], &all).expect_err("none").starts_with("no such device"));
    assert!(
        chosen(&["--backend", "cpu", "--device", "0"], &all).expect_err("none").contains("number of a GPU")
    );
    let none = [device("cpu", true), device("cuda", false)];
    assert_eq!(chosen(&[], &none), Ok(vec![Target::Processors]));
    assert_eq!(chosen(&["--backend", "cuda"], &none), Err("cuda: unavailable: no CUDA driver".into()));
}

fn hello() -> Hello {
    let environment = Environment {
        host: "here".into(),
        memory: 24 << 30,
        transparent_huge_pages: Some("madvise".into()),
        ..Environment::default()
    };
    Hello {
        version: "1".into(),
        revision: "2".into(),
        devices: Vec::new(),
        environment,
        profiles: Vec::new(),
    }
}

#[test]
fn what_is_known_without_measuring_is_the_devices() {
    let (gpu, cpu) = (device("cuda", true), device("cpu", true));
    let gpu = subject(None, false, &hello(), (Target::Gpu(0), &gpu), Some("1 of 2 cases: spread 1".into()));
    assert_eq!((gpu.name.as_str(), gpu.device.memory, gpu.page), ("a-cuda", Some(140 << 30), None));
    assert_eq!(gpu.made.uuid.as_deref(), Some("GPU-1"));
    assert_eq!(gpu.made.doubtful.as_deref(), Some("1 of 2 cases: spread 1"));
    let names: Vec<&str> = gpu.caches.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, gpu.caches[0].1), (vec!["L1", "L1d", "L2"], None));
    let cpu = subject(Some("mine"), false, &hello(), (Target::Processors, &cpu), None);
    assert_eq!((cpu.name.as_str(), cpu.device.memory, cpu.page), ("mine", Some(24 << 30), Some(2 << 20)));
    assert_eq!(cpu.line, Some(64));
    assert_eq!(cpu.caches, [("L1d".to_owned(), Some(48 << 10)), ("L2".to_owned(), Some(60 << 20))]);
    assert_eq!(subject::bus(&device("cuda", true)), Some(6144.0 / 8.0 * 3201e6 * 2.0));
}

#[test]
fn a_name_is_no_path() {
    for name in ["../h200", "/tmp/h200", "", ".h200", "an h200"] {
        assert!(Line::try_parse_from(["calibrate", "--name", name]).is_err(), "{name}");
    }
}

#[test]
fn doubtful_cases_are_counted_by_why() {
    use crate::stats::noise::Flag;
    use crate::tui::tests::{fixture, script};
    let mut records = script::played(&fixture::passes()).records().to_vec();
    records.iter_mut().flat_map(|r| &mut r.rounds).for_each(|round| round.flags.clear());
    assert_eq!(doubts(&records), None);
    let all = records.len();
    let flagged = records.iter_mut().filter(|r| !r.rounds.is_empty()).take(2);
    flagged.for_each(|r| r.rounds[0].flags = vec![Flag::Spread]);
    assert_eq!(doubts(&records), Some(format!("2 of {all} cases: spread 2")));
}

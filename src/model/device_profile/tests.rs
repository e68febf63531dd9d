//! Tests that predictions use the right profile and nothing measured.

use crate::engine::protocol::Event;
use crate::model::{Device, DeviceProfile, He2007, Profile, Profiles, SCHEMA};
use crate::run::Ledger;
use crate::run::runner::Message;
use crate::tui::tests::{fixture, script};

/// A processor with invented values, for the model he2007.
pub fn profile(name: &str, b_seq: f64, cache: u64) -> Profile {
    let he2007 = He2007 { b_seq, cache, block: 256, transfer: 64, delta: 4e-10, warp: 32 };
    Profile {
        schema: SCHEMA,
        name: name.to_owned(),
        source: "made up".to_owned(),
        made: None,
        device: Device { name: "Some CPU".to_owned(), driver: None, memory: None, processors: None },
        caches: Vec::new(),
        rates: Default::default(),
        he2007: [("cpu".to_owned(), he2007)].into(),
    }
}

fn held(profile: Profile) -> DeviceProfile {
    DeviceProfile { backends: vec!["cpu".to_owned()], device: 0, profile, notices: Vec::new() }
}

fn hello(profile: Profile) -> Event {
    let mut hello = script::hello();
    if let Event::Hello { profiles, .. } = &mut hello {
        profiles.push(held(profile));
    }
    hello
}

#[test]
fn a_person_comes_before_the_engine_and_the_first_engine_before_the_next() {
    let (fast, slow) = (profile("fast", 2e11, 32 << 20), profile("slow", 1e10, 32 << 20));
    let cases = fixture::passes().cases;
    let cpu = cases.iter().find(|case| case.backend() == "cpu").expect("one");
    let cuda = cases.iter().find(|case| case.backend() == "cuda").expect("one");
    let mut profiles = Profiles::default();
    assert_eq!(profiles.of(cpu).map(|p| p.name.as_str()), Err("no profile of cpu".to_owned()));
    assert!(profiles.add(&[held(slow.clone())]));
    assert!(!profiles.add(&[held(fast.clone())]), "a run's predictions do not change under way");
    assert_eq!(profiles.of(cpu).map(|p| p.name.as_str()), Ok("slow"));
    assert_eq!(profiles.instead(fast.clone()).of(cpu).map(|p| p.name.as_str()), Ok("fast"));
    profiles.replace(&[DeviceProfile { backends: vec!["scalar".into(), "cpu".into()], ..held(fast) }]);
    assert_eq!(profiles.of(cpu).map(|p| p.name.as_str()), Ok("fast"), "unless it was calibrated since");
    assert!(profiles.of(cuda).is_err(), "a processor's profile says nothing of a GPU");
}

#[test]
fn predictions_are_there_before_the_first_result_and_stay_as_they_are() {
    let plan = fixture::passes();
    let mut ledger = Ledger::new(plan.clone());
    assert!(ledger.records().iter().all(|record| record.forecasts.is_empty()));
    ledger.apply(&hello(profile("bench", 150e9, 32 << 20)));
    let forecasts = |ledger: &Ledger| -> Vec<_> {
        ledger.records().iter().map(|record| record.forecasts.clone()).collect()
    };
    let first = forecasts(&ledger);
    assert!(ledger.records()[0].prediction("he2007").is_some_and(|p| p.seconds > 0.0));
    assert_eq!(ledger.records()[0].accuracy("he2007"), None, "nothing is measured");
    for message in script::messages(&plan, None).into_iter().skip(1) {
        let Message::Event(event) = message else { continue };
        ledger.apply(&event);
    }
    assert_eq!(forecasts(&ledger), first, "no model sees a measurement");
    let record = &ledger.records()[0];
    let (v, p) = (record.statistics.as_ref().expect("measured").median, &record.forecasts[0]);
    let predicted = p.outcome.as_ref().expect("predicted").seconds;
    assert_eq!(record.accuracy("he2007"), Some(1.0 - (v - predicted).abs() / v));
}

#[test]
fn a_profile_of_an_engine_is_read_as_it_was_written() {
    let event = hello(profile("bench", 150e9, 32 << 20));
    let line = serde_json::to_string(&event).expect("JSON");
    assert_eq!(serde_json::from_str::<Event>(&line).expect("an event"), event);
    let older = serde_json::to_string(&script::hello()).expect("JSON");
    assert!(!older.contains("profiles"), "an engine without profiles says what older ones said");
}

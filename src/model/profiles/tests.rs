use std::collections::BTreeMap;

use super::*;
use crate::case::{Availability, Device, Direction};
use crate::model::{self, Cache, Curve, Made, Random, Rates, SCHEMA};

fn curve(value: f64) -> Curve {
    Curve::new((14..40).map(|bits| (f64::from(bits).exp2(), value * f64::from(bits))).collect())
        .expect("a curve")
}

fn rates() -> Rates {
    Rates {
        threads: None,
        launch: 2.5e-6,
        pattern: None,
        pass: None,
        group: 32,
        tile: Some(2048),
        blocks: Vec::new(),
        answer_lines: None,
        fetch: 64,
        read: curve(1.25e11),
        write: curve(1.1e11),
        copy: curve(1e11),
        scan: None,
        random: vec![Random { direction: Direction::Read, element: 8, rate: curve(1e9) }],
        moves: Vec::new(),
        strided: Vec::new(),
        interleaved: Vec::new(),
        latency: Some(curve(1e-8)),
        page: Some(2 << 20),
        tlb_reach: None,
    }
}

/// A profile of a GPU.
fn h200() -> Profile {
    let made = Made {
        at: "2026-11-01 10:00:00".into(),
        host: "a".into(),
        uuid: Some("GPU-1".into()),
        version: crate::VERSION.into(),
        revision: "abc".into(),
        doubtful: None,
    };
    Profile {
        schema: SCHEMA,
        name: "h200".into(),
        source: "scatterlab calibrate".into(),
        made: Some(made),
        device: model::Device {
            name: "NVIDIA H200".into(),
            driver: Some("580.65.06, CUDA 13.0".into()),
            memory: Some(140 << 30),
            processors: Some(132),
        },
        caches: vec![Cache {
            name: "L2".into(),
            capacity: 50 << 20,
            stated: Some(60 << 20),
            line: 128,
            sector: 32,
        }],
        rates: BTreeMap::from([("cuda".to_owned(), rates())]),
        he2007: BTreeMap::new(),
    }
}

fn gpu(uuid: &str, driver: &str) -> Device {
    let facts = [("SMs", "132"), ("memory", "139 GiB"), ("driver", driver), ("UUID", uuid)];
    Device {
        backend: "cuda".into(),
        name: "NVIDIA H200".into(),
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        memory: None,
        availability: Availability::Available,
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = write(&h200()).expect("YAML");
    assert_eq!(read("h200.yaml", &text).expect("a profile"), h200());
    assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn mistakes_are_told_with_their_place_and_what_is_accepted() {
    let text = write(&h200()).expect("YAML");
    let said = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read("p.yaml", &text.replacen(from, to, 1)).expect_err("a mistake").to_string()
    };
    let all = [
        said("capacity:", "capacit:"),
        said("    fetch: 64\n", ""),
        said("fetch: 64", "fetch: many"),
        said("fetch: 64", "fetch: -64"),
        said("fetch: 64", "fetch: 0"),
        said("direction: read", "direction: reed"),
        said("schema: 1", "schema: 2"),
        said("[16384,", "[0,"),
        said("[16384,", "[16384, 3,"),
        said("name: h200", "name: h200\nname: h100"),
        said("[32768,", "[16384,"),
        said("launch: 2.5e-6", "launch: [1]"),
    ];
    insta::assert_snapshot!(all.join("\n"));
    assert!(read("p.yaml", "3").expect_err("none").to_string().contains("expected a map"));
}

fn profiles(profiles: Vec<Profile>) -> ProfileStore {
    let kept = profiles.into_iter().map(|profile| Kept { profile, origin: Origin::File("p.yaml".into()) });
    ProfileStore { kept: kept.collect(), broken: Vec::new() }
}

fn found(profiles: &ProfileStore, device: &Device, host: &str) -> Option<Vec<String>> {
    let now = "2026-12-24 00:00:00";
    let mut found = profiles.of_device(Machine { device, host, now })?;
    // The fixture has few figures.
    found.notices.retain(|notice| found.profile.schema < SCHEMA || !matches!(notice, Notice::Lacking(_)));
    Some([found.profile.name].into_iter().chain(found.notices.iter().map(Notice::to_string)).collect())
}

const DRIVER: &str = "580.65.06, CUDA 13.0";

#[test]
fn a_device_has_the_profile_of_its_kind() {
    let profiles = profiles(vec![h200()]);
    assert_eq!(found(&profiles, &gpu("GPU-1", DRIVER), "b"), Some(vec!["h200".into()]), "a renamed machine");
    let foreign = "foreign: made on a, on another NVIDIA H200".to_owned();
    assert_eq!(found(&profiles, &gpu("GPU-2", DRIVER), "a"), Some(vec!["h200".into(), foreign]));
    let stale = "stale: made with driver 580.65.06, CUDA 13.0, this is 590.1, CUDA 13.1".to_owned();
    assert_eq!(found(&profiles, &gpu("GPU-1", "590.1, CUDA 13.1"), "a"), Some(vec!["h200".into(), stale]));
    for other in [
        Device { name: "NVIDIA H100".into(), ..gpu("GPU-1", DRIVER) },
        Device { backend: "cpu".into(), ..gpu("GPU-1", DRIVER) },
        Device { facts: vec![("memory".into(), "80.0 GiB".into())], ..gpu("GPU-1", DRIVER) },
        Device { facts: vec![("SMs".into(), "114".into())], ..gpu("GPU-1", DRIVER) },
    ] {
        assert_eq!(found(&profiles, &other, "a"), None, "{other:?}");
    }
}

#[test]
fn of_several_the_nearest_and_newest_is_taken() {
    let variant = |name: &str, uuid: &str, at: &str| {
        let made = h200().made.map(|made| Made { uuid: Some(uuid.into()), at: at.into(), ..made });
        Profile { name: name.into(), made, ..h200() }
    };
    let all = vec![
        variant("foreign", "GPU-2", "2026-11-20 00:00:00"),
        variant("old", "GPU-1", "2026-11-01 00:00:00"),
        variant("new", "GPU-1", "2026-11-02 00:00:00"),
    ];
    let over_old = "preferred to old, which is older".to_owned();
    assert_eq!(taken(&profiles(all.clone())), ["new".to_owned(), over_old]);
    assert_eq!(found(&profiles(all[..1].to_vec()), &gpu("GPU-1", DRIVER), "a").map(|f| f.len()), Some(2));
}

/// The name of the profile that is taken, and what is said about it except what it lacks.
fn taken(profiles: &ProfileStore) -> Vec<String> {
    found(profiles, &gpu("GPU-1", DRIVER), "a").expect("a profile")
}

/// [`h200`] of another calibration.
fn variant(name: &str, uuid: &str, quick: &str, doubtful: Option<&str>) -> Profile {
    let doubtful = doubtful.map(str::to_owned);
    let made = h200().made.map(|made| Made { uuid: Some(uuid.into()), doubtful, ..made });
    Profile { name: name.into(), source: format!("scatterlab calibrate{quick}"), made, ..h200() }
}

#[test]
fn the_profile_of_this_very_machine_comes_first_and_says_what_makes_it_doubtful() {
    let foreign = || variant("shipped", "GPU-2", "", None);
    let noisy = variant("noisy", "GPU-1", " --quick", Some("75 of 200 cases: spread 75"));
    let doubt = "its calibration is quick, 38 % doubtful".to_owned();
    let over = "preferred to shipped, which was made on another machine".to_owned();
    assert_eq!(taken(&profiles(vec![foreign(), noisy.clone()])), ["noisy".to_owned(), doubt, over]);
    let full = variant("full", "GPU-1", "", Some("200 of 200 cases: spread 200"));
    let said = taken(&profiles(vec![noisy.clone(), full, foreign()]));
    let over = "preferred to noisy, which comes from a quick calibration".to_owned();
    assert_eq!(said, ["full".to_owned(), "its calibration is 100 % doubtful".to_owned(), over]);
    let another = variant("another", "GPU-2", " --quick", None);
    let said = taken(&profiles(vec![another, foreign()]));
    assert_eq!(said[0], "shipped", "the rest of the rule holds of other machines' too");
}

/// Virtual machines have names such as `vm`, which say nothing.
#[test]
fn what_ships_is_of_another_machine_whatever_the_name_of_the_host() {
    let processors = crate::model::processors_fixture();
    let facts = vec![("threads".to_owned(), "2".to_owned())];
    let device = Device { backend: "cpu".into(), name: "AMD EPYC".into(), facts, ..gpu("", "") };
    let host = &processors.made.as_ref().expect("made").host.clone();
    let own = Profile { name: "own".into(), source: "calibrate --quick".into(), ..processors.clone() };
    let found = |kept: Vec<(Profile, Origin)>| {
        let kept = kept.into_iter().map(|(profile, origin)| Kept { profile, origin }).collect();
        let store = ProfileStore { kept, broken: Vec::new() };
        let found = store.of_device(Machine { device: &device, host, now: "2026-12-24 00:00:00" });
        found.map(|found| (found.profile.name.clone(), found.is_own()))
    };
    let (shipped, file) = ((processors, Origin::Shipped), Origin::File("own.yaml".into()));
    assert_eq!(found(vec![shipped.clone()]), Some(("amd-epyc-2cpus".to_owned(), false)));
    assert_eq!(found(vec![shipped, (own, file)]), Some(("own".to_owned(), true)));
}

#[test]
fn a_calibration_takes_no_better_one_s_place_on_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = |profile: &Profile| {
        let name = free_name(folder.path(), profile);
        let path = in_folder(folder.path(), &name);
        save(profile, &path, |path, content| fs::write(path, content)).expect("written");
        name
    };
    let full = variant("h200", "GPU-1", "", None);
    let noisy = variant("h200", "GPU-1", "", Some("75 of 200 cases: spread 75"));
    let quick = variant("h200", "GPU-1", " --quick", None);
    let all = [&full, &quick, &full, &noisy, &full].map(kept);
    assert_eq!(all, ["h200", "h200-2", "h200", "h200-2", "h200"]);
}

#[test]
fn a_profile_of_an_older_version_is_read_and_what_it_lacks_is_named() {
    let text = write(&h200()).expect("YAML").replacen("schema: 1", "schema: 0", 1);
    let old = read("old.yaml", &text).expect("an older profile");
    let said = found(&profiles(vec![old]), &gpu("GPU-1", DRIVER), "a").expect("a profile");
    let told = said.iter().find(|text| text.starts_with("lacks ")).expect("what is missing");
    assert!(told.starts_with("lacks rates.cuda.pass, rates.cuda.pattern, rates.cuda.blocks, "), "{told}");
}

#[test]
fn age_and_another_version_make_it_stale() {
    let made =
        h200().made.map(|made| Made { at: "2026-01-31 00:00:00".into(), version: "0.0.1".into(), ..made });
    let notices =
        found(&profiles(vec![Profile { made, ..h200() }]), &gpu("GPU-1", DRIVER), "a").expect("one");
    assert_eq!(notices[1], format!("stale: made by scatterlab 0.0.1, this is {}", crate::VERSION));
    assert_eq!(notices[2], "stale: made 11 months ago");
}

#[test]
fn files_are_found_by_name_and_by_path_and_broken_ones_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = in_folder(folder.path(), &free_name(folder.path(), &h200()));
    save(&h200(), &path, |path, content| fs::write(path, content)).expect("written");
    assert_eq!(free_name(folder.path(), &h200()), "h200", "the same machine's is replaced");
    let made = h200().made.map(|made| Made { uuid: None, host: "b".into(), ..made });
    let other = Profile { made, ..h200() };
    assert_eq!(free_name(folder.path(), &other), "h200-2");
    std::fs::write(folder.path().join("bad.yaml"), "schema: 1\n").expect("written");
    assert_eq!(ProfileStore::of(None).broken, Vec::<String>::new(), "all that ship can be read");
    let profiles = ProfileStore::of(Some(folder.path()));
    assert_eq!(profiles.broken.len(), 1);
    assert!(
        profiles.broken[0].contains("bad.yaml:1:1: missing key `name` in the profile"),
        "{:?}",
        profiles.broken
    );
    assert_eq!(profiles.wanted("h200").expect("by name").profile, h200());
    assert_eq!(profiles.wanted(&path.display().to_string()).expect("by path").profile, h200());
    let error = profiles.wanted("h2000").expect_err("none").to_string();
    assert!(
        error.contains("no profile of this name: h2000; known: ") && error.contains("bad.yaml"),
        "{error}"
    );
}

#[test]
fn a_profile_named_for_another_device_says_so() {
    let (profiles, now) = (profiles(vec![h200()]), "2026-12-24 00:00:00");
    let device = Device { name: "NVIDIA B200".into(), ..gpu("GPU-1", DRIVER) };
    let found = profiles.named_for("h200", Machine { device: &device, host: "a", now }).expect("found");
    assert_eq!(found.notices, [Notice::Other("h200 is of NVIDIA H200".into())]);
}

#[test]
fn the_folder_follows_the_base_directory_specification() {
    let of = |pairs: &[(&str, &str)]| {
        let read = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| value.into());
        folder(read).map(|path| path.display().to_string())
    };
    let home = ("HOME", "/home/a");
    assert_eq!(of(&[home]).as_deref(), Some("/home/a/.local/share/scatterlab/profiles"));
    assert_eq!(of(&[home, ("XDG_DATA_HOME", "/data")]).as_deref(), Some("/data/scatterlab/profiles"));
    assert_eq!(of(&[]), None);
}

#[test]
fn sizes_are_read_as_the_facts_write_them() {
    let sizes = ["60.0 MiB", "140 GiB", "48 KiB", "1 B", "many"].map(match_device::size);
    assert_eq!(sizes, [Some(60 << 20), Some(140 << 30), Some(48 << 10), Some(1), None]);
}

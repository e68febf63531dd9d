use std::fs::File;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use super::*;
use crate::engine::protocol::{Event, Level};
use crate::run::folder::{Folder, Urgency};
use crate::run::stored::{each_event, each_event_until};

/// Creates a run folder with `count` events and a torn last line.
fn written(run: &Path, count: usize) -> Folder {
    let mut folder = Folder::create(run).expect("fresh folder");
    for number in 0..count {
        let event = Event::Log { level: Level::Info, text: format!("event {number}") };
        folder.append(&event, Urgency::Written).expect("written");
    }
    append(run, b"{\"event\":\"lo");
    folder
}

fn append(run: &Path, more: &[u8]) {
    let plain = File::options().append(true).open(run.join(EVENTS));
    plain.and_then(|mut plain| plain.write_all(more)).expect("written");
}

fn count(run: &Path) -> usize {
    let mut count = 0;
    each_event(run, |_| count += 1).expect("events");
    count
}

fn fails(run: &Path) -> String {
    format!("{:#}", each_event(run, |_| ()).expect_err("no events"))
}

#[test]
fn packed_events_are_those_that_were_there_and_become_plain_again() {
    let run = tempfile::tempdir().expect("temporary folder");
    let folder = written(run.path(), 100);
    let plain = fs::read(run.path().join(EVENTS)).expect("events");
    folder.pack().expect("packed");
    drop(folder);
    assert!(is_packed(run.path()) && file(run.path()).ends_with(PACKED));
    let packed = fs::metadata(run.path().join(PACKED)).expect("a file").len();
    assert!(packed * 5 < plain.len() as u64, "{packed} of {}", plain.len());
    assert_eq!((count(run.path()), fs::read_dir(run.path()).expect("a folder").count()), (100, 1));
    let whole = each_event_until(run.path(), |_| ControlFlow::Continue(())).expect("events").whole;
    assert_eq!(whole, plain.len() as u64 - 12, "as long as the plain one's");
    let taken = Folder::create(run.path()).expect_err("a run").to_string();
    assert!(taken.contains("already holds a run"), "{taken}");
    drop(Folder::reopen(run.path()).expect("nobody writes it"));
    assert_eq!(fs::read(run.path().join(EVENTS)).expect("events"), plain);
    assert!(!run.path().join(PACKED).exists() && !is_packed(run.path()));
}

#[test]
fn the_same_events_give_the_same_file_with_the_time_of_the_plain_one() {
    let root = tempfile::tempdir().expect("temporary folder");
    let packed = ["a", "b"].map(|name| {
        let run = root.path().join(name);
        let (folder, plain) = (Folder::create(&run).expect("fresh folder"), run.join(EVENTS));
        append(&run, b"{\"event\":\"finished\",\"cancelled\":false}\n");
        let age = Duration::from_secs(if name == "a" { 1000 } else { 2_000_000 });
        let time = SystemTime::now() - age;
        let plain = File::options().append(true).open(plain).expect("events");
        plain.set_modified(time).expect("a time");
        let time = plain.metadata().and_then(|about| about.modified()).expect("a time");
        folder.pack().expect("packed");
        let file = run.join(PACKED);
        assert_eq!(fs::metadata(&file).and_then(|about| about.modified()).expect("a time"), time);
        fs::read(file).expect("a file")
    });
    assert_eq!(packed[0], packed[1]);
    assert_eq!(packed[0][4..8], [0; 4], "no time is in it");
}

/// A program killed halfway leaves both files.
#[test]
fn of_two_files_the_plain_one_counts_and_neither_is_lost() {
    let run = tempfile::tempdir().expect("temporary folder");
    let folder = written(run.path(), 3);
    let plain = fs::read(run.path().join(EVENTS)).expect("events");
    folder.pack().expect("packed");
    let packed = fs::read(run.path().join(PACKED)).expect("a file");
    fs::write(run.path().join(EVENTS), [&plain[..plain.len() - 12], b"{\"event\":\"paused\"}\n"].concat())
        .expect("written");
    assert_eq!((count(run.path()), is_packed(run.path())), (4, false));
    let error = folder.pack().expect_err("two runs").to_string();
    assert!(
        error.ends_with(
            "events.ndjson.gz and events.ndjson beside it hold different events: remove one of them"
        )
    );
    assert_eq!((count(run.path()), fs::read(run.path().join(PACKED)).expect("a file")), (4, packed));
    fs::write(run.path().join(EVENTS), plain).expect("written");
    append(run.path(), b"g\",\"level\":\"info\",\"text\":\"\"}\n");
    folder.pack().expect("it begins with what is packed");
    assert_eq!((count(run.path()), is_packed(run.path())), (4, true));
}

#[test]
fn a_damaged_file_is_one_error_that_names_it() {
    let run = tempfile::tempdir().expect("temporary folder");
    written(run.path(), 50).pack().expect("packed");
    let file = run.path().join(PACKED);
    let (whole, events) = (fs::read(&file).expect("a file"), text(&file).expect("events"));
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cut = [0, 5, 30, whole.len() - 1].map(|length| whole[..length].to_vec());
    let more = [&whole[..], b"more"].concat();
    for bytes in cut.into_iter().chain([flipped(whole.len() - 6), more, b"{\"event\":\"paused\"}\n".to_vec()])
    {
        fs::write(&file, &bytes).expect("written");
        let error = fails(run.path());
        assert!(error.contains("events.ndjson.gz: it is not a complete gzip file: "), "{error}");
        assert!(Folder::reopen(run.path()).is_err() && !run.path().join(EVENTS).exists(), "{bytes:?}");
        assert_eq!(fs::read(&file).expect("a file"), bytes, "it stays as it is");
    }
    // A flipped bit in the middle may surface as an invalid line before the checksum is verified, or turn a match
    // into another one of the same bytes.
    for at in (10..whole.len() - 8).step_by(7) {
        fs::write(&file, flipped(at)).expect("written");
        match text(&file) {
            Ok(same) => assert!(same == events, "{at}"),
            Err(_) => assert!(fails(run.path()).contains("events.ndjson.gz:"), "{at}: {}", fails(run.path())),
        }
    }
    fs::write(&file, compressed(b"nonsense\n").expect("packed")).expect("written");
    assert!(
        fails(run.path()).contains("events.ndjson.gz:1: not an event that this version knows"),
        "{}",
        fails(run.path())
    );
}

#[test]
fn one_program_at_a_time_unpacks() {
    let run = tempfile::tempdir().expect("temporary folder");
    written(run.path(), 3).pack().expect("packed");
    let other = File::open(run.path().join(PACKED)).expect("a file");
    other.lock().expect("nobody else has it");
    let error = Folder::reopen(run.path()).expect_err("somebody else's").to_string();
    assert!(error.contains("another scatterlab is writing this run"), "{error}");
    assert!(is_packed(run.path()));
    drop(other);
    assert_eq!((Folder::reopen(run.path()).is_ok(), count(run.path())), (true, 3));
}

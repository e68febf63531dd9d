use super::*;
use crate::run::writes::draft;

#[test]
fn a_folder_that_holds_a_run_is_refused() {
    let root = tempfile::tempdir().expect("temporary folder");
    let path = root.path().join("a");
    let mut first = Folder::create(&path).expect("fresh folder");
    let busy = Folder::create(&path).expect_err("at the same time").to_string();
    assert!(busy.contains("another scatterlab is writing"), "{busy}");
    first.append(&log("something"), Urgency::Written).expect("written");
    drop(first);
    let error = Folder::create(&path).expect_err("second run").to_string();
    assert!(error.contains("already holds a run"), "{error}");
}

#[test]
fn somebody_s_own_recipe_is_neither_overwritten_nor_removed() {
    let root = tempfile::tempdir().expect("temporary folder");
    let own = root.path().join(RECIPE);
    fs::write(&own, "title: Mine\n").expect("written");
    let error = Folder::create(root.path()).expect_err("not ours").to_string();
    assert!(error.contains("holds a recipe.yaml but no run"), "{error}");
    assert_eq!(fs::read_to_string(&own).expect("it"), "title: Mine\n");
}

#[test]
fn one_program_at_a_time_goes_on_with_a_run() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut first = Folder::create(root.path()).expect("fresh folder");
    first.append(&log("something"), Urgency::Written).expect("written");
    assert!(Folder::reopen(root.path()).is_err());
    drop(first);
    let second = Folder::reopen(root.path()).expect("nobody writes it");
    assert!(Folder::reopen(root.path()).is_err());
    drop(second);
}

#[test]
fn a_folder_that_is_gone_takes_no_results() {
    let root = tempfile::tempdir().expect("temporary folder");
    let path = root.path().join("a");
    let mut folder = Folder::create(&path).expect("fresh folder");
    folder.append(&log("first"), Urgency::Durable).expect("written");
    fs::rename(&path, root.path().join("b")).expect("moved");
    let error = folder.append(&log("second"), Urgency::Durable).expect_err("nowhere");
    assert!(format!("{error:#}").contains("a/events.ndjson"), "{error:#}");
    fs::create_dir(&path).expect("folder");
    fs::write(path.join(EVENTS), "").expect("file");
    let error = folder.append(&log("third"), Urgency::Durable).expect_err("another file");
    assert!(error.to_string().contains("replaced by another file"), "{error}");
}

#[test]
fn drafts_of_killed_programs_are_removed() {
    let root = tempfile::tempdir().expect("temporary folder");
    Folder::create(root.path()).expect("fresh folder").append(&log("x"), Urgency::Written).expect("written");
    // A process that has exited and was waited for, so its id is free.
    let mut gone = std::process::Command::new("true").spawn().expect("starts");
    gone.wait().expect("ends");
    let left = root.path().join(format!(".results.csv.{}.part", gone.id()));
    let own = draft(root.path(), "results.csv");
    let others = [".part", ".notes.part", ".results.csv.1x.part", "results.csv.1.part"];
    let others = others.map(|name| root.path().join(name));
    for path in others.iter().chain([&left, &own]) {
        fs::write(path, "half").expect("draft");
    }
    Folder::reopen(root.path()).expect("a run");
    assert!(!left.exists());
    assert!(own.exists(), "whoever writes it is alive");
    assert!(others.iter().all(|path| path.exists()), "they are not ours");
}

#[test]
fn a_refusal_leaves_nothing_behind() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join(MANIFEST), "{}").expect("written");
    let error = Folder::create(root.path()).expect_err("a run without events").to_string();
    assert!(error.contains("already holds a run"), "{error}");
    assert!(!root.path().join(EVENTS).exists());
}

/// A plan with one index array, read from a file in this folder.
fn plan_with_indices(folder: &Path) -> Plan {
    fs::write(folder.join("a.csv"), "3,1,2").expect("written");
    let text = "gather: {locations: {file: a.csv}}\nbackend: scalar\nchart: {x: file}\n";
    let recipe = crate::recipe::parse("r.yaml", text).expect("a recipe");
    let files = indices::LocalFiles::of(folder);
    crate::recipe::plan::resolve_with(&recipe, &crate::recipe::plan::Overrides::default(), &files)
        .expect("a plan")
}

#[test]
fn only_copies_of_our_own_are_removed_with_an_unused_run() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut plan = plan_with_indices(root.path());
    let own = root.path().join(indices::FOLDER).join("mine.npy");
    fs::create_dir(root.path().join(indices::FOLDER)).expect("folder");
    fs::write(&own, "mine").expect("written");
    let mut folder = Folder::create(root.path()).expect("fresh folder");
    folder.keep_indices(&mut plan).expect("kept");
    let copy = plan.indices[0].copy.clone().expect("a copy");
    assert!(copy.is_file());
    folder.remove_unused();
    assert!(!copy.exists() && !root.path().join(EVENTS).exists());
    assert_eq!(fs::read_to_string(&own).expect("it"), "mine");

    let mut folder = Folder::create(&root.path().join("fresh")).expect("fresh folder");
    folder.keep_indices(&mut plan).expect("kept");
    folder.remove_unused();
    assert!(!root.path().join("fresh").exists());
}

#[test]
fn copies_that_were_there_before_stay() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut plan = plan_with_indices(root.path());
    let mut folder = Folder::create(root.path()).expect("fresh folder");
    folder.keep_indices(&mut plan).expect("kept");
    drop(folder);
    let mut again = Folder::create(root.path()).expect("nothing was measured");
    again.keep_indices(&mut plan).expect("kept");
    again.remove_unused();
    assert!(plan.indices[0].copy.as_ref().is_some_and(|copy| copy.is_file()));
}

fn log(text: &str) -> Event {
    Event::Log { level: crate::engine::protocol::Level::Info, text: text.to_owned() }
}

#[test]
fn what_is_held_back_comes_before_what_is_not() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut folder = Folder::create(root.path()).expect("fresh folder");
    let written = || fs::read_to_string(root.path().join(EVENTS)).expect("events");
    folder.append(&log("first"), Urgency::Held).expect("held");
    assert_eq!(written(), "");
    folder.append(&log("second"), Urgency::Durable).expect("written");
    let texts = written();
    assert_eq!(texts.lines().count(), 2);
    assert!(texts.find("first") < texts.find("second"), "{texts}");
    folder.append(&log("third"), Urgency::Held).expect("held");
    folder.flush().expect("written");
    assert_eq!(written().lines().count(), 3);
}

#[test]
fn a_folder_without_events_can_be_used_again() {
    let root = tempfile::tempdir().expect("temporary folder");
    let path = root.path().join("a");
    let unused = Folder::create(&path).expect("fresh folder");
    unused.write_recipe("title: x").expect("written");
    unused.remove_unused();
    assert!(!path.exists());
    let mut used = Folder::create(&path).expect("the same folder");
    used.append(&log("something"), Urgency::Written).expect("written");
    used.remove_unused();
    assert!(path.join(EVENTS).exists());
}

#[test]
fn names_never_collide() {
    let root = tempfile::tempdir().expect("temporary folder");
    let first = fresh_path(root.path(), "2026-11-20 22:37:58", "quickstart");
    assert!(first.ends_with("20261120-223758-quickstart"));
    fs::create_dir(&first).expect("folder");
    let second = fresh_path(root.path(), "2026-11-20 22:37:58", "quickstart");
    assert!(second.ends_with("20261120-223758-quickstart-2"));
}

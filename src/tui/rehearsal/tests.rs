use super::*;
use crate::engine::protocol::Event;
use crate::tui::tests::fixture;

#[test]
fn it_is_drawn_as_often_as_a_run_and_not_while_it_rests() {
    let entry = fixture::recipes().remove(0);
    let opened = Rehearsal::open(entry, fixture::stream(), Environment::default(), Surface::Pseudo);
    let mut rehearsal = opened.expect("a pseudo-terminal");
    rehearsal.notify("pair 1 of 20");
    rehearsal.draw_for(Duration::from_millis(600)).expect("drawn");
    // The exact number depends on the machine; the pacer's own tests check it.
    let drawn = rehearsal.frames();
    assert!((1..=3).contains(&drawn), "{drawn} frames");
    rehearsal.rest_for(Duration::from_millis(300)).expect("rested");
    assert_eq!(rehearsal.frames(), drawn);
    assert!(!rehearsal.stopped());
}

#[test]
fn something_new_is_said_for_as_long_as_it_lasts() {
    let plan = fixture::stream();
    let script = script::results(&plan);
    assert_eq!(script.len(), plan.cases.len());
    let sampled = |message: &Message| matches!(message, Message::Event(Event::Progress { .. }));
    assert!(script.iter().all(|[_, next]| sampled(next)));
}

#[test]
fn pictures_are_drawn_instead_of_panels() {
    let entry = fixture::recipes().remove(0);
    let opened = Rehearsal::open(entry, fixture::stream(), Environment::default(), Surface::Pseudo);
    let mut rehearsal = opened.expect("a pseudo-terminal").with_pictures();
    rehearsal.draw_for(Duration::from_millis(600)).expect("drawn");
    let drawn = rehearsal.frames();
    assert!((1..=3).contains(&drawn), "{drawn} frames");
    assert_eq!(rehearsal.app.state.focus, crate::tui::panel::Focus::Live);
    assert!(rehearsal.app.state.session.is_some_and(|session| !session.pictures.is_empty()));
}

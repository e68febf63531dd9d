//! Snapshots of the home screen.

use insta::assert_snapshot;
use ratatui::style::Color;

use super::*;

/// One snapshot for each size and each kind of terminal.
fn everywhere(name: &str, prepare: impl Fn(&mut App)) {
    for (kind, theme) in [("colour", COLOURED), ("plain", Theme::PLAIN), ("ascii", ASCII)] {
        let (mut app, _) = open(theme);
        prepare(&mut app);
        for size in SIZES {
            let screen = shown(&mut app, size);
            assert_eq!(kind == "ascii", screen.is_ascii(), "{kind}");
            assert_snapshot!(format!("home-{name}-{kind}-{}x{}", size.0, size.1), screen);
        }
    }
}

#[test]
fn the_recipes_with_what_is_known_of_them() {
    everywhere("preview", |app| {
        keys(app, "j");
        tell(app);
        assert!(shown(app, (80, 24)).contains("Last run 2026-11-20 22:37"));
    });
}

#[test]
fn the_list_while_a_filter_is_typed() {
    everywhere("filter", |app| keys(app, "/scatter fig"));
}

#[test]
fn the_form_while_a_value_is_typed() {
    everywhere("editor", |app| {
        keys(app, "j");
        tell(app);
        keys(app, "e");
        set(app, "tuples", "[1Mi, 4Mi]");
        set(app, "passes", "0");
    });
}

#[test]
fn the_queue_under_the_recipes() {
    everywhere("queue", |app| {
        keys(app, "aja");
        keys(app, "je");
        set(app, "tuple", "8B");
        keys(app, "a<esc><tab>j");
    });
}

#[test]
fn without_colour_every_cell_is_reset() {
    let (mut app, _) = open(ASCII);
    keys(&mut app, "j");
    tell(&mut app);
    let reset = |app: &mut App| {
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
        app.draw(&mut terminal, NOW).expect("a frame");
        for cell in terminal.backend().buffer().content() {
            assert_eq!((cell.fg, cell.bg, cell.modifier.bits()), (Color::Reset, Color::Reset, 0));
        }
    };
    reset(&mut app);
    keys(&mut app, "e<enter>");
    reset(&mut app);
    keys(&mut app, "<esc>w");
    reset(&mut app);
}

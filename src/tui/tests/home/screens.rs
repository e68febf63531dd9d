//! The home screen in all its states.

use super::*;

fn after(theme: Theme, text: &str) -> App {
    let (mut app, _) = open(theme);
    keys(&mut app, text);
    app
}

/// Without background lookups.
pub fn recipes(theme: Theme) -> App {
    after(theme, "j")
}

pub fn known(theme: Theme) -> App {
    let mut app = recipes(theme);
    tell(&mut app);
    app.tick(NOW);
    assert!(shown(&mut app, (80, 24)).contains("Last run 2026-11-20 22:37"));
    app
}

/// With the notice for starting a recipe that has a mistake.
pub fn mistake(theme: Theme) -> App {
    after(theme, "G<enter>")
}

pub fn filter(theme: Theme) -> App {
    after(theme, "/scatter fig")
}

pub fn no_match(theme: Theme) -> App {
    after(theme, "/segmented")
}

/// With a changed value, and another one being typed.
pub fn form(theme: Theme) -> App {
    let mut app = known(theme);
    keys(&mut app, "e");
    set(&mut app, "tuples", "[1Mi, 4Mi]");
    line(&mut app, "passes");
    keys(&mut app, "<enter>");
    app
}

/// With a value that is not accepted.
pub fn refused(theme: Theme) -> App {
    let mut app = known(theme);
    keys(&mut app, "e");
    set(&mut app, "tuples", "[1Mi, 4Mi]");
    set(&mut app, "passes", "0");
    app
}

pub fn queue(theme: Theme) -> App {
    let mut app = after(theme, "ajaje");
    set(&mut app, "tuple", "8B");
    keys(&mut app, "a<esc><tab>j");
    app
}

pub fn save_as(theme: Theme) -> App {
    after(theme, "jw")
}

pub fn not_saved(theme: Theme) -> App {
    let mut app = save_as(theme);
    super::save_as(&mut app, "/nowhere/at/all.yaml");
    app
}

//! Every reachable screen, on terminals of every size and kind: its text and, if there are colours, its styles.

mod picture;
mod reach;

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use tempfile::TempDir;

use super::{charts, devices, home, live, screens};
use crate::tui::app::App;
use crate::tui::commands::calibration::tests as calibration;
use crate::tui::runs::tests::screens as stored;
use crate::tui::theme::Theme;
use crate::tui::whatif::tests as whatif;

/// Sizes at which panels must be readable, and below them sizes with only a status line.
const SIZES: [(u16, u16); 8] =
    [(200, 60), (120, 40), (80, 24), (60, 15), (59, 14), (40, 10), (39, 4), (20, 1)];

const THEMES: [(&str, Theme); 3] = [
    ("colour", Theme { colour: true, ..Theme::PLAIN }),
    ("no-colour", Theme::PLAIN),
    ("ascii", Theme { utf8: false, ..Theme::PLAIN }),
];

/// A screen before it is drawn. The scene owns the temporary folder of its stored runs, if it has one.
struct Scene {
    app: App,
    _root: Option<TempDir>,
}

impl From<App> for Scene {
    fn from(app: App) -> Scene {
        Scene { app, _root: None }
    }
}

impl From<(App, TempDir)> for Scene {
    fn from((app, root): (App, TempDir)) -> Scene {
        Scene { app, _root: Some(root) }
    }
}

/// Each scene is a test, and an entry of the table that `reach` searches.
macro_rules! scenes {
    ($($name:ident: $make:path,)+) => {
        const SCENES: &[(&str, fn(Theme) -> Scene)] =
            &[$((stringify!($name), |theme| Scene::from($make(theme)))),+];

        $(#[test]
        fn $name() {
            record(stringify!($name), |theme| Scene::from($make(theme)));
        })+
    };
}

scenes! {
    recipes: home::screens::recipes,
    recipes_with_what_is_known: home::screens::known,
    recipe_with_a_mistake: home::screens::mistake,
    filter: home::screens::filter,
    filter_without_a_match: home::screens::no_match,
    form: home::screens::form,
    form_with_a_mistake: home::screens::refused,
    queue: home::screens::queue,
    save_as: home::screens::save_as,
    not_saved: home::screens::not_saved,
    starting: screens::starting,
    running: screens::running,
    running_elsewhere: screens::elsewhere,
    running_with_a_queue: screens::with_a_queue,
    samples: screens::samples,
    log: screens::log,
    devices: devices::shown,
    pausing: screens::pausing,
    paused: screens::paused,
    frozen: screens::frozen,
    frozen_and_paused: screens::frozen_and_paused,
    skipped: screens::skipped,
    doubtful: screens::doubtful,
    asked_to_cancel: screens::asked_to_cancel,
    silent: screens::silent,
    unfolded: screens::unfolded,
    without_a_profile: calibration::without_a_profile,
    recipe_without_a_profile: calibration::recipe_without_a_profile,
    calibrating: calibration::calibrating,
    calibrated: calibration::calibrated,
    cancelling: screens::cancelling,
    cancelled: screens::cancelled,
    died: screens::died,
    broken: screens::broken,
    done: screens::done,
    names: screens::names,
    small_multiples: screens::small_multiples,
    quitting: screens::quitting,
    leaving: screens::leaving,
    help: screens::help,
    help_to_its_end: screens::help_to_its_end,
    words: screens::words,
    watching: screens::watching,
    watching_held: screens::watching_held,
    watching_ended: screens::watching_ended,
    watching_broken: screens::watching_broken,
    watching_help: screens::watching_help,
    cursor: charts::cursor,
    cursor_on_a_failure: charts::cursor_on_a_failure,
    zoomed: charts::zoomed,
    differences: charts::differences,
    all_panels: charts::all_panels,
    ceiling: charts::ceiling,
    ceiling_far_away: charts::ceiling_far_away,
    ceiling_missing: charts::ceiling_missing,
    roofline: charts::roofline,
    runs: stored::runs,
    runs_none: stored::none,
    runs_search: stored::search,
    runs_note: stored::note,
    runs_broken_folder: stored::broken_folder,
    run_details: stored::details,
    run_opened: stored::opened,
    run_under_a_chart: stored::under_a_chart,
    comparison: stored::comparison,
    export: stored::export,
    pattern: stored::pattern,
    pattern_in_lines: stored::pattern_in_lines,
    matrix: stored::matrix,
    matrix_sampled: stored::matrix_sampled,
    live_field: live::field,
    live_curve: live::curve,
    live_without_a_picture: live::none,
    live_watched: live::watched,
    predicted_first: whatif::predicted_first,
    predicted: whatif::predicted,
    bucket_sweep: whatif::bucket_sweep,
    what_if: whatif::shown,
    what_if_changed: whatif::changed,
    what_if_of_names: whatif::of_names,
    what_if_of_a_recipe: whatif::of_a_recipe,
    what_if_saved_as: whatif::saving,
}

/// Records one snapshot for each kind of terminal, with all sizes.
fn record(name: &str, make: impl Fn(Theme) -> Scene) {
    for (word, theme) in THEMES {
        let mut app = make(theme).app;
        let state = app.state.clone();
        let pictures = SIZES.map(|size| {
            app.state = state.clone();
            let buffer = draw(&mut app, size);
            holds(&buffer, theme);
            format!("{}x{}\n{}", size.0, size.1, picture::of(&buffer))
        });
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| assert_snapshot!(format!("{name}-{word}"), pictures.join("\n")));
    }
}

fn draw(app: &mut App, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let now = app.state.now;
    app.draw(&mut terminal, now).expect("a frame");
    terminal.backend().buffer().clone()
}

/// Checks that every cell has the default style without colour, and that ASCII is ASCII.
fn holds(buffer: &Buffer, theme: Theme) {
    for cell in buffer.content() {
        assert!(theme.utf8 || cell.symbol().is_ascii(), "{}", cell.symbol());
        let styled = (cell.fg, cell.bg) != (Color::Reset, Color::Reset) || !cell.modifier.is_empty();
        assert!(theme.colour || !styled, "{:?}", cell.style());
    }
}

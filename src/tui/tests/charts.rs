//! The chart after various requests of the user.

use ratatui::crossterm::event::KeyCode;

use super::loops::press;
use super::screens::{at, finished, played};
use super::{fixture, script};
use crate::engine::protocol::Event;
use crate::recipe::plan::Ceiling;
use crate::run::Ledger;
use crate::run::runner::Message;
use crate::tui::app::App;
use crate::tui::session::Session;
use crate::tui::theme::Theme;

/// The same recipe again, without failures.
fn again(theme: Theme) -> App {
    let (mut app, runner) = played(theme, 1, Some(4), usize::MAX);
    runner.say(Message::Over);
    app.receive(at(9));
    press(&mut app, KeyCode::Esc, at(9));
    press(&mut app, KeyCode::Enter, at(9));
    for message in script::messages(&fixture::passes(), None) {
        let slower = match message {
            Message::Event(Event::Round { seq, mut result }) => {
                let late = result.samples.len() as f64 * f64::from(result.round + 1);
                result.samples.iter_mut().for_each(|s| *s *= 1.0 + 0.02 * late);
                Message::Event(Event::Round { seq, result })
            }
            other => other,
        };
        runner.say(slower);
        app.receive(at(10));
    }
    runner.say(Message::Over);
    app.receive(at(10));
    app
}

/// Presses these keys; an arrow moves one case along the line.
fn looked_at(mut app: App, text: &str) -> App {
    for key in text.chars() {
        let code = if key == '→' { KeyCode::Right } else { KeyCode::Char(key) };
        press(&mut app, code, at(9));
    }
    app.tick(at(10));
    app
}

pub fn cursor(theme: Theme) -> App {
    looked_at(finished(theme, 1), "gv→→→")
}

pub fn cursor_on_a_failure(theme: Theme) -> App {
    looked_at(finished(theme, 1), "gv→→")
}

/// With other scales and a hidden line.
pub fn zoomed(theme: Theme) -> App {
    looked_at(finished(theme, 1), "gv→→→→++aaA2bi")
}

/// With the differences from the previous run.
pub fn differences(theme: Theme) -> App {
    looked_at(again(theme), "zogv→→→→")
}

/// The same recipe with a ceiling, for reference copies that reached `copies` GB/s.
fn under_a_ceiling(theme: Theme, copies: &[f64]) -> App {
    let mut plan = fixture::passes();
    plan.experiments[0].chart.ceiling = Some(Ceiling::Copy);
    let mut session = Session::new(1, Ledger::new(plan.clone()), script::FOLDER.into(), at(0));
    let copied = copies.iter().enumerate().map(|(pass, copy)| {
        let (pass, backend) = (pass as u32, "cpu".to_owned());
        Message::Event(Event::Reference { pass, backend, copy: *copy, ranked: Vec::new() })
    });
    let messages = script::messages(&plan, Some(4)).into_iter().chain(copied).chain([Message::Over]);
    messages.for_each(|message| session.receive(message, at(9)));
    let mut app = finished(theme, 1);
    app.state.session = Some(session);
    app
}

/// The ceiling, at the copies' bandwidth, crosses the points.
pub fn ceiling(theme: Theme) -> App {
    looked_at(under_a_ceiling(theme, &[13.0, 14.5, 14.0]), "gv")
}

/// A ceiling far from the points is stated only in the legend; here it is also hidden.
pub fn ceiling_far_away(theme: Theme) -> App {
    looked_at(under_a_ceiling(theme, &[2900.0]), "z2")
}

/// A run without reference copies.
pub fn ceiling_missing(theme: Theme) -> App {
    looked_at(under_a_ceiling(theme, &[]), "z")
}

/// Cases under the rate of copies.
pub fn roofline(theme: Theme) -> App {
    looked_at(under_a_ceiling(theme, &[13.0, 14.5, 14.0]), "zVv")
}

pub fn all_panels(theme: Theme) -> App {
    looked_at(finished(theme, 0), "}zv")
}

//! Effects of the chart's keys on its view settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::Rect;

use super::{Session, readout};
use crate::case::Value;
use crate::engine::protocol::Event;
use crate::recipe::plan::{ChartScale, Plan, Scale};
use crate::report::scale::Spacing;
use crate::run::Ledger;
use crate::tui::chart::Look;
use crate::tui::chart::cursor::{self, Stop};
use crate::tui::chart::numbers;
use crate::tui::chart::overlay::Baseline;
use crate::tui::focus::Focus;
use crate::tui::state::State;
use crate::tui::tests::{act, fixture, script};
use crate::tui::theme::Theme;

impl Session {
    /// Does what a key of the chart does; returns what is said about it.
    fn ask(&mut self, name: &str) -> Option<String> {
        let mut state = State::new(Vec::new(), String::new());
        (state.session, state.focus) = (Some(self.clone()), Focus::Chart);
        act(&mut state, name);
        *self = state.session.expect("the same");
        state.notice
    }
}

/// A run of the plan in which these cases have all their rounds.
fn session(plan: Plan, measured: impl Iterator<Item = usize>) -> Session {
    let mut ledger = Ledger::new(plan.clone());
    for at in measured {
        for round in 0..plan.experiments[plan.cases[at].experiment].measure.rounds {
            ledger.apply(&Event::Round { seq: 0, result: script::result(&plan, at, round) });
        }
    }
    Session::new(0, ledger, PathBuf::from("run"), Duration::ZERO)
}

/// Passes 1 to 64 on cpu (even cases) and cuda (odd cases); passes 4 failed.
fn passes() -> Session {
    let mut session = session(fixture::passes(), [0, 2, 6, 8, 10, 12].into_iter());
    session.ledger.fail(4, "wrong result: out[7] = 3, not 4".to_owned());
    stale(&mut session)
}

fn stale(session: &mut Session) -> Session {
    let mut fresh = Session::new(0, session.ledger.clone(), PathBuf::from("run"), Duration::ZERO);
    fresh.refresh();
    fresh
}

fn look(session: &Session) -> Look {
    session.view.look(session.experiment()).clone()
}

#[test]
fn the_cursor_goes_along_its_line_and_over_what_is_no_point() {
    let mut session = passes();
    session.ask("cursor");
    let mut visited = vec![session.selected];
    for _ in 0..7 {
        session.ask("right");
        visited.push(session.selected);
    }
    assert_eq!(visited, [0, 2, 4, 6, 8, 10, 12, 12], "the failed case has its stop, the end is the end");
    assert!(!session.follow);
    session.ask("left");
    assert_eq!(session.selected, 10);
}

#[test]
fn the_cursor_goes_between_lines_by_height_and_to_the_foot() {
    let mut session = passes();
    session.select(6);
    session.ask("cursor");
    session.move_cursor(1, 0);
    assert_eq!(session.selected, 7, "what cannot run lies at the foot");
    session.move_cursor(1, 0);
    assert_eq!(session.selected, 7);
    session.move_cursor(-1, 0);
    assert_eq!(session.selected, 6);
}

#[test]
fn the_cursor_begins_at_the_nearest_case_that_is_drawn() {
    let mut session = passes();
    session.select(7);
    session.ask("line-2");
    session.ask("cursor");
    assert_eq!(session.selected, 6, "cuda is hidden");
    session.ask("line-2");
    session.move_cursor(1, 0);
    assert_eq!(session.selected, 7);
    session.ask("line-2");
    assert_eq!(session.selected, 6, "the cursor leaves a line that is hidden");
}

#[test]
fn references_are_met_on_the_way_up_and_down() {
    let stop = |case, style, x, y| Stop { case, style, x, y };
    let stops = [
        stop(0, 0, Some(1.0), Some(5.0)),
        stop(1, 0, Some(2.0), Some(6.0)),
        stop(2, 1, Some(2.0), Some(9.0)),
        stop(3, 2, None, Some(7.0)),
    ];
    let up = |case| cursor::across(&stops, case, -1);
    assert_eq!([1, 3, 2].map(up), [Some(3), Some(3), Some(2)], "a reference stands at the first x");
    assert_eq!([0, 3].map(|c| cursor::across(&stops, c, 1)), [Some(0), Some(0)]);
    assert_eq!(cursor::along(&stops, 3, 1), Some(3));
    assert_eq!(cursor::along(&[], 3, 1), None);
}

#[test]
fn names_and_panels_have_a_cursor_too() {
    let plan = fixture::stream();
    let all = 0..plan.cases.len();
    let mut session = session(plan, all);
    session.refresh();
    session.ask("cursor");
    session.ask("right");
    assert_eq!(session.ledger.records()[session.selected].case.params.text("kernel"), Some("copy"));
    session.step_experiment(1);
    session.refresh();
    let kernel = |s: &Session| s.ledger.records()[s.selected].case.params.text("kernel").map(str::to_owned);
    let elements = |s: &Session| s.ledger.records()[s.selected].case.params.int("elements");
    session.ask("right");
    session.step_panel(1);
    assert_eq!((session.panel, kernel(&session).as_deref()), (1, Some("copy")));
    assert_eq!(elements(&session), Some(2 << 20), "at the same x");
    // Conversely, a case that is selected elsewhere brings up its panel.
    session.step(-12);
    session.refresh();
    assert_eq!((session.panel, kernel(&session).as_deref()), (0, Some("read")));
}

#[test]
fn a_scale_goes_round_and_says_where_it_cannot() {
    let mut session = passes();
    let chosen = |s: &Session| (look(s).x, look(s).y);
    let steps = [Spacing::Linear, Spacing::Log2, Spacing::Log10, Spacing::Linear];
    for wanted in steps {
        assert_eq!(session.ask("scale-y"), None);
        assert_eq!(chosen(&session).1, Some(wanted));
    }
    for wanted in [Spacing::Log10, Spacing::Linear, Spacing::Log2] {
        assert_eq!(session.ask("scale-x"), None);
        assert_eq!(chosen(&session).0, Some(wanted));
    }
}

/// The spacings of x and y on the screen.
fn spacings(session: &Session) -> Vec<(Spacing, Spacing)> {
    session.view.plot(session.shown(), Theme::PLAIN).picture(Rect::new(0, 0, 80, 24)).spacings()
}

#[test]
fn the_scales_of_the_recipe_hold_until_a_key_changes_them() {
    let mut plan = fixture::passes();
    plan.experiments[0].chart.scale = ChartScale { x: Some(Scale::Linear), y: Some(Scale::Log) };
    let mut session = session(plan, [0, 2, 6, 8].into_iter());
    session.refresh();
    assert_eq!(spacings(&session), [(Spacing::Linear, Spacing::Log10)]);
    assert_eq!((session.ask("scale-x"), session.ask("scale-y")), (None, None));
    assert_eq!(spacings(&session), [(Spacing::Log2, Spacing::Linear)]);
    session.ask("turn-axes");
    assert_eq!(session.chart().x.scale, Scale::Category, "the scale was that of the other x");
}

#[test]
fn the_cursor_is_on_the_best_case_whichever_is_selected() {
    let mut plan = fixture::passes();
    let chart = &mut plan.experiments[0].chart;
    (chart.best_of, chart.lines) = (vec![std::mem::replace(&mut chart.x, "backend".to_owned())], Vec::new());
    let mut session = session(plan, [0, 2, 6, 8].into_iter());
    session.refresh();
    let best = session.chart().measured().next().expect("measured").case;
    let other = [0, 2, 6, 8].into_iter().find(|case| *case != best).expect("another");
    session.select(other);
    session.refresh();
    assert_eq!((session.marked(), session.chart().measured().count()), (best, 1));
    let words = readout(&session).first.join(" · ");
    assert!(words.contains("best: passes"), "{words}");
}

#[test]
fn a_change_and_names_have_no_logarithm() {
    let mut plan = fixture::passes();
    let baseline = ("backend".to_owned(), Value::Text("cuda".to_owned()));
    plan.experiments[0].chart.relative_to = Some(baseline);
    for case in &mut plan.cases {
        case.not_applicable = None;
    }
    let mut session = session(plan, 0..14);
    session.refresh();
    assert!(session.chart().measured().any(|m| m.y < 0.0));
    let refusal = session.ask("scale-y").expect("refused");
    assert!(refusal.contains("no logarithm"), "{refusal}");
    assert_eq!(spacings(&session), [(Spacing::Log2, Spacing::Linear)]);

    let mut names = self::session(fixture::applications(), 0..68);
    names.refresh();
    let refusal = names.ask("scale-x").expect("refused");
    assert!(refusal.contains("named values"), "{refusal}");
    assert_eq!(look(&names).x, None);
}

#[test]
fn zooming_keeps_the_point_under_the_cursor_and_0_shows_all() {
    let mut session = passes();
    session.select(8);
    session.ask("cursor");
    for _ in 0..20 {
        session.ask("zoom-in");
        let (low, high) = look(&session).x_part.expect("a part");
        assert!(low < 16.0 && 16.0 < high, "{low} {high}");
    }
    let (low, high) = look(&session).x_part.expect("a part");
    let whole = session.chart().x_scale();
    let share = whole.position(high).expect("inside") - whole.position(low).expect("inside");
    assert!((share - 1.0 / 64.0).abs() < 1e-9, "there is a smallest part");
    session.ask("right");
    let (low, high) = look(&session).x_part.expect("a part");
    assert!(low < 32.0 && 32.0 < high, "the cursor takes the part along: {low} {high}");
    for _ in 0..20 {
        session.ask("zoom-out");
    }
    assert_eq!(look(&session), Look::default());
    session.ask("zoom-in");
    session.ask("zoom-reset");
    assert_eq!(look(&session), Look::default());
}

#[test]
fn zooming_on_what_is_no_point_leaves_y_as_it_is() {
    let mut session = passes();
    let cases = session.ledger.plan().cases.clone();
    let cuda = cases.iter().position(|case| case.backend() == "cuda").expect("a case that is n/a");
    session.select(cuda);
    session.ask("cursor");
    session.ask("zoom-in");
    let zoomed = look(&session);
    assert!(zoomed.x_part.is_some() && zoomed.y_part.is_none(), "{zoomed:?}");
    session.ask("zoom-out");
    assert_eq!(look(&session), Look::default());
}

#[test]
fn panning_stops_at_the_ends() {
    let mut session = passes();
    session.ask("pan-left");
    assert_eq!(look(&session), Look::default(), "all is shown");
    session.ask("zoom-in");
    (0..20).for_each(|_| drop(session.ask("left")));
    let whole = session.chart().x_scale().ends();
    let (low, _) = look(&session).x_part.expect("a part");
    assert!((low / whole.0 - 1.0).abs() < 1e-9);
    (0..20).for_each(|_| drop(session.ask("pan-right")));
    let (_, high) = look(&session).x_part.expect("a part");
    assert!((high / whole.1 - 1.0).abs() < 1e-9);
    let before = look(&session);
    session.ask("pan-up");
    assert_eq!(look(&session).x_part, before.x_part);
    assert_ne!(look(&session).y_part, before.y_part);
}

#[test]
fn each_experiment_is_looked_at_in_its_own_way() {
    let plan = fixture::stream();
    let mut session = session(plan.clone(), 0..plan.cases.len());
    session.refresh();
    session.ask("scale-y");
    session.ask("line-2");
    let first = look(&session);
    session.step_experiment(1);
    assert_eq!(look(&session), Look::default());
    session.step_experiment(-1);
    assert_eq!(look(&session), first);
    assert!(session.ask("line-9").is_some_and(|word| word.contains("no line 9")));
}

#[test]
fn lines_of_a_baseline_are_matched_by_what_distinguishes_them_and_the_rest_is_told() {
    let mut session = passes();
    let mut plan = fixture::passes();
    let changes = [(0, "backend.cpu.threads", 1), (2, "tuple", 16)];
    for (at, key, value) in changes {
        let case = &mut plan.cases[at];
        case.id.push_str("other");
        case.params = case.params.clone().with(key, Value::Int(value));
    }
    let all = 0..plan.cases.len();
    let other = self::session(plan, all.filter(|at| at % 2 == 0 && *at != 4));
    let baseline = Baseline::new(Path::new("reports/before"), &other.ledger);
    assert_eq!(session.lay(&baseline), Ok(6), "passes 4 has no result");
    let overlay = session.view.overlay().expect("a baseline");
    let value = |case| overlay.value(session.chart(), case);
    assert!(value(0).is_some() && value(2).is_some() && value(4).is_none());
    assert_eq!(overlay.differs(), "threads 1, auto → auto, tuple 8 B, 16 B → 8 B");
    let differences = overlay.differences(session.chart(), 0);
    assert_eq!(differences.iter().map(|d| d.case).collect::<Vec<_>>(), [0, 2, 6, 8, 10, 12]);
    assert!(differences.iter().all(|d| (d.per_cent == 0.0) == (d.case != 2)), "16 bytes are others");
}

#[test]
fn a_baseline_goes_along_to_another_experiment() {
    let plan = fixture::stream();
    let mut session = session(plan.clone(), 0..plan.cases.len());
    session.refresh();
    session.lay(&Baseline::new(Path::new("before"), &session.ledger)).expect("the same chart");
    session.step_experiment(1);
    session.refresh();
    let overlay = session.view.overlay().expect("a baseline");
    assert_eq!(overlay.chart().map(|chart| chart.panels.len()), Some(3));
    assert_eq!(overlay.differences(session.chart(), 2).len(), 12);
}

#[test]
fn a_baseline_can_be_laid_under_a_run_and_taken_away() {
    let mut session = passes();
    assert!(session.ask("run-before").is_some_and(|word| word.contains("no other run")));
    assert!(session.ask("differences").is_some_and(|word| word.contains("no other run")));
    session.come_after(Some(&passes()), None);
    assert_eq!(session.ask("run-before"), None);
    assert_eq!(session.view.overlay().map(|o| (o.name.as_str(), o.matched())), Some(("run", 6)));
    assert_eq!(session.ask("run-before"), None);
    assert!(session.view.overlay().is_none());
    let strange = fixture::stream();
    let mut other = self::session(strange, 0..4);
    other.come_after(Some(&passes()), None);
    let why = "run cannot be overlaid: it sweeps passes, but this chart sweeps kernel";
    assert_eq!(other.ask("run-before").as_deref(), Some(why));
    assert!(other.view.overlay().is_none());
}

/// The run of a recipe with every case measured.
fn run_of(text: &str) -> Session {
    let recipe = crate::recipe::parse("a.yaml", text).expect("a recipe");
    let plan = crate::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let mut run = session(plan.clone(), 0..plan.cases.len());
    run.refresh();
    run
}

const GATHER: &str = "\
gather: {tuples: [1Ki, 4Ki, 16Ki], tuple: 8B, locations: [sequential, random]}
backend: scalar
chart: {x: tuples, lines: locations}
measure: {rounds: 1}
";

/// Lays the run of one recipe under that of another.
fn laid(below: &str, above: &str) -> (Session, Result<usize, String>) {
    let mut session = run_of(above);
    let laid = session.lay(&Baseline::new(Path::new("before"), &run_of(below).ledger));
    (session, laid)
}

#[test]
fn a_run_with_another_value_lies_under_its_edited_recipe() {
    let (session, laid) = laid(GATHER, &GATHER.replace("8B", "16B"));
    let overlay = session.view.overlay().expect("a baseline");
    assert_eq!((laid, overlay.differs().as_str()), (Ok(6), "tuple 8 B → 16 B"));
    assert_eq!(overlay.own_lines().count(), 0);
    assert_eq!(overlay.differences(session.chart(), 0).len(), 6);
}

#[test]
fn other_values_of_x_widen_the_axis_and_other_lines_stay_the_other_runs() {
    let other = GATHER.replace("[1Ki, 4Ki, 16Ki]", "[4Ki, 64Ki]").replace("8B", "[8B, 16B]");
    let (mut session, laid) = laid(&other.replace("lines: locations", "lines: [locations, tuple]"), GATHER);
    let overlay = session.view.overlay().expect("a baseline");
    let own: Vec<(usize, &str)> = overlay.own_lines().collect();
    assert_eq!(laid, Ok(8));
    let first = numbers::end(session.chart());
    assert_eq!(own, [(first, "sequential, tuple 16 B"), (first + 1, "random, tuple 16 B")]);
    assert_eq!(overlay.differences(session.chart(), 0).len(), 2, "4Ki of 8 bytes");
    assert_eq!(overlay.differs(), "");
    let mut state = State::new(Vec::new(), String::new());
    session.paint(Theme::PLAIN, Rect::new(0, 0, 80, 20));
    (state.session, state.focus) = (Some(session.clone()), Focus::Chart);
    act(&mut state, &format!("line-{}", first + 1));
    assert_eq!(state.notice, None, "its own lines can be hidden");
    assert!(session.ask("line-9").is_some_and(|word| word.contains("no line 9")));
    let scales = crate::tui::chart::Scales::new(
        session.chart(),
        &look(&session),
        session.view.bars,
        session.view.overlay(),
    );
    assert!(scales.x.ends().1 > 65536.0);
}

#[test]
fn why_a_run_cannot_be_laid_is_told_in_the_words_of_the_chart() {
    let refused = |below: &str| laid(below, GATHER).1.expect_err("nothing to lay");
    let passes = "scatter: {tuples: 1Ki, method: {multipass: {passes: [1, 2]}}}\nbackend: scalar\n\
                  chart: {x: passes}\nmeasure: {rounds: 1}\n";
    assert_eq!(refused(passes), "before cannot be overlaid: it sweeps passes, but this chart sweeps tuples");
    let panels = GATHER.replace("lines: locations", "panels: locations");
    let (_, alone) = laid(GATHER, &panels.replace("[sequential, random]", "[sequential, {zipf: 1.0}]"));
    assert_eq!(alone, Ok(3), "the panel that both have");
    let (_, none) =
        laid(&GATHER.replace("[sequential, random]", "random"), &panels.replace("random]", "{zipf: 1.0}]"));
    assert_eq!(
        none,
        Err("before cannot be overlaid: its panel is locations = random, which this chart does not have"
            .to_owned())
    );
}

#[test]
fn one_backend_lies_under_another_one_and_both_are_named() {
    let (session, laid) = laid(GATHER, &GATHER.replace("backend: scalar", "backend: {cpu: {threads: 2}}"));
    let overlay = session.view.overlay().expect("a baseline");
    assert_eq!((laid, overlay.differs().as_str()), (Ok(6), "backend scalar → cpu"));
    assert_eq!(overlay.differences(session.chart(), 0).len(), 6);
}

#[test]
fn the_baseline_is_of_the_same_recipe_where_there_is_one() {
    let stored = Arc::new(Baseline::new(Path::new("stored"), &passes().ledger));
    let after = |before: &Session, stored: Option<&Arc<Baseline>>| {
        let mut session = passes();
        session.come_after(Some(before), stored.cloned());
        session.view.baseline.as_ref().map(|baseline| baseline.name())
    };
    let name = |name: &str| Some(name.to_owned());
    let mut other = self::session(Plan { recipe_hash: "another".to_owned(), ..fixture::passes() }, 0..2);
    other.recipe = Some(1);
    let empty = self::session(fixture::passes(), std::iter::empty());
    assert_eq!(after(&passes(), Some(&stored)), name("run"), "the run before is newer");
    assert_eq!(after(&other, Some(&stored)), name("stored"));
    assert_eq!(after(&empty, Some(&stored)), name("stored"));
    assert_eq!((after(&other, None), after(&empty, None)), (name("run"), None));
}

#[test]
fn the_read_out_says_what_is_known() {
    let mut session = passes();
    session.select(8);
    let words = readout(&session);
    assert_eq!(words.first[..2], ["passes 16".to_owned(), "cpu".to_owned()]);
    assert!(words.first[2].ends_with(" GB/s"), "{words:?}");
    assert!(words.more[0].starts_with('[') && words.more[0].ends_with(']'), "{words:?}");
    assert!(words.more[1].starts_with("95 % ±"), "{words:?}");
    assert_eq!(words.more[2..4], ["n 10".to_owned(), "certified".to_owned()]);
    assert!(words.more[4].starts_with("p5 "), "{words:?}");

    session.lay(&Baseline::new(Path::new("before"), &passes().ledger)).expect("the same chart");
    let difference = &readout(&session).more[1];
    assert!(difference.starts_with("before ") && difference.ends_with("(+0.0 %)"), "{difference}");

    let words = |case| {
        let mut session = passes();
        session.select(case);
        readout(&session).in_line(99, Theme::PLAIN)
    };
    assert_eq!(words(4), "passes 4 · cpu · failed: wrong result: out[7] = 3, not 4");
    assert_eq!(words(5), "passes 4 · cuda · n/a: no CUDA driver");
    let empty = self::session(fixture::passes(), std::iter::empty());
    assert_eq!(readout(&empty).in_line(99, Theme::PLAIN), "passes 1 · no result yet");
}

#[test]
fn a_read_out_leaves_out_what_it_has_no_room_for() {
    let owned = |words: &[&str]| words.iter().map(|w| w.to_string()).collect();
    let first = owned(&["passes 16", "212 GB/s"]);
    let words = readout::ReadOut { first, more: owned(&["[205–219]", "n 30"]) };
    assert_eq!(words.in_line(99, Theme::PLAIN), "passes 16 · 212 GB/s [205–219] · n 30");
    assert_eq!(words.in_line(28, Theme::PLAIN), "passes 16 · 212 GB/s · n 30");
    assert_eq!(words.in_line(3, Theme::PLAIN), "passes 16 · 212 GB/s", "cut where it is drawn");
    let words = readout::ReadOut { first: owned(&["1 GB/s"]), more: owned(&["95 % ±2 %"]) };
    let ascii = Theme { utf8: false, ..Theme::PLAIN };
    assert_eq!(words.in_line(99, ascii), "1 GB/s | 95 % +-2 %", "`~2 %` would say something else");
}

#[test]
fn a_picture_is_drawn_again_only_when_it_would_differ() {
    let theme = Theme::PLAIN;
    let area = Rect::new(0, 0, 80, 24);
    let mut session = passes();
    let at_hand = |s: &Session| s.view.picture(s.shown(), theme, area).is_some();
    assert!(!at_hand(&session));
    session.paint(theme, area);
    assert!(at_hand(&session));
    session.select(8);
    assert!(at_hand(&session), "the selection is drawn on top of it");
    session.ask("zoom-in");
    assert!(!at_hand(&session));
    session.paint(theme, area);
    let say = |session: &mut Session, event| {
        session.receive(crate::run::runner::Message::Event(event), Duration::ZERO);
        session.refresh();
    };
    let plan = session.ledger.plan().clone();
    say(&mut session, script::progress(&plan, 2, 1, crate::engine::protocol::Stage::WarmUp));
    assert!(at_hand(&session), "progress is not on the chart");
    say(&mut session, Event::Round { seq: 0, result: script::result(&plan, 2, 2) });
    assert!(!at_hand(&session));
}

/// The cases that the panels of a chart show.
fn drawn(session: &Session) -> std::collections::BTreeSet<usize> {
    session.chart().panels.iter().flat_map(|panel| panel.cases()).collect()
}

#[test]
fn each_chart_can_be_drawn_by_other_axes_and_quantities_and_shows_the_same_cases() {
    let mut turned = 0;
    for shipped in crate::recipe::shipped::shipped() {
        let recipe = crate::recipe::parse(shipped.path, shipped.text).expect("a recipe");
        let plan = crate::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
        if plan.cases.len() > 300 {
            continue;
        }
        let mut session = Session::new(0, Ledger::new(plan), PathBuf::from("run"), Duration::ZERO);
        let (own, all) = (session.ledger.plan().experiments[0].chart.clone(), drawn(&session));
        let axes = 1 + own.lines.len() + own.panels.len();
        for round in 0..axes {
            let told = session.ask("turn-axes").expect("a line or a reason");
            assert_eq!(drawn(&session), all, "{} {round}: {told}", shipped.path);
            turned += usize::from(told.starts_with("in the recipe: chart: {x: "));
        }
        assert_eq!(session.ledger.plan().experiments[0].chart, own, "{}: once around", shipped.path);
        for _ in 0..axes {
            session.ask("next-panels");
            assert_eq!(drawn(&session), all, "{}", shipped.path);
        }
        for _ in 0..5 {
            session.ask("next-quantity");
            session.ask("next-ceiling");
            let chart = &session.ledger.plan().experiments[0].chart;
            assert!(chart.ceiling.is_none_or(|ceiling| ceiling.suits(chart.y)), "{}", shipped.path);
        }
        session.ask("roofline");
        assert!(session.chart().roofline && drawn(&session).is_subset(&all), "{}", shipped.path);
        session.ask("roofline");
        assert_eq!(drawn(&session), all, "{}", shipped.path);
    }
    assert!(turned > 50, "{turned}");
}

#[test]
fn a_chart_is_told_as_the_line_of_a_recipe() {
    let mut session = passes();
    let said = ["next-quantity", "turn-axes", "next-panels"].map(|ask| session.ask(ask).unwrap_or_default());
    assert_eq!(
        said,
        [
            "in the recipe: chart: {x: passes, y: system-bandwidth, lines: backend}",
            "in the recipe: chart: {x: backend, y: system-bandwidth, lines: passes}",
            "in the recipe: chart: {x: backend, y: system-bandwidth, panels: passes}",
        ]
    );
}

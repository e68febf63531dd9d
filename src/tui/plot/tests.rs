//! Positions of ticks, points and notes.

use std::path::Path;

use proptest::prelude::*;
use ratatui::style::Color;

use super::*;
use crate::engine::protocol::{Event, RoundResult};
use crate::recipe::plan::Plan;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::{Guide, Line, MeasuredValue, PublishedLine, PublishedPoint, series};
use crate::run::Ledger;
use crate::tui::chart::numbers;
use crate::tui::chart::overlay::{Baseline, Place};
use crate::tui::tests::{fixture, script};
use crate::tui::theme::Theme;

const PLAIN: Theme = Theme::PLAIN;

/// A ledger with one round of each of these cases.
fn ledger(plan: Plan, measured: &[usize]) -> Ledger {
    let mut ledger = Ledger::new(plan.clone());
    for at in measured {
        ledger.apply(&Event::Round { seq: 0, result: script::result(&plan, *at, 0) });
    }
    ledger
}

fn chart(ledger: &Ledger) -> ChartData {
    series(ledger.plan(), 0, ledger.records())
}

pub fn plot<'a>(data: &'a ChartData, look: &'a Look, theme: Theme) -> Plot<'a> {
    let canvas = if theme.utf8 { Canvas::Braille } else { Canvas::Ascii };
    Plot {
        data,
        panel: 0,
        look,
        bars: Bars::Extremes,
        canvas,
        overlay: None,
        differences: true,
        every_panel: false,
        read_out: false,
        theme,
    }
}

fn show(plot: &Plot, case: usize, area: Rect) -> Buffer {
    let mut buffer = Buffer::empty(area);
    plot.draw(Selection { case, cursor: plot.read_out.then_some("cursor") }, area, &mut buffer);
    buffer
}

fn drawn(data: &ChartData, selected: usize, theme: Theme, area: Rect) -> Buffer {
    show(&plot(data, &Look::default(), theme), selected, area)
}

/// The cells that show `symbol` below the legend.
fn cells(buffer: &Buffer, symbol: &str) -> Vec<(u16, u16)> {
    let area = buffer.area;
    let all = (area.top() + 2..area.bottom()).flat_map(|y| (area.left()..area.right()).map(move |x| (x, y)));
    all.filter(|at| buffer[*at].symbol() == symbol).collect()
}

fn columns(cells: &[(u16, u16)]) -> Vec<u16> {
    let mut columns: Vec<u16> = cells.iter().map(|c| c.0).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

const CPU: [usize; 7] = [0, 2, 4, 6, 8, 10, 12];

#[test]
fn each_tick_stands_in_the_column_of_its_points() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    for width in [40, 53, 64, 80, 121] {
        let buffer = drawn(&data, usize::MAX, PLAIN, Rect::new(3, 2, width, 16));
        let ticks = columns(&cells(&buffer, "┴"));
        assert_eq!(ticks, columns(&cells(&buffer, "●")), "{width}");
        assert_eq!(ticks.len(), 7, "{width}");
    }
}

#[test]
fn labels_are_centred_under_their_ticks() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    let buffer = drawn(&data, usize::MAX, PLAIN, Rect::new(0, 0, 64, 16));
    let ticks = cells(&buffer, "┴");
    let label = |column: u16, row: u16| buffer[(column, row + 1)].symbol().to_owned();
    let labels: Vec<String> = ticks.iter().map(|(x, y)| label(*x, *y)).collect();
    // The second digit of 16, 32 and 64 is under the tick.
    assert_eq!(labels, ["1", "2", "4", "8", "6", "2", "4"]);
}

#[test]
fn equal_ratios_are_equal_distances() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    let buffer = drawn(&data, usize::MAX, PLAIN, Rect::new(0, 0, 120, 20));
    let ticks = columns(&cells(&buffer, "┴"));
    let gaps: Vec<u16> = ticks.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().all(|g| g.abs_diff(gaps[0]) <= 1), "{gaps:?}");
}

#[test]
fn what_a_paper_prints_is_hollow_and_named() {
    let mut data = chart(&ledger(fixture::passes(), &CPU));
    let line = &data.panels[0].lines[0];
    let points = line.points.iter().map(|p| PublishedPoint { x: p.x, y: p.value.y * 3.0 });
    let line = PublishedLine { of: line.style, points: points.collect() };
    data.panels[0].published.push(line);
    data.published = Some("G80 (he2007)".to_owned());
    let buffer = drawn(&data, usize::MAX, PLAIN, Rect::new(0, 0, 100, 24));
    assert_eq!((cells(&buffer, "◌").len(), cells(&buffer, "●").len()), (7, 7));
    assert_eq!(columns(&cells(&buffer, "◌")), columns(&cells(&buffer, "●")));
    let legend: String = (0..100).map(|x| buffer[(x, 1)].symbol()).collect();
    assert!(legend.contains("◌ G80 (he2007)"), "{legend}");
}

#[test]
fn what_failed_or_cannot_run_is_never_a_point() {
    let mut ledger = ledger(fixture::passes(), &CPU);
    ledger.fail(4, "wrong result".to_owned());
    let buffer = drawn(&chart(&ledger), 4, PLAIN, Rect::new(0, 0, 80, 20));
    assert_eq!(cells(&buffer, "●").len(), 6);
    assert_eq!(cells(&buffer, "■").iter().filter(|(_, y)| *y > 2).count(), 0, "cuda cannot run");
}

#[test]
fn what_is_no_point_has_a_mark_at_the_foot_of_its_column() {
    let mut ledger = ledger(fixture::passes(), &CPU);
    ledger.fail(4, "wrong result".to_owned());
    let area = Rect::new(0, 0, 80, 20);
    let buffer = drawn(&chart(&ledger), 4, PLAIN, area);
    let (failed, absent, ticks) = (cells(&buffer, PLAIN.failed()), cells(&buffer, "–"), cells(&buffer, "┴"));
    let foot = ticks[0].1 - 1;
    assert_eq!(failed, [(ticks[2].0, foot)], "a failure is on top of what cannot run");
    let others: Vec<(u16, u16)> = ticks.iter().filter(|t| **t != ticks[2]).map(|t| (t.0, foot)).collect();
    assert_eq!(absent, others);
    assert_eq!(buffer[(failed[0].0 - 1, foot)].symbol(), "[", "the selected one is in brackets");
    let hidden = Look { hidden: [1].into(), ..Look::default() };
    let data = chart(&ledger);
    assert_eq!(cells(&show(&plot(&data, &hidden, PLAIN), 4, area), "–").len(), 0);
}

#[test]
fn the_selected_case_is_in_brackets() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    let buffer = drawn(&data, 8, PLAIN, Rect::new(0, 0, 80, 20));
    let (left, right) = (cells(&buffer, "["), cells(&buffer, "]"));
    assert_eq!((left.len(), right.len()), (1, 1));
    assert_eq!(buffer[(left[0].0 + 1, left[0].1)].symbol(), "●");
    assert_eq!((right[0].0, right[0].1), (left[0].0 + 2, left[0].1));
}

/// The rows of a drawn chart.
fn rows(buffer: &Buffer) -> Vec<String> {
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
    (0..buffer.area.height).map(row).collect()
}

#[test]
fn a_tick_is_a_number_only_where_names_are_longer_and_the_caption_says_which() {
    let mut data = chart(&ledger(fixture::applications(), &(0..68).collect::<Vec<_>>()));
    let caption = |data: &ChartData, width| {
        let rows = rows(&drawn(data, 40, PLAIN, Rect::new(0, 0, width, 16)));
        let labels = rows[rows.len() - 2].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        (labels, rows[rows.len() - 1].trim().to_owned())
    };
    let name = data.panels[0].lines[0].points[20].label.clone();
    let (ticks, text) = caption(&data, 60);
    assert_eq!((ticks[0].as_str(), text), ("1", format!("app (tick 21: {name})")));
    let number = |x: f64| (x as usize).to_string();
    data.x.categories = (0..34).map(|n| n.to_string()).collect();
    for point in data.panels[0].lines.iter_mut().flat_map(|line| &mut line.points) {
        point.label = number(point.x);
    }
    for width in [60, 200] {
        let (ticks, text) = caption(&data, width);
        assert_eq!((ticks[0].as_str(), text.as_str()), ("0", "app: 20"), "{width}");
    }
}

#[test]
fn series_differ_by_marker_alone() {
    let data = chart(&ledger(fixture::applications(), &[0, 1, 20, 21]));
    let area = Rect::new(0, 0, 120, 20);
    let plain = drawn(&data, usize::MAX, PLAIN, area);
    assert!(plain.content().iter().all(|c| c.fg == Color::Reset && c.modifier.is_empty()));
    assert_eq!((cells(&plain, "●").len(), cells(&plain, "■").len()), (2, 2));
    let ascii = drawn(&data, usize::MAX, Theme { utf8: false, ..PLAIN }, area);
    assert!(ascii.content().iter().all(|c| c.symbol().is_ascii()));
    let markers: Vec<&str> = (0..8).map(|i| PLAIN.marker(i)).collect();
    assert!(markers.iter().enumerate().all(|(i, m)| !markers[..i].contains(m)));
}

#[test]
fn a_later_series_is_on_top() {
    let mut data = chart(&ledger(fixture::passes(), &[6]));
    let mut line = data.panels[0].lines[0].clone();
    line.style = 1;
    data.panels[0].lines.push(line);
    let buffer = drawn(&data, usize::MAX, PLAIN, Rect::new(0, 0, 60, 14));
    assert_eq!((cells(&buffer, "●").len(), cells(&buffer, "■").len()), (0, 1));
}

#[test]
fn no_place_is_too_small_and_no_chart_too_empty() {
    let full = chart(&ledger(fixture::applications(), &[0, 1, 20, 21]));
    let empty = chart(&ledger(fixture::passes(), &[]));
    for (width, height) in (0..40).flat_map(|w| (0..14).map(move |h| (w, h))) {
        for data in [&full, &empty] {
            drawn(data, 1, PLAIN, Rect::new(0, 0, width, height));
        }
    }
    let buffer = drawn(&empty, 0, PLAIN, Rect::new(0, 0, 60, 14));
    let text: String = buffer.content().iter().map(|c| c.symbol()).collect();
    assert!(text.contains("no result yet") && text.contains("64"), "the swept axis is there from the start");
}

/// Eight lines at these x values; y spans a decade above `low`.
pub fn eight(xs: &[f64], low: f64) -> ChartData {
    let mut data = chart(&ledger(fixture::passes(), &CPU));
    let mut point = data.panels[0].lines[0].points[0].clone();
    (data.x.values, data.x.unit) = (xs.to_vec(), crate::report::unit::Unit::Number);
    data.labels = (0..8).map(|i| format!("multipass, {} B", 1 << i)).collect();
    let line = |style: usize| {
        let points = xs.iter().enumerate().map(|(i, x)| {
            let y = low * (1.0 + ((i * 7 + style * 3) % 10) as f64);
            point.x = *x;
            point.value = MeasuredValue {
                y,
                y_min: y * 0.9,
                y_max: y * 1.2,
                case: style * xs.len() + i,
                ..point.value
            };
            point.clone()
        });
        Line { label: String::new(), style, points: points.collect(), absent: Vec::new() }
    };
    data.panels[0].lines = (0..8).map(line).collect::<Vec<_>>();
    data
}

#[test]
fn eight_lines_have_their_names_over_the_chart() {
    let data = eight(&[1.0, 2.0, 4.0, 8.0], 10.0);
    for area in [Rect::new(0, 0, 55, 13), Rect::new(0, 0, 83, 21), Rect::new(0, 0, 198, 40)] {
        let look = Look { hidden: [2].into(), ..Look::default() };
        let plot = plot(&data, &look, PLAIN);
        let picture = plot.picture(area);
        let top = picture.panes[0].frame.area.y;
        let buffer = show(&plot, usize::MAX, area);
        let above: String = (0..top)
            .flat_map(|y| (0..area.width).map(move |x| (x, y)))
            .map(|at| buffer[at].symbol())
            .collect();
        for style in 0..8 {
            let (whole, short) = (format!("multipass, {} B", 1 << style), format!("{} B", 1 << style));
            let begin = format!("{} {} ", style + 1, PLAIN.marker(style));
            let there = |name: &String| above.contains(&format!("{begin}{name}"));
            assert!(there(&whole) || there(&short) && above.contains("multipass:"), "{area} {above}");
        }
        assert!(above.contains("(3 ▲ "), "what is hidden is in parentheses");
        assert_eq!(cells(&buffer, "▲").iter().filter(|(_, y)| *y >= top).count(), 0);
        assert!(picture.panes[0].frame.area.height >= 5, "{area}");
    }
}

#[test]
fn both_axes_say_how_they_are_spaced() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    let title = |look: &Look, width| -> String {
        let buffer = show(&plot(&data, look, PLAIN), 0, Rect::new(0, 0, width, 16));
        (0..width).map(|x| buffer[(x, 0)].symbol()).collect()
    };
    let usual = title(&Look::default(), 90);
    assert!(usual.starts_with("Effective bandwidth (GB/s)"), "{usual}");
    assert!(usual.ends_with("min-max bars · log2 x · log10 y"), "{usual}");
    let chosen = Look { x: Some(Spacing::Linear), y: Some(Spacing::Log2), ..Look::default() };
    assert!(title(&chosen, 50).ends_with("linear x · log2 y"));
    assert!(title(&chosen, 30).starts_with("GB/s "), "the unit stays where the title does not fit");
    let zoomed = Look { x_part: Some((4.0, 16.0)), ..Look::default() };
    assert!(title(&zoomed, 60).contains("zoom 3x"), "{}", title(&zoomed, 60));
}

#[test]
fn a_heavy_axis_shows_which_part_is_seen() {
    let data = chart(&ledger(fixture::passes(), &CPU));
    let area = Rect::new(0, 0, 80, 20);
    let look = Look { x_part: Some((8.0, 100.0)), y_part: Some((20.0, 50.0)), ..Look::default() };
    let plot = plot(&data, &look, PLAIN);
    let frame = plot.picture(area).panes[0].frame.clone();
    let buffer = show(&plot, usize::MAX, area);
    let rule: Vec<&str> =
        (frame.area.left()..frame.area.right()).map(|x| buffer[(x, frame.rule_row())].symbol()).collect();
    assert!(rule.iter().take(20).all(|s| ["─", "┴"].contains(s)), "{rule:?}");
    assert!(rule.iter().rev().take(20).all(|s| ["━", "┴"].contains(s)), "{rule:?}");
    assert!(!cells(&buffer, "┃").is_empty());
    assert_eq!(
        cells(&drawn(&data, usize::MAX, PLAIN, area), "━").len(),
        0,
        "nothing is heavy where all is seen"
    );
    assert!(cells(&buffer, "●").len() < 7, "what lies outside is not drawn");
}

#[test]
fn bars_are_of_the_kind_that_was_asked_for() {
    let mut data = chart(&ledger(fixture::passes(), &[6]));
    let value = &mut data.panels[0].lines[0].points[0].value;
    (value.y, value.y_min, value.y_max, value.interval) = (50.0, 10.0, 100.0, Some([40.0, 60.0]));
    let bar = |bars| {
        let look = Look { y: Some(Spacing::Linear), ..Look::default() };
        let plot = Plot { bars, ..plot(&data, &look, PLAIN) };
        let column = plot.picture(Rect::new(0, 0, 60, 30)).panes[0].frame.column(8.0).expect("inside");
        let buffer = show(&plot, usize::MAX, Rect::new(0, 0, 60, 30));
        cells(&buffer, "│").iter().filter(|(x, _)| *x == column).count()
    };
    let lengths = [Bars::Nothing, Bars::Interval, Bars::Extremes].map(bar);
    assert!(lengths[0] == 0 && lengths[1] > 0 && lengths[2] > 2 * lengths[1], "{lengths:?}");
    let without = data.panels[0].lines[0].points[0].value.interval.take();
    assert!(without.is_some());
    let look = Look::default();
    let buffer =
        show(&Plot { bars: Bars::Interval, ..plot(&data, &look, PLAIN) }, 9, Rect::new(0, 0, 60, 30));
    assert_eq!(cells(&buffer, "●").len(), 1, "one round has no interval, and still a point");
}

#[test]
fn a_doubtful_point_has_a_marker_of_its_own_and_a_bar_beyond_the_axis_an_arrow() {
    let mut data = chart(&ledger(fixture::passes(), &[6]));
    let value = &mut data.panels[0].lines[0].points[0].value;
    value.doubt.doubtful = true;
    (value.y, value.bar) = (50.0, Some([0.01, 60.0]));
    let look = Look { y: Some(Spacing::Log10), ..Look::default() };
    let area = Rect::new(0, 0, 60, 30);
    for (theme, marker, arrow) in [(PLAIN, "◐", "↓"), (Theme { utf8: false, ..PLAIN }, "!", "v")] {
        let plot = Plot { bars: Bars::Chart, theme, ..plot(&data, &look, PLAIN) };
        let buffer = show(&plot, usize::MAX, area);
        let [(column, _)] = cells(&buffer, marker)[..] else { panic!("one point") };
        assert_eq!(cells(&buffer, arrow).iter().filter(|(x, _)| *x == column).count(), 1, "{arrow}");
        let text: String = buffer.content().iter().map(|cell| cell.symbol()).collect();
        assert!(text.contains(&format!("{marker} doubtful 1 of 1")), "{text}");
    }
}

/// The baseline under the run's first chart.
fn under(now: &Ledger, baseline: &Baseline) -> Overlay {
    let styles = numbers::end(&chart(now));
    Overlay::new(baseline, now.plan(), Place { experiment: 0, chart: None, styles, machine: None })
}

/// The fixture's run, and an overlay whose times are shorter by a fifth.
fn two_runs() -> (Ledger, Overlay) {
    runs_apart(|_| 1.25)
}

/// The fixture's run, and an overlay in which the times of the case at each position are divided by `factor`.
fn runs_apart(factor: impl Fn(usize) -> f64) -> (Ledger, Overlay) {
    let now = ledger(fixture::passes(), &CPU);
    let mut before = now.records().to_vec();
    for (at, record) in before.iter_mut().enumerate() {
        if let Some(statistics) = &mut record.statistics {
            for seconds in [&mut statistics.median, &mut statistics.min, &mut statistics.max] {
                *seconds /= factor(at);
            }
        }
    }
    let baseline = Baseline::new(Path::new("before"), &now);
    let overlay = under(&now, &Baseline { records: before, ..baseline });
    (now, overlay)
}

#[test]
fn another_run_lies_behind_with_its_differences_below() {
    let (now, overlay) = two_runs();
    let (data, look) = (chart(&now), Look::default());
    let plot = Plot { overlay: Some(&overlay), ..plot(&data, &look, PLAIN) };
    let area = Rect::new(0, 0, 80, 30);
    let picture = plot.picture(area);
    let buffer = show(&plot, usize::MAX, area);
    let (points, behind) = (columns(&cells(&buffer, "●")), columns(&cells(&buffer, "×")));
    assert_eq!(points, behind, "column over column");
    let rows = picture.rows.residual;
    let below: Vec<(u16, u16)> = cells(&buffer, "●").into_iter().filter(|(_, y)| *y >= rows.y).collect();
    assert_eq!(columns(&below), points, "and column under column");
    let row = below[0].1;
    assert!(below.iter().all(|(_, y)| *y == row), "everything is 20 % less");
    let label: String = (0..area.width).map(|x| buffer[(x, row)].symbol()).collect();
    assert!(label.trim_start().starts_with("−20 %") || !label.contains('%'), "{label}");
    let text: String = buffer.content().iter().map(|c| c.symbol()).collect();
    assert!(text.contains("× baseline: before") && text.contains("difference to before, %"));
    let without = show(&Plot { differences: false, ..plot }, usize::MAX, area);
    assert_eq!(cells(&without, "●").len(), 7);
    assert_eq!(cells(&show(&plot, usize::MAX, Rect::new(0, 0, 80, 13)), "●").len(), 7, "no room for a pane");
}

#[test]
fn differences_have_numbers_on_both_sides_of_zero_however_low_their_pane_is() {
    let (now, overlay) = runs_apart(|at| if at % 4 == 0 { 1.25 } else { 0.8 });
    let (data, look) = (chart(&now), Look::default());
    let plot = Plot { overlay: Some(&overlay), ..plot(&data, &look, PLAIN) };
    for height in 18..50 {
        let area = Rect::new(0, 0, 80, height);
        let pane = plot.picture(area).rows.residual;
        let rows = rows(&show(&plot, usize::MAX, area));
        let pane = &rows[usize::from(pane.y) + 1..usize::from(pane.bottom())];
        let labels: Vec<&str> =
            pane.iter().filter_map(|row| row.split_once(" %┤")).map(|(n, _)| n.trim()).collect();
        let (first, last) = (labels.first().expect("a label"), labels.last().expect("a label"));
        assert!(first.parse::<u32>().is_ok_and(|n| n > 0), "{height}: {labels:?}");
        assert!(last.starts_with('−') && labels.contains(&"0"), "{height}: {labels:?}");
    }
}

#[test]
fn points_of_another_run_have_the_colours_of_their_lines() {
    let colour = Theme { colour: true, ..PLAIN };
    let plan = fixture::applications();
    let all: Vec<usize> = (0..plan.cases.len()).collect();
    let now = ledger(plan, &all);
    let overlay = under(&now, &Baseline::new(Path::new("reports/before"), &now));
    let (data, look) = (chart(&now), Look::default());
    let hidden = Plot { overlay: Some(&overlay), differences: false, ..plot(&data, &look, colour) };
    // The run's own points would cover the overlay, so only the overlay is drawn.
    let mut frames = hidden.picture(Rect::new(0, 0, 80, 30)).panes;
    let frame = frames.remove(0).frame;
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 30));
    super::pane::behind(&hidden, 0, &frame, &mut buffer);
    let colours: std::collections::BTreeSet<String> =
        cells(&buffer, "×").into_iter().map(|at| format!("{:?}", buffer[at].fg)).collect();
    let wanted = [0, 1].map(|line| format!("{:?}", colour.series(line).fg.expect("a colour")));
    assert_eq!(colours, wanted.into(), "one for each of the two lines");
}

#[test]
fn the_cursor_has_a_line_down_to_its_tick() {
    let (data, look) = (chart(&ledger(fixture::passes(), &CPU)), Look::default());
    let plot = Plot { read_out: true, ..plot(&data, &look, PLAIN) };
    let buffer = show(&plot, 8, Rect::new(0, 0, 80, 20));
    let guide = columns(&cells(&buffer, "┊"));
    assert_eq!(guide, [cells(&buffer, "┴")[4].0]);
    let last: String = (0..80).map(|x| buffer[(x, 19)].symbol()).collect();
    assert!(last.starts_with("cursor"));
}

#[test]
fn all_panels_are_shown_where_they_fit() {
    let plan = fixture::stream();
    let own = (0..plan.cases.len()).filter(|c| plan.cases[*c].experiment == 1).collect::<Vec<_>>();
    let ledger = ledger(plan, &own);
    let (data, look) = (series(ledger.plan(), 1, ledger.records()), Look::default());
    let plot = Plot { every_panel: true, panel: 1, ..plot(&data, &look, PLAIN) };
    let large = plot.picture(Rect::new(0, 0, 160, 40));
    assert_eq!(large.panes.iter().map(|p| p.panel).collect::<Vec<_>>(), [0, 1, 2]);
    let small = plot.picture(Rect::new(0, 0, 70, 20));
    assert_eq!(small.panes.iter().map(|p| p.panel).collect::<Vec<_>>(), [1]);
    let text: String =
        show(&plot, 20, Rect::new(0, 0, 160, 40)).content().iter().map(|c| c.symbol()).collect();
    assert!(
        ["  kernel = read", "> kernel = copy", "  kernel = triad"].iter().all(|title| text.contains(title)),
        "{text}"
    );
}

/// The text in a row, and the columns that it takes from `start` on.
fn text_at(buffer: &Buffer, start: u16, row: u16, width: usize) -> String {
    (start..start + width as u16).map(|x| buffer[(x, row)].symbol()).collect()
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    /// A label states the value that belongs to the column or row of its tick.
    #[test]
    fn every_label_sits_on_the_cell_of_its_value(
        xs in proptest::collection::btree_set(1u16..999, 1..14),
        low in 1u16..900,
        (x, y) in (proptest::sample::select(SPACINGS.to_vec()), proptest::sample::select(SPACINGS.to_vec())),
        (width, height) in (24u16..210, 9u16..70),
        (from, share) in (0.0f64..1.0, 0.02f64..1.5),
        utf8: bool,
    ) {
        let xs: Vec<f64> = xs.into_iter().map(f64::from).collect();
        let data = eight(&xs, f64::from(low));
        let whole = Scales::new(&data, &Look { x, y, ..Look::default() }, Bars::Extremes, None);
        let part = |axis: &AxisScale| {
            let start = from * (1.0 - share);
            (share < 1.0).then(|| (axis.at(start), axis.at(start + share)))
        };
        let look = Look { x, y, x_part: part(&whole.whole_x), y_part: part(&whole.whole_y), ..Look::default() };
        let theme = Theme { utf8, ..PLAIN };
        let plot = plot(&data, &look, theme);
        let area = Rect::new(2, 1, width, height);
        let picture = plot.picture(area);
        let buffer = show(&plot, usize::MAX, area);
        let frame = &picture.panes[0].frame;

        for (column, label) in axes::labels(frame, area) {
            let value: f64 = label.parse().expect("a number");
            proptest::prop_assert_eq!(frame.column(value), Some(column), "{}", label);
            let start = axes::start(column, label.len(), area);
            proptest::prop_assert_eq!(text_at(&buffer, start, frame.rule_row() + 1, label.len()), label.clone());
            proptest::prop_assert!((start..start + label.len() as u16).contains(&column), "{} under its tick", label);
            proptest::prop_assert_eq!(buffer[(column, frame.rule_row())].symbol(), theme.symbol("┴", "+"));
        }
        let rule = frame.area.x - 1;
        for row in frame.area.top()..frame.area.bottom() {
            let label = text_at(&buffer, area.x, row, usize::from(rule - area.x)).trim().to_owned();
            let tick = buffer[(rule, row)].symbol() == theme.symbol("┤", "+");
            proptest::prop_assert_eq!(tick, !label.is_empty());
            if tick {
                let value: f64 = label.parse().expect("a number");
                proptest::prop_assert_eq!(frame.row(value), Some(row), "{}", label);
            }
        }
        for point in data.panels[0].lines.iter().flat_map(|l| &l.points) {
            let at = pane::place(&plot, Some(point.x), 0, &point.value, frame);
            proptest::prop_assert!(at.is_none_or(|(x, y)| frame.area.contains((x, y).into())));
        }
    }
}

const SPACINGS: [Option<Spacing>; 4] =
    [None, Some(Spacing::Linear), Some(Spacing::Log2), Some(Spacing::Log10)];

#[test]
fn labels_that_are_wider_than_the_room_beside_the_rule_are_left_out() {
    let plan = fixture::passes();
    let mut ledger = Ledger::new(plan.clone());
    for at in CPU {
        let samples = vec![1e-30 * (at + 1) as f64; 5];
        ledger
            .apply(&Event::Round { seq: 0, result: RoundResult { samples, ..script::result(&plan, at, 0) } });
    }
    let data = chart(&ledger);
    for width in [9, 12, 20, 46] {
        let buffer = drawn(&data, 0, PLAIN, Rect::new(34, 2, width, 18));
        assert_eq!(buffer.area.width, width);
    }
}

/// The fixture's chart with these values of y on its first line, and a guide.
fn guided(values: &[f64], level: Option<f64>) -> ChartData {
    let mut data = chart(&ledger(fixture::passes(), &CPU));
    let points = &mut data.panels[0].lines[0].points;
    points.truncate(values.len());
    for (point, y) in points.iter_mut().zip(values) {
        point.value = MeasuredValue { y: *y, y_min: *y, y_max: *y, interval: None, ..point.value };
    }
    data.panels[0].guides = vec![Guide {
        label: "copy, cpu".to_owned(),
        style: 2,
        level,
        per_byte: false,
        unit: data.y.unit,
        lacks: "none on file",
        about: String::new(),
    }];
    data
}

/// The rows of guides between the axes, read at a column that no marker covers.
fn guide_rows(buffer: &Buffer, column: u16) -> Vec<u16> {
    let rows = cells(buffer, "┄").into_iter().filter(|(x, _)| *x == column).map(|(_, y)| y);
    rows.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A guide is in the same row as a point of the same value; a guide far away is not drawn, and the axis
    /// does not extend to it.
    #[test]
    fn a_guide_is_in_the_row_of_its_value(
        values in proptest::collection::vec(0.01f64..1e4, 2..7),
        which in 0usize..2,
        (width, height) in (30u16..120, 10u16..50),
    ) {
        let area = Rect::new(0, 0, width, height);
        let look = Look::default();
        let data = guided(&values, Some(values[which]));
        let drawing = plot(&data, &look, PLAIN);
        let picture = drawing.picture(area);
        let frame = &picture.panes[0].frame;
        let buffer = show(&drawing, usize::MAX, area);
        let point = (frame.column(data.panels[0].lines[0].points[which].x), frame.row(values[which]));
        let (Some(column), Some(row)) = point else { panic!("{values:?} have a place") };
        prop_assert_eq!(buffer[(column, row)].symbol(), "●");
        prop_assert_eq!(buffer[(frame.area.left(), row)].symbol(), "2", "after cpu: cuda is n/a");
        let beside = guide_rows(&buffer, frame.area.right() - 1);
        prop_assert!(beside.iter().all(|y| *y == row), "{:?} {}", beside, row);

        let largest = values.iter().copied().fold(0.0, f64::max);
        let far = guided(&values, Some(largest * 4.1));
        let without = guided(&values, None);
        let ends = |data: &ChartData| plot(data, &look, PLAIN).picture(area).panes[0].frame.y.ends();
        prop_assert_eq!(ends(&far), ends(&without));
        let near = guided(&values, Some(largest * 3.9));
        prop_assert!(ends(&near).1 >= largest * 3.9);
    }
}

#[test]
fn matrices_of_different_sizes_are_one_axis_on_the_screen() {
    let (plan, records) = crate::report::svg::tests::matrices();
    let data = series(&plan, 0, &records);
    for (width, height) in [(120, 30), (80, 20)] {
        let text = rows(&drawn(&data, usize::MAX, PLAIN, Rect::new(0, 0, width, height))).join("\n");
        insta::assert_snapshot!(format!("matrices-{width}x{height}"), text);
    }
}

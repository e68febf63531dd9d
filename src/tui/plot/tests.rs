//! Where ticks, points and notes end up.

use ratatui::style::Color;

use super::*;
use crate::engine::protocol::Event;
use crate::plan::Plan;
use crate::report::series::series;
use crate::run::Ledger;
use crate::tui::tests::{fixture, script};

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

fn drawn(data: &ChartData, selected: usize, theme: Theme, area: Rect) -> Buffer {
    let mut buffer = Buffer::empty(area);
    Plot { data, panel: 0, selected, theme }.draw(area, &mut buffer);
    buffer
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
    // The second digit of 16, 32 and 64 stands under the tick.
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
fn what_failed_or_cannot_run_is_never_a_point() {
    let mut ledger = ledger(fixture::passes(), &CPU);
    ledger.fail(4, "wrong result".to_owned());
    let buffer = drawn(&chart(&ledger), 4, PLAIN, Rect::new(0, 0, 80, 20));
    assert_eq!(cells(&buffer, "●").len(), 6);
    assert_eq!(cells(&buffer, "■").len(), 0, "cuda cannot run");
    assert_eq!(cells(&buffer, "[").len(), 0, "a failed case has no place to highlight");
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

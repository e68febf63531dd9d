//! Changes of the chart's view.

use super::Session;
use crate::recipe::plan::Scale;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::ModelKey;
use crate::tui::chart::cursor::{self, Stop};
use crate::tui::chart::numbers;
use crate::tui::chart::overlay::Overlay;
use crate::tui::chart::scales::{self, Scales, seen};
use crate::tui::chart::{Bars, Look, PAN_STEP};

/// The smallest visible part of an axis: labels have four digits.
const SMALLEST_PART: f64 = 1.0 / 64.0;
/// If the cursor is nearer to an edge than this share of the visible part, the view moves with it.
const MARGIN: f64 = 0.08;

impl Session {
    /// Moves the cursor between the series at its x, or along its line.
    pub fn move_cursor(&mut self, across: isize, along: isize) {
        self.refresh();
        let stops = self.stops();
        let to = match across {
            0 => cursor::along(&stops, self.marked(), along),
            _ => cursor::across(&stops, self.marked(), across),
        };
        self.put_cursor(to, &stops);
    }

    /// Goes to another panel of the chart, together with the cursor if there is one.
    pub fn go_to_panel(&mut self, panel: usize) {
        let here = cursor::at(&self.stops(), self.marked());
        self.panel = panel;
        let stops = self.stops();
        let to = here.filter(|_| self.view.cursor).and_then(|here| cursor::counterpart(&stops, here));
        self.put_cursor(to, &stops);
    }

    /// Puts the cursor on a case that this panel shows.
    pub fn point_at(&mut self, panel: usize, case: usize) {
        self.view.cursor = true;
        self.panel = panel;
        self.choose(case);
        self.view.changed();
    }

    fn stops(&self) -> Vec<Stop> {
        let shown = self.shown();
        let look = self.view.look(shown.experiment);
        shown.data.panels.get(shown.panel).map(|p| cursor::stops(p, look)).unwrap_or_default()
    }

    fn put_cursor(&mut self, to: Option<usize>, stops: &[Stop]) {
        let Some(to) = to else { return };
        self.choose(to);
        if let Some(stop) = stops.iter().find(|s| s.case == to) {
            self.uncover(*stop);
        }
    }

    /// Shows the whole chart again.
    pub fn show_all(&mut self) {
        let look = self.look();
        (look.x_part, look.y_part) = (None, None);
    }

    /// Enters or leaves full screen.
    pub fn toggle_full(&mut self) {
        self.view.full = !self.view.full;
    }

    /// Shows or hides the cursor on the selected case.
    pub fn toggle_cursor(&mut self) {
        self.view.cursor = !self.view.cursor;
        if self.view.cursor {
            self.reveal_selected();
            let stops = self.stops();
            self.put_cursor(cursor::at(&stops, self.marked()).map(|s| s.case), &stops);
        }
    }

    /// Moves the cursor along its line, or the visible part.
    pub fn sideways(&mut self, by: isize) {
        match self.view.cursor {
            true => self.move_cursor(0, by),
            false => self.pan(by as f64 * PAN_STEP, 0.0),
        }
    }

    fn look(&mut self) -> &mut Look {
        let experiment = self.experiment();
        self.view.look_mut(experiment)
    }

    fn scales(&self) -> Scales {
        let look = self.view.look(self.experiment());
        Scales::new(self.chart(), look, self.view.bars, self.view.overlay())
    }

    /// Zooms around the cursor, or around the middle if there is none. An axis on which the cursor has no
    /// position is not zoomed into: the remaining part would contain no point.
    pub fn zoom(&mut self, factor: f64) {
        let scales = self.scales();
        let stop = self.stops().into_iter().find(|s| self.view.cursor && s.case == self.marked());
        let axis = |place: Option<Option<f64>>, part: &AxisScale, whole: &AxisScale, now| match place {
            Some(None) if factor < 1.0 => now,
            place => zoomed(part, whole, place.flatten().and_then(|v| whole.position(v)), factor),
        };
        let look = self.look();
        look.x_part = axis(stop.map(|s| s.x), &scales.x, &scales.whole_x, look.x_part);
        look.y_part = axis(stop.map(|s| s.y), &scales.y, &scales.whole_y, look.y_part);
    }

    /// Zooms around a place, given by its distances from the left and from the bottom as shares of the visible
    /// part.
    pub fn zoom_at(&mut self, (x, y): (f64, f64), factor: f64) {
        self.refresh();
        let scales = self.scales();
        let axis = |share: f64, part: &AxisScale, whole: &AxisScale| {
            let (from, to) = seen(part, whole);
            zoomed(part, whole, Some(from + share * (to - from)), factor)
        };
        let look = self.look();
        look.x_part = axis(x, &scales.x, &scales.whole_x);
        look.y_part = axis(y, &scales.y, &scales.whole_y);
    }

    /// Moves the visible part by shares of its size.
    pub fn pan(&mut self, x: f64, y: f64) {
        let scales = self.scales();
        let x = moved(&scales.x, &scales.whole_x, x);
        let y = moved(&scales.y, &scales.whole_y, y);
        let look = self.look();
        (look.x_part, look.y_part) = (x, y);
    }

    /// Pans so that a stop becomes visible.
    fn uncover(&mut self, stop: Stop) {
        let scales = self.scales();
        let by = |value: Option<f64>, part: &AxisScale| {
            let at = value.and_then(|v| part.unbounded(v)).unwrap_or(0.5);
            (at - (1.0 - MARGIN)).max(0.0) + (at - MARGIN).min(0.0)
        };
        let (x, y) = (by(stop.x, &scales.x), by(stop.y, &scales.y));
        if x != 0.0 || y != 0.0 {
            self.pan(x, y);
        }
    }

    /// Selects the next spacing of x; returns the reason if it is impossible.
    pub fn next_scale_of_x(&mut self) -> Option<String> {
        let next = next(self.scales().whole_x.spacing);
        let allowed = scales::x_allows(self.chart(), next);
        let names = self.chart().x.scale == Scale::Category;
        self.look().x = if names { None } else { Some(allowed.as_ref().map_or(Spacing::Linear, |()| next)) };
        allowed.err()
    }

    /// The same of y.
    pub fn next_scale_of_y(&mut self) -> Option<String> {
        let next = next(self.scales().whole_y.spacing);
        let look = self.view.look(self.experiment());
        let values: Vec<f64> =
            scales::values(self.chart(), look, self.view.overlay()).iter().map(|value| value.y).collect();
        let allowed = scales::y_allows(self.chart(), &values, next);
        self.look().y = Some(allowed.as_ref().map_or(Spacing::Linear, |()| next));
        allowed.err()
    }

    /// Selects the next kind of error bars; tells if there are none.
    pub fn next_bars(&mut self) -> Option<String> {
        self.view.bars = self.view.bars.next();
        let change = self.chart().y.relative_to.is_some() && self.view.bars == Bars::Interval;
        change.then(|| {
            "no 95 % bars: a change has no interval here, because its baseline varies, too".to_owned()
        })
    }

    /// Hides or shows the line with this number, counted from 1.
    pub fn toggle_line(&mut self, number: usize) {
        let style = numbers::style(self.chart(), number);
        let look = self.look();
        if !look.hidden.remove(&style) {
            look.hidden.insert(style);
        }
        if self.view.cursor {
            let stops = self.stops();
            self.put_cursor(cursor::at(&stops, self.marked()).map(|s| s.case), &stops);
        }
    }

    /// Lays the baseline under this run, or removes the run that lies there; tells what differs, or why it cannot be laid.
    pub fn toggle_baseline(&mut self) -> Option<String> {
        if self.view.overlay().is_some() {
            self.clear_baseline();
            return None;
        }
        let baseline = self.view.baseline.clone()?;
        let laid = self.lay(&baseline);
        let differs = self.view.overlay().map(Overlay::differs).filter(|words| !words.is_empty());
        laid.err().or(differs.map(|words| format!("{}: {words}", baseline.name())))
    }

    /// Whether a model predicts anything on the chart.
    pub fn predicts(&self) -> bool {
        self.chart().models.iter().any(ModelKey::predicts)
    }
}

fn next(spacing: Spacing) -> Spacing {
    match spacing {
        Spacing::Linear => Spacing::Log2,
        Spacing::Log2 => Spacing::Log10,
        Spacing::Log10 | Spacing::Category => Spacing::Linear,
    }
}

/// The visible part after zooming around a position of the whole axis.
fn zoomed(part: &AxisScale, whole: &AxisScale, centre: Option<f64>, factor: f64) -> Option<(f64, f64)> {
    let (from, to) = seen(part, whole);
    let width = ((to - from) * factor).max(SMALLEST_PART);
    let centre = centre.unwrap_or((from + to) / 2.0).clamp(from, to);
    let share = (centre - from) / (to - from);
    ends(whole, centre - share * width, width)
}

/// The visible part after moving it by a share of its width.
fn moved(part: &AxisScale, whole: &AxisScale, by: f64) -> Option<(f64, f64)> {
    let (from, to) = seen(part, whole);
    ends(whole, from + by * (to - from), to - from)
}

/// The ends of the visible part; `None` for the whole axis.
fn ends(whole: &AxisScale, from: f64, width: f64) -> Option<(f64, f64)> {
    if width.is_nan() || width > 1.0 - 1e-9 {
        return None;
    }
    let from = from.clamp(0.0, 1.0 - width);
    Some((whole.at(from), whole.at(from + width)))
}

//! What the chart shows: its quantity, the roles of its axes and its ceiling. They change on the screen only; the line
//! that keeps them in the recipe is told.

use super::Session;
use crate::primitives;
use crate::recipe::chart_line;
use crate::recipe::plan::{Ceiling, Chart, ChartScale, Experiment, Quantity};
use crate::tui::chart::Look;

impl Session {
    /// Draws the next quantity on y, with the ceiling and the models of the recipe where they suit it.
    pub fn next_quantity(&mut self) -> Option<String> {
        let experiment = self.shown_experiment();
        let own = self.recipe_chart().clone();
        let transfers = experiment.measure.transfer.is_some();
        let all = [
            Quantity::Bandwidth,
            Quantity::SystemBandwidth,
            Quantity::Time,
            Quantity::TimeWithTransfer,
            Quantity::Throughput,
            Quantity::Flops,
            Quantity::FlopsWithTransfer,
        ];
        let primitive = primitives::find(&experiment.primitive);
        let flops = primitive.is_some_and(|primitive| primitive.flops_per_element().is_some());
        let known = |y: &Quantity| (transfers || !y.with_transfer()) && (flops || !y.counts_flops());
        let possible: Vec<Quantity> = all.into_iter().filter(known).collect();
        let at = possible.iter().position(|y| *y == experiment.chart.y).unwrap_or(0);
        let y = possible[(at + 1) % possible.len()];
        let ceiling = own.ceiling.filter(|ceiling| ceiling.suits(y) && own.relative_to.is_none());
        // Models predict no transfers.
        let models = if y.with_transfer() { Some(Vec::new()) } else { own.models };
        let scale = ChartScale { y: own.scale.y.filter(|_| own.y == y), ..experiment.chart.scale };
        self.redraw(|chart| Chart { y, scale, ceiling, models, ..chart })
    }

    /// Gives each role (x, lines, panels) to the next swept parameter, the last one's to the first.
    pub fn turn_axes(&mut self) -> Option<String> {
        self.change_roles(|keys, _| keys.rotate_left(1))
    }

    /// Makes panels of the last parameter that makes lines; after the last one, lines of all of them.
    pub fn next_panels(&mut self) -> Option<String> {
        self.change_roles(|keys, panels| *panels = if *panels + 1 < keys.len() { *panels + 1 } else { 0 })
    }

    /// Draws the next ceiling that suits the quantity, or none.
    pub fn next_ceiling(&mut self) -> Option<String> {
        let Experiment { primitive, chart, .. } = self.shown_experiment();
        let light = primitives::find(primitive).is_some_and(|primitive| primitive.speed_of_light().is_some());
        let suits = |ceiling: &Ceiling| {
            ceiling.suits(chart.y)
                && chart.relative_to.is_none()
                && (light || *ceiling != Ceiling::SpeedOfLight)
        };
        let possible: Vec<Ceiling> =
            [Ceiling::Copy, Ceiling::SpeedOfLight].into_iter().filter(suits).collect();
        if possible.is_empty() {
            return Some("a ceiling is a rate: y is none, or a change".to_owned());
        }
        let next = match chart.ceiling {
            None => possible.first().copied(),
            Some(now) => possible.into_iter().skip_while(|ceiling| *ceiling != now).nth(1),
        };
        self.redraw(|chart| Chart { ceiling: next, ..chart })
    }

    /// Draws the cases by what they move under the machine's roofs, or by their parameters again.
    pub fn toggle_roofline(&mut self) {
        self.view.roofline = !self.view.roofline;
        *self.view.look_mut(self.experiment()) = Look::default();
        self.remake();
    }

    /// Changes the order of the swept parameters, which are x, then lines, then panels, and the number of panels.
    fn change_roles(&mut self, change: impl FnOnce(&mut Vec<String>, &mut usize)) -> Option<String> {
        let chart = &self.shown_experiment().chart;
        if chart.relative_to.is_some() {
            return Some("y is the change from a baseline, so the recipe fixes the axes".to_owned());
        }
        let mut panels = chart.panels.len();
        let mut keys: Vec<String> =
            [&chart.x].into_iter().chain(&chart.lines).chain(&chart.panels).cloned().collect();
        if keys.len() < 2 {
            return Some("only one parameter is swept, and it is on x".to_owned());
        }
        change(&mut keys, &mut panels);
        let panels = keys.split_off(keys.len() - panels);
        let lines = keys.split_off(1);
        let x = keys.swap_remove(0);
        let own = self.recipe_chart();
        let scale = ChartScale { x: own.scale.x.filter(|_| own.x == x), ..chart.scale };
        self.redraw(|chart| Chart { x, lines, panels, scale, ..chart })
    }

    /// Draws another chart of the shown experiment, and tells how the recipe would have it.
    fn redraw(&mut self, change: impl FnOnce(Chart) -> Chart) -> Option<String> {
        let chart = change(self.shown_experiment().chart.clone());
        *self.view.look_mut(self.experiment()) = Look::default();
        self.draw(chart);
        Some(format!("in the recipe: {}", chart_line(self.shown_experiment())))
    }

    fn shown_experiment(&self) -> &Experiment {
        &self.ledger.plan().experiments[self.experiment()]
    }
}

//! What-if analysis of another device: the user changes a profile's values by hand and sees the models' new
//! predictions beside the measurements. Pure except for saving, which the loop does.

mod knobs;
#[cfg(test)]
pub mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use knobs::{Knob, Steps};

use super::field::Field;
use super::focus::Focus;
use super::widgets::list::moved;
use crate::case::MODELS;
use crate::model::{Forecast, Profile, Profiles};
use crate::recipe::plan::Plan;
use crate::report::series::{ChartData, ModelKey, charted, models};
use crate::run::Record;

/// Writes a profile under its name into the user's folder of profiles.
pub type SaveProfile = fn(&Profile) -> Result<PathBuf, String>;

/// A profile being changed, over the cases of a run or of a recipe.
#[derive(Clone, Debug)]
pub struct WhatIf {
    plan: Plan,
    /// The records without their samples.
    records: Vec<Record>,
    pub experiment: usize,
    pub panel: usize,
    /// The selected case.
    pub case: usize,
    /// The profiles that the unchanged predictions are based on.
    own: Profiles,
    /// The profile being changed, without the changes.
    base: Profile,
    /// The number of steps by which each value is changed.
    steps: Steps,
    /// The changes of other profiles shown earlier, by the profiles' names.
    others: BTreeMap<String, Steps>,
    /// The profile with its changes.
    changed: Profile,
    pub knobs: Vec<Knob>,
    /// Names of the values that change no prediction of these cases.
    idle: BTreeSet<String>,
    pub selected: usize,
    chart: ChartData,
    before: ChartData,
    /// The name under which the profile is to be saved, while it is being typed.
    pub field: Option<Field>,
    /// Why the profile was not saved.
    pub error: Option<String>,
    /// The panel to return to.
    pub back: Focus,
}

/// Cases, with their records and profiles.
#[derive(Clone, Debug)]
pub struct Cases {
    pub plan: Plan,
    pub records: Vec<Record>,
    pub selected: usize,
    pub profiles: Profiles,
}

impl WhatIf {
    /// `None` if no profile concerns the cases. Otherwise starts with the profile that predicts the selected case, or
    /// else another case of its chart, or any; or else with a known profile.
    pub fn new(cases: Cases, known: &[Profile], back: Focus) -> Option<WhatIf> {
        let Cases { plan, records, selected, profiles } = cases;
        let concerns = |profile: &&Profile| records.iter().any(|r| profile.knows(r.case.place().0));
        let experiment = records.get(selected).map_or(0, |record| record.case.experiment);
        let chart = records.iter().filter(|record| record.case.experiment == experiment);
        let mut nearest = records.get(selected).into_iter().chain(chart).chain(&records);
        let theirs = nearest.find_map(|record| profiles.of(&record.case).ok()).cloned();
        let measured = |profile: &&Profile| {
            records.iter().any(|record| profile.rates.contains_key(record.case.place().0))
        };
        let other = || known.iter().find(measured).or_else(|| known.iter().find(concerns)).cloned();
        let base = theirs.clone().or_else(other)?;
        let own = if theirs.is_some() { profiles } else { profiles.instead(base.clone()) };
        let bare = |record: Record| Record {
            rounds: Vec::new(),
            set_aside: Vec::new(),
            superseded: Vec::new(),
            ..record
        };
        let records: Vec<Record> = records.into_iter().map(bare).collect();
        let chart = charted(&plan, experiment, &records, None);
        let mut view = WhatIf {
            experiment,
            panel: 0,
            case: selected,
            own,
            changed: base.clone(),
            base,
            steps: Steps::new(),
            others: BTreeMap::new(),
            knobs: Vec::new(),
            idle: BTreeSet::new(),
            selected: 0,
            before: chart.clone(),
            chart,
            field: None,
            error: None,
            back,
            plan,
            records,
        };
        view.show(experiment);
        let holds = |panel: &crate::report::series::Panel| panel.cases().any(|case| case == selected);
        view.panel = view.chart.panels.iter().position(holds).unwrap_or(0);
        Some(view)
    }

    /// The chart with the predictions of the changed profile over those without changes.
    pub fn chart(&self) -> &ChartData {
        &self.chart
    }

    /// The profile with its changes.
    pub fn profile(&self) -> &Profile {
        &self.changed
    }

    pub fn is_changed(&self) -> bool {
        !self.steps.is_empty()
    }

    /// The accuracy of the models with the changes and without them.
    pub fn accuracies(&self) -> Vec<String> {
        let words = |key: &ModelKey| key.accuracy();
        let (now, before) = (self.chart.models.iter(), self.before.models.iter());
        let without = before.filter_map(words).map(|words| format!("before: {words}"));
        now.filter_map(words).chain(without.filter(|_| self.is_changed())).collect()
    }

    /// Switches to an experiment; without changes its predictions are those of the run.
    fn show(&mut self, experiment: usize) {
        (self.experiment, self.panel) = (experiment, 0);
        self.before = self.predicted(&self.own.clone());
        self.turn();
    }

    /// The chart of the predictions from these profiles.
    fn predicted(&mut self, profiles: &Profiles) -> ChartData {
        let at = self.experiment;
        for record in self.records.iter_mut().filter(|record| record.case.experiment == at) {
            record.forecasts = profiles.forecasts(&record.case, record.work.as_ref());
        }
        let Some(experiment) = self.plan.experiments.get(at) else { return self.chart.clone() };
        let own = || self.records.iter().filter(|record| record.case.experiment == at);
        let says = |model: &&'static str| own().any(|record| record.prediction(model).is_some());
        let mut shown: Vec<&str> = models(&experiment.chart, own()).into_iter().filter(says).collect();
        if shown.is_empty() {
            shown = MODELS.into_iter().filter(says).collect();
        }
        if shown.is_empty() {
            // Each model then explains why it predicts nothing.
            shown = MODELS.to_vec();
        }
        let mut plan = self.plan.clone();
        plan.experiments[at].chart.models = Some(shown.into_iter().map(str::to_owned).collect());
        charted(&plan, at, &self.records, None)
    }

    /// Updates everything that depends on the changes.
    fn turn(&mut self) {
        let mut backends: Vec<String> =
            self.records.iter().map(|record| record.case.place().0.to_owned()).collect();
        backends.sort();
        backends.dedup();
        (self.changed, self.knobs) = knobs::turned(&self.base, &backends, &self.steps);
        self.idle = self.without_effect(&backends);
        self.step(0);
        self.chart = self.predicted(&self.own.instead(self.changed.clone()));
        if self.chart.predicted(|_| true).ne(self.before.predicted(|_| true)) {
            self.chart.lay_before(&self.before);
        }
    }

    /// The values that change no prediction of the experiment, neither doubled nor halved; none if there are so many
    /// cases that finding out would take long.
    fn without_effect(&self, backends: &[String]) -> BTreeSet<String> {
        let own = || self.records.iter().filter(|record| record.case.experiment == self.experiment);
        if own().count() * self.knobs.len() > MOST_PREDICTED {
            return BTreeSet::new();
        }
        let shown = |model: &str| self.before.models.iter().any(|key| key.name == model);
        let predicted = |steps: &Steps| -> Vec<Option<f64>> {
            let profiles = self.own.instead(knobs::turned(&self.base, backends, steps).0);
            let forecasts = own().flat_map(|record| profiles.forecasts(&record.case, record.work.as_ref()));
            let seconds = |forecast: Forecast| forecast.outcome.ok().map(|prediction| prediction.seconds);
            forecasts.filter(|forecast| shown(forecast.model)).map(seconds).collect()
        };
        let now = predicted(&self.steps);
        let is_idle = |knob: &&Knob| {
            [DOUBLED, -DOUBLED].iter().all(|by| {
                let mut steps = self.steps.clone();
                *steps.entry(knob.name.clone()).or_insert(0) += by;
                predicted(&steps) == now
            })
        };
        self.knobs.iter().filter(is_idle).map(|knob| knob.name.clone()).collect()
    }

    /// Whether this value changes no prediction of these cases.
    pub fn is_idle(&self, knob: &Knob) -> bool {
        self.idle.contains(&knob.name)
    }

    /// Changes the selected value by `by` steps.
    pub fn change(&mut self, by: i32) {
        let Some(knob) = self.knobs.get(self.selected) else { return };
        let steps = self.steps.entry(knob.name.clone()).or_insert(0);
        *steps = (*steps + by).clamp(-MOST, MOST);
        self.steps.retain(|_, steps| *steps != 0);
        self.turn();
    }

    /// Undoes the changes of the selected value.
    pub fn undo(&mut self) {
        let Some(knob) = self.knobs.get(self.selected) else { return };
        self.steps.remove(&knob.name);
        self.turn();
    }

    pub fn undo_all(&mut self) {
        self.steps.clear();
        self.turn();
    }

    /// Whether this value is changed.
    pub fn turned(&self, knob: &Knob) -> bool {
        self.steps.contains_key(&knob.name)
    }

    /// Switches to the next or previous profile that concerns the cases. Each profile keeps its changes.
    pub fn cycle(&mut self, known: &[Profile], by: isize) {
        let all = self.choices(known);
        let at = all.iter().position(|profile| *profile == self.base).unwrap_or(0) as isize;
        let next = (at + by).rem_euclid(all.len().max(1) as isize) as usize;
        if let Some(profile) = all.into_iter().nth(next) {
            let steps = self.others.remove(&profile.name).unwrap_or_default();
            self.others.insert(self.base.name.clone(), std::mem::replace(&mut self.steps, steps));
            self.base = profile;
            self.turn();
        }
    }

    /// The run's own profiles and the known ones, as far as they concern the cases.
    pub fn choices(&self, known: &[Profile]) -> Vec<Profile> {
        let mut all: Vec<Profile> = Vec::new();
        for profile in self.own.all().chain(known) {
            let concerns = self.records.iter().any(|record| profile.knows(record.case.place().0));
            if concerns && !all.contains(profile) {
                all.push(profile.clone());
            }
        }
        all
    }

    /// Whether there are several experiments.
    pub fn has_experiments(&self) -> bool {
        self.plan.experiments.len() > 1
    }

    /// The changed profile under a name of its own.
    pub fn named(&self, name: String) -> Profile {
        let source = format!("{}, changed by hand", self.base.name);
        Profile { name, source, made: None, ..self.changed.clone() }
    }

    /// Opens the text field for the name.
    pub fn ask_name(&mut self) {
        self.error = None;
        self.field = Some(Field::offer(&format!("{}-what-if", self.base.name)));
    }

    /// Closes the text field for the name.
    pub fn keep_unsaved(&mut self) {
        (self.field, self.error) = (None, None);
    }

    /// Moves the selection along the values.
    pub fn step(&mut self, by: isize) {
        self.selected = moved(self.selected, by, self.knobs.len());
    }

    pub fn step_panel(&mut self, by: isize) {
        self.panel = moved(self.panel, by, self.chart.panels.len());
    }

    pub fn step_experiment(&mut self, by: isize) {
        let wanted = self.experiment.saturating_add_signed(by);
        if let Some(case) = self.records.iter().position(|record| record.case.experiment == wanted) {
            self.case = case;
            self.show(wanted);
        }
    }
}

/// Most pairs of a case and a value for which it is found out whether the value matters.
const MOST_PREDICTED: usize = 4000;

/// Steps that double a rate, and change a size more than that.
const DOUBLED: i32 = 4;

/// Maximum number of steps in each direction.
const MOST: i32 = 40;

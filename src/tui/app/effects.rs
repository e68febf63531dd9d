//! Effects of the home screen.

use std::sync::Arc;
use std::time::Duration;

use super::App;
use crate::run::estimate::Estimate;
use crate::tui::home::facts::Known;
use crate::tui::home::jobs::{Kind, Outcome};
use crate::tui::home::save::{NotSaved, save};
use crate::tui::home::{BackgroundResult, Errand};
use crate::tui::update::Input;

impl App {
    pub(super) fn run_errand(&mut self, errand: Errand, now: Duration) {
        match errand {
            Errand::Next => return self.apply(Input::Home(BackgroundResult::Next), now),
            Errand::Begin => return self.begin_queued(now),
            Errand::Save => self.save(),
            Errand::Resolve(recipe) => self.resolve(recipe),
            Errand::Estimate(recipe) => self.estimate(recipe),
            Errand::Last(recipe) => self.find_last(recipe),
            Errand::Greet => {
                self.background.iter_mut().for_each(|background| background.find_engine());
            }
            Errand::Paces => {
                self.background.iter_mut().for_each(|background| background.find_paces());
            }
        }
        self.apply(Input::Home(BackgroundResult::Asked(errand)), now);
        self.receive_outcomes(now);
    }

    /// Applies the results of jobs, and stops those that nothing waits for any longer.
    pub(super) fn receive_outcomes(&mut self, now: Duration) {
        if self.state.home.preparing.is_none() {
            self.jobs.stop(Kind::Start);
        }
        while let Some(outcome) = self.jobs.next() {
            let input = match outcome {
                Outcome::Resolved(recipe, plan) => Input::Home(BackgroundResult::Resolved(recipe, plan)),
                Outcome::Estimated(recipe, estimate) => {
                    Input::Home(BackgroundResult::Estimated(recipe, estimate))
                }
                Outcome::Saved(saved) => Input::Home(BackgroundResult::Saved(saved)),
                Outcome::Ready { recipe, text, plan } => {
                    plan.and_then(|plan| self.start(recipe, &text, plan)).unwrap_or_else(Input::NotStarted)
                }
            };
            self.apply(input, now);
        }
    }

    fn begin_queued(&mut self, now: Duration) {
        let Some(item) = self.state.home.queue.starting.clone() else { return };
        self.prepare(item.recipe, item.entry, item.overrides, now);
    }

    fn resolve(&mut self, recipe: usize) {
        let Some(entry) = self.state.recipes.entries().get(recipe).cloned() else { return };
        let (overrides, resolve) = (self.state.home.edits.of(recipe), Arc::clone(&self.resolve));
        self.jobs.run(Kind::Preview, move |wanted| {
            Outcome::Resolved(recipe, resolve(&entry, &overrides, wanted).map(Arc::new))
        });
    }

    fn estimate(&mut self, recipe: usize) {
        let Some(Ok(plan)) = self.state.recipes.plan_of(recipe) else { return };
        let Known::Is(Ok(paces)) = &self.state.home.facts.paces else { return };
        let (plan, paces) = (Arc::clone(plan), paces.clone());
        self.jobs.run(Kind::Estimate, move |wanted| {
            Outcome::Estimated(recipe, Estimate::of(&plan, &paces, wanted))
        });
    }

    /// Starts the lookup in the background, if lookups are available.
    fn find_last(&mut self, recipe: usize) {
        let Some(background) = &mut self.background else { return };
        let plan = self.state.recipes.plan_of(recipe).and_then(|plan| plan.as_ref().ok());
        plan.inspect(|plan| background.find_last(recipe, plan));
    }

    fn save(&mut self) {
        if self.jobs.is_running(Kind::Save) {
            return;
        }
        let saving = self.state.home.saving.clone();
        let found = saving.and_then(|saving| {
            let entry = self.state.recipes.entries().get(saving.recipe)?.clone();
            Some((self.state.home.edits.of(saving.recipe), saving, entry))
        });
        let (resolve, write) = (Arc::clone(&self.resolve), self.write);
        self.jobs.run(Kind::Save, move |_| {
            let none = || NotSaved::Because("there is no such recipe".to_owned());
            let saved = found
                .ok_or_else(none)
                .and_then(|(overrides, saving, entry)| save(&entry, &overrides, &saving, (&resolve, write)));
            Outcome::Saved(saved)
        });
    }
}

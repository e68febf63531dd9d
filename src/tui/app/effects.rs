//! Effects of the home screen.

use std::time::Duration;

use super::App;
use crate::tui::home::save::{NotSaved, save};
use crate::tui::home::{Errand, News};
use crate::tui::recipes::RecipeEntry;
use crate::tui::update::Input;

impl App {
    pub(super) fn run_errand(&mut self, errand: Errand, now: Duration) {
        let news = match errand {
            Errand::Next => News::Next,
            Errand::Begin => return self.begin_queued(now),
            Errand::Save => News::Saved(self.save()),
            Errand::Paces | Errand::Last(_) => {
                self.send(errand);
                News::Asked(errand)
            }
        };
        self.apply(Input::Home(news), now);
    }

    fn begin_queued(&mut self, now: Duration) {
        let Some(item) = self.state.home.queue.starting.clone() else { return };
        let input = self.start(item.recipe, &item.entry, &item.overrides).unwrap_or_else(Input::NotStarted);
        self.apply(input, now);
    }

    /// Starts the lookup in the background, if lookups are available.
    fn send(&mut self, errand: Errand) {
        let Some(background) = &mut self.background else { return };
        match errand {
            Errand::Last(recipe) => {
                let plan = self.state.recipes.plan_of(recipe).and_then(|plan| plan.as_ref().ok());
                plan.inspect(|plan| background.find_last(recipe, plan));
            }
            _ => background.find_paces(),
        }
    }

    fn save(&self) -> Result<RecipeEntry, NotSaved> {
        let saving = self.state.home.saving.as_ref();
        let found =
            saving.and_then(|saving| Some((saving, self.state.recipes.entries().get(saving.recipe)?)));
        let (saving, entry) = found.ok_or(NotSaved::Because("there is no such recipe".to_owned()))?;
        save(entry, &self.state.home.edits.of(saving.recipe), saving, (&self.resolve, self.write))
    }
}

//! The panel that receives the keys.

/// Where a panel is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The recipes.
    Home,
    /// The run that is active or looked at.
    Run,
    /// The stored runs.
    Runs,
    /// A screen of the panel's own.
    Own,
}

/// The panels, a row each: its screen, and its heading in the help. Those of a screen are in the order in which Tab
/// visits them.
macro_rules! panels {
    ($($(#[$doc:meta])* $panel:ident: $screen:ident, $title:literal;)+) => {
        /// The panel that receives the keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Focus {
            $($(#[$doc])* $panel),+
        }

        impl Focus {
            /// All panels.
            pub const ALL: &[Focus] = &[$(Focus::$panel),+];

            pub fn screen(self) -> Screen {
                match self { $(Focus::$panel => Screen::$screen),+ }
            }

            /// Heading of the panel's commands in the help.
            pub fn title(self) -> &'static str {
                match self { $(Focus::$panel => $title),+ }
            }
        }
    };
}

panels! {
    Recipes: Home, "Recipes";
    /// The values of the selected recipe, which can be changed before a run.
    Editor: Home, "Editing";
    /// The recipes that are queued to run.
    Queue: Home, "Queue";
    Cases: Run, "Cases";
    Chart: Run, "Chart";
    Samples: Run, "Samples";
    Log: Run, "Log";
    /// The list of stored runs.
    Runs: Runs, "Runs";
    /// Facts about the selected stored run.
    Details: Runs, "Details of a run";
    Comparison: Own, "Comparison";
    Pattern: Own, "Pattern";
    /// The live picture of a case.
    Live: Own, "Live picture";
    /// Predictions while the user changes figures of a device profile.
    WhatIf: Own, "What if";
}

impl Focus {
    /// Whether the panel is on a screen apart from the recipes and the run.
    pub fn is_apart(self) -> bool {
        matches!(self.screen(), Screen::Runs | Screen::Own)
    }

    /// Whether this is the list of stored runs or its details.
    pub fn is_runs(self) -> bool {
        self.screen() == Screen::Runs
    }

    /// Whether this is a panel of the run screen.
    pub fn is_run(self) -> bool {
        self.screen() == Screen::Run
    }

    /// The panel that is `by` places after this one (before it, if negative) in `present`, which wraps around.
    pub fn neighbour(self, by: isize, present: &[Focus]) -> Focus {
        let count = present.len().max(1) as isize;
        let at = present.iter().position(|f| *f == self).unwrap_or(0) as isize;
        present.get((at + by).rem_euclid(count) as usize).copied().unwrap_or(Focus::Recipes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_goes_round_and_back() {
        let present = [Focus::Recipes, Focus::Queue, Focus::Cases, Focus::Log];
        let mut focus = Focus::Recipes;
        for wanted in [Focus::Queue, Focus::Cases, Focus::Log, Focus::Recipes] {
            let before = focus;
            focus = focus.neighbour(1, &present);
            assert_eq!((focus, focus.neighbour(-1, &present)), (wanted, before));
        }
        assert_eq!(Focus::Recipes.neighbour(1, &present[..1]), Focus::Recipes);
        assert_eq!(Focus::Editor.neighbour(1, &present), Focus::Queue, "from beside the list");
    }
}

//! The panel that receives the keys.

/// The panel that receives the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Recipes,
    /// The values of the selected recipe, which can be changed before a run.
    Editor,
    /// The recipes that are queued to run.
    Queue,
    Cases,
    Chart,
    Samples,
    Log,
    /// The list of stored runs.
    Runs,
    /// Facts about the selected stored run.
    Details,
    Comparison,
    Pattern,
    /// The live picture of a case.
    Live,
    /// Predictions while the user changes figures of a device profile.
    WhatIf,
}

impl Focus {
    /// All panels: first those of the recipes and the run, in the order in which Tab visits those that are
    /// present, then those with a screen of their own.
    pub const ALL: [Focus; 13] = [
        Focus::Recipes,
        Focus::Editor,
        Focus::Queue,
        Focus::Cases,
        Focus::Chart,
        Focus::Samples,
        Focus::Log,
        Focus::Runs,
        Focus::Details,
        Focus::Comparison,
        Focus::Pattern,
        Focus::Live,
        Focus::WhatIf,
    ];

    /// If this panel is on a screen apart from the recipes and the run: all panels of that screen. Else empty.
    pub fn own_screen(self) -> &'static [Focus] {
        match self {
            Focus::Runs | Focus::Details => &[Focus::Runs, Focus::Details],
            Focus::Comparison => &[Focus::Comparison],
            Focus::Pattern => &[Focus::Pattern],
            Focus::Live => &[Focus::Live],
            Focus::WhatIf => &[Focus::WhatIf],
            _ => &[],
        }
    }

    pub fn has_own_screen(self) -> bool {
        !self.own_screen().is_empty()
    }

    /// Whether this is the list of stored runs or its details.
    pub fn is_runs(self) -> bool {
        matches!(self, Focus::Runs | Focus::Details)
    }

    /// Whether this is a panel of the run screen.
    pub fn is_run(self) -> bool {
        matches!(self, Focus::Cases | Focus::Chart | Focus::Samples | Focus::Log)
    }

    /// Heading of the panel's commands in the help.
    pub fn title(self) -> &'static str {
        match self {
            Focus::Recipes => "Recipes",
            Focus::Editor => "Editing",
            Focus::Queue => "Queue",
            Focus::Cases => "Cases",
            Focus::Chart => "Chart",
            Focus::Samples => "Samples",
            Focus::Log => "Log",
            Focus::Runs => "Runs",
            Focus::Details => "Details of a run",
            Focus::Comparison => "Comparison",
            Focus::Pattern => "Pattern",
            Focus::Live => "Live picture",
            Focus::WhatIf => "What if",
        }
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

//! The panels of the screen: each file draws one and lists the keys that it accepts.

pub mod banner;
mod case_names;
pub mod cases;
pub mod chart;
pub mod compare;
pub mod details;
pub mod device;
pub mod editor;
pub mod export;
pub mod header;
pub mod help;
pub mod hints;
pub mod live;
pub mod log;
mod matrix;
pub mod pattern;
pub mod preview;
pub mod queue;
pub mod recipes;
pub mod runs;
pub mod samples;
pub mod status;
pub mod whatif;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::command::Command;
use super::theme::Theme;
use super::words;

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

    /// The commands that the panel accepts while it has the focus, with their keys.
    pub fn commands(self) -> &'static [Command] {
        match self {
            Focus::Recipes => recipes::COMMANDS,
            Focus::Editor => editor::COMMANDS,
            Focus::Queue => queue::COMMANDS,
            Focus::Cases => cases::COMMANDS,
            Focus::Chart => chart::COMMANDS,
            Focus::Samples => samples::COMMANDS,
            Focus::Log => log::COMMANDS,
            Focus::Runs => crate::tui::runs::request::LIST,
            Focus::Details => crate::tui::runs::request::DETAILS,
            Focus::Comparison => crate::tui::runs::request::SHEET,
            Focus::Pattern => crate::tui::pattern::COMMANDS,
            Focus::Live => crate::tui::live::COMMANDS,
            Focus::WhatIf => crate::tui::whatif::COMMANDS,
        }
    }

    /// The panel that is `by` places after this one (before it, if negative) in `present`, which wraps around.
    pub fn neighbour(self, by: isize, present: &[Focus]) -> Focus {
        let count = present.len().max(1) as isize;
        let at = present.iter().position(|f| *f == self).unwrap_or(0) as isize;
        present.get((at + by).rem_euclid(count) as usize).copied().unwrap_or(Focus::Recipes)
    }
}

/// Draws a panel's heading, a title on a horizontal rule, on the first row of `area`, and returns the rest. The
/// panel with the focus has a heavy rule, and also a marker if there are no colours.
pub fn heading(title: &str, focused: bool, theme: Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    if area.is_empty() {
        return area;
    }
    let rule = match focused {
        true => theme.symbol("━", "="),
        false => theme.symbol("─", "-"),
    };
    let style = if focused { theme.focus() } else { theme.dim() };
    for x in area.left()..area.right() {
        buffer[(x, area.y)].set_symbol(rule).set_style(style);
    }
    let marker = if focused && theme.signs() { "> " } else { "" };
    let room = usize::from(area.width).saturating_sub(2);
    let text = words::fit(&format!(" {marker}{title} "), room, theme);
    let style = if focused { theme.focus() } else { theme.title() };
    buffer.set_string(area.x + 1.min(area.width - 1), area.y, text, style);
    below_heading(area)
}

/// The area below a panel's heading.
pub fn below_heading(area: Rect) -> Rect {
    let heading = area.height.min(1);
    Rect { y: area.y + heading, height: area.height - heading, ..area }
}

/// Draws lines from the top of `area`, cut at its edges.
pub fn lines<'a>(lines: impl IntoIterator<Item = Line<'a>>, area: Rect, buffer: &mut Buffer) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        buffer.set_line(area.x, y, &line, area.width);
    }
}

/// Gives row `y` this style over the whole width of `area`, as for a selected row.
pub fn bar(area: Rect, y: u16, style: Style, buffer: &mut Buffer) {
    if y < area.bottom() {
        buffer.set_style(Rect { y, height: 1, ..area }, style);
    }
}

/// The first row to show of a list of `count` rows in a panel of `height` rows, so that row `selected` is
/// visible: in the middle, except near the ends of the list.
pub fn first_row(selected: usize, count: usize, height: usize) -> usize {
    selected.saturating_sub(height / 2).min(count.saturating_sub(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_visible() {
        for (count, height) in [(0, 0), (1, 1), (5, 3), (40, 7), (3, 10)] {
            for selected in 0..count {
                let first = first_row(selected, count, height);
                assert!(first <= selected && selected < first + height, "{selected} of {count} in {height}");
                assert!(first == 0 || first + height <= count, "no empty rows at the end");
            }
        }
    }

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

//! Colours and symbols, decided once from the environment.
//!
//! Without colour every style is the default one (all `Reset`), because crossterm
//! then drops bold and reverse too: what matters is said by symbols.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

/// How the screen looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours and modifiers may be used.
    pub colour: bool,
    /// Whether symbols outside ASCII may be used.
    pub utf8: bool,
}

/// Okabe and Ito's palette, which colour-blind people can tell apart, as the nearest
/// entries of the 256-colour cube.
const SERIES: [u8; 7] = [75, 214, 36, 175, 227, 202, 32];

const MARKERS: [&str; 8] = ["●", "■", "▲", "◆", "○", "□", "△", "◇"];
const ASCII_MARKERS: [&str; 8] = ["o", "x", "+", "*", "#", "@", "%", "&"];

impl Theme {
    /// From `NO_COLOR` and the locale (`LC_ALL`, `LC_CTYPE`, `LANG`, in that order).
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Theme {
        let set = |key: &str| read(key).filter(|v| !v.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_uppercase();
        let dumb = set("TERM").is_some_and(|t| t == "dumb");
        Theme {
            colour: set("NO_COLOR").is_none() && !dumb,
            utf8: locale.contains("UTF-8") || locale.contains("UTF8"),
        }
    }

    fn style(self, style: Style) -> Style {
        if self.colour { style } else { Style::default() }
    }

    /// What stands back: rules, units, explanations.
    pub fn dim(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(245)))
    }

    /// A heading.
    pub fn title(self) -> Style {
        self.style(Style::default().add_modifier(Modifier::BOLD))
    }

    /// The heading of the panel that has the focus.
    pub fn focus(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(75)).add_modifier(Modifier::BOLD))
    }

    /// The selected row of the panel that has the focus.
    pub fn selected(self) -> Style {
        self.style(Style::default().add_modifier(Modifier::REVERSED))
    }

    /// The selected row of another panel.
    pub fn selected_elsewhere(self) -> Style {
        self.style(Style::default().add_modifier(Modifier::BOLD))
    }

    /// A key in the hint bar.
    pub fn key(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(75)))
    }

    pub fn good(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(36)))
    }

    pub fn warning(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(214)))
    }

    pub fn bad(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(202)))
    }

    /// A banner across the screen.
    pub fn banner(self) -> Style {
        self.style(Style::default().fg(Color::Indexed(202)).add_modifier(Modifier::REVERSED))
    }

    /// The style of the series with this number.
    pub fn series(self, index: usize) -> Style {
        self.style(Style::default().fg(Color::Indexed(SERIES[index % SERIES.len()])))
    }

    /// The marker of the series with this number.
    pub fn marker(self, index: usize) -> &'static str {
        let markers = if self.utf8 { MARKERS } else { ASCII_MARKERS };
        markers[index % markers.len()]
    }

    /// `utf8` where the terminal can show it, else `ascii`.
    pub fn symbol(self, utf8: &'static str, ascii: &'static str) -> &'static str {
        if self.utf8 { utf8 } else { ascii }
    }

    /// Between facts on one line.
    pub fn separator(self) -> &'static str {
        self.symbol(" · ", " | ")
    }

    /// Where a value is not known.
    pub fn missing(self) -> &'static str {
        self.symbol("—", "-")
    }

    /// Around an overlay.
    pub fn border(self) -> border::Set<'static> {
        if self.utf8 { border::ROUNDED } else { ASCII_BORDER }
    }
}

const ASCII_BORDER: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(pairs: &[(&str, &str)]) -> Theme {
        Theme::from_environment(|key| pairs.iter().find(|(k, _)| *k == key).map(|(_, v)| v.to_string()))
    }

    #[test]
    fn the_locale_decides_about_symbols_and_lc_all_wins() {
        assert!(theme(&[("LANG", "C.UTF-8")]).utf8);
        assert!(theme(&[("LANG", "de_DE.utf8")]).utf8);
        assert!(!theme(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")]).utf8);
        assert!(theme(&[("LANG", "C.UTF-8"), ("LC_ALL", "")]).utf8, "empty means unset");
        assert!(!theme(&[]).utf8);
    }

    #[test]
    fn without_colour_every_style_is_the_default_one() {
        let plain = theme(&[("NO_COLOR", "1")]);
        for style in [plain.dim(), plain.title(), plain.selected(), plain.banner(), plain.series(3)] {
            assert_eq!(style, Style::default());
        }
        assert_ne!(theme(&[("NO_COLOR", "")]).selected(), Style::default());
    }
}

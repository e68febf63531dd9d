//! Colours and symbols, chosen once from the environment.
//!
//! Without colour every style is the default one, without bold and reverse, which the terminal library crossterm
//! then drops, too; symbols convey whatever is important.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use super::palette::{self, Colours, Palette, Ramp};

/// The look of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours and modifiers may be used.
    pub colour: bool,
    /// Whether symbols outside ASCII may be used.
    pub utf8: bool,
    /// The set of colours to use; ignored if `colour` is false.
    pub palette: Palette,
    /// Whether the terminal has 24-bit colours, of which only pictures make use.
    pub true_colour: bool,
}

/// The theme that the user requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// Dark or light, according to the environment variable `COLORFGBG`.
    #[default]
    Auto,
    Dark,
    Light,
    Mono,
}

/// The symbols that the user requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// According to the locale.
    #[default]
    Auto,
    Unicode,
    Ascii,
}

/// Parts of `TERM` that imply 256 colours.
const WITH_256: [&str; 7] = ["256color", "direct", "kitty", "alacritty", "foot", "wezterm", "ghostty"];

const MARKERS: [&str; 8] = ["●", "■", "▲", "◆", "○", "□", "△", "◇"];
const ASCII_MARKERS: [&str; 8] = ["o", "x", "+", "*", "#", "@", "%", "&"];

/// The markers of doubtful points, half filled or with a dot: in the order of [`MARKERS`].
const DOUBTFUL_MARKERS: [&str; 8] = ["◐", "◧", "◭", "⬖", "◎", "▣", "◬", "◈"];

/// The marks of failed and of doubtful results, each in Unicode and in ASCII. The ASCII mark is a capital `X`,
/// because `x` is a marker of points.
pub const FAILED: (&str, &str) = ("✗", "X");
pub const DOUBTFUL: (&str, &str) = ("!", "!");

impl Theme {
    /// The theme without colours but with symbols outside ASCII.
    pub const PLAIN: Theme = Theme { colour: false, utf8: true, palette: Palette::Dark, true_colour: false };

    /// The requested theme, as far as the terminal supports it. With `NO_COLOR` or on a dumb terminal there are
    /// no colours, whatever is requested. `COLORTERM` and `TERM` determine the number of colours, and
    /// `COLORFGBG` whether the background is light; `LC_ALL`, `LC_CTYPE` and `LANG`, in that order, determine
    /// whether symbols outside ASCII can be shown.
    pub fn new(wanted: ThemeChoice, symbols: Symbols, read: impl Fn(&str) -> Option<String>) -> Theme {
        let set = |key: &str| read(key).filter(|v| !v.is_empty());
        let term = set("TERM").unwrap_or_default();
        let true_colour = set("COLORTERM").is_some_and(|c| c == "truecolor" || c == "24bit");
        let many = true_colour || WITH_256.iter().any(|name| term.contains(name));
        let light = match wanted {
            ThemeChoice::Auto => set("COLORFGBG").is_some_and(|colours| is_light(&colours)),
            other => other == ThemeChoice::Light,
        };
        let palette = match (wanted, many, light) {
            (ThemeChoice::Mono, ..) => Palette::Mono,
            (_, true, false) => Palette::Dark,
            (_, true, true) => Palette::Light,
            (_, false, false) => Palette::NamedDark,
            (_, false, true) => Palette::NamedLight,
        };
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_uppercase();
        let utf8 = match symbols {
            Symbols::Auto => locale.contains("UTF-8") || locale.contains("UTF8"),
            other => other == Symbols::Unicode,
        };
        Theme { colour: set("NO_COLOR").is_none() && term != "dumb", utf8, palette, true_colour }
    }

    /// The theme according to the environment alone.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Theme {
        Theme::new(ThemeChoice::Auto, Symbols::Auto, read)
    }

    /// Whether there are no colours, so that symbols must convey what colours otherwise would.
    pub fn signs(self) -> bool {
        !self.colour || self.palette == Palette::Mono
    }

    fn paint(self, pick: impl Fn(&Colours) -> Option<Color>) -> Style {
        match pick(self.palette.colours()).filter(|_| self.colour) {
            Some(colour) => Style::default().fg(colour),
            None => Style::default(),
        }
    }

    fn with(self, style: Style, modifier: Modifier) -> Style {
        if self.colour { style.add_modifier(modifier) } else { style }
    }

    /// Secondary text, such as units and explanations, and horizontal rules.
    pub fn dim(self) -> Style {
        self.paint(|c| c.dim)
    }

    /// A heading.
    pub fn title(self) -> Style {
        self.with(Style::default(), Modifier::BOLD)
    }

    /// The heading of the panel with the focus.
    pub fn focus(self) -> Style {
        self.with(self.paint(|c| c.accent), Modifier::BOLD)
    }

    /// The selected row of the panel with the focus, or of another one.
    pub fn selected(self, focused: bool) -> Style {
        self.with(Style::default(), if focused { Modifier::REVERSED } else { Modifier::BOLD })
    }

    /// A key in the hint bar.
    pub fn key(self) -> Style {
        let style = self.paint(|c| c.accent);
        if self.palette == Palette::Mono { self.with(style, Modifier::BOLD) } else { style }
    }

    pub fn good(self) -> Style {
        self.paint(|c| c.good)
    }

    pub fn warning(self) -> Style {
        self.paint(|c| c.warning)
    }

    pub fn bad(self) -> Style {
        self.paint(|c| c.bad)
    }

    /// A warning across the whole width of the screen.
    pub fn banner(self) -> Style {
        self.with(self.bad(), Modifier::REVERSED)
    }

    /// The colour of the chart line with this style number.
    pub fn series(self, index: usize) -> Style {
        self.paint(|c| c.series[index % c.series.len()])
    }

    /// The colours of a scale, from small to large; `None` if the terminal has too few.
    pub fn ramp(self) -> Option<Ramp> {
        self.palette.ramp().filter(|_| self.colour)
    }

    /// The colour of a place on the scale of [`ramp`](Self::ramp), from 0 to 1: with 24-bit colours any between its steps.
    pub fn shade(self, share: f64) -> Option<Color> {
        let ramp = self.ramp()?;
        let between = if self.true_colour { palette::blended(&ramp, share) } else { None };
        Some(between.unwrap_or(ramp[((share * ramp.len() as f64) as usize).min(ramp.len() - 1)]))
    }

    /// The marker of the points of the chart line with this style number.
    pub fn marker(self, index: usize) -> &'static str {
        let markers = if self.utf8 { MARKERS } else { ASCII_MARKERS };
        markers[index % markers.len()]
    }

    /// The marker of the doubtful points of that line. In ASCII it is the mark of a doubtful result, whatever the
    /// line.
    pub fn doubtful_marker(self, index: usize) -> &'static str {
        if self.utf8 { DOUBTFUL_MARKERS[index % DOUBTFUL_MARKERS.len()] } else { DOUBTFUL.1 }
    }

    /// The marker of the points of a baseline run, which are drawn behind those of the shown run.
    pub fn behind(self) -> &'static str {
        self.symbol("×", "=")
    }

    /// The marker of values that a paper prints.
    pub fn published(self) -> &'static str {
        self.symbol("◌", "?")
    }

    /// The symbol of which a chart's guides are drawn: horizontal lines at copy rates and upper limits.
    pub fn guide(self) -> &'static str {
        self.symbol("┄", "_")
    }

    /// The symbol of which the predictions of a chart's model with this index are drawn.
    pub fn model(self, rank: usize) -> &'static str {
        match rank % 2 {
            0 => self.symbol("·", "'"),
            _ => self.symbol("∘", "~"),
        }
    }

    /// `utf8` if the terminal can show it, else `ascii`.
    pub fn symbol(self, utf8: &'static str, ascii: &'static str) -> &'static str {
        if self.utf8 { utf8 } else { ascii }
    }

    /// Separator between facts on one line.
    pub fn separator(self) -> &'static str {
        self.symbol(" · ", " | ")
    }

    /// The mark of a failure, wherever it is shown: a case, a run, a place on the chart.
    pub fn failed(self) -> &'static str {
        self.symbol(FAILED.0, FAILED.1)
    }

    /// The mark of a doubtful result.
    pub fn doubtful(self) -> &'static str {
        self.symbol(DOUBTFUL.0, DOUBTFUL.1)
    }

    /// Placeholder for an unknown value.
    pub fn missing(self) -> &'static str {
        self.symbol("—", "-")
    }

    /// Border of an overlay.
    pub fn border(self) -> border::Set<'static> {
        if self.utf8 { border::ROUNDED } else { ASCII_BORDER }
    }
}

/// Whether a value of `COLORFGBG`, such as `0;15` or `0;default;7`, has a light background: its last number is
/// the background's, among the sixteen terminal colours.
fn is_light(colours: &str) -> bool {
    let background = colours.rsplit(';').next().and_then(|number| number.parse().ok());
    matches!(background, Some(7u8 | 9..=15))
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

    fn wanted(wanted: ThemeChoice, symbols: Symbols, pairs: &[(&str, &str)]) -> Theme {
        Theme::new(wanted, symbols, |key| pairs.iter().find(|(k, _)| *k == key).map(|(_, v)| v.to_string()))
    }

    fn theme(pairs: &[(&str, &str)]) -> Theme {
        wanted(ThemeChoice::Auto, Symbols::Auto, pairs)
    }

    #[test]
    fn the_locale_decides_about_symbols_and_lc_all_wins() {
        assert!(theme(&[("LANG", "C.UTF-8")]).utf8);
        assert!(theme(&[("LANG", "de_DE.utf8")]).utf8);
        assert!(!theme(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")]).utf8);
        assert!(theme(&[("LANG", "C.UTF-8"), ("LC_ALL", "")]).utf8, "empty means unset");
        assert!(!theme(&[]).utf8);
        assert!(wanted(ThemeChoice::Auto, Symbols::Unicode, &[("LC_ALL", "C")]).utf8);
        assert!(!wanted(ThemeChoice::Auto, Symbols::Ascii, &[("LANG", "C.UTF-8")]).utf8);
    }

    #[test]
    fn without_colour_every_style_is_the_default_one() {
        for wanted_one in [ThemeChoice::Auto, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::Mono] {
            let plain = wanted(wanted_one, Symbols::Auto, &[("NO_COLOR", "1")]);
            let styles = [
                plain.dim(),
                plain.title(),
                plain.selected(true),
                plain.key(),
                plain.banner(),
                plain.series(3),
            ];
            assert_eq!(styles, [Style::default(); 6], "{wanted_one:?}");
            assert!(plain.signs());
        }
        assert_ne!(theme(&[("NO_COLOR", "")]).selected(true), Style::default());
        assert!(!theme(&[("TERM", "dumb")]).colour);
    }

    #[test]
    fn mono_has_modifiers_and_no_colours() {
        let mono = wanted(ThemeChoice::Mono, Symbols::Auto, &[("TERM", "xterm-256color")]);
        for style in [mono.dim(), mono.title(), mono.focus(), mono.banner(), mono.series(0)] {
            assert_eq!(style.fg, None);
        }
        assert_ne!(mono.selected(true), Style::default());
        assert!(mono.signs());
    }

    #[test]
    fn the_background_is_dark_unless_the_environment_says_otherwise() {
        let term = ("TERM", "xterm-256color");
        let palette = |colours: &str| theme(&[term, ("COLORFGBG", colours)]).palette;
        for dark in ["15;0", "7;8", "12;default;0", "", "x", "0;default"] {
            assert_eq!(palette(dark), Palette::Dark, "{dark}");
        }
        for light in ["0;15", "0;7", "0;default;15"] {
            assert_eq!(palette(light), Palette::Light, "{light}");
        }
        let asked = |w| wanted(w, Symbols::Auto, &[term, ("COLORFGBG", "0;15")]).palette;
        assert_eq!([asked(ThemeChoice::Dark), asked(ThemeChoice::Light)], [Palette::Dark, Palette::Light]);
    }

    #[test]
    fn few_colours_are_named_ones() {
        assert_eq!(theme(&[("TERM", "linux")]).palette, Palette::NamedDark);
        assert_eq!(theme(&[("TERM", "xterm"), ("COLORFGBG", "0;15")]).palette, Palette::NamedLight);
        assert_eq!(theme(&[]).palette, Palette::NamedDark);
        let many = [("TERM", "xterm"), ("COLORTERM", "truecolor")];
        assert_eq!(theme(&many).palette, Palette::Dark);
        assert_eq!(theme(&[("TERM", "screen-256color")]).palette, Palette::Dark);
        for palette in [Palette::NamedDark, Palette::NamedLight] {
            let colours = palette.colours();
            let all =
                colours.series.iter().chain([&colours.dim, &colours.accent, &colours.good, &colours.bad]);
            assert!(all.flatten().all(|c| !matches!(c, Color::Indexed(_) | Color::Rgb(..))), "{palette:?}");
        }
    }
}

//! The colours of each theme.

use ratatui::style::Color;

/// The set of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Okabe and Ito's palette on a dark background, approximated with the 256 colours.
    #[default]
    Dark,
    /// The same hues, darker, on a light background.
    Light,
    /// The terminal's own sixteen colours on a dark background.
    NamedDark,
    /// The terminal's own sixteen colours on a light background.
    NamedLight,
    /// Bold and reversed text only.
    Mono,
}

/// The colours of a theme, by meaning. `None` is the terminal's default colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    pub dim: Option<Color>,
    pub accent: Option<Color>,
    pub good: Option<Color>,
    pub warning: Option<Color>,
    pub bad: Option<Color>,
    pub series: [Option<Color>; 7],
}

/// Steps of a scale of shares.
pub const STEPS: usize = 9;

/// The colours of a scale, from small to large.
pub type Ramp = [Color; STEPS];

/// From dark violet over blue and green to yellow: the lightness rises, and on white falls, from step to step, so that the
/// order shows without any sense of hue.
const DARK_RAMP: [u8; STEPS] = [53, 55, 24, 30, 36, 43, 148, 190, 229];
const LIGHT_RAMP: [u8; STEPS] = [184, 42, 36, 30, 61, 24, 55, 53, 16];

const fn cube(index: u8) -> Option<Color> {
    Some(Color::Indexed(index))
}

/// The nearest entries of the 256 colours to Okabe and Ito's sky blue, orange, green,
/// purple, yellow, vermilion and blue.
const DARK: Colours = Colours {
    dim: cube(245),
    accent: cube(75),
    good: cube(36),
    warning: cube(214),
    bad: cube(202),
    series: [cube(75), cube(214), cube(36), cube(175), cube(227), cube(202), cube(32)],
};

/// Entries of similar hue that are dark enough on white, chosen so that the two most similar ones are as far
/// apart as possible, also for people without red or green cones.
const LIGHT: Colours = Colours {
    dim: cube(242),
    accent: cube(25),
    good: cube(29),
    warning: cube(130),
    bad: cube(124),
    series: [cube(33), cube(94), cube(29), cube(169), cube(136), cube(88), cube(25)],
};

const NAMED_DARK: Colours = Colours {
    dim: Some(Color::Gray),
    accent: Some(Color::Cyan),
    good: Some(Color::Green),
    warning: Some(Color::Yellow),
    bad: Some(Color::LightRed),
    series: [
        Some(Color::Cyan),
        Some(Color::Yellow),
        Some(Color::Green),
        Some(Color::LightMagenta),
        Some(Color::White),
        Some(Color::LightRed),
        Some(Color::LightBlue),
    ],
};

const NAMED_LIGHT: Colours = Colours {
    dim: Some(Color::DarkGray),
    accent: Some(Color::Blue),
    good: Some(Color::Green),
    warning: Some(Color::Magenta),
    bad: Some(Color::Red),
    series: [
        Some(Color::Blue),
        Some(Color::Red),
        Some(Color::Green),
        Some(Color::Magenta),
        Some(Color::Black),
        Some(Color::Cyan),
        Some(Color::DarkGray),
    ],
};

const MONO: Colours =
    Colours { dim: None, accent: None, good: None, warning: None, bad: None, series: [None; 7] };

/// The 24-bit colour at a place of a scale, from 0 to 1; `None` if the scale has colours that the terminal defines.
pub fn blended(ramp: &Ramp, share: f64) -> Option<Color> {
    let place = share.clamp(0.0, 1.0) * (STEPS - 1) as f64;
    let step = (place as usize).min(STEPS - 2);
    let [from, to] = [rgb(ramp[step])?, rgb(ramp[step + 1])?];
    let mix = |at: usize| (from[at] + (to[at] - from[at]) * (place - step as f64)).round() as u8;
    Some(Color::Rgb(mix(0), mix(1), mix(2)))
}

/// Red, green and blue of one of the 216 colours of the cube among the 256 colours.
fn rgb(colour: Color) -> Option<[f64; 3]> {
    let Color::Indexed(index) = colour else { return None };
    let index = index.checked_sub(16).filter(|index| *index < 216)?;
    let level = |digit: u8| if digit == 0 { 0.0 } else { f64::from(55 + 40 * u16::from(digit)) };
    Some([index / 36, index / 6 % 6, index % 6].map(level))
}

impl Palette {
    /// The colours of a scale; `None` if the terminal has too few.
    pub fn ramp(self) -> Option<Ramp> {
        match self {
            Palette::Dark => Some(DARK_RAMP.map(Color::Indexed)),
            Palette::Light => Some(LIGHT_RAMP.map(Color::Indexed)),
            Palette::NamedDark | Palette::NamedLight | Palette::Mono => None,
        }
    }

    pub const fn colours(self) -> &'static Colours {
        match self {
            Palette::Dark => &DARK,
            Palette::Light => &LIGHT,
            Palette::NamedDark => &NAMED_DARK,
            Palette::NamedLight => &NAMED_LIGHT,
            Palette::Mono => &MONO,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;

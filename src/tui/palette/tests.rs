//! Contrast and distances of the colours, computed.

use super::*;

type Rgb = [f64; 3];

/// Linear light of an entry of the 256 colours, as xterm defines them.
fn light(colour: Option<Color>) -> Rgb {
    let Some(Color::Indexed(index)) = colour else { panic!("no entry of the 256 colours: {colour:?}") };
    let level = |n: u8| [0.0, 95.0, 135.0, 175.0, 215.0, 255.0][usize::from(n)];
    let rgb = match index {
        16..232 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(level),
        232.. => [8.0 + 10.0 * f64::from(index - 232); 3],
        _ => panic!("{index} is what the terminal makes of it"),
    };
    rgb.map(|c| linear(c / 255.0))
}

/// The linear light of an sRGB component, 0 to 1.
pub fn linear(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { f64::powf((c + 0.055) / 1.055, 2.4) }
}

fn luminance(c: Rgb) -> f64 {
    0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
}

/// Contrast ratio as WCAG 2 defines it.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

type Matrix = [Rgb; 3];

fn times(m: &Matrix, v: Rgb) -> Rgb {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

const NORMAL: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// Protanopia and deuteranopia in linear light: Machado, Oliveira, Fernandes 2009, table 1,
/// severity 1.
const PROTANOPIA: Matrix =
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
const DEUTERANOPIA: Matrix =
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];

/// Ottosson's Oklab, in which distances approximate perceived differences.
fn oklab(c: Rgb) -> Rgb {
    let cones = times(
        &[
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ],
        c,
    );
    times(
        &[
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ],
        cones.map(|v| v.max(0.0).cbrt()),
    )
}

/// The smallest distance between two colours over the three kinds of colour vision.
pub fn distance(a: Rgb, b: Rgb) -> f64 {
    let seen = |eye: &Matrix, c: Rgb| oklab(times(eye, c).map(|v| v.clamp(0.0, 1.0)));
    let apart = |eye: &Matrix| {
        let (a, b) = (seen(eye, a), seen(eye, b));
        (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
    };
    [NORMAL, PROTANOPIA, DEUTERANOPIA].iter().map(apart).fold(f64::INFINITY, f64::min)
}

#[test]
fn texts_and_series_stand_out_from_their_background() {
    for (palette, background) in [(Palette::Dark, [0.0; 3]), (Palette::Light, [1.0; 3])] {
        let colours = palette.colours();
        for text in [colours.dim, colours.accent, colours.good, colours.warning, colours.bad] {
            let ratio = contrast(light(text), background);
            assert!(ratio >= 4.5, "{palette:?}: text {text:?} has {ratio:.2}:1");
        }
        for series in colours.series {
            let ratio = contrast(light(series), background);
            assert!(ratio >= 3.0, "{palette:?}: series {series:?} has {ratio:.2}:1");
        }
    }
}

/// Okabe and Ito's own seven colours are 0.076 apart by this measure.
#[test]
fn colour_blind_people_can_tell_the_series_apart() {
    for palette in [Palette::Dark, Palette::Light] {
        let series = palette.colours().series;
        for (at, a) in series.iter().enumerate() {
            for b in &series[..at] {
                let apart = distance(light(*a), light(*b));
                assert!(apart > 0.055, "{palette:?}: {a:?} and {b:?} are {apart:.3} apart");
            }
        }
    }
}

/// Steps of a scale are ordered by lightness, away from the background, and neighbours differ to everyone.
#[test]
fn scales_rise_from_the_background() {
    for (palette, background) in [(Palette::Dark, 0.0), (Palette::Light, 1.0)] {
        let steps = palette.ramp().expect("colours").map(|colour| light(Some(colour)));
        let away = steps.map(|colour| (oklab(colour)[0] - background).abs());
        assert!(away.is_sorted() && away[0] > 0.1, "{palette:?}: {away:?}");
        for pair in steps.windows(2) {
            let apart = distance(pair[0], pair[1]);
            assert!(apart > 0.055, "{palette:?}: {apart:.3}");
        }
    }
}

/// Against black and white the ratio is known: 21:1.
#[test]
fn the_measures_are_right() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    assert!((oklab([1.0; 3])[0] - 1.0).abs() < 1e-3);
    assert_eq!(distance([0.3; 3], [0.3; 3]), 0.0);
}

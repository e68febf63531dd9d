//! A sparse matrix as a picture: each cell shows which share of its positions holds an entry, on a logarithmic scale, as a
//! colour of half a character cell, or as a character where the terminal has fewer colours. Beside it are facts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::case::units::{grouped, three_digits};
use crate::inputs::sparse::Density;
use crate::tui::palette::{Ramp, STEPS};
use crate::tui::theme::Theme;
use crate::tui::widgets;
use crate::tui::widgets::map::{self, CHARACTERS};
use crate::tui::words;

/// Most columns of the facts, which have half of the panel if it is narrower.
const FACTS: u16 = 36;

/// The picture is never flatter or narrower than this, however many rows or columns the matrix has.
const FLATTEST: f64 = 4.0;

/// Decades of the scale, at least: what random matrices differ in by chance must not look like a structure.
const DECADES: i32 = 3;

pub fn draw(density: &Density, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let room = Rect { width: area.width - FACTS.min(area.width / 2), ..area };
    let picture = Picture::new(density, theme, room);
    picture.draw(buffer);
    let beside = (picture.area.width + 3).min(area.width);
    let area = Rect { x: area.x + beside, width: area.width - beside, ..area };
    widgets::lines(facts(density, &picture, area), area, buffer);
}

struct Picture {
    theme: Theme,
    /// Where its cells are, without the edges.
    area: Rect,
    /// The colours, where half a character cell can have one of its own.
    halves: Option<Ramp>,
    /// Shares by cell, row by row.
    shares: Vec<f64>,
    /// The exponents of ten at the ends of the scale; `None` without entries.
    scale: Option<(i32, i32)>,
}

impl Picture {
    fn new(density: &Density, theme: Theme, room: Rect) -> Picture {
        let area = inside(density, room);
        let halves = theme.ramp().filter(|_| theme.utf8);
        let tall = if halves.is_some() { 2 } else { 1 };
        let shares = density.picture(u64::from(area.height) * tall, area.width.into());
        let scale = scale(&shares);
        Picture { theme, area, halves, shares, scale }
    }

    /// The step of a share on the scale, from 1; 0 without entries.
    fn step(&self, share: f64) -> usize {
        let Some((low, high)) = self.scale.filter(|_| share > 0.0) else { return 0 };
        let place = (share.log10() - f64::from(low)) / f64::from(high - low);
        ((place * STEPS as f64) as usize).min(STEPS - 1) + 1
    }

    fn draw(&self, buffer: &mut Buffer) {
        let Rect { x, y, width, height } = self.area;
        if self.area.is_empty() {
            return;
        }
        map::draw(self.area, buffer, |(column, row)| self.cell(row.into(), column.into()));
        for row in y..y + height {
            buffer.set_string(x + width, row, self.theme.symbol("│", "|"), self.theme.dim());
        }
        let edge = self.theme.symbol("─", "-").repeat(width.into()) + self.theme.symbol("╯", "'");
        buffer.set_string(x, y + height, edge, self.theme.dim());
    }

    /// Symbol and style of a character cell of the picture.
    fn cell(&self, row: usize, column: usize) -> (char, Style) {
        let width = usize::from(self.area.width);
        let step = |row: usize| self.step(self.shares[row * width + column]);
        match &self.halves {
            Some(ramp) => {
                let colour = |step: usize| Some(ramp[step.checked_sub(1)?]);
                map::halves(colour(step(2 * row)), colour(step(2 * row + 1)))
            }
            None => self.character(step(row)),
        }
    }

    fn character(&self, step: usize) -> (char, Style) {
        let colour = self.theme.ramp().zip(step.checked_sub(1)).map(|(ramp, step)| ramp[step]);
        (CHARACTERS[step], map::colour(colour))
    }

    /// The scale from its low to its high end; `None` without entries.
    fn legend(&self) -> Option<Line<'static>> {
        let (low, high) = self.scale?;
        let power = |exponent: i32| if exponent == 0 { "1".to_owned() } else { format!("1e{exponent}") };
        let steps = (1..=STEPS).map(|step| match &self.halves {
            Some(ramp) => ('█', map::colour(Some(ramp[step - 1]))),
            None => self.character(step),
        });
        Some(map::scale(format!("{} ", power(low)), format!(" {}", power(high)), steps))
    }
}

/// The part of the room that the picture takes beside its edges: as wide for its height as the matrix is, where a character
/// is twice as tall as wide.
fn inside(density: &Density, room: Rect) -> Rect {
    let (rows, columns) = (density.shape.rows, density.shape.columns);
    if rows == 0 || columns == 0 || room.width < 2 || room.height < 2 {
        return Rect { width: 0, height: 0, ..room };
    }
    let shape = (columns as f64 / rows as f64).clamp(1.0 / FLATTEST, FLATTEST);
    map::fitted(shape, Rect { width: room.width - 1, height: room.height - 1, ..room })
}

/// Powers of ten around the shares, [`DECADES`] apart or more.
fn scale(shares: &[f64]) -> Option<(i32, i32)> {
    let held = || shares.iter().copied().filter(|share| *share > 0.0);
    let high = held().reduce(f64::max)?;
    let low = held().reduce(f64::min)?;
    // A power of ten is an end itself.
    let high = (high.log10() - 1e-9).ceil() as i32;
    let low = (low.log10() + 1e-9).floor() as i32;
    Some((low.min(high - DECADES), high))
}

/// The facts, with empty lines between their groups if there is room.
fn facts(density: &Density, picture: &Picture, area: Rect) -> Vec<Line<'static>> {
    let columns = usize::from(area.width.max(1));
    let theme = picture.theme;
    let text = |text: String| words::wrap(&text, columns).into_iter().map(Line::raw).collect::<Vec<_>>();
    let dim = |text: &str| words::wrap(text, columns).into_iter().map(|row| Line::styled(row, theme.dim()));
    let shape = density.shape;
    let size = [
        text(format!("{} {} {}", grouped(shape.rows), theme.symbol("×", "x"), grouped(shape.columns))),
        text(format!("{} entries", grouped(shape.entries))),
    ];
    let of = density.sample.map(|count| dim(&format!("of a sample of {} rows:", grouped(count))).collect());
    let rows = rows(density, theme).into_iter().map(text);
    let key = picture.legend().map(|legend| {
        dim("share of the positions that hold an entry").chain([legend]).collect::<Vec<Line<'static>>>()
    });
    let groups = [size.concat(), of.into_iter().chain(rows).flatten().collect(), key.unwrap_or_default()];
    let groups: Vec<Vec<Line<'static>>> = groups.into_iter().filter(|group| !group.is_empty()).collect();
    let roomy = groups.iter().map(Vec::len).sum::<usize>() + groups.len() <= usize::from(area.height);
    groups.join(&[Line::default()][usize::from(!roomy)..])
}

/// What the rows are like.
fn rows(density: &Density, theme: Theme) -> Vec<String> {
    let number = |value: f64| if value < 1e3 { three_digits(value) } else { grouped(value.round() as u64) };
    let length = density.ends.zip(density.mean()).map(|((least, most), mean)| {
        let (least, mean, most) = (grouped(least), number(mean), grouped(most));
        format!("entries a row: least {least}, mean {mean}, most {most}")
    });
    let band = density.distances.map(|(mean, most)| {
        format!("bandwidth |i {} j|: mean {}, most {}", theme.symbol("−", "-"), number(mean), grouped(most))
    });
    let empty = density.empty().map(|share| format!("empty rows: {} %", three_digits(share * 100.0)));
    [length, band, empty].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::{Csr, Generator, Positions};

    fn of(generator: Generator) -> Density {
        Density::of(&generator.positions(7).expect("positions"))
    }

    /// What is one everywhere but for chance has one or two steps; what differs by decades has many.
    #[test]
    fn steps_are_of_decades() {
        let room = Rect::new(0, 0, 40, 20);
        let steps = |generator| {
            let picture = Picture::new(&of(generator), Theme::PLAIN, room);
            let mut steps: Vec<usize> = picture.shares.iter().map(|share| picture.step(*share)).collect();
            steps.sort_unstable();
            steps.dedup();
            steps.len()
        };
        assert!(steps(Generator::Random { rows: 100_000, entries: 16 }) <= 2);
        assert!(steps(Generator::Rmat { scale: 16, entries: 16 }) >= 6);
    }

    #[test]
    fn the_ends_of_the_scale_are_powers_of_ten() {
        assert_eq!(scale(&[0.0, 0.5, 1.0]), Some((-3, 0)));
        assert_eq!(scale(&[1e-3, 2e-8]), Some((-8, -3)));
        assert_eq!(scale(&[0.0]), None);
        let picture =
            Picture::new(&of(Generator::Banded { rows: 4, half: 4 }), Theme::PLAIN, Rect::new(0, 0, 9, 5));
        assert_eq!(
            ["", "0.001", "0.0011", "0.4", "1"].map(|s| picture.step(s.parse().unwrap_or(0.0))),
            [0, 1, 1, 8, 9]
        );
    }

    /// A matrix keeps its shape, within limits, and what has no positions has no picture.
    #[test]
    fn pictures_fit_their_room() {
        let size = |rows: u32, columns: u32, room: (u16, u16)| {
            let matrix = Csr::<()>::from_entries(rows.into(), columns.into(), &[]).expect("a matrix");
            let density = Density::of(&Positions::of(&matrix).expect("positions"));
            let area = inside(&density, Rect::new(0, 0, room.0, room.1));
            (area.width, area.height)
        };
        assert_eq!(size(100, 100, (81, 21)), (40, 20));
        assert_eq!(size(100, 100, (21, 81)), (20, 10));
        assert_eq!(size(100, 200, (81, 21)), (80, 20));
        assert_eq!(size(1, 1_000_000, (81, 21)), (80, 10));
        assert_eq!(size(1_000_000, 1, (81, 21)), (10, 20));
        assert_eq!(size(0, 5, (81, 21)), (0, 0));
        assert_eq!(size(5, 5, (1, 1)), (0, 0));
    }
}

//! Renders a scene as SVG with plotters.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::case::units::escaped;

use super::scene::{Anchor, Color as Rgb, Scene, Shape, Text as Words};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// plotters divides a font's size by this factor in the SVG.
const FONT_FACTOR: f64 = 1.24;

/// The scene as an SVG document; text remains text.
pub fn svg(scene: &Scene) -> Result<String> {
    let mut document = String::new();
    {
        let size = (scene.width.ceil() as u32, scene.height.ceil() as u32);
        let area = SVGBackend::with_string(&mut document, size).into_drawing_area();
        area.fill(&WHITE).map_err(problem)?;
        scene.shapes.iter().try_for_each(|shape| draw(&area, shape))?;
        area.present().map_err(problem)?;
    }
    Ok(document)
}

fn problem(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the chart: {error}")
}

fn draw(area: &Area, shape: &Shape) -> Result<()> {
    match shape {
        Shape::Text(words) => draw_text(area, words),
        Shape::Path { points, color, width, dash } => {
            let style = rgb(*color).stroke_width(*width);
            let points = points.iter().map(pixel);
            match dash {
                None => area.draw(&PathElement::new(points.collect::<Vec<_>>(), style)),
                Some((on, off)) => area.draw(&DashedPathElement::new(points, *on, *off, style)),
            }
            .map_err(problem)
        }
        Shape::Polygon { points, fill, stroke } => {
            let mut outline: Vec<(i32, i32)> = points.iter().map(pixel).collect();
            area.draw(&Polygon::new(outline.clone(), rgb(*fill).filled())).map_err(problem)?;
            outline.extend(outline.first().copied());
            area.draw(&PathElement::new(outline, rgb(*stroke).stroke_width(1))).map_err(problem)
        }
        Shape::Mosaic { corner, side, columns, fills } => draw_mosaic(area, *corner, *side, *columns, fills),
        Shape::Circle { center, radius, fill, stroke } => {
            let (center, radius) = (pixel(center), radius.round() as i32);
            area.draw(&Circle::new(center, radius, rgb(*fill).filled())).map_err(problem)?;
            area.draw(&Circle::new(center, radius, rgb(*stroke).stroke_width(1))).map_err(problem)
        }
        Shape::Ring { center, radius, color } => {
            let (center, radius) = (pixel(center), radius.round() as i32);
            area.draw(&Circle::new(center, radius, rgb(*color).stroke_width(1))).map_err(problem)
        }
    }
}

/// Neighbours of a row with the same fill as one rectangle.
fn draw_mosaic(area: &Area, corner: (f64, f64), side: f64, columns: usize, fills: &[Rgb]) -> Result<()> {
    let at =
        |column: usize, row: usize| pixel(&(corner.0 + side * column as f64, corner.1 + side * row as f64));
    for (row, fills) in fills.chunks(columns.max(1)).enumerate() {
        let mut column = 0;
        for same in fills.chunk_by(|a, b| a == b) {
            let ends = [at(column, row), at(column + same.len(), row + 1)];
            area.draw(&Rectangle::new(ends, rgb(same[0]).filled())).map_err(problem)?;
            column += same.len();
        }
    }
    Ok(())
}

fn draw_text(area: &Area, words: &Words) -> Result<()> {
    let h_pos = match words.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let style = if words.bold { FontStyle::Bold } else { FontStyle::Normal };
    let turn = if words.upright { FontTransform::Rotate270 } else { FontTransform::None };
    let font = FontDesc::new(FontFamily::SansSerif, words.size * FONT_FACTOR, style).transform(turn);
    let color = rgb(words.color);
    let style = TextStyle::from(font).color(&color).pos(Pos::new(h_pos, VPos::Center));
    // XML has no way to write a control character.
    area.draw(&Text::new(escaped(&words.text), pixel(&(words.x, words.y)), style)).map_err(problem)
}

fn rgb((red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

fn pixel(&(x, y): &(f64, f64)) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

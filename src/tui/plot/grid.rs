//! All panels of a chart at once.

use ratatui::layout::Rect;

/// The smallest useful panel.
const SMALLEST: (u16, u16) = (36, 9);
/// Height of a cell relative to its width.
const CELL: u32 = 2;
/// Columns between two panels.
const GAP: u16 = 2;

/// The areas of `count` panels, row by row; `None` if there is only one panel or the panels would be too small.
pub fn cells(area: Rect, count: usize) -> Option<Vec<Rect>> {
    let count = u16::try_from(count).ok().filter(|c| *c > 1)?;
    let size = |columns: u16| {
        let rows = count.div_ceil(columns);
        ((area.width + GAP) / columns, area.height / rows)
    };
    let fits = |columns: &u16| {
        let (width, height) = size(*columns);
        width.saturating_sub(GAP) >= SMALLEST.0 && height >= SMALLEST.1
    };
    // The panels are to be as square as possible.
    let narrowest = |columns: &u16| {
        let (width, height) = size(*columns);
        u32::from(width).min(CELL * u32::from(height))
    };
    let columns = (1..=count).rev().filter(fits).max_by_key(narrowest)?;
    let (width, height) = size(columns);
    let cell = |i: u16| Rect {
        x: area.x + i % columns * width,
        y: area.y + i / columns * height,
        width: width - GAP,
        height,
    };
    Some((0..count).map(cell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_lie_side_by_side_inside_the_area_or_not_at_all() {
        for (width, height) in [(80, 24), (118, 36), (200, 56), (60, 90), (300, 10)] {
            let area = Rect::new(3, 2, width, height);
            for count in 0..14 {
                let Some(cells) = cells(area, count) else { continue };
                assert_eq!(cells.len(), count);
                for (i, cell) in cells.iter().enumerate() {
                    assert_eq!(cell.intersection(area), *cell, "{width}x{height} {count}");
                    assert!(cells[..i].iter().all(|c| c.intersection(*cell).is_empty()));
                }
            }
        }
        assert_eq!(cells(Rect::new(0, 0, 200, 60), 1), None);
        assert_eq!(cells(Rect::new(0, 0, 55, 12), 3), None);
        let shape = cells(Rect::new(0, 0, 200, 56), 4).expect("room");
        assert_eq!((shape[1].y, shape[2].x, shape[2].y), (0, 0, 28), "two by two");
    }
}

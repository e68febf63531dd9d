//! A list of items, one of which is selected and always visible.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Text;

/// The visible part of a list.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub area: Rect,
    /// Index of the item at the top.
    pub first: usize,
    count: usize,
    selected: usize,
    /// Column of the marker; `None` if the selection does not show.
    marker: Option<u16>,
    /// Number of lines of the selected item after its first.
    under: usize,
}

impl List {
    /// A list of `count` items in `area`. The selected item is in the middle, except near the ends of the list.
    pub fn new(count: usize, selected: usize, area: Rect) -> List {
        let height = usize::from(area.height);
        let first = selected.saturating_sub(height / 2).min(count.saturating_sub(height));
        List { area, first, count, selected, marker: Some(1), under: 0 }
    }

    /// Marks the selected item in this column instead of the second one, or not at all.
    pub fn marked_in(self, marker: Option<u16>) -> List {
        List { marker, ..self }
    }

    /// Gives the selected item this many lines after its first.
    pub fn with_lines_under(self, under: usize) -> List {
        List { under, ..self }
    }

    /// Index of the item in this row of the screen.
    pub fn at(&self, row: u16) -> Option<usize> {
        let below = row.checked_sub(self.area.y).filter(|_| row < self.area.bottom())?;
        let at = self.first + usize::from(below);
        let under = at.saturating_sub(self.selected).min(self.under);
        Some(at - under).filter(|at| *at < self.count)
    }

    /// Draws the items, each as the lines that `text` makes of it; the first line of the selected one has a
    /// marker and, over the whole width, the style `bar`. Returns the number of items up to the last visible one.
    pub fn draw<T, R: Into<Text<'static>>>(
        &self,
        bar: Style,
        buffer: &mut Buffer,
        items: impl Iterator<Item = T>,
        mut text: impl FnMut(T) -> R,
    ) -> usize {
        let mut y = self.area.top();
        for (at, item) in items.enumerate().skip(self.first) {
            if y >= self.area.bottom() {
                return at;
            }
            let row = Rect { y, height: self.area.bottom() - y, ..self.area };
            let text: Text = text(item).into();
            y = y.saturating_add(text.lines.len() as u16);
            super::lines(text.lines, row, buffer);
            if at == self.selected {
                self.mark(row, bar, buffer);
            }
        }
        self.count
    }

    fn mark(&self, row: Rect, bar: Style, buffer: &mut Buffer) {
        let Some(marker) = self.marker.filter(|marker| *marker < row.width) else { return };
        buffer.set_style(Rect { height: 1, ..row }, bar);
        buffer[(row.x + marker, row.y)].set_symbol(">");
    }
}

/// The position `by` items away from `at` in a list of `count` items, as far as it goes.
pub fn moved(at: usize, by: isize, count: usize) -> usize {
    at.saturating_add_signed(by).min(count.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::text::Line;

    #[test]
    fn the_selected_item_is_always_visible() {
        for (count, height) in [(0, 0), (1, 1), (5, 3), (40, 7), (3, 10)] {
            for selected in 0..count {
                let List { first, .. } = List::new(count, selected, Rect::new(0, 0, 9, height));
                let height = usize::from(height);
                assert!(first <= selected && selected < first + height, "{selected} of {count} in {height}");
                assert!(first == 0 || first + height <= count, "no empty rows at the end");
            }
        }
    }

    #[test]
    fn a_click_finds_the_item_that_is_drawn_in_its_row() {
        let area = Rect::new(2, 3, 9, 4);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 9));
        let list = List::new(20, 10, area);
        let end = list.draw(Style::default(), &mut buffer, 0.., |at: usize| Line::raw(format!("   {at}")));
        assert_eq!((list.first, end), (8, 12));
        for y in area.top()..area.bottom() {
            let row: String = (2..11).map(|x| buffer[(x, y)].symbol()).collect();
            let marker = if list.at(y) == Some(10) { ">" } else { " " };
            assert_eq!(row.trim_end(), format!(" {marker} {}", list.at(y).expect("an item")));
        }
        assert_eq!([2, 7].map(|y| list.at(y)), [None, None]);
        assert_eq!(List::new(2, 0, area).at(5), None, "below the last item");
    }

    #[test]
    fn an_item_of_several_lines_moves_the_others_down() {
        let area = Rect::new(0, 0, 6, 3);
        let mut buffer = Buffer::empty(area);
        let text = |at: usize| vec![Line::raw(format!("  {at}")); at + 1];
        let list = List::new(9, 1, area).with_lines_under(1);
        assert_eq!(list.draw(Style::default(), &mut buffer, 0..9, text), 2);
        let column: String = (0..3).map(|y| buffer[(2, y)].symbol()).collect();
        assert_eq!((column.as_str(), buffer[(1, 1)].symbol()), ("011", ">"));
        assert_eq!([0, 1, 2].map(|y| list.at(y)), [Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn moves_stop_at_the_ends() {
        let table = [(2, 1, 5, 3), (2, -9, 5, 0), (2, isize::MAX, 5, 4), (2, isize::MIN, 5, 0), (0, 1, 0, 0)];
        for (at, by, count, wanted) in table {
            assert_eq!(moved(at, by, count), wanted, "{at} {by} {count}");
        }
    }
}

//! A line of text that is being typed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::theme::Theme;
use super::words;

/// Most characters of a line: nobody types more, and a paste must not grow without bound.
const LONGEST: usize = 1000;

/// A text and the position of the cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    before: String,
    after: String,
    /// Whether the text is only a proposal, which typing replaces.
    offered: bool,
}

/// A key that edits a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Char(char),
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    /// Deletes everything before the cursor.
    Clear,
}

impl Stroke {
    /// The edit that `event` stands for; `None` for keys that remain commands in a text field.
    pub fn of(event: KeyEvent) -> Option<Stroke> {
        if event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        if event.modifiers.contains(KeyModifiers::CONTROL) {
            return (event.code == KeyCode::Char('u')).then_some(Stroke::Clear);
        }
        match event.code {
            KeyCode::Char(c) => Some(Stroke::Char(c)),
            KeyCode::Backspace => Some(Stroke::Backspace),
            KeyCode::Delete => Some(Stroke::Delete),
            KeyCode::Left => Some(Stroke::Left),
            KeyCode::Right => Some(Stroke::Right),
            KeyCode::Home => Some(Stroke::Home),
            KeyCode::End => Some(Stroke::End),
            _ => None,
        }
    }
}

impl Field {
    /// A field with this text and the cursor at its end.
    pub fn new(text: &str) -> Field {
        Field { before: text.to_owned(), ..Field::default() }
    }

    /// A field with this text as a proposal: moving or deleting edits it, typing replaces it.
    pub fn offer(text: &str) -> Field {
        Field { offered: true, ..Field::new(text) }
    }

    pub fn is_offered(&self) -> bool {
        self.offered
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    pub fn take(&mut self, stroke: Stroke) {
        let offered = std::mem::take(&mut self.offered);
        match stroke {
            Stroke::Char(c) if offered => {
                self.before.clear();
                self.insert(c);
            }
            Stroke::Char(c) => self.insert(c),
            Stroke::Backspace => drop(self.before.pop()),
            Stroke::Delete => self.after = rest(&self.after),
            Stroke::Left => {
                self.after.insert_str(0, &self.before.pop().map(String::from).unwrap_or_default())
            }
            Stroke::Right => {
                self.before.extend(self.after.chars().next());
                self.after = rest(&self.after);
            }
            Stroke::Home => self.after.insert_str(0, &std::mem::take(&mut self.before)),
            Stroke::End => self.before.push_str(&std::mem::take(&mut self.after)),
            Stroke::Clear => self.before.clear(),
        }
    }

    /// Inserts a character. Control characters are dropped, because they would move the terminal's cursor.
    fn insert(&mut self, c: char) {
        if !c.is_control() && self.before.chars().count() + self.after.chars().count() < LONGEST {
            self.before.push(c);
        }
    }

    /// The text with its cursor in `columns`; of a longer text, the part around the cursor.
    pub fn shown(&self, columns: usize, theme: Theme) -> String {
        let mark = theme.symbol("▏", "_");
        let room = columns.saturating_sub(1);
        let mut before = self.before.as_str();
        while words::width(before) > room {
            before = tail(before);
        }
        let left = room.saturating_sub(words::width(before));
        format!("{before}{mark}{}", words::fit(&self.after, left, theme))
    }
}

/// The text without its first character.
fn tail(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

fn rest(text: &str) -> String {
    tail(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(strokes: &[Stroke]) -> Field {
        let mut field = Field::new("passes");
        strokes.iter().for_each(|stroke| field.take(*stroke));
        field
    }

    #[test]
    fn a_text_is_changed_where_the_cursor_is() {
        use Stroke::{Backspace, Char, Clear, Delete, End, Home, Left, Right};
        let table: [(&[Stroke], &str); 7] = [
            (&[Char('ä')], "passesä"),
            (&[Backspace, Backspace], "pass"),
            (&[Left, Left, Char('-')], "pass-es"),
            (&[Home, Delete, Delete, Right, Char('x')], "sxses"),
            (&[Home, End, Char('!')], "passes!"),
            (&[Left, Clear], "s"),
            (&[Right, Char('\n'), Delete], "passes"),
        ];
        for (strokes, wanted) in table {
            assert_eq!(typed(strokes).text(), wanted, "{strokes:?}");
        }
    }

    #[test]
    fn what_is_typed_replaces_a_proposal_and_what_moves_in_it_takes_it_up() {
        use Stroke::{Backspace, Char, End, Home, Left};
        let table: [(&[Stroke], &str); 5] = [
            (&[Char('a'), Char('b')], "ab"),
            (&[Backspace, Char('t')], "passet"),
            (&[End, Char('t')], "passest"),
            (&[Home, Char('t')], "tpasses"),
            (&[Left, Char('-')], "passe-s"),
        ];
        for (strokes, wanted) in table {
            let mut field = Field::offer("passes");
            assert!(field.is_offered());
            strokes.iter().for_each(|stroke| field.take(*stroke));
            assert_eq!((field.text().as_str(), field.is_offered()), (wanted, false), "{strokes:?}");
        }
    }

    #[test]
    fn the_cursor_is_always_in_sight() {
        let plain = Theme::PLAIN;
        assert_eq!(typed(&[]).shown(20, plain), "passes▏");
        assert_eq!(typed(&[]).shown(4, plain), "ses▏");
        assert_eq!(typed(&[Stroke::Home]).shown(4, plain), "▏pa…");
        assert_eq!(typed(&[Stroke::Left]).shown(20, Theme { utf8: false, ..plain }), "passe_s");
        assert_eq!(typed(&[]).shown(0, plain), "▏");
    }

    #[test]
    fn keys_with_control_and_alt_are_commands() {
        let of = |code, modifiers| Stroke::of(KeyEvent::new(code, modifiers));
        assert_eq!(of(KeyCode::Char('q'), KeyModifiers::NONE), Some(Stroke::Char('q')));
        assert_eq!(of(KeyCode::Char('Q'), KeyModifiers::SHIFT), Some(Stroke::Char('Q')));
        assert_eq!(of(KeyCode::Char('u'), KeyModifiers::CONTROL), Some(Stroke::Clear));
        assert_eq!(of(KeyCode::Char('c'), KeyModifiers::CONTROL), None);
        assert_eq!(of(KeyCode::Left, KeyModifiers::ALT), None);
        assert_eq!(of(KeyCode::Enter, KeyModifiers::NONE), None);
    }
}

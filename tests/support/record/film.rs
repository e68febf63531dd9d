//! The frames that the screen showed, and their durations.

use std::time::Duration;

use vt100::{Color, Screen};

/// Adjacent characters of a row that look alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// First column from the left, and number of columns.
    pub column: u16,
    pub columns: u16,
    pub text: String,
    pub look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    pub foreground: Paint,
    pub background: Paint,
    pub bold: bool,
    pub dim: bool,
    pub underline: bool,
}

/// A colour; `None` is the terminal's default.
pub type Paint = Option<[u8; 3]>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub rows: Vec<Vec<Run>>,
}

/// Frames, each with its duration.
#[derive(Debug, Default)]
pub struct Film {
    pub columns: u16,
    pub rows: u16,
    pub frames: Vec<(Frame, Duration)>,
}

impl Film {
    /// Shows this frame from now on, if it differs from the last one.
    pub fn show(&mut self, frame: Frame, since_last: Duration) {
        if let Some((last, shown)) = self.frames.last_mut() {
            *shown += since_last;
            if *last == frame {
                return;
            }
        }
        self.frames.push((frame, Duration::ZERO));
    }
}

impl Frame {
    pub fn of(screen: &Screen) -> Frame {
        let (rows, columns) = screen.size();
        Frame { rows: (0..rows).map(|row| runs(screen, row, columns)).collect() }
    }
}

fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let (text, look) = (if cell.has_contents() { cell.contents() } else { " " }, look(cell));
        match runs.last_mut().filter(|run| run.look == look) {
            Some(run) => {
                run.text += text;
                run.columns = column + 1 - run.column;
            }
            None => runs.push(Run { column, columns: 1, text: text.to_owned(), look }),
        }
    }
    runs.retain(|run| run.look.background.is_some() || !run.text.trim().is_empty());
    runs
}

/// Default foreground and background for screens that leave them to the terminal; swapping them requires both.
const OWN: ([u8; 3], [u8; 3]) = ([0xd0, 0xd7, 0xde], [0x16, 0x1b, 0x22]);

fn look(cell: &vt100::Cell) -> Look {
    let (mut foreground, mut background) = (paint(cell.fgcolor()), paint(cell.bgcolor()));
    if cell.inverse() {
        (foreground, background) = (background.or(Some(OWN.1)), foreground.or(Some(OWN.0)));
    }
    Look { foreground, background, bold: cell.bold(), dim: cell.dim(), underline: cell.underline() }
}

fn paint(colour: Color) -> Paint {
    match colour {
        Color::Default => None,
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Idx(index) => Some(indexed(index)),
    }
}

/// xterm's 256 colours.
fn indexed(index: u8) -> [u8; 3] {
    const NAMED: [[u8; 3]; 16] = [
        [0x16, 0x1b, 0x22],
        [0xcd, 0x31, 0x31],
        [0x0d, 0xbc, 0x79],
        [0xe5, 0xe5, 0x10],
        [0x24, 0x72, 0xc8],
        [0xbc, 0x3f, 0xbc],
        [0x11, 0xa8, 0xcd],
        [0xe5, 0xe5, 0xe5],
        [0x66, 0x66, 0x66],
        [0xf1, 0x4c, 0x4c],
        [0x23, 0xd1, 0x8b],
        [0xf5, 0xf5, 0x43],
        [0x3b, 0x8e, 0xea],
        [0xd6, 0x70, 0xd6],
        [0x29, 0xb8, 0xdb],
        [0xff, 0xff, 0xff],
    ];
    match index {
        0..16 => NAMED[usize::from(index)],
        16..232 => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            [level(cube / 36), level(cube / 6 % 6), level(cube % 6)]
        }
        232.. => [8 + 10 * (index - 232); 3],
    }
}

//! Results of reading or writing runs, ready to be drawn.

use crate::report::judged::Judged;
use crate::run::repeat::Repeat;
use crate::stats::comparison::Answer;
use crate::tui::widgets::list::moved;

/// A comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The run that each letter stands for.
    pub key: Vec<String>,
    pub judged: Judged,
    /// Line under the cursor.
    pub selected: usize,
}

/// A line of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// The title of an experiment.
    Title(&'a str),
    Case(&'a [String; 5], Answer),
    Remark(&'a str),
}

impl Comparison {
    /// The lines below the head of the table.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let rows = self.judged.rows.iter().flat_map(|row| {
            let title = row.title.as_deref().map(Part::Title);
            title.into_iter().chain([Part::Case(&row.cells, row.answer)])
        });
        rows.chain(self.judged.remarks.iter().map(|remark| Part::Remark(remark)))
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        let titles = self.judged.rows.iter().filter(|row| row.title.is_some()).count();
        self.judged.rows.len() + titles + self.judged.remarks.len()
    }

    pub fn step(&mut self, by: isize) {
        self.selected = moved(self.selected, by, self.count());
    }

    /// The line under the cursor as text.
    pub fn text(&self) -> Option<String> {
        Some(match self.parts().nth(self.selected)? {
            Part::Title(text) | Part::Remark(text) => text.to_owned(),
            Part::Case(cells, _) => {
                let heads = self.judged.head.iter().zip(cells).skip(1);
                let rest: Vec<String> = heads.map(|(head, cell)| format!("{head}: {cell}")).collect();
                format!("{}; {}", cells[0], rest.join("; "))
            }
        })
    }
}

/// The files written for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The folder of the files.
    pub folder: String,
    /// The names of the files.
    pub files: Vec<String>,
    pub repeat: Repeat,
}

impl Exported {
    /// The lines that can be copied, each with a description.
    pub fn lines(&self) -> [(&'static str, &str); 3] {
        [
            ("judge it again", &self.repeat.replay),
            ("run it again", &self.repeat.run),
            ("folder", &self.folder),
        ]
    }
}

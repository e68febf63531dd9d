//! A question about a case's access pattern, answered in a thread.

use std::sync::Arc;

use anyhow::{anyhow, bail};

use crate::case::{Case, IndexFile, Value};
use crate::inputs::locality::Touched;
use crate::inputs::sparse::Density;
use crate::primitives;

/// Maximum number of iterations that are examined.
const ITERATIONS: u64 = 64;
/// Maximum number of indices over all iterations.
const MOST: u64 = 1 << 16;
/// Elements per iteration if the primitive has no pattern: those of one warp instruction.
const WARP: u64 = 32;

/// A case, and the index files of its plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Position of the case in its plan.
    pub at: usize,
    /// The case in words.
    pub name: String,
    pub case: Case,
    pub files: Vec<IndexFile>,
}

/// The pattern of a case.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub at: usize,
    pub name: String,
    pub picture: Picture,
}

#[derive(Clone, Debug)]
pub enum Picture {
    /// The memory that the case touches: one side, or two if it gathers and scatters.
    Lines(Vec<Side>),
    /// Where its sparse matrix has entries.
    Matrix(Arc<Density>),
}

impl Pattern {
    /// The sides of a case that goes through indices.
    pub fn sides(&self) -> &[Side] {
        match &self.picture {
            Picture::Lines(sides) => sides,
            Picture::Matrix(_) => &[],
        }
    }
}

/// One side of a case.
#[derive(Clone, Debug)]
pub struct Side {
    /// Name of the side's indices in the primitive's definition: `L`, `p` …
    pub name: &'static str,
    /// Facts about the indices.
    pub facts: Vec<String>,
    pub touched: Touched,
    /// The lines touched, for each of [`LINE_SIZES`](crate::inputs::locality::LINE_SIZES).
    pub lines: [Vec<u64>; 2],
}

impl Question {
    /// Computes the answer.
    ///
    /// # Errors
    /// If the case has neither indices nor a matrix, or they are not available or take too long to make.
    pub fn answer(&self) -> anyhow::Result<Pattern> {
        let picture =
            match primitives::positions(&self.files, &self.case).map_err(|why| self.refused(&why))? {
                Some(positions) => Picture::Matrix(Arc::new(Density::of(&positions))),
                None => Picture::Lines(self.sides()?),
            };
        Ok(Pattern { at: self.at, name: self.name.clone(), picture })
    }

    fn refused(&self, why: &str) -> anyhow::Error {
        anyhow!("{}: {why}", self.name)
    }

    fn sides(&self) -> anyhow::Result<Vec<Side>> {
        let pattern = self.annotation("pattern-length");
        let each = pattern.unwrap_or(WARP).clamp(1, MOST);
        let most = (each * ITERATIONS).min(MOST.max(each));
        let walks = primitives::walks(&self.files, &self.case, most).map_err(|why| self.refused(&why))?;
        if walks.is_empty() {
            bail!("{} goes through no indices and has no sparse matrix", self.case.primitive);
        }
        let sides = walks.into_iter().map(|walk| {
            let touched = Touched::of(&walk.indices, each as usize, walk.element);
            let touched = touched.map_err(|why| self.refused(&why))?;
            let lines = std::array::from_fn(|length| touched.all_lines(length));
            let facts = self.facts(walk.total, each, pattern.is_some(), &touched);
            Ok(Side { name: walk.side, facts, touched, lines })
        });
        sides.collect()
    }

    fn facts(&self, total: u64, each: u64, pattern: bool, touched: &Touched) -> Vec<String> {
        let grouped = crate::case::units::grouped;
        let mut facts = vec![format!("elements of {}", crate::case::units::fmt_bytes(touched.element))];
        facts.extend(self.annotation("pattern-delta").map(|delta| format!("delta {}", grouped(delta))));
        let params = &self.case.params;
        facts.extend(params.indices("delta").map(|list| format!("{} deltas, repeated", list.len())));
        facts.extend((params.text("visits") == Some("random")).then(|| "in random order".to_owned()));
        facts.push(match pattern {
            true => format!("{} indices an iteration", grouped(each)),
            false => format!("{each} elements a row, as a warp takes them"),
        });
        let (shown, all) = (touched.sectors.len() as u64, total.div_ceil(each));
        facts.push(format!(
            "{} of {} {}",
            grouped(shown),
            grouped(all),
            if pattern { "iterations" } else { "rows" }
        ));
        facts
    }

    fn annotation(&self, name: &str) -> Option<u64> {
        let annotations = primitives::problem(&self.case).ok()?.annotations();
        annotations.into_iter().find_map(|(known, value)| match value {
            Value::Int(value) if known == name => Some(value),
            _ => None,
        })
    }
}

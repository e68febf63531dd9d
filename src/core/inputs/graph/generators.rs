//! Generators of graphs whose numbers of vertices and arcs are known without making them.

use std::ops::Range;

use super::{Directions, Graph, checked};
use crate::inputs::mix::{scale, word64};
use crate::inputs::sparse::{Generator, Positions, Shape, SparseError};

/// The shape of a graph. Edges are arcs in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A square grid, like roads: rows of ⌈√n⌉ vertices, the last perhaps shorter, each joined to its four neighbours; of
    /// every eight edges in a row, `keep` random ones are kept.
    Grid { keep: u64 },
    /// A random point in each cell of a square grid, joined to those in the eight cells around it. Weights are distances,
    /// in thousandths of a cell.
    Geometric,
    /// A path through all vertices in order.
    Line,
    /// `edges` per vertex, each from it to a random one.
    Random { edges: u64 },
    /// R-MAT (0.5, 0.1, 0.1, 0.3), with `edges` per vertex of the next power of two, 2^k; vertex u of that is ⌊u·n/2^k⌋.
    Rmat { edges: u64 },
}

use Topology::{Geometric, Grid, Line, Random, Rmat};

/// A graph as a function of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    pub topology: Topology,
    pub vertices: u64,
    /// Weights are random integers from 0 to this.
    pub heaviest: u32,
    pub seed: u64,
}

/// Tells random words of different uses apart.
const WEIGHTS: u64 = 0x5745_4947_4854_5300;
const KEPT: u64 = 0x4B45_5054_0000_0000;
const POINTS: u64 = 0x504F_494E_5453_0000;

/// Edges of a grid among which the kept ones are drawn.
const GROUP: u64 = 8;

/// A cell's side, in units of weights.
const CELL: u64 = 1000;

/// Most edges per vertex, beyond which products of numbers might not fit.
const MAX_DEGREE: u64 = 1 << 32;

/// Random weight `i` of a seed, from 0 to `heaviest`.
pub(super) fn weight(seed: u64, heaviest: u32, i: u64) -> u32 {
    scale(word64(seed ^ WEIGHTS, i), u64::from(heaviest) + 1) as u32
}

/// Numbers below `n` that leave the remainder `r` after division by `w`.
fn with_remainder(n: u64, w: u64, r: u64) -> u64 {
    (n + w - 1 - r) / w
}

impl Generated {
    /// The number of arcs.
    ///
    /// # Errors
    /// Too many vertices or arcs.
    pub fn arcs(&self) -> Result<u64, SparseError> {
        checked(self.vertices, 0)?;
        let n = self.vertices;
        let edges = match self.topology {
            Grid { keep } => {
                let all = self.grid_edges();
                all / GROUP * keep.min(GROUP) + all % GROUP
            }
            Geometric => self.grid_edges() + self.diagonals(),
            Line => n.saturating_sub(1),
            Random { edges } => n * edges.min(MAX_DEGREE),
            Rmat { edges } => self.powers() * edges.min(MAX_DEGREE),
        };
        checked(n, u128::from(edges) * 2)?;
        Ok(2 * edges)
    }

    /// Vertices of a row of a grid.
    fn width(&self) -> u64 {
        let root = self.vertices.isqrt();
        (root + u64::from(root * root < self.vertices)).max(1)
    }

    /// Edges to the right and below.
    fn grid_edges(&self) -> u64 {
        let (n, w) = (self.vertices, self.width());
        n - n.div_ceil(w) + n.saturating_sub(w)
    }

    /// Edges to the vertices beside the one below.
    fn diagonals(&self) -> u64 {
        let (n, w) = (self.vertices, self.width());
        let (right, left) = (n.saturating_sub(w + 1), n.saturating_sub(w - 1).min(n));
        let left = if n < w { 0 } else { left };
        right - with_remainder(right, w, w - 1) + left - with_remainder(left, w, 0)
    }

    /// The vertices of an R-MAT: the next power of two; none of none.
    fn powers(&self) -> u64 {
        if self.vertices == 0 { 0 } else { self.vertices.next_power_of_two() }
    }

    /// The graph.
    ///
    /// # Errors
    /// As for [`arcs`](Self::arcs).
    pub fn make(&self) -> Result<Graph, SparseError> {
        self.arcs()?;
        let n = self.vertices;
        let matrix = self.matrix().map(|matrix| matrix.make(self.seed)).transpose()?;
        let rows = matrix.as_ref().map_or(0, |matrix| matrix.rows());
        let weight = |i| weight(self.seed, self.heaviest, i);
        let parts = if matrix.is_some() { rows } else { n };
        Graph::of_edges(n, Directions::Both, parts, |part, edge| match &matrix {
            Some(matrix) => {
                let folded = |v| self.folded(v, rows);
                for row in part {
                    let entries = matrix.row(row as usize);
                    entries
                        .for_each(|i| edge(folded(row), folded(matrix.indices[i].into()), weight(i as u64)));
                }
            }
            None => self.near(part, edge),
        })
    }

    /// Where the adjacency matrix has entries: arcs from the row's vertex to the column's. Of a sample of the rows if there
    /// are many.
    ///
    /// # Errors
    /// As for [`arcs`](Self::arcs), and those of [`Positions`].
    pub fn positions(&self) -> Result<Positions, SparseError> {
        let shape = Shape { rows: self.vertices, columns: self.vertices, entries: self.arcs()? };
        let matrix = self.matrix().map(|matrix| matrix.shape().map(|shape| (matrix, shape))).transpose()?;
        Positions::among_all(shape, |to| {
            let mut edge = |tail: u32, head: u32| {
                to(tail.into(), head);
                to(head.into(), tail);
            };
            match matrix {
                Some((matrix, shape)) => matrix.each(self.seed, shape, &mut |row, column| {
                    edge(self.folded(row, shape.rows), self.folded(column.into(), shape.rows));
                })?,
                None => self.near(0..self.vertices, &mut |tail, head, _| edge(tail, head)),
            }
            Ok(())
        })
    }

    /// The matrix whose entries are the edges, if they are random.
    fn matrix(&self) -> Option<Generator> {
        match self.topology {
            Random { edges } => Some(Generator::Random { rows: self.vertices, entries: edges }),
            Rmat { edges } if self.vertices > 0 => {
                Some(Generator::Rmat { scale: self.powers().ilog2().into(), entries: edges })
            }
            _ => None,
        }
    }

    /// The vertex of a row, or of a column, of a matrix with this many rows.
    fn folded(&self, v: u64, rows: u64) -> u32 {
        (v * self.vertices / rows.max(1)) as u32
    }

    /// The edges of a topology that is not random, from these vertices on.
    fn near(&self, part: Range<u64>, edge: &mut dyn FnMut(u32, u32, u32)) {
        match self.topology {
            Line => {
                let weight = |v| weight(self.seed, self.heaviest, v);
                let ends = part.map(|v| v + 1).filter(|v| *v < self.vertices);
                ends.for_each(|v| edge(v as u32 - 1, v as u32, weight(v)));
            }
            Geometric => self.geometric(part, edge),
            Grid { keep } => self.grid(keep, part, edge),
            Random { .. } | Rmat { .. } => {}
        }
    }

    fn grid(&self, keep: u64, part: Range<u64>, edge: &mut dyn FnMut(u32, u32, u32)) {
        let (n, w, first) = (self.vertices, self.width(), part.start);
        // Edges to the right and below that earlier vertices have.
        let mut number = first - first / w + first.min(n.saturating_sub(w));
        let grouped = self.grid_edges() / GROUP * GROUP;
        for v in part {
            let right = (v % w + 1 < w && v + 1 < n).then_some(v + 1);
            let below = Some(v + w).filter(|&below| below < n);
            for to in right.into_iter().chain(below) {
                if number >= grouped || self.rank(number) < keep {
                    edge(v as u32, to as u32, weight(self.seed, self.heaviest, number));
                }
                number += 1;
            }
        }
    }

    /// The place of an edge among those of its group, in the order of the bytes of a random word.
    fn rank(&self, number: u64) -> u64 {
        let bytes = word64(self.seed ^ KEPT, number / GROUP).to_le_bytes();
        let own = (number % GROUP) as usize;
        (0..bytes.len()).filter(|&other| (bytes[other], other) < (bytes[own], own)).count() as u64
    }

    fn geometric(&self, part: Range<u64>, edge: &mut dyn FnMut(u32, u32, u32)) {
        let (n, w) = (self.vertices, self.width());
        let point = |v: u64| {
            [v % w, v / w]
                .map(|cell| cell * CELL)
                .iter()
                .zip(0..)
                .map(|(corner, axis)| corner + scale(word64(self.seed ^ POINTS, 2 * v + axis), CELL))
                .collect::<Vec<u64>>()
        };
        for v in part {
            let column = v % w;
            let others = [
                (column + 1 < w, v + 1),
                (column > 0, v + w - 1),
                (true, v + w),
                (column + 1 < w, v + w + 1),
            ];
            let here = point(v);
            for (_, to) in others.into_iter().filter(|&(inside, to)| inside && to < n) {
                let squares = here.iter().zip(point(to)).map(|(a, b)| a.abs_diff(b).pow(2));
                edge(v as u32, to as u32, squares.sum::<u64>().isqrt() as u32);
            }
        }
    }
}

//! The matrices of the NAS benchmark CG (D. Bailey et al.: The NAS Parallel Benchmarks, RNR-94-007, §2.4.2, and the
//! sequential reference implementation of NPB 3): A = Σ ωᵢ·vᵢ·vᵢᵀ + (rcond − shift)·I with sparse random vectors vᵢ whose
//! weights ωᵢ fall from 1 to rcond. Every sum is made in the order of the reference, so that a matrix is the same bit for
//! bit.

use std::ops::Range;

use super::{Csr, Positions, Shape, SparseError, in_ranges_of};
use crate::memory::{self, NoMemory};

/// The weight of the last vector, and a bound of the least eigenvalue of A + shift·I.
const RCOND: f64 = 0.1;

/// Rows that are not worth a further thread.
const SERIAL: u64 = 512;

/// The value of vector i at i.
const AT_ITSELF: f64 = 0.5;

/// The numbers that determine a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nas {
    /// Rows and columns.
    pub rows: u32,
    /// Random positions of each vector.
    pub nonzer: u32,
    pub shift: f64,
    /// ωᵢ₊₁ / ωᵢ: rcond^(1/rows) in the benchmark.
    ratio: f64,
}

/// rcond^(1/rows) of the five classes, where the reference calls `pow`: exp(ln(rcond)·(1/rows)) with 60 digits, from the
/// doubles nearest to 0.1 and 1/rows, and then rounded to the nearest double.
const RATIOS: [(u32, u64); 5] = [
    (1_400, 0x3FEF_F289_A430_FF42),
    (7_000, 0x3FEF_FD4E_4655_6B0B),
    (14_000, 0x3FEF_FEA7_1BE8_1E58),
    (75_000, 0x3FEF_FFBF_9DB4_F724),
    (150_000, 0x3FEF_FFDF_CECA_4A36),
];

impl Nas {
    /// The matrix with the numbers of a class. Of any other number of rows, weights fall by rows/(rows + 2) each, to about
    /// e^-2: a ratio that needs no library function.
    pub fn new(rows: u32, nonzer: u32, shift: f64) -> Nas {
        let n = f64::from(rows);
        let known = RATIOS.iter().find(|(of, _)| *of == rows);
        let ratio = known.map_or(n / (n + 2.0), |(_, bits)| f64::from_bits(*bits));
        Nas { rows, nonzer: nonzer.min(rows), shift, ratio }
    }

    /// The matrix.
    ///
    /// # Errors
    /// One that does not fit into the memory.
    pub fn make(&self) -> Result<Csr<f64>, SparseError> {
        let (vectors, weights) = (self.vectors(), self.weights());
        let containing = vectors.transposed(self.rows as usize);
        let parts = in_ranges_of(SERIAL, self.rows.into(), |rows| {
            self.part(rows.start as u32..rows.end as u32, &vectors, &weights, &containing)
        });
        Ok(Csr::stacked(self.rows.into(), parts.into_iter().collect::<Result<_, NoMemory>>()?)?)
    }

    /// Some rows of the matrix.
    fn part(
        &self,
        rows: Range<u32>,
        vectors: &Vectors,
        weights: &[f64],
        containing: &Containing,
    ) -> Result<Csr<f64>, NoMemory> {
        let mut row = Row::new(self.rows as usize);
        let mut matrix =
            Csr { columns: self.rows.into(), starts: vec![0], indices: Vec::new(), values: Vec::new() };
        for j in rows {
            for &at in containing.of(j as usize) {
                let i = vectors.owner[at as usize];
                let scale = weights[i as usize] * vectors.values[at as usize];
                for other in vectors.entries(i as usize) {
                    let column = vectors.positions[other];
                    let product = vectors.values[other] * scale;
                    let on_diagonal = column == j && j == i;
                    row.add(j, column, if on_diagonal { product + RCOND - self.shift } else { product });
                }
            }
            row.append_to(&mut matrix)?;
        }
        Ok(matrix)
    }

    /// The number of entries of the matrix, from its vectors.
    pub fn entries(&self) -> u64 {
        let (mut columns, mut entries) = (self.columns(), 0);
        (0..self.rows).for_each(|row| columns(row.into(), &mut |_| entries += 1));
        entries
    }

    /// The positions of the entries, of which there are `entries`; of a sample of the rows if there are many.
    ///
    /// # Errors
    /// Those of [`Positions`].
    pub fn positions(&self, entries: u64) -> Result<Positions, SparseError> {
        let (rows, mut columns) = (self.rows.into(), self.columns());
        Positions::by_row(Shape { rows, columns: rows, entries }, None, |row, to| {
            let mut held = Ok(());
            columns(row, &mut |column| {
                if held.is_ok() {
                    held = memory::push(to, column);
                }
            });
            held
        })
    }

    /// A function that tells the columns of a row, each once, in no order.
    fn columns(&self) -> impl FnMut(u64, &mut dyn FnMut(u32)) + use<> {
        let vectors = self.vectors();
        let containing = vectors.transposed(self.rows as usize);
        let mut seen_by = vec![u64::MAX; self.rows as usize];
        move |row, to| {
            for &at in containing.of(row as usize) {
                for other in vectors.entries(vectors.owner[at as usize] as usize) {
                    let column = vectors.positions[other];
                    if std::mem::replace(&mut seen_by[column as usize], row) != row {
                        to(column);
                    }
                }
            }
        }
    }

    /// ωᵢ, each the product of the one before it and the ratio.
    fn weights(&self) -> Vec<f64> {
        std::iter::successors(Some(1.0), |weight| Some(weight * self.ratio))
            .take(self.rows as usize)
            .collect()
    }

    /// `sprnvc` and `vecset` of the reference for all rows.
    fn vectors(&self) -> Vectors {
        let mut random = Randlc::new();
        // The reference draws a first guess of ζ.
        random.next();
        let width = self.rows.max(2).next_power_of_two();
        let mut all = Vectors::default();
        for i in 0..self.rows {
            let first = all.positions.len();
            while all.positions.len() - first < self.nonzer as usize {
                let (value, place) = (random.next(), random.next());
                let position = (f64::from(width) * place) as u32;
                if position < self.rows && !all.positions[first..].contains(&position) {
                    all.push(i, position, value);
                }
            }
            match all.positions[first..].iter().position(|&position| position == i) {
                Some(at) => all.values[first + at] = AT_ITSELF,
                None => all.push(i, i, AT_ITSELF),
            }
            all.ends.push(all.positions.len() as u32);
        }
        all
    }
}

/// The sparse vectors, one after another, each in the order in which its positions were drawn.
#[derive(Default)]
struct Vectors {
    ends: Vec<u32>,
    owner: Vec<u32>,
    positions: Vec<u32>,
    values: Vec<f64>,
}

impl Vectors {
    fn push(&mut self, owner: u32, position: u32, value: f64) {
        self.owner.push(owner);
        self.positions.push(position);
        self.values.push(value);
    }

    fn entries(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start as usize..self.ends[i] as usize
    }

    /// The entries at each position, by ascending vector.
    fn transposed(&self, rows: usize) -> Containing {
        let mut starts = vec![0; rows + 1];
        super::csr::count(&mut starts, self.positions.iter().copied());
        let (mut next, mut entries) = (starts.clone(), vec![0; self.positions.len()]);
        for (at, position) in (0u32..).zip(&self.positions) {
            let to = &mut next[*position as usize];
            entries[*to as usize] = at;
            *to += 1;
        }
        Containing { starts, entries }
    }
}

/// For each position the entries of vectors that are there.
struct Containing {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Containing {
    fn of(&self, position: usize) -> &[u32] {
        &self.entries[self.starts[position] as usize..self.starts[position + 1] as usize]
    }
}

/// A row that is being summed. Terms of one column are added in the order in which they come, as in the reference.
struct Row {
    sums: Vec<f64>,
    /// The last row that had a term in a column.
    of_row: Vec<u32>,
    columns: Vec<u32>,
}

impl Row {
    fn new(columns: usize) -> Row {
        Row { sums: vec![0.0; columns], of_row: vec![u32::MAX; columns], columns: Vec::new() }
    }

    fn add(&mut self, row: u32, column: u32, term: f64) {
        let at = column as usize;
        if std::mem::replace(&mut self.of_row[at], row) == row {
            self.sums[at] += term;
        } else {
            self.sums[at] = term;
            self.columns.push(column);
        }
    }

    fn append_to(&mut self, matrix: &mut Csr<f64>) -> Result<(), NoMemory> {
        self.columns.sort_unstable();
        memory::reserve(&mut matrix.values, self.columns.len())?;
        memory::reserve(&mut matrix.indices, self.columns.len())?;
        matrix.values.extend(self.columns.iter().map(|&column| self.sums[column as usize]));
        matrix.indices.append(&mut self.columns);
        memory::push(&mut matrix.starts, matrix.indices.len() as u32)
    }
}

/// The benchmark's generator: x ← 5^13·x mod 2^46 from 314159265, and x·2^-46 as a number, which a double holds.
struct Randlc(u64);

impl Randlc {
    const MULTIPLIER: u64 = 1_220_703_125;
    const SEED: u64 = 314_159_265;
    const BITS: u32 = 46;

    fn new() -> Randlc {
        Randlc(Randlc::SEED)
    }

    /// 2^46 divides 2^64, so that a product modulo 2^64 has the right low bits.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(Randlc::MULTIPLIER) & ((1 << Randlc::BITS) - 1);
        self.0 as f64 / (1u64 << Randlc::BITS) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Density;
    use super::*;

    /// `sparse` of the reference: triples in the order of its loops, duplicates added to the first.
    fn by_triples(nas: &Nas) -> Vec<(u32, u32, f64)> {
        let (vectors, weights) = (nas.vectors(), nas.weights());
        let mut all: Vec<(u32, u32, f64)> = Vec::new();
        for i in 0..nas.rows {
            for at in vectors.entries(i as usize) {
                let scale = weights[i as usize] * vectors.values[at];
                for other in vectors.entries(i as usize) {
                    let (row, column) = (vectors.positions[at], vectors.positions[other]);
                    let mut term = vectors.values[other] * scale;
                    if row == column && row == i {
                        term = term + RCOND - nas.shift;
                    }
                    match all.iter_mut().find(|e| (e.0, e.1) == (row, column)) {
                        Some(entry) => entry.2 += term,
                        None => all.push((row, column, term)),
                    }
                }
            }
        }
        all.sort_by_key(|e| (e.0, e.1));
        all
    }

    #[test]
    fn rows_are_sums_of_the_references_triples() {
        for (rows, nonzer) in [(0, 3), (1, 3), (2, 3), (3, 2), (33, 3), (100, 5)] {
            let nas = Nas::new(rows, nonzer, 1.5);
            let made = nas.make().expect("a matrix");
            let triples = by_triples(&nas);
            let expected = Csr::from_entries(rows.into(), rows.into(), &triples).unwrap();
            assert_eq!(made, expected, "{rows} {nonzer}");
            assert_eq!(nas.entries(), made.shape().entries);
        }
    }

    #[test]
    fn positions_are_those_of_the_matrix() {
        let nas = Nas::new(300, 4, 10.0);
        let (made, looked_at) = (Positions::of(&nas.make().expect("a matrix")), nas.positions(nas.entries()));
        let [made, looked_at] = [made, looked_at].map(|all| Density::of(&all.expect("small")));
        assert_eq!(made, looked_at);
    }

    #[test]
    fn a_matrix_is_symmetric_with_the_shift_on_its_diagonal() {
        let nas = Nas::new(1400, 7, 10.0);
        let [with, without] = [nas, Nas::new(1400, 7, 0.0)].map(|nas| nas.make().expect("a matrix"));
        for row in 0..1400usize {
            for at in with.row(row) {
                let (column, value) = (with.indices[at] as usize, with.values[at]);
                let mirrored = with.row(column).find(|&k| with.indices[k] as usize == row).unwrap();
                assert!((with.values[mirrored] - value).abs() <= 1e-15 * value.abs());
                let shift = if column == row { 10.0 } else { 0.0 };
                assert!((without.values[at] - value - shift).abs() < 1e-14);
            }
        }
    }

    /// The reference prints the values of its generator's first calls in other words: x mod 2^46 after k steps is
    /// 5^(13·k)·314159265.
    #[test]
    fn the_generator_has_the_benchmarks_modulus() {
        let mut random = Randlc::new();
        let mut x = 314_159_265u128;
        for _ in 0..1000 {
            x = x * 1_220_703_125 % (1 << 46);
            assert_eq!(random.next(), x as f64 / (1u64 << 46) as f64);
        }
    }
}

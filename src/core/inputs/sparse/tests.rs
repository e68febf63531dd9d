use super::csr::{SERIAL, in_ranges};
use super::*;
use Generator::{Banded, DenseRow, EmptyRows, Laplace5, Laplace7, Random, Rmat};
use proptest::prelude::*;

fn generators(n: u64, e: u64) -> [Generator; 7] {
    [
        Laplace5 { side: n % 40 },
        Laplace7 { side: n % 12 },
        Random { rows: n, entries: e },
        Banded { rows: n, half: e },
        Rmat { scale: n % 10, entries: e },
        EmptyRows { rows: n, entries: e },
        DenseRow { rows: n, entries: e },
    ]
}

proptest! {
    #[test]
    fn the_size_is_known_in_advance(seed: u64, n in 0u64..300, e in 0u64..20) {
        for generator in generators(n, e) {
            let made = generator.make(seed).expect("a matrix");
            prop_assert_eq!(made.shape(), generator.shape().expect("a shape"), "{:?}", generator);
            prop_assert!(made.starts.is_sorted() && made.starts[0] == 0);
            prop_assert!(made.indices.iter().all(|&j| u64::from(j) < made.columns));
            for row in 0..made.rows() as usize {
                prop_assert!(made.indices[made.row(row)].is_sorted(), "{:?}", generator);
            }
        }
    }

    #[test]
    fn no_numbers_make_them_panic(a: u64, b: u64) {
        for generator in [
            Laplace5 { side: a }, Laplace7 { side: a }, Random { rows: a, entries: b }, Banded { rows: a, half: b },
            Rmat { scale: a, entries: b }, Rmat { scale: a % 40, entries: b }, EmptyRows { rows: a, entries: b },
            DenseRow { rows: a, entries: b },
        ] {
            let _ = generator.shape();
        }
    }
}

/// Enough rows and entries for several threads.
#[test]
fn threads_make_what_one_would() {
    let n = 3 * SERIAL + 1;
    assert_eq!(
        in_ranges(n, |part| part).into_iter().flatten().collect::<Vec<u64>>(),
        (0..n).collect::<Vec<_>>()
    );
    let alone = |generator: &Generator, row| {
        let mut columns = Vec::new();
        generator.extend(&mut columns, 5, row, n).expect("a row");
        columns
    };
    let generator = Random { rows: n, entries: 3 };
    let made = generator
        .make(5)
        .expect("a matrix")
        .with_values(|row, column, at| (row, column, at))
        .expect("values");
    for row in 0..n {
        let entries = made.row(row as usize);
        assert_eq!(made.indices[entries.clone()], alone(&generator, row));
        assert!(entries.into_iter().all(|at| made.values[at] == (row, made.indices[at], at as u64)));
    }
    let (starts, columns) = rmat::make(5, 16, n).expect("a matrix");
    let table = rmat::table();
    let mut entries: Vec<_> = (0..n).map(|e| rmat::entry(&table, 5, 16, e)).collect();
    entries.sort_unstable();
    let listed = starts.windows(2).zip(0..).flat_map(|(ends, row)| {
        columns[ends[0] as usize..ends[1] as usize].iter().map(move |&column| (row, column))
    });
    assert_eq!(listed.collect::<Vec<(u32, u32)>>(), entries);
}

/// Any number of threads makes the same bits.
#[test]
fn one_processor_makes_what_all_make() {
    let (n, e) = (4 * SERIAL + 3, 3);
    let generators = [
        Laplace5 { side: 400 },
        Random { rows: n, entries: e },
        Rmat { scale: 17, entries: e },
        DenseRow { rows: n, entries: e },
    ];
    for generator in generators {
        let make = || generator.make(7).and_then(|made| made.with_values(|i, j, at| (i, j, at)));
        assert_eq!(make(), on_one_processor(make), "{generator}");
    }
    let nas = || Nas::new(3000, 7, 10.0).make();
    assert_eq!(nas(), on_one_processor(nas));
    let numbers = || in_parallel(n as usize, |i| [i as u32, !i as u32]).expect("memory");
    assert_eq!(numbers(), on_one_processor(numbers));
    assert!(numbers().iter().enumerate().all(|(i, pair)| *pair == [i as u32, !i as u32]));
    assert_eq!(in_parallel(0, |_| 1u32), Ok(Vec::new()));
}

#[test]
fn stencils_have_the_neighbours_inside_the_grid() {
    let made = Laplace5 { side: 3 }.make(1).expect("a matrix");
    let rows: Vec<&[u32]> = (0..9).map(|row| &made.indices[made.row(row)]).collect();
    assert_eq!(rows[0], [0, 1, 3]);
    assert_eq!(rows[4], [1, 3, 4, 5, 7]);
    assert_eq!(rows[5], [2, 4, 5, 8]);
    let made = Laplace7 { side: 3 }.make(1).expect("a matrix");
    assert_eq!(made.indices[made.row(13)], [4, 10, 12, 13, 14, 16, 22]);
    assert_eq!(made.indices[made.row(26)], [17, 23, 25, 26]);
}

#[test]
fn degenerate_matrices_are_what_they_are_called() {
    let lengths = |generator: Generator| {
        let made = generator.make(3).expect("a matrix");
        (0..made.rows() as usize).map(|row| made.row(row).len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(EmptyRows { rows: 7, entries: 2 }), [0, 2, 2, 0, 0, 2, 0]);
    assert_eq!(lengths(EmptyRows { rows: 1, entries: 2 }), [0]);
    assert_eq!(lengths(DenseRow { rows: 5, entries: 1 }), [1, 1, 5, 1, 1]);
    assert_eq!(lengths(Random { rows: 0, entries: 3 }), [0; 0]);
    assert_eq!(Random { rows: 0, entries: 3 }.make(1).expect("a matrix").starts, [0]);
}

/// Shares of the quadrants on the first and on the last level, which tables and leftover bits decide.
#[test]
fn rmat_has_its_probabilities_on_every_level() {
    let (scale, entries) = (14, 16);
    let made = Rmat { scale, entries }.make(5).expect("a matrix");
    let total = made.indices.len() as f64;
    for level in [0, 3, 4, 11, 12, 13] {
        let mut counts = [0.0; 4];
        for row in 0..made.rows() as usize {
            for &column in &made.indices[made.row(row)] {
                let bit = scale - 1 - level;
                counts[(row >> bit & 1) << 1 | (column >> bit & 1) as usize] += 1.0 / total;
            }
        }
        for (share, expected) in counts.iter().zip([0.5, 0.1, 0.1, 0.3]) {
            assert!((share - expected).abs() < 0.005, "level {level}: {counts:?}");
        }
    }
}

#[test]
fn matrices_that_32_bits_do_not_hold_are_refused() {
    let refused = |generator: Generator| generator.shape().expect_err("refused").to_string();
    assert_eq!(
        refused(Random { rows: 1 << 30, entries: 4 }),
        "4294967296 entries; accepted: at most 4294967295"
    );
    assert!(refused(Laplace5 { side: 1 << 16 }).contains("rows"));
    assert!(refused(Rmat { scale: 32, entries: 1 }).contains("rows"));
}

#[test]
fn entries_in_any_order_become_rows() {
    let made = Csr::from_entries(3, 4, &[(2, 3, 'a'), (0, 1, 'b'), (2, 0, 'c')]).expect("a matrix");
    assert_eq!(
        (made.starts, made.indices, made.values),
        (vec![0, 1, 1, 3], vec![1, 3, 0], vec!['b', 'a', 'c'])
    );
    assert!(Csr::from_entries(3, 4, &[(3, 0, ())]).expect_err("outside").to_string().contains("(3, 0)"));
}

/// The same numbers on every machine.
#[test]
fn golden() {
    let made = Random { rows: 1000, entries: 4 }.make(42).expect("a matrix");
    let rmat = Rmat { scale: 10, entries: 4 }.make(42).expect("a matrix");
    let integers: Vec<u32> = (0..4).map(|i| small_integer(42, i) as u32).collect();
    assert_eq!([&made.indices[..4], &rmat.indices[4000..4004], &integers[..]], GOLDEN);
}

const GOLDEN: [[u32; 4]; 3] = [[238, 362, 531, 563], [841, 896, 992, 450], [4294967291, 5, 3, 4294967294]];

#[test]
fn words_are_read_back() {
    let made = EmptyRows { rows: 40, entries: 3 }.make(9).expect("a matrix");
    let made = made
        .with_values(|row, column, at| (row as f64 - f64::from(column)) / (at + 1) as f64)
        .expect("values");
    let words = made.clone().into_words().expect("words");
    assert_eq!(
        (Csr::from_words(&words).expect("a matrix"), Shape::of_words(&words)),
        (made, Some(EmptyRows { rows: 40, entries: 3 }.shape().expect("a shape")))
    );
    assert!(words.iter().all(|&word| word < 1 << 40));
    for broken in [&words[..2], &words[..words.len() - 1], &[]] {
        assert!(Csr::from_words(broken).is_err());
    }
    let mut outside = words;
    outside[3 + 41] = 40;
    assert!(Csr::from_words(&outside).is_err());
}

/// Groups of about as many entries as are wanted have rows next to each other, and most of their columns agree with their
/// rows in the first levels.
#[test]
fn groups_of_rmat_are_of_rows_next_to_each_other() {
    let matrix = Generator::Rmat { scale: 16, entries: 16 };
    let all = matrix.make(5).expect("a matrix");
    for place in 0..8u64 {
        let columns = matrix.group(5, 4096, place * 1000).expect("R-MAT");
        assert!((1000..=4096).contains(&columns.len()), "{}", columns.len());
        assert!(columns.iter().all(|column| *column < 1 << 16));
    }
    // As many different columns as in rows of the matrix that hold as many entries.
    let different = |columns: &[u32]| columns.iter().collect::<std::collections::BTreeSet<_>>().len() as f64;
    let mean = |parts: Vec<f64>| parts.iter().sum::<f64>() / parts.len() as f64;
    let groups = (0..32).map(|place| matrix.group(5, 4096, place * 32_000).expect("R-MAT"));
    let of_groups = mean(groups.map(|columns| different(&columns) / columns.len() as f64).collect());
    let of_rows =
        mean(all.indices.chunks(3000).map(|columns| different(columns) / columns.len() as f64).collect());
    assert!((of_groups / of_rows - 1.0).abs() < 0.15, "{of_groups} {of_rows}");
}

use super::*;
use proptest::prelude::*;

fn permutation(n: u64, seed: u64) -> Permutation {
    Permutation::new(n, seed).expect("n is at most 2^40")
}

fn assert_bijection(n: u64, seed: u64) {
    let p = permutation(n, seed);
    let mut seen = vec![false; n as usize];
    for i in 0..n {
        let j = p.apply(i);
        assert!(j < n && !seen[j as usize], "n {n}: {i} goes to {j}");
        assert_eq!(p.invert(j), i, "n {n}");
        seen[j as usize] = true;
    }
}

#[test]
fn bijections() {
    for n in [0, 1, 2, 3, 31, 32, 33] {
        assert_bijection(n, 1);
    }
    for k in 3..17 {
        for n in [(1 << k) - 1, 1 << k, (1 << k) + 1] {
            assert_bijection(n, k);
        }
    }
}

#[test]
fn too_many_elements_are_refused() {
    assert!(Permutation::new(MAX_ELEMENTS, 0).is_some());
    assert!(Permutation::new(MAX_ELEMENTS + 1, 0).is_none());
}

proptest! {
    #[test]
    fn random_sizes(n in 0u64..5000, seed: u64) {
        assert_bijection(n, seed);
    }

    #[test]
    fn large_sizes_invert((n, i) in (1u64..=MAX_ELEMENTS).prop_flat_map(|n| (Just(n), 0..n)), seed: u64) {
        let p = permutation(n, seed);
        let j = p.apply(i);
        prop_assert!(j < n);
        prop_assert_eq!(p.invert(j), i);
    }
}

/// The CUDA implementation must produce the same values.
#[test]
fn golden() {
    let found: Vec<[u64; 4]> = GOLDEN
        .iter()
        .map(|&(n, seed, i, _)| {
            let p = permutation(n, seed);
            [n, seed, i, p.apply(i)]
        })
        .collect();
    let wanted: Vec<[u64; 4]> = GOLDEN.iter().map(|&(n, seed, i, j)| [n, seed, i, j]).collect();
    assert_eq!(found, wanted);
}

const GOLDEN: [(u64, u64, u64, u64); 8] = [
    (1, 0, 0, 0),
    (33, 1, 0, 18),
    (33, 1, 32, 3),
    (1 << 20, 42, 1, 310_289),
    ((1 << 24) + 1, 42, 1 << 24, 7_643_092),
    (1 << 28, 7, 123_456_789, 87_338_534),
    (3_000_000_000, 7, 2_999_999_999, 2_888_626_610),
    (1 << 40, u64::MAX, 1 << 39, 662_870_991_905),
];

/// In a random permutation the mean of |π(i) − i| is n/3.
#[test]
fn displacement_is_that_of_a_random_permutation() {
    for n in [1 << 16, 100_003, 1 << 20] {
        let p = permutation(n, 3);
        let mean = (0..n).map(|i| p.apply(i).abs_diff(i) as f64).sum::<f64>() / n as f64;
        assert!((mean / (n as f64 / 3.0) - 1.0).abs() < 0.02, "n {n}: {mean}");
    }
}

/// The 32 consecutive 8-byte tuples of a warp, out of 2^24, touch nearly 32 distinct 128-byte lines.
#[test]
fn warps_touch_lines_as_random_ones_do() {
    let n: u64 = 1 << 24;
    let p = permutation(n, 5);
    let (warps, tuples_per_line) = (4096, 16);
    let mut distinct = 0;
    for warp in 0..warps {
        let mut lines: Vec<u64> = (0..32).map(|t| p.apply(warp * 32 + t) / tuples_per_line).collect();
        lines.sort_unstable();
        lines.dedup();
        distinct += lines.len();
    }
    let blocks = (n / tuples_per_line) as f64;
    let expected = blocks * (1.0 - (1.0 - 1.0 / blocks).powi(32)) * warps as f64;
    assert!((distinct as f64 / expected - 1.0).abs() < 1e-3, "{distinct} against {expected}");
}

/// χ² over 256 cells, with 255 degrees of freedom: mean 255, standard deviation 22.6.
fn chi_square(cells: &[u64; 256]) -> f64 {
    let expected = cells.iter().sum::<u64>() as f64 / 256.0;
    cells.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum()
}

/// The images of a block of neighbours are uniform, and so are the distances between the images of elements
/// that are 1, 2, 32, 1024 or 4096 apart.
#[test]
fn neighbours_scatter_uniformly() {
    for (n, seed) in [(1u64 << 20, 1), (1 << 24, 2), ((1 << 24) - 3, 3), (1 << 28, 4), (1 << 33, 5)] {
        let p = permutation(n, seed);
        for step in [0, 1, 2, 32, 1024, 4096] {
            let mut cells = [0u64; 256];
            for i in 0..1 << 15 {
                let from = if step == 0 { 0 } else { p.apply(i) };
                let distance = (p.apply(i + step) + n - from) % n;
                cells[(distance as u128 * 256 / n as u128) as usize] += 1;
            }
            let chi = chi_square(&cells);
            assert!((140.0..400.0).contains(&chi), "n {n}, step {step}: χ² {chi}");
        }
    }
}

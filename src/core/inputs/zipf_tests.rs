use super::*;
use proptest::prelude::*;

fn zipf(n: u64, exponent: f64) -> Zipf {
    Zipf::new(n, exponent, 11).expect("in range")
}

/// The probability of each rank according to the table.
fn probabilities(z: &Zipf) -> Vec<f64> {
    let mut all = Vec::new();
    let mut below = 0;
    for (b, &c) in z.cumulative.iter().enumerate() {
        let ranks = z.start[b + 1] - z.start[b];
        all.extend((0..ranks).map(|_| (c - below) as f64 / TWO_64 / ranks as f64));
        below = c;
    }
    all
}

fn exact(n: u64, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=n).map(|x| (x as f64).powf(-exponent)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

#[test]
fn small_tables_are_exact() {
    for n in [1, 2, 3, 100, MAX_BUCKETS] {
        for s in [0.0, 0.5, 1.0, 1.5, 16.0] {
            let bound = 2f64.powi(-40);
            for (rank, (p, q)) in probabilities(&zipf(n, s)).iter().zip(exact(n, s)).enumerate() {
                assert!((p - q).abs() < bound, "n {n}, s {s}, rank {rank}: {p} against {q}");
            }
        }
    }
}

#[test]
fn large_tables_keep_the_documented_error() {
    let n = 200_000;
    for s in [0.0, 0.99, 1.0, 2.0] {
        let z = zipf(n, s);
        assert!(z.cumulative.len() as u64 <= MAX_BUCKETS);
        for (rank, (p, q)) in probabilities(&z).iter().zip(exact(n, s)).enumerate() {
            let bound = 2f64.powi(-40) + 2.5e-3 * s * q + 6e-7 * q;
            assert!((p - q).abs() < bound, "s {s}, rank {rank}: {p} against {q}");
        }
    }
}

/// Buckets grow slowly enough for the documented error up to the largest n.
#[test]
fn geometric_buckets_are_narrow() {
    let starts = starts(1 << 40);
    assert_eq!((starts.len() as u64, starts[starts.len() - 1]), (MAX_BUCKETS + 1, 1 << 40));
    for w in starts[HEAD as usize..].windows(2) {
        assert!(w[1] > w[0]);
        let half_width = (w[1] - w[0]) as f64 / 2.0;
        assert!(half_width / w[0] as f64 <= 1.25e-3, "{w:?}");
    }
}

#[test]
fn draws_follow_the_distribution() {
    let (n, draws) = (50, 200_000);
    let z = zipf(n, 1.0);
    let mut seen = vec![0u64; n as usize];
    for i in 0..draws {
        seen[z.draw(i) as usize] += 1;
    }
    for (rank, q) in exact(n, 1.0).iter().enumerate() {
        let found = seen[z.spread.apply(rank as u64) as usize] as f64;
        let expected = q * draws as f64;
        assert!((found - expected).abs() < 6.0 * expected.sqrt(), "rank {rank}: {found} against {expected}");
    }
}

#[test]
fn outside_the_range_there_is_none() {
    assert!(Zipf::new(0, 1.0, 0).is_none());
    assert!(Zipf::new((1 << 40) + 1, 1.0, 0).is_none());
    for s in [-0.1, 17.0, f64::NAN, f64::INFINITY] {
        assert!(Zipf::new(10, s, 0).is_none(), "{s}");
    }
}

proptest! {
    #[test]
    fn draws_stay_inside(n in 1u64..=1 << 40, s in 0.0f64..16.0, seed: u64, i: u64) {
        let z = Zipf::new(n, s, seed).expect("in range");
        prop_assert!(z.draw(i) < n);
    }

    /// The guide does not change the result.
    #[test]
    fn the_guide_agrees_with_a_full_search(u: u64) {
        let z = zipf(100_000, 1.0);
        let b = z.cumulative.partition_point(|&c| c <= u).min(z.cumulative.len() - 1);
        let rank = z.rank(u);
        prop_assert!((z.start[b]..z.start[b + 1]).contains(&rank));
    }
}

/// The CUDA implementation must produce the same values.
#[test]
fn golden() {
    let z = Zipf::new(1 << 24, 1.0, 42).expect("in range");
    let draws: Vec<u64> = (0..4).map(|i| z.draw(i)).collect();
    assert_eq!(
        (draws, z.cumulative[0], z.cumulative[9000], z.start[9000]),
        (
            vec![12_894_454, 7_599_527, 14_103_283, 3_435_323],
            1_071_690_855_700_452_992,
            11_082_489_051_091_249_152,
            17_377
        )
    );
}

//! The two bandwidths (he2007 Eqs. 1 to 3).

use crate::model::He2007;

/// B_seq: the mean bandwidth of sequential scans, given as (bytes, seconds), weighted by the bytes scanned
/// (Eq. 1). As printed, the equation multiplies by tᵢ and divides by n, which a weighted mean does not; the
/// paper's text describes the weighted mean, which is used here. `None` without scans.
pub fn sequential(scans: &[(f64, f64)]) -> Option<f64> {
    let all: f64 = scans.iter().map(|(bytes, _)| bytes).sum();
    (all > 0.0).then(|| scans.iter().map(|(bytes, seconds)| bytes / all * (bytes / seconds)).sum())
}

/// Seconds of one access to a tuple of `z` bytes at hit rate `h`, split into misses and hits (Eq. 2 without
/// n).
pub fn access(device: &He2007, z: f64, h: f64) -> (f64, f64) {
    let (block, transfer) = (device.block as f64, device.transfer as f64);
    let miss = (z / block).ceil() * block / device.b_seq;
    ((1.0 - h) * miss, h * (z / transfer).ceil() * device.delta)
}

/// B_rand, bytes of tuples per second (Eq. 3).
pub fn random(device: &He2007, z: f64, h: f64) -> f64 {
    let (misses, hits) = access(device, z, h);
    z / (misses + hits)
}

#[cfg(test)]
mod tests {
    use super::super::tests::g80;
    use super::*;

    #[test]
    fn b_seq_is_a_weighted_mean() {
        assert_eq!(sequential(&[]), None);
        assert_eq!(sequential(&[(2.0, 1.0), (4.0, 2.0)]), Some(2.0));
        // 2 MB at 1 B/s and 4 MB at 4 B/s: weights of one third and two thirds.
        assert!((sequential(&[(2.0, 2.0), (4.0, 1.0)]).expect("two scans") - 3.0).abs() < 1e-12);
    }

    /// Only misses: 256 bytes are fetched per 8. Only hits: 8 bytes every δ, 64 every 2·δ.
    #[test]
    fn b_rand_lies_between_blocks_and_lines() {
        let g80 = g80();
        assert!((random(&g80, 8.0, 0.0) / (63.9e9 / 32.0) - 1.0).abs() < 1e-12);
        assert!((random(&g80, 8.0, 1.0) * g80.delta / 8.0 - 1.0).abs() < 1e-12);
        assert!((random(&g80, 64.0, 1.0) * g80.delta / 32.0 - 1.0).abs() < 1e-12);
    }
}

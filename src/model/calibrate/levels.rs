//! Cache sizes and line sizes from curves: steps of the latency, and strides beyond which the cost is
//! constant. Pure.

/// On a plateau, doubling the footprint raises the latency by less than this factor.
const FLAT: f64 = 1.12;

/// From one plateau to the next the latency rises at least by this factor.
const STEP: f64 = 1.25;

/// If doubling the stride lowers the rate below this share, each access still fetches more.
const COSTS: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Strides beyond this, bytes, exceed any line, so other effects cause their cost.
const LONGEST_LINE: f64 = 256.0;

/// Capacities of caches (and reach of the TLB) from the latencies of random accesses by footprint, ascending.
/// Between plateaus a and b of the latency, random accesses to x bytes, C of which are cached, take t = C/x ·
/// a + (1 − C/x) · b. So the share s = (b − t) / (b − a) of them hits, and C = s · x. C is the mean over the
/// points of the rise, with weights s · (1 − s), because the points at the ends are least informative.
pub fn capacities(latency: &[(f64, f64)]) -> Vec<f64> {
    rises(latency)
        .into_iter()
        .filter_map(|rise| capacity(&latency[rise.first..=rise.last], latency[rise.top].1))
        .collect()
}

/// The points `first` to `last` of a rise of the latency, and the point `top` where the next plateau ends:
/// the curve approaches a plateau slowly, so its end is the best estimate of its height.
#[derive(Clone, Copy, Debug)]
struct Rise {
    first: usize,
    last: usize,
    top: usize,
}

/// The rises of a latency curve. Caches of similar size leave no plateau between them, only a doubling that
/// costs less than those on either side.
fn rises(latency: &[(f64, f64)]) -> Vec<Rise> {
    let slope: Vec<f64> = latency.windows(2).map(|pair| pair[1].1 / pair[0].1).collect();
    let steep = |i: &usize| slope[*i] > FLAT;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = (at..slope.len()).find(steep) {
        let end = (start..slope.len()).find(|i| !steep(i)).unwrap_or(slope.len());
        at = (end..slope.len()).find(steep).unwrap_or(slope.len());
        let mut first = start;
        for valley in valleys(&slope[start..end]) {
            found.push(Rise { first, last: start + valley, top: start + valley + 1 });
            first = start + valley + 1;
        }
        found.push(Rise { first, last: end, top: at });
    }
    found
}

/// Doublings whose log cost is at most 1/√2 of one before and of one after them, up to the next doubling that
/// costs still less.
fn valleys(slope: &[f64]) -> Vec<usize> {
    let log: Vec<f64> = slope.iter().map(|slope| slope.ln()).collect();
    let mut found: Vec<usize> = Vec::new();
    for i in 1..log.len().saturating_sub(1) {
        let from = found.last().map_or(0, |valley| valley + 1);
        let before = log[from.min(i)..i].iter().copied().fold(0.0, f64::max);
        let rest = log[i + 1..].iter().copied();
        let behind = rest.take_while(|next| *next >= log[i]).fold(0.0, f64::max);
        if log[i] <= COSTS * before.min(behind) {
            found.push(i);
        }
    }
    found
}

/// The capacity behind one rise to a plateau of latency `b`.
fn capacity(rise: &[(f64, f64)], b: f64) -> Option<f64> {
    let a = rise.first()?.1;
    let shares = rise.iter().map(|(x, t)| (x, ((b - t) / (b - a)).clamp(0.0, 1.0)));
    let weighed = shares.map(|(x, share)| (share * (1.0 - share), share * x));
    let (weights, sum) = weighed.fold((0.0, 0.0), |(all, sum), (weight, c)| (all + weight, sum + weight * c));
    // The smallest of these footprints still fits entirely.
    (b / a >= STEP && weights > 0.0).then_some((sum / weights).max(rise.first()?.0))
}

/// The least number of bytes that each access moves, from accesses per second by stride in bytes (the stride
/// doubles from point to point): the last stride, up to [`LONGEST_LINE`], at which an access costs more than
/// √2 times what it costs at half that stride. Beyond it each access moves the same bytes. `None` if no
/// stride costs that much.
pub fn granule(rates: &[(f64, f64)]) -> Option<u64> {
    let costs = |pair: &&[(f64, f64)]| pair[1].0 <= LONGEST_LINE && pair[1].1 / pair[0].1 < COSTS;
    rates.windows(2).rfind(costs).map(|pair| pair[1].0 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies of random reads of 2^12 to 2^33 bytes with caches of these sizes.
    fn latencies(levels: &[(f64, f64)], memory: f64) -> Vec<(f64, f64)> {
        let at = |x: f64| {
            let mut below = 0.0;
            let mut mean = 0.0;
            for (size, latency) in levels {
                let share = (size / x).min(1.0);
                mean += (share - below) * latency;
                below = share;
            }
            mean + (1.0 - below) * memory
        };
        (12..34).map(|bits| f64::from(bits).exp2()).map(|x| (x, at(x))).collect()
    }

    #[test]
    fn caches_are_found_within_a_tenth() {
        let machines: [&[(f64, f64)]; 3] = [
            &[(196_608.0, 33e-9), (50e6, 210e-9)],
            &[(32_768.0, 1e-9), (1_048_576.0, 4e-9), (33_554_432.0, 15e-9)],
            &[(49_152.0, 1.2e-9), (2_097_152.0, 4e-9)],
        ];
        for levels in machines {
            let found = capacities(&latencies(levels, 600e-9));
            assert_eq!(found.len(), levels.len(), "{found:?}");
            for (found, (size, _)) in found.iter().zip(levels) {
                assert!((found / size - 1.0).abs() < 0.1, "{found} instead of {size}");
            }
        }
    }

    /// Latencies of pointer chains on a server with three caches: no two neighbouring points are alike.
    #[test]
    fn caches_without_plateaus_between_them_are_told_apart() {
        let seen = [
            [1.95, 1.93, 1.96, 1.95, 2.79, 4.07, 4.77, 5.88, 11.5, 14.6, 17.5, 125.0, 153.0, 157.0],
            [2.00, 2.09, 2.19, 3.09, 4.04, 4.31, 5.38, 7.45, 10.2, 14.2, 17.8, 104.0, 132.0, 147.0],
        ];
        for nanoseconds in seen {
            let curve: Vec<(f64, f64)> =
                (12..).zip(nanoseconds).map(|(bits, t)| (f64::from(bits).exp2(), t)).collect();
            let found = capacities(&curve);
            assert_eq!(found.len(), 3, "{found:?}");
            for (found, (least, most)) in found.iter().zip([(15e3, 45e3), (450e3, 1.1e6), (4e6, 8.4e6)]) {
                assert!((least..most).contains(found), "{found}");
            }
        }
    }

    #[test]
    fn a_flat_curve_has_no_capacity() {
        assert_eq!(capacities(&latencies(&[], 100e-9)), Vec::<f64>::new());
        assert_eq!(capacities(&[(1.0, 1.0), (2.0, 1.2), (4.0, 1.2)]), Vec::<f64>::new(), "too small a step");
        assert_eq!(capacities(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_granule_is_the_last_stride_that_costs() {
        let rates = |granule: f64, bound: f64| -> Vec<(f64, f64)> {
            let strides = (3..13).map(|bits| f64::from(bits).exp2());
            strides.map(|stride| (stride, (1.0 / stride.min(granule)).min(bound))).collect()
        };
        for granule_bytes in [16.0, 32.0, 64.0, 128.0, 256.0] {
            assert_eq!(granule(&rates(granule_bytes, 1.0)), Some(granule_bytes as u64));
        }
        assert_eq!(granule(&rates(64.0, 1.0 / 32.0)), Some(64), "bound by something else at first");
        assert_eq!(granule(&rates(8.0, 1.0)), None);
        let mut rows = rates(64.0, 1.0);
        rows.last_mut().expect("a point").1 /= 4.0;
        assert_eq!(granule(&rows), Some(64), "what long strides cost is no line");
    }
}

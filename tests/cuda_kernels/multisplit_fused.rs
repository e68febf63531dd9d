//! The single pass over counted keys, and the reduced-bit sort that is made of such passes: every kernel,
//! every function and distribution, with parts of tiles and of groups of tiles.

use super::prove_all;

/// Around warps, a tile of 4096 · 3 or · 4 keys, and a group of eight tiles.
const SIZES: [u64; 10] = [1, 31, 32, 33, 8191, 8192, 8193, 12_289, 16_385, 66_001];

const FUNCTIONS: [&str; 4] = ["delta-buckets", "identity by.identity.shift=9", "range", "hash"];

const DISTRIBUTIONS: [&str; 5] = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];

const VALUES: [&str; 3] = ["none", "4B", "8B"];

/// Every number of buckets with every kind of value, and the rest in turn.
fn each(method: &str, buckets: &[u64], n: u64) -> Vec<String> {
    let pairs = buckets.iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let words = |(k, (m, values)): (usize, (&u64, &str))| {
        let (by, distribution) = (FUNCTIONS[k % 4], DISTRIBUTIONS[k % 5]);
        format!("keys={n} values={values} buckets={m} by={by} distribution={distribution} method={method}")
    };
    pairs.enumerate().map(words).collect()
}

/// Powers of two, whose buckets are fields of the key.
#[test]
fn fused_fields() {
    let fields = |m| VALUES.map(|values| format!("keys=8200 values={values} buckets={m} method=fused"));
    prove_all("multisplit", &[2, 4, 8, 16, 32, 64, 128, 256].map(fields).concat());
}

#[test]
fn fused_functions() {
    let mut all = each("fused", &[3, 5, 31, 33, 65, 255], 8200);
    all.push("keys=300 values=4B buckets=2 by=prime method=fused".to_owned());
    all.extend(SIZES.map(|n| format!("keys={n} values=4B buckets=7 method=fused")));
    prove_all("multisplit", &all);
}

/// Two rounds by digits, of deltas and of fields: every kernel, parts of tiles, and last keys that have a lower digit than
/// others.
#[test]
fn fused_in_rounds() {
    let words = |(k, (m, values)): (usize, (u64, &str))| {
        let (by, distribution) =
            (["delta-buckets", "identity by.identity.shift=3"][k % 2], DISTRIBUTIONS[k % 5]);
        let n = [8200, 16_385, 300][k % 3];
        format!("keys={n} values={values} buckets={m} by={by} distribution={distribution} method=fused")
    };
    let few = [257, 300, 1000, 1025, 4097, 40_000].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let mut all: Vec<String> = few.enumerate().map(words).collect();
    all.extend([257, 1000, 4095, 20_000].map(|m| format!("keys=8193 buckets={m} method=fused")));
    all.extend([512, 4096, 65_536].map(|m| format!("keys=9001 values=4B buckets={m} method=fused")));
    all.extend(SIZES.map(|n| format!("keys={n} values=8B buckets=257 method=fused")));
    prove_all("multisplit", &all);
}

/// Labels of one digit and of two.
#[test]
fn rb_sort() {
    let mut all = each("rb-sort", &[3, 256, 257, 65_536], 8200);
    all.push("keys=300 values=8B buckets=2 by=prime method=rb-sort".to_owned());
    all.extend([1, 33, 16_385].map(|n| format!("keys={n} values=8B buckets=70 method=rb-sort")));
    prove_all("multisplit", &all);
}

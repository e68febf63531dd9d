//! The single pass over counted keys, and the reduced-bit sort built from such passes: every kernel, every
//! function and distribution, with partial tiles and partial groups of tiles.

use super::host::Host;
use super::{prove, prove_all};

/// Sizes around warps, tiles of 4096 and of 8192 keys, and a group of eight tiles.
const SIZES: [u64; 10] = [1, 31, 33, 4097, 8191, 8192, 8193, 12_289, 16_385, 66_001];

/// Sizes one larger than a group of the largest tiles, for keys and for pairs.
const GROUPS: [&str; 2] =
    ["keys=98305 buckets=256 method=fused", "keys=131073 values=4B buckets=128 method=fused"];

const FUNCTIONS: [&str; 4] = ["delta-buckets", "identity by.identity.shift=9", "range", "hash"];

const DISTRIBUTIONS: [&str; 5] = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];

const VALUES: [&str; 3] = ["none", "4B", "8B"];

/// Every number of buckets with every kind of value; functions and distributions take turns.
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
    all.extend(GROUPS.map(str::to_owned));
    prove_all("multisplit", &all);
}

/// On a GPU without bulk copies, warps store the runs.
#[test]
fn fused_by_warps() {
    let Some(host) = Host::new() else { return };
    host.capability(8);
    let many = [2, 3, 8, 64, 256, 300].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    for (m, values) in many {
        prove("multisplit", &format!("keys=16500 values={values} buckets={m} method=fused"));
        assert_eq!(host.strayed(), 0, "{m} {values}");
    }
    for words in ["buckets=33 values=8B by=hash method=fused", "buckets=300 values=4B method=rb-sort"] {
        prove("multisplit", &format!("keys=8200 {words}"));
        assert_eq!(host.strayed(), 0, "{words}");
    }
}

/// Two rounds by digits of delta-buckets: every kernel, partial tiles, and last keys with a lower digit than
/// others.
#[test]
fn fused_in_rounds() {
    let words = |(k, (m, values)): (usize, (u64, &str))| {
        let (n, distribution) = (if m < 2000 { 1000 } else { 300 }, DISTRIBUTIONS[k % 5]);
        format!("keys={n} values={values} buckets={m} distribution={distribution} method=fused")
    };
    let few = [257, 1025, 4097, 16_400].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let mut all: Vec<String> = few.enumerate().map(words).collect();
    all.extend([1, 31, 32, 33, 8191, 8192, 8193].map(|n| format!("keys={n} buckets=300 method=fused")));
    prove_all("multisplit", &all);
}

/// Two rounds for fields, whose digits are themselves fields.
#[test]
fn fused_fields_in_rounds() {
    let fields = ["delta-buckets", "identity", "identity by.identity.shift=3"].into_iter().cycle();
    let cases = [(257, 1000), (512, 8193), (1000, 300), (4096, 1000), (65_536, 300)].into_iter().zip(fields);
    let words = |((m, n), by)| format!("keys={n} values=4B buckets={m} by={by} method=fused");
    prove_all("multisplit", &cases.map(words).collect::<Vec<_>>());
}

/// Labels of one digit and of two.
#[test]
fn rb_sort() {
    let mut all = each("rb-sort", &[3, 256, 257, 65_536], 8200);
    all.push("keys=300 values=8B buckets=2 by=prime method=rb-sort".to_owned());
    all.extend([1, 33, 16_385].map(|n| format!("keys={n} values=8B buckets=70 method=rb-sort")));
    prove_all("multisplit", &all);
}

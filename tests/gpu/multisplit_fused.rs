//! The single pass over counted keys, and the reduced-bit sort built from such passes: every kernel, every
//! function and distribution, with partial tiles and partial groups of tiles.

use crate::host::Host;
use crate::prove::{prove_all, prove_on};

/// Sizes around warps, tiles of 4096 and of 8192 keys, and a group of eight tiles.
const SIZES: [u64; 10] = [1, 31, 33, 4097, 8191, 8192, 8193, 12_289, 16_385, 66_001];

/// Sizes one larger than a group of the largest tiles, for keys and for pairs.
const GROUPS: [&str; 2] = ["keys=98305 buckets=256", "keys=131073 values=4B buckets=128"];

/// The method in three launches, and in one.
const THREE: &str = "method=fused method.fused.launches=three";
const ONE: &str = "method=fused method.fused.launches=one";

const FUNCTIONS: [&str; 4] = ["delta-buckets", "identity by.identity.shift=9", "range", "hash"];

/// Those whose tiles stay on chip; delta-buckets take turns with all kinds of values.
const KEEPS: [&str; 4] = ["delta-buckets", "identity by.identity.shift=9", "hash", "delta-buckets"];

const DISTRIBUTIONS: [&str; 5] = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];

const VALUES: [&str; 3] = ["none", "4B", "8B"];

/// Every number of buckets with every kind of value; functions and distributions take turns.
fn each(method: &str, buckets: &[u64], n: u64) -> Vec<String> {
    each_of(&FUNCTIONS, method, buckets, n)
}

fn each_of(functions: &[&str], method: &str, buckets: &[u64], n: u64) -> Vec<String> {
    let pairs = buckets.iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let words = |(k, (m, values)): (usize, (&u64, &str))| {
        let (by, distribution) = (functions[k % functions.len()], DISTRIBUTIONS[k % 5]);
        format!("keys={n} values={values} buckets={m} by={by} distribution={distribution} {method}")
    };
    pairs.enumerate().map(words).collect()
}

/// Every power of two with every kind of value, each of which has kernels of its own.
fn powers(rest: &str) -> Vec<String> {
    let powers = [2, 4, 8, 16, 32, 64, 128, 256].into_iter();
    let words = |(m, values)| format!("values={values} buckets={m} {THREE} {rest}");
    powers.flat_map(|m| VALUES.map(|values| (m, values))).map(words).collect()
}

/// Buckets that are fields of the key.
#[test]
pub fn fused_fields() {
    prove_all("multisplit", &powers("keys=8200"));
}

#[test]
pub fn fused_functions() {
    let mut all = each(THREE, &[3, 5, 31, 33, 65, 255], 8200);
    all.push(format!("keys=300 values=4B buckets=2 by=prime {THREE}"));
    all.extend(SIZES.map(|n| format!("keys={n} values=4B buckets=7 {THREE}")));
    all.extend(GROUPS.map(|words| format!("{words} {THREE}")));
    all.extend(powers("keys=8200 by=hash"));
    prove_all("multisplit", &all);
}

/// Any number of delta-buckets, whose numbers are digits, around the sizes of warps and of tiles.
#[test]
pub fn fused_deltas() {
    let sizes = [1, 31, 32, 33, 4095, 4096, 4097, 8191, 8193, 16_385];
    let all = [3, 5, 7, 31, 33, 100, 129, 255].into_iter().enumerate().flat_map(|(k, m)| {
        sizes.iter().enumerate().map(move |(j, n)| {
            let (values, distribution) = (VALUES[(j + k) % 3], DISTRIBUTIONS[(j + k) % 5]);
            let launches = [THREE, ONE][(j + k) % 2];
            format!("keys={n} values={values} buckets={m} distribution={distribution} {launches}")
        })
    });
    let pairs = [3, 40, 70, 200].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let digits = pairs.map(|(m, values)| format!("keys=8200 values={values} buckets={m} {THREE}"));
    prove_all("multisplit", &all.chain(digits).collect::<Vec<_>>());
}

/// Tiles kept on chip: every kernel, function and distribution; one tile, as many as blocks are resident here, more, and
/// more than a group; and two rounds.
#[test]
pub fn fused_in_one_launch() {
    let mut all = each_of(&KEEPS, ONE, &[2, 3, 4, 5, 8, 32, 33, 64, 255, 256], 8200);
    all.extend(each_of(&KEEPS, ONE, &[2, 7, 200], 28_701));
    let sizes = [1, 31, 32, 33, 4095, 4096, 4097, 16_384, 16_385, 65_537, 70_000];
    all.extend(
        sizes.iter().flat_map(|n| [2, 32, 100].map(|m| format!("keys={n} values=4B buckets={m} {ONE}"))),
    );
    let rounds = [(257, 1000), (300, 8193), (1000, 300), (5000, 4097), (65_536, 300)].into_iter();
    all.extend(rounds.map(|(m, n)| format!("keys={n} values=8B buckets={m} {ONE}")));
    prove_all("multisplit", &all);
}

/// On a GPU without bulk copies, warps store the runs.
#[test]
pub fn fused_by_warps() {
    let Some(host) = Host::new() else { return };
    host.capability(8);
    let many = [2, 3, 8, 64, 256, 300].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let fused = |(m, values)| format!("keys=16500 values={values} buckets={m} {THREE}");
    let others =
        [format!("buckets=33 values=8B by=hash {THREE}"), "buckets=300 values=4B method=rb-sort".to_owned()];
    let others = others.map(|words| format!("keys=8200 {words}"));
    let all = many.map(fused).chain(others).chain(powers("keys=4200")).chain(powers("keys=4200 by=hash"));
    prove_on(&host, "multisplit", &all.chain(rounds()).collect::<Vec<_>>());
}

/// Two rounds by digits of deltas: every kernel.
fn rounds() -> Vec<String> {
    let words = |(k, (m, values)): (usize, (u64, &str))| {
        let (n, distribution) = (if m < 2000 { 1000 } else { 300 }, DISTRIBUTIONS[k % 5]);
        format!("keys={n} values={values} buckets={m} distribution={distribution} {THREE}")
    };
    let few = [257, 1025, 4097, 16_400].into_iter().flat_map(|m| VALUES.map(|values| (m, values)));
    few.enumerate().map(words).collect()
}

/// And parts of tiles, and last keys that have a lower digit than others.
#[test]
pub fn fused_in_rounds() {
    let mut all = rounds();
    all.extend([1, 31, 32, 33, 8191, 8192, 8193].map(|n| format!("keys={n} buckets=300 {THREE}")));
    prove_all("multisplit", &all);
}

/// Two rounds for fields, whose digits are themselves fields.
#[test]
pub fn fused_fields_in_rounds() {
    let fields = ["delta-buckets", "identity", "identity by.identity.shift=3"].into_iter().cycle();
    let cases = [(257, 1000), (512, 8193), (1000, 300), (4096, 1000), (65_536, 300)].into_iter().zip(fields);
    let words = |((m, n), by)| format!("keys={n} values=4B buckets={m} by={by} {THREE}");
    prove_all("multisplit", &cases.map(words).collect::<Vec<_>>());
}

/// Labels of one digit and of two.
#[test]
pub fn rb_sort() {
    let mut all = each("method=rb-sort", &[3, 256, 257, 65_536], 8200);
    all.push("keys=300 values=8B buckets=2 by=prime method=rb-sort".to_owned());
    all.extend([1, 33, 16_385].map(|n| format!("keys={n} values=8B buckets=70 method=rb-sort")));
    prove_all("multisplit", &all);
}

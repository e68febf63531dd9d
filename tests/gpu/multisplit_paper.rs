//! The methods of ashkiani2017: every kernel, every function and distribution, with partial windows, tiles and
//! subproblems, and with more than 32 buckets.

use scatterlab::case::{Cancel, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::primitives;

use crate::host::Host;
use crate::prove::{case, prove_all};

/// Sizes around windows, a warp's tile and a block's tile.
const SIZES: [u64; 11] = [1, 31, 32, 33, 127, 128, 129, 255, 257, 895, 1025];

const BUCKETS: [u64; 9] = [2, 3, 31, 32, 33, 64, 255, 256, 16];

const FUNCTIONS: [&str; 4] = ["delta-buckets", "identity by.identity.shift=9", "range", "hash"];

const DISTRIBUTIONS: [&str; 5] = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];

const VALUES: [&str; 3] = ["none", "4B", "8B"];

/// Every number of buckets with every kind of value. Sizes, functions and distributions take turns, so that
/// each combines with the others somewhere.
fn each(method: &str, buckets: &[u64]) -> Vec<String> {
    let pairs = buckets.iter().flat_map(|m| VALUES.map(|values| (m, values)));
    let words = |(k, (m, values)): (usize, (&u64, &str))| {
        let (n, by, distribution) = (SIZES[(7 * k + 10) % 11], FUNCTIONS[k % 4], DISTRIBUTIONS[k % 5]);
        format!("keys={n} values={values} buckets={m} by={by} distribution={distribution} method={method}")
    };
    pairs.enumerate().map(words).collect()
}

/// Every size, alternating between few and many buckets.
fn each_size(method: &str) -> Vec<String> {
    let words = |(n, m)| format!("keys={n} values=4B buckets={m} method={method}");
    SIZES.into_iter().zip([5, 70].into_iter().cycle()).map(words).collect()
}

/// A method with subproblems other than the paper's.
fn cut(method: &str, words: &str, rest: &str) -> String {
    let words: Vec<String> = words.split(' ').map(|word| format!("method.{method}.{word}")).collect();
    format!("method={method} {} {rest}", words.join(" "))
}

/// The bucket function `prime`, which has exactly two buckets.
fn primes(method: &str) -> Vec<String> {
    vec![format!("keys=300 values=4B buckets=2 by=prime method={method}")]
}

#[test]
pub fn dms() {
    prove_all("multisplit", &[each("dms", &BUCKETS), each_size("dms"), primes("dms")].concat());
    let several = "dms method.dms.windows=4";
    prove_all("multisplit", &[each(several, &BUCKETS), each_size(several)].concat());
    let shapes = ["windows=1 warps=1", "windows=9 warps=2", "windows=64 warps=1"];
    let all = shapes.map(|words| cut("dms", words, "keys=1100 values=8B buckets=40"));
    prove_all("multisplit", &all);
}

#[test]
pub fn wms() {
    prove_all("multisplit", &[each("wms", &BUCKETS), each_size("wms"), primes("wms")].concat());
    for rest in ["keys=1100 buckets=32", "keys=2500 values=4B buckets=200 distribution=one-bucket"] {
        let shapes =
            ["windows=8", "windows=1 warps=1 tiles=3", "windows=7 warps=4 tiles=2", "windows=8 tiles=64"];
        prove_all("multisplit", &shapes.map(|words| cut("wms", words, rest)));
    }
    // A full bucket, with nothing before or after it in the tile, fills the counts of windows to their maximum.
    let full = "keys=513 distribution=one-bucket";
    let one = |m: u64| cut("wms", "windows=8", &format!("{full} buckets={m}"));
    prove_all("multisplit", &[2, 7, 32].map(one));
}

#[test]
pub fn bms() {
    prove_all("multisplit", &[each("bms", &BUCKETS), each_size("bms"), primes("bms")].concat());
    for rest in ["keys=1100 buckets=17", "keys=2100 values=8B buckets=129 distribution=skewed"] {
        let shapes =
            ["windows=8 warps=8", "windows=1 warps=1 tiles=3", "windows=7 warps=2 tiles=2", "tiles=64"];
        prove_all("multisplit", &shapes.map(|words| cut("bms", words, rest)));
    }
}

/// Delta-buckets by division, also of widths that are no powers of two.
#[test]
pub fn divisions() {
    let words =
        |(method, m)| format!("keys=1100 buckets={m} by.delta-buckets.found=division method={method}");
    let pairs = ["dms", "wms", "bms"].iter().flat_map(|method| [2, 7, 32, 100, 256].map(|m| (*method, m)));
    prove_all("multisplit", &pairs.map(words).collect::<Vec<_>>());
}

/// An odd and an even number of rounds, and more buckets than in the tests of the other methods.
#[test]
pub fn scan_split() {
    prove_all("multisplit", &[each("scan-split", &[2, 3]), primes("scan-split")].concat());
    prove_all("multisplit", &["keys=1025 values=4B buckets=1000 method=scan-split".to_owned()]);
}

/// Without keys there are no subproblems and no space for their counts; all offsets are 0.
#[test]
pub fn no_keys() {
    let Some(host) = Host::new() else { return };
    let cancel = Cancel::default();
    let few = ["scan-split", "dms", "wms", "bms"].iter().flat_map(|method| [5, 70].map(|m| (*method, m)));
    for (method, m) in few.chain([("fused", 5), ("fused", 257), ("best", 512)]) {
        let case = case("multisplit", &format!("keys=0 buckets={m} method={method}"));
        let mut empty = CudaExecutor::default().prepare(&case, None, &cancel).unwrap();
        empty.sample(1).unwrap();
        assert_eq!(empty.certify(&cancel).unwrap(), Verdict::Certified { checked: 0 }, "{method} {m}");
        let output = empty.read_back().unwrap();
        assert_eq!(primitives::check(&case, &empty.resolved(), &output), Ok(()), "{method} {m}");
        drop(empty);
        assert_eq!(host.strayed(), 0, "{method} {m} writes outside of its arrays");
    }
}

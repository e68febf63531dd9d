//! The scans: every kernel, with one tile or block and with several, and with several levels.

use crate::prove::prove_all;

/// Operators, each with its element types.
fn families() -> impl Iterator<Item = (&'static str, &'static str)> {
    let types = |operator| match operator {
        "add" | "min" | "max" => &["u32", "i32", "u64", "f32", "f64"][..],
        _ => &["u32", "i32", "u64"],
    };
    let operators = ["add", "min", "max", "and", "or", "affine"];
    operators.into_iter().flat_map(move |operator| types(operator).iter().map(move |ty| (operator, *ty)))
}

/// All combinations of kind and direction.
const MANNERS: [&str; 4] = [
    "kind=exclusive direction=forward",
    "kind=inclusive direction=backward",
    "kind=inclusive direction=forward",
    "kind=exclusive direction=backward",
];

const SEGMENTS: [&str; 4] = [
    "segments=constant segments.constant.length=1",
    "segments=random segments.random.mean=40",
    "segments=geometric segments.geometric.mean=17",
    "segments=random segments.random.mean=5000",
];

/// Each family once with the given options; kinds and directions take turns.
fn each_family(elements: u64, rest: &str) -> Vec<String> {
    let words = |((operator, ty), manner): ((&str, &str), &&str)| {
        format!("operator={operator} type={ty} {manner} elements={elements} {rest}")
    };
    families().zip(MANNERS.iter().cycle()).map(words).collect()
}

/// Every kind and direction at sizes around a tile's or a block's.
fn each_manner(family: &str, sizes: &[u64], rest: &str) -> Vec<String> {
    let of_size = |n: &u64| MANNERS.map(|manner| format!("{family} {manner} elements={n} {rest}"));
    sizes.iter().flat_map(of_size).collect()
}

const SUM: &str = "operator=add type=u32";
const COMPOSITION: &str = "operator=affine type=u64";

/// Elements per tile in the single-pass scan, for elements of 4 bytes and of 16.
const TILE: u64 = 5120;
const PAIRS: u64 = TILE / 4;

/// Elements of 4 bytes per short tile, and the most that look-back divides into such.
const SHORT: u64 = 2048;
const MOST_SHORT: u64 = 1 << 17;

#[test]
pub fn one_pass() {
    for method in ["method=spine", "method=lookback"] {
        prove_all("scan", &each_family(TILE + 1, method));
        prove_all("scan", &each_manner(SUM, &[33, TILE, 2 * TILE + 1], method));
        prove_all("scan", &each_manner(COMPOSITION, &[PAIRS, 2 * PAIRS + 3], method));
    }
    prove_all("scan", &each_manner(SUM, &[SHORT, SHORT + 1, MOST_SHORT], "method=lookback"));
    prove_all("scan", &each_family(MOST_SHORT + 1, "method=lookback"));
}

#[test]
pub fn segmented_in_one_pass() {
    for method in ["method=spine", "method=lookback"] {
        prove_all("segmented-scan", &each_family(TILE + 1, &format!("{method} {}", SEGMENTS[1])));
        for segments in SEGMENTS {
            let rest = format!("{method} {segments}");
            prove_all("segmented-scan", &each_manner(SUM, &[1, 2 * TILE - 1], &rest));
            prove_all("segmented-scan", &each_manner(COMPOSITION, &[PAIRS + 3], &rest));
        }
    }
}

/// Two-word descriptors, and more tiles than are examined together.
#[test]
pub fn many_tiles() {
    prove_all("scan", &each_manner(COMPOSITION, &[PAIRS * 66], "method=lookback")[1..2]);
    prove_all("scan", &each_manner(COMPOSITION, &[PAIRS * 40], "method=spine")[1..2]);
}

#[test]
pub fn sengupta2007() {
    for items in [2, 8] {
        let method = format!("method=sengupta2007 method.sengupta2007.elements-per-thread={items}");
        prove_all("scan", &each_family(2100, &method));
        prove_all("scan", &each_manner(SUM, &[1, 256, 257, 70_000], &method));
        prove_all("scan", &each_manner(COMPOSITION, &[1024, 1025], &method));
        for segments in SEGMENTS {
            prove_all("segmented-scan", &each_family(2100, &format!("{method} {segments}"))[..6]);
        }
        let segments = format!("{method} {}", SEGMENTS[1]);
        prove_all("segmented-scan", &each_family(1030, &segments)[6..]);
        prove_all("segmented-scan", &each_manner(SUM, &[1, 256, 70_000], &segments));
        prove_all("segmented-scan", &each_manner(COMPOSITION, &[1025], &segments));
    }
}

/// Every representation of segment heads, with each method.
#[test]
pub fn heads() {
    for heads in ["bytes", "striped", "lengths", "pointers"] {
        for method in ["best", "lookback", "sengupta2007"] {
            for segments in [SEGMENTS[0], SEGMENTS[1], SEGMENTS[3]] {
                let rest = format!("{segments} heads={heads} method={method}");
                prove_all("segmented-scan", &each_manner(SUM, &[1, 128, 1029], &rest)[1..10]);
            }
        }
    }
}

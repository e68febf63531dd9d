//! The primitives built on scan: every kernel with a row, a tile, several tiles and several blocks, and with
//! segments shorter and longer than each of these.

use crate::prove::prove_all;

const SEGMENTS: [&str; 5] = [
    "segments=none",
    "segments=constant segments.constant.length=1",
    "segments=random segments.random.mean=5",
    "segments=random segments.random.mean=300",
    "segments=random segments.random.mean=9000",
];

/// Sizes around a row, a lane's words and a tile.
const SIZES: [u64; 9] = [1, 31, 32, 33, 127, 129, 4095, 4096, 4097];

/// Sizes beyond the tiles of a block that places elements, and of a block that sums tiles.
const LARGE: [u64; 2] = [32_769, 131_073];

/// Combines each size, in turn, with an entry of `more`, one of the segments and an element length; the large
/// sizes use the first entry of `more`.
fn each(segments: &[&str], more: &[&str]) -> Vec<String> {
    let words = |turn: usize, size: u64, more: &str| {
        format!("elements={size} element={} {} {more}", [4, 8][turn % 2], segments[turn % segments.len()])
    };
    let small = SIZES.iter().cycle().take(3 * SIZES.len()).enumerate();
    let small = small.map(|(turn, size)| words(turn, *size, more[turn / 2 % more.len()]));
    let large = LARGE.iter().enumerate().map(|(turn, size)| words(turn + segments.len() - 2, *size, more[0]));
    small.chain(large).collect()
}

fn without_elements(words: Vec<String>) -> Vec<String> {
    words.into_iter().map(|words| words.replace("element=4", "").replace("element=8", "")).collect()
}

const TRUES: [&str; 4] = ["trues=0.5", "trues=0.03", "trues=1.0", "trues=0.0"];

#[test]
pub fn enumerate() {
    prove_all("enumerate", &without_elements(each(&SEGMENTS, &TRUES)));
}

#[test]
pub fn compact() {
    prove_all("compact", &each(&SEGMENTS, &TRUES));
}

#[test]
pub fn distribute() {
    prove_all("distribute", &each(&SEGMENTS, &["direction=forward", "direction=backward"]));
}

#[test]
pub fn split() {
    prove_all("split", &each(&["", ""], &TRUES));
}

#[test]
pub fn split_and_segment() {
    prove_all("split-and-segment", &each(&SEGMENTS[1..], &TRUES));
}

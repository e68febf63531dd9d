//! The parameters of scan and segmented-scan.

use super::spec::MAX_ELEMENTS;
use crate::case::schema::{Default, Kind, Param, Variant};

const OPERATOR: Param = Param {
    name: "operator",
    kind: Kind::Word(&["add", "min", "max", "and", "or", "affine"]),
    default: Default::Is("add"),
    doc: "⊕; and, or: bit by bit, of integers; affine: pairs (a, b) of integers, the functions x ↦ a·x + b one after \
          the other: (a, b) ⊕ (c, d) = (c·a, c·b + d); integers wrap",
};

const TYPE: Param = Param {
    name: "type",
    kind: Kind::Word(&["u32", "i32", "u64", "f32", "f64"]),
    default: Default::Is("u32"),
    doc: "type of an element; affine: of a and of b",
};

const KIND: Param = Param {
    name: "kind",
    kind: Kind::Word(&["exclusive", "inclusive"]),
    default: Default::Is("exclusive"),
    doc: "exclusive: out[i] is made of the elements before i, the first is the identity; inclusive: of i as well",
};

const DIRECTION: Param = Param {
    name: "direction",
    kind: Kind::Word(&["forward", "backward"]),
    default: Default::Is("forward"),
    doc: "backward: from the last element to the first, as if in and out were reversed",
};

const ELEMENTS: Param = Param {
    name: "elements",
    kind: Kind::Count { min: 1, max: MAX_ELEMENTS },
    default: Default::Required,
    doc: "elements of in and of out",
};

const METHOD: Param = Param {
    name: "method",
    kind: Kind::Choice(&[
        Variant::plain("best", "ours: spine on GPUs, lookback on CPUs"),
        Variant::plain(
            "spine",
            "GPUs: one pass over memory: one block, the spine, scans the tiles' sums, while the others wait for one word each",
        ),
        Variant::plain(
            "lookback",
            "one pass over memory: each tile takes the prefix of the tiles before it, on GPUs by decoupled look-back",
        ),
        Variant::plain(
            "two-pass",
            "CPUs: every thread reduces its part, then scans it from the sum of those before",
        ),
        Variant {
            name: "sengupta2007",
            params: &[Param {
                name: "elements-per-thread",
                kind: Kind::Count { min: 2, max: 8 },
                default: Default::Is("2"),
                doc: "2, or 8: Fig. 5's scan, and its fast scan",
            }],
            main: None,
            doc: "GPUs: reduce and down-sweep in blocks of 128 threads, level by level (sengupta2007 Algorithms 1 to 5)",
        },
    ]),
    default: Default::Is("best"),
    doc: "how it is computed",
};

const SEGMENTS: Param = Param {
    name: "segments",
    kind: Kind::Choice(&[
        Variant {
            name: "constant",
            params: &[length("length", "elements of a segment")],
            main: Some("length"),
            doc: "segments of the same length, but for the last",
        },
        Variant {
            name: "random",
            params: &[length("mean", "mean length m; there are ⌈elements/m⌉ segments")],
            main: Some("mean"),
            doc: "a segment begins somewhere in each m elements: lengths from 1 to 2m − 1",
        },
        Variant {
            name: "geometric",
            params: &[length("mean", "mean length m")],
            main: Some("mean"),
            doc: "each element begins a segment with probability 1/m; with flags",
        },
    ]),
    default: Default::Required,
    doc: "the lengths of the segments",
};

const fn length(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Count { min: 1, max: MAX_ELEMENTS }, default: Default::Required, doc }
}

const HEADS: Param = Param {
    name: "heads",
    kind: Kind::Word(&["bits", "bytes", "striped", "lengths", "pointers"]),
    default: Default::Is("bits"),
    doc: "what tells where segments begin: a flag an element as a bit, a byte, or a byte in the paper's stripes; or each \
          segment's length or first element, 4 bytes",
};

/// Parameters of `scan`.
pub const SCAN: &[Param] = &[OPERATOR, TYPE, KIND, DIRECTION, ELEMENTS, METHOD];

/// Parameters of `segmented-scan`.
pub const SEGMENTED: &[Param] = &[OPERATOR, TYPE, KIND, DIRECTION, ELEMENTS, SEGMENTS, HEADS, METHOD];

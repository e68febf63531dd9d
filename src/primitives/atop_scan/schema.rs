//! The parameters of the primitives atop scan.

use super::spec::{MAX_ELEMENTS, Operation};
use crate::case::schema::{Default, Kind, Param, Variant};

const ELEMENTS: Param = Param {
    name: "elements",
    kind: Kind::Count { min: 1, max: MAX_ELEMENTS },
    default: Default::Required,
    doc: "elements of in, each with a flag",
};

const ELEMENT: Param = Param {
    name: "element",
    kind: Kind::Bytes { min: 4, max: 8, accepted: &[4, 8] },
    default: Default::Is("4B"),
    doc: "an element of in",
};

const TRUES: Param = Param {
    name: "trues",
    kind: Kind::Float { min: 0.0, max: 1.0 },
    default: Default::Is("0.5"),
    doc: "the part of the flags that are true: ⌊elements · trues⌋ of them, anywhere",
};

const DIRECTION: Param = Param {
    name: "direction",
    kind: Kind::Word(&["forward", "backward"]),
    default: Default::Is("forward"),
    doc: "forward: from the first element of the segment; backward: from its last",
};

const fn length(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Count { min: 1, max: MAX_ELEMENTS }, default: Default::Required, doc }
}

const NONE: Variant = Variant::plain("none", "no segments: all elements together");
const CONSTANT: Variant = Variant {
    name: "constant",
    params: &[length("length", "elements of a segment")],
    main: Some("length"),
    doc: "segments of the same length, but for the last",
};
const RANDOM: Variant = Variant {
    name: "random",
    params: &[length("mean", "mean length m; there are ⌈elements/m⌉ segments")],
    main: Some("mean"),
    doc: "a segment begins somewhere in each m elements: lengths from 1 to 2m − 1",
};

const SEGMENTS: Param = Param {
    name: "segments",
    kind: Kind::Choice(&[NONE, CONSTANT, RANDOM]),
    default: Default::Is("none"),
    doc: "the lengths of the segments, told by a bit an element",
};

const NEEDED_SEGMENTS: Param =
    Param { kind: Kind::Choice(&[CONSTANT, RANDOM]), default: Default::Required, ..SEGMENTS };

const METHOD: Param = Param {
    name: "method",
    kind: Kind::Choice(&[Variant::plain(
        "two-pass",
        "the bits of each tile or part are summed up and those sums scanned; then each tile goes on from what comes \
         before it, and behind it",
    )]),
    default: Default::Is("two-pass"),
    doc: "how it is computed",
};

/// Those of an operation.
pub const fn params(operation: Operation) -> &'static [Param] {
    match operation {
        Operation::Enumerate => &[ELEMENTS, TRUES, SEGMENTS, METHOD],
        Operation::Compact => &[ELEMENTS, ELEMENT, TRUES, SEGMENTS, METHOD],
        Operation::Distribute => &[ELEMENTS, ELEMENT, DIRECTION, SEGMENTS, METHOD],
        Operation::Split => &[ELEMENTS, ELEMENT, TRUES, METHOD],
        Operation::SplitAndSegment => &[ELEMENTS, ELEMENT, TRUES, NEEDED_SEGMENTS, METHOD],
    }
}

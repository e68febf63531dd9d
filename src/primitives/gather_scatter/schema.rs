//! The parameters of gather and scatter.

use super::partitioned;
use super::spec::{MAX_PARTITIONS, MAX_PASSES};
use crate::case::schema::{Default, Kind, Param, Variant};

const PASSES: Param = Param {
    name: "passes",
    kind: Kind::Count { min: 1, max: MAX_PASSES },
    default: Default::Required,
    doc: "scans of L, each for one chunk of the randomly accessed array (he2007's nChunk)",
};

const SEGMENTS: Param = Param {
    name: "segments",
    kind: Kind::Count { min: 1, max: 1 << 40 },
    default: Default::Required,
    doc: "parts of L, one after another (he2007's #bin)",
};

const DIRECT: Variant = Variant::plain("direct", "one scan of L");

const STREAMING: Variant =
    Variant::plain("streaming", "one scan of L; R_out is written with non-temporal stores, on CPUs");

const MULTIPASS: Variant = Variant {
    name: "multipass",
    params: &[PASSES],
    main: None,
    doc: "several scans of L, each moving the tuples of one chunk (he2007 §3.4)",
};

const SEGMENTED: Variant = Variant {
    name: "segmented",
    params: &[SEGMENTS, PASSES],
    main: None,
    doc: "the multi-pass scheme on each segment of L (he2007 Fig. 10)",
};

const PARTITIONED: Variant = Variant {
    name: "partitioned",
    params: &[
        Param {
            name: "bits",
            kind: Kind::Count { min: 1, max: partitioned::MAX_BITS },
            default: Default::Unset,
            doc: "high bits of a location that tell the chunks of R_out apart; unset: as few as let a chunk fit \
                  fast memory",
        },
        Param {
            name: "passes",
            kind: Kind::Count { min: 1, max: partitioned::MAX_PASSES },
            default: Default::Unset,
            doc: "passes that partition by those bits; unset: as few as keep a pass's buffers in fast memory",
        },
    ],
    main: None,
    doc: "L and R_in are partitioned by the high bits of L, then written chunk by chunk",
};

const AUTO: Variant = Variant::plain(
    "auto",
    "the method that the model `sector` expects to be the fastest, from the device's profile",
);

const TUPLES: Param = Param {
    name: "tuples",
    kind: Kind::Count { min: 1, max: 1 << 40 },
    default: Default::RequiredUnless { key: "locations", variants: &["file", "list"] },
    doc: "tuples of R_in and R_out, and locations (he2007's n); with locations of one's own, tuples on the side \
          that they address: unset, the largest location + 1",
};

const TUPLE: Param = Param {
    name: "tuple",
    kind: Kind::Bytes { min: 4, max: 32, accepted: &[4, 8, 16, 32] },
    default: Default::Is("8B"),
    doc: "size of a tuple (he2007's z)",
};

const INDEX: Param = Param {
    name: "index",
    kind: Kind::Bytes { min: 4, max: 8, accepted: &[4, 8] },
    default: Default::Is("4B"),
    doc: "size of a location",
};

const SEQUENTIAL: Variant = Variant::plain("sequential", "L[i] = i");
const RANDOM: Variant = Variant::plain("random", "a pseudo-random permutation");

const PARTITIONS: Variant = Variant {
    name: "partitions",
    params: &[Param {
        name: "count",
        kind: Kind::Count { min: 1, max: MAX_PARTITIONS },
        default: Default::Required,
        doc: "partitions (he2007's p)",
    }],
    main: Some("count"),
    doc: "each tuple in a random partition, in order within it (he2007 §3.5)",
};

const ZIPF: Variant = Variant {
    name: "zipf",
    params: &[Param {
        name: "exponent",
        kind: Kind::Float { min: 0.0, max: 16.0 },
        default: Default::Required,
        doc: "the tuple of rank r is drawn in proportion to r^-exponent",
    }],
    main: Some("exponent"),
    doc: "independent draws, a few tuples hot",
};

const FILE: Variant = Variant {
    name: "file",
    params: &[
        Param {
            name: "path",
            kind: Kind::Text,
            default: Default::Required,
            doc: "a .npy file, a text or raw 64-bit words, or one of these as .gz; relative to the recipe's folder",
        },
        Param {
            name: "column",
            kind: Kind::Text,
            default: Default::Unset,
            doc: "the column of a table with a header line",
        },
    ],
    main: Some("path"),
    doc: "an index array in a file",
};

const LIST: Variant = Variant {
    name: "list",
    params: &[Param {
        name: "indices",
        kind: Kind::Indices { max_length: 1 << 16 },
        default: Default::Required,
        doc: "the locations",
    }],
    main: Some("indices"),
    doc: "an index array in the recipe",
};

const fn method(variants: &'static [Variant]) -> Param {
    Param {
        name: "method",
        kind: Kind::Choice(variants),
        default: Default::Is("direct"),
        doc: "how it is computed",
    }
}

const fn locations(variants: &'static [Variant]) -> Param {
    Param {
        name: "locations",
        kind: Kind::Choice(variants),
        default: Default::Is("random"),
        doc: "the distribution of L",
    }
}

/// Parameters of `gather`.
pub const GATHER: &[Param] = &[
    method(&[DIRECT, STREAMING, MULTIPASS, SEGMENTED, AUTO]),
    TUPLES,
    TUPLE,
    INDEX,
    locations(&[SEQUENTIAL, RANDOM, PARTITIONS, ZIPF, FILE, LIST]),
];

/// Parameters of `scatter`.
pub const SCATTER: &[Param] = &[
    method(&[DIRECT, MULTIPASS, SEGMENTED, PARTITIONED, AUTO]),
    TUPLES,
    TUPLE,
    INDEX,
    locations(&[SEQUENTIAL, RANDOM, PARTITIONS, FILE, LIST]),
];

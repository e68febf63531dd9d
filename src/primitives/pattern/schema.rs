//! The parameters of pattern.

use crate::case::reader::MAX_BYTES;
use crate::case::schema::{Default, Kind, Param, Variant};
use crate::inputs::applications;
use crate::inputs::generators::MAX_LENGTH;

const MAX_INDEX: u64 = MAX_BYTES / 8;
/// Longest list of indices, in a recipe or in a file.
pub const LONGEST_LIST: usize = 1 << 16;
const LIST: Kind = Kind::Indices { max_length: LONGEST_LIST };

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Required, doc }
}

const fn unset(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Unset, doc }
}

const fn count(max: u64) -> Kind {
    Kind::Count { min: 1, max }
}

const SOURCES: &[Variant] = &[
    Variant {
        name: "uniform",
        params: &[
            required("length", count(MAX_LENGTH), "indices"),
            required("stride", count(MAX_INDEX), "from one index to the next, in elements"),
        ],
        main: None,
        doc: "UNIFORM: p[i] = i·stride (lavin2020 §3.3.1)",
    },
    Variant {
        name: "ms1",
        params: &[
            required("length", count(MAX_LENGTH), "indices"),
            required("breaks", LIST, "positions of the gaps, ascending"),
            required("gaps", LIST, "the gap of each break, or one for all"),
        ],
        main: None,
        doc: "MS1: mostly stride 1, with gaps at breaks (lavin2020 §3.3.2)",
    },
    Variant {
        name: "laplacian",
        params: &[
            required("dimensions", count(62), "dimensions of the grid"),
            required("length", count(MAX_LENGTH), "points of a branch of the stencil"),
            required("size", count(MAX_INDEX), "edge of the grid"),
        ],
        main: None,
        doc: "LAPLACIAN: a stencil of 2·dimensions·length + 1 points (lavin2020 §3.3.3)",
    },
    Variant {
        name: "custom",
        params: &[required("indices", LIST, "the pattern")],
        main: Some("indices"),
        doc: "a list of indices",
    },
    Variant {
        name: "file",
        params: &[
            required(
                "path",
                Kind::Text,
                "a .npy file, a text or raw 64-bit words, or one of these as .gz; relative to the recipe's folder",
            ),
            unset("column", Kind::Text, "the column of a table with a header line"),
        ],
        main: Some("path"),
        doc: "a list of indices in a file",
    },
    Variant {
        name: "app",
        params: &[required("name", Kind::Word(&applications::NAMES), "name in lavin2020's Table 5")],
        main: Some("name"),
        doc: "a pattern of an application (lavin2020 Table 5)",
    },
];

const KERNELS: Kind = Kind::Word(&["gather", "scatter", "gs", "multigather", "multiscatter"]);

const METHODS: Kind = Kind::Choice(&[
    Variant::plain("direct", "every store of the definition happens"),
    Variant::plain("read-only", "gathers fold what they read into a register and store nothing"),
    Variant::plain("global", "gathers on GPUs: all blocks store to one dense array, in global memory"),
    Variant::plain("atomic", "scatter, gs and multiscatter on GPUs: every store is an atomic exchange"),
]);

const DELTA: Kind =
    Kind::CountOr { min: 0, max: MAX_INDEX, words: &["default", "no-reuse"], list: LONGEST_LIST };

/// Parameters of `pattern`.
pub const PARAMS: &[Param] = &[
    unset("kernel", KERNELS, "Spatter's kernel; unset: what an application's letter says, else gather"),
    unset("source", Kind::Inline(SOURCES), "the pattern; for multigather and multiscatter the outer one"),
    unset("gather", Kind::Choice(SOURCES), "gs: the pattern that reads; multigather: the inner pattern"),
    unset("scatter", Kind::Choice(SOURCES), "gs: the pattern that writes; multiscatter: the inner pattern"),
    Param {
        name: "delta",
        kind: DELTA,
        default: Default::Is("default"),
        doc: "elements from one use of the pattern to the next; default: the application's, 1 for laplacian, \
              else 8; no-reuse: length·stride for uniform, else largest index + 1; a list: use i starts at the \
              sum of its first i deltas, the list repeated",
    },
    unset("delta-gather", Kind::Count { min: 0, max: MAX_INDEX }, "gs: delta of the reads; unset: 8"),
    unset("delta-scatter", Kind::Count { min: 0, max: MAX_INDEX }, "gs: delta of the writes; unset: 8"),
    Param {
        name: "wrap",
        kind: count(MAX_INDEX),
        default: Default::Is("1"),
        doc: "uses of the pattern that have a tile of the dense array each before the first tile is used again",
    },
    unset("count", count(MAX_INDEX), "uses of the pattern"),
    unset(
        "footprint",
        Kind::Bytes { min: 8, max: MAX_BYTES, accepted: &[] },
        "as many uses as fit into a sparse array of this size",
    ),
    unset(
        "traffic",
        Kind::Bytes { min: 8, max: MAX_BYTES, accepted: &[] },
        "as many uses as move this many bytes",
    ),
    Param {
        name: "index",
        kind: Kind::Bytes { min: 4, max: 8, accepted: &[4, 8] },
        default: Default::Is("4B"),
        doc: "size of an index of the pattern",
    },
    unset(
        "visits",
        Kind::Word(&["sequential", "random"]),
        "the order of the uses; unset: sequential; random: a permutation drawn from the seed",
    ),
    unset(
        "fence",
        Kind::Word(&["none", "release"]),
        "cpu: what each thread ends an execution with, inside the timed region; unset: none",
    ),
    unset("label", Kind::Text, "a name for charts; it changes nothing that is measured"),
    Param { name: "method", kind: METHODS, default: Default::Is("direct"), doc: "how it is computed" },
];

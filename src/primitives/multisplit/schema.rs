//! The parameters of multisplit.

use super::spec::{MAX_BUCKETS, MAX_KEYS};
use super::subproblems::{DIRECT_WINDOWS, TILES, WARPS, WINDOWS};
use crate::case::schema::{Default, Kind, Param, Variant};

const SHIFT: Param = Param {
    name: "shift",
    kind: Kind::Count { min: 0, max: 31 },
    default: Default::Is("0"),
    doc: "lowest bit of the field",
};

const ALPHA: Param = Param {
    name: "alpha",
    kind: Kind::Float { min: 0.0, max: 1.0 },
    default: Default::Is("0.25"),
    doc: "share of the keys that are uniform",
};

const BY: Param = Param {
    name: "by",
    kind: Kind::Choice(&[
        Variant::plain("delta-buckets", "⌊u/Δ⌋ with Δ = ⌈2^32/m⌉: buckets of the same width"),
        Variant {
            name: "identity",
            params: &[SHIFT],
            main: Some("shift"),
            doc: "the ⌈log2 m⌉ bits of the key from `shift` on",
        },
        Variant::plain("range", "between random splitters, a search for every key"),
        Variant::plain("hash", "a hash of the key, scaled to the buckets"),
        Variant::plain("prime", "primes before all others; 2 buckets (ashkiani2017 Fig. 1)"),
    ]),
    default: Default::Is("delta-buckets"),
    doc: "a key's bucket as a function of the key",
};

const DISTRIBUTION: Param = Param {
    name: "distribution",
    kind: Kind::Choice(&[
        Variant::plain("uniform", "every bucket is as likely"),
        Variant {
            name: "alpha-uniform",
            params: &[ALPHA],
            main: Some("alpha"),
            doc: "so many keys are uniform, the others in one random bucket (ashkiani2017 §6.4)",
        },
        Variant::plain("binomial", "B(m − 1, 1/2) (ashkiani2017 §6.4)"),
        Variant::plain("skewed", "each bucket half as likely as the one before"),
        Variant::plain("one-bucket", "all keys in one random bucket"),
    ]),
    default: Default::Is("uniform"),
    doc: "how the keys are distributed among the buckets",
};

const METHOD: Param = Param {
    name: "method",
    kind: Kind::Choice(&[
        Variant::plain(
            "best",
            "ours: on CPUs write-combining; on GPUs fused, but rb-sort of keys alone among more than 4 splitters, and by \
             splitters or hashes above 256 buckets",
        ),
        Variant::plain("direct", "CPUs: every thread counts its keys, then stores each where it belongs"),
        Variant::plain(
            "write-combining",
            "CPUs: the same, but keys of a bucket gather in cache and leave it in whole lines by streaming stores",
        ),
        Variant::plain(
            "scan-split",
            "GPUs: a stable split in two by each bit of the buckets' numbers, with a scan of flags (ashkiani2017 §3.2)",
        ),
        Variant::plain(
            "rb-sort",
            "GPUs: a radix sort of the buckets' numbers, with key, pair or a pair's place (ashkiani2017 §3.3)",
        ),
        Variant::plain(
            "fused",
            "GPUs: a count of every tile, then one pass that reorders tiles and stores their runs; above 256 buckets \
             two rounds by digits of the number of a delta-bucket or field (ashkiani2017 §6.3)",
        ),
        Variant {
            name: "dms",
            params: &[WARPS, DIRECT_WINDOWS],
            main: None,
            doc: "GPUs: warps count their windows by voting, a scan, warps store (ashkiani2017 Algorithm 1); up to 256 buckets",
        },
        Variant {
            name: "wms",
            params: &[WARPS, WINDOWS, TILES],
            main: None,
            doc: "GPUs: as dms, but a warp orders the keys of a tile by their buckets before it stores them (§5.6.1)",
        },
        Variant {
            name: "bms",
            params: &[WARPS, WINDOWS, TILES],
            main: None,
            doc: "GPUs: as wms, but subproblems and tiles are blocks' (§5.6.2)",
        },
    ]),
    default: Default::Is("best"),
    doc: "how it is computed",
};

/// Parameters of `multisplit`.
pub const PARAMS: &[Param] = &[
    Param {
        name: "keys",
        kind: Kind::Count { min: 1, max: MAX_KEYS },
        default: Default::Required,
        doc: "u32 keys (ashkiani2017's n)",
    },
    Param {
        name: "values",
        kind: Kind::Word(&["none", "4B", "8B"]),
        default: Default::Is("none"),
        doc: "keys alone, or each with a value of this size",
    },
    Param {
        name: "buckets",
        kind: Kind::Count { min: 2, max: MAX_BUCKETS },
        default: Default::Required,
        doc: "buckets (ashkiani2017's m)",
    },
    BY,
    DISTRIBUTION,
    METHOD,
];

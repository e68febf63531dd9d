//! Assigns cases to lines of ashkiani2017's Figs. 6 and 7.

use crate::case::Cache;
use crate::case::tuning::Tuning;
use crate::primitives::multisplit::methods::localised::Subproblems;
use crate::primitives::multisplit::{By, Distribution, Method, Spec};
use crate::run::Record;

/// A method of multisplit, or a sort as an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Dms,
    Wms,
    Bms,
    RbSort,
    /// Methods of this project.
    Fused,
    ScanSplit,
    /// CUB's radix sort by the bits of the bucket.
    Bits,
    /// CUB's radix sort by the whole key, the baseline of speed-ups.
    Whole,
}

impl Line {
    pub const ALL: [Line; 8] = [
        Line::Dms,
        Line::Wms,
        Line::Bms,
        Line::RbSort,
        Line::Fused,
        Line::ScanSplit,
        Line::Bits,
        Line::Whole,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Line::Dms => "DMS",
            Line::Wms => "WMS",
            Line::Bms => "BMS",
            Line::RbSort => "RB-sort",
            Line::Fused => "fused",
            Line::ScanSplit => "scan-based splits",
            Line::Bits => "CUB radix sort, bits of the bucket",
            Line::Whole => "CUB radix sort, whole keys",
        }
    }
}

/// The subject of a point in these figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    pub line: Line,
    /// Bytes of a value.
    pub value: u64,
    pub keys: u64,
    pub buckets: u64,
}

impl Split {
    /// The split of a case that matches the paper: uniform keys among delta-buckets, the paper's subproblems,
    /// default tuning (§6).
    pub fn of(record: &Record) -> Option<Split> {
        let case = &record.case;
        if case.primitive != "multisplit"
            || case.params.text(Cache::KEY) == Some("cold")
            || Tuning::of(&case.params) != Ok(Tuning::default())
        {
            return None;
        }
        let spec = Spec::from_params(&case.params, case.seed).ok()?;
        let ordinary = (spec.by, spec.distribution) == (By::DeltaBuckets, Distribution::Uniform);
        let line = match case.peer() {
            Some(peer) if peer.name == "cub-sort" => Line::Whole,
            Some(peer) if peer.name == "cub-radix-sort" => Line::Bits,
            Some(_) => return None,
            None => line(&spec)?,
        };
        let split = Split { line, value: spec.value, keys: spec.keys, buckets: spec.buckets };
        ordinary.then_some(split)
    }

    pub fn words(self) -> String {
        format!("{} of {} {} among {} buckets", self.line.name(), self.keys, things(self.value), self.buckets)
    }
}

/// `keys`, or `pairs` of keys and values.
pub fn things(value: u64) -> &'static str {
    if value == 0 { "keys" } else { "pairs" }
}

fn line(spec: &Spec) -> Option<Line> {
    let shape = Subproblems::of(spec);
    let published = shape == Subproblems::papers(shape.localisation, spec.value, spec.buckets);
    match spec.method {
        Method::Direct | Method::Best | Method::WriteCombining => None,
        Method::ScanSplit => Some(Line::ScanSplit),
        Method::RbSort => Some(Line::RbSort),
        Method::Fused => Some(Line::Fused),
        Method::Dms { .. } => published.then_some(Line::Dms),
        Method::Wms { .. } => published.then_some(Line::Wms),
        Method::Bms { .. } => published.then_some(Line::Bms),
    }
}

//! The methods of multisplit, each of GPUs in a file that states what it does, its passes over memory and its code. Those
//! of CPUs share all but one loop.

mod fused;
pub mod localised;
mod rb_sort;
mod scan_split;

use super::tiles::{Launches, MOST_BUCKETS, MOST_KEPT, keeps, launches};
use super::work::{ENDS, LINE, moved, read_keys};
use super::{By, KEY, Spec};
use crate::case::table::{choice, count, count_or};
use crate::case::work::{Order, Pass};
use crate::case::{Refusal, Value};
use crate::primitives::{Costs, OF_CPUS, OF_GPUS};

const MOST_WARPS: u64 = 8;
const MOST_TILES: u64 = 64;
/// Upper limit on the windows per warp in a tile: a thread keeps one key of each window.
const MOST_WINDOWS: u64 = 8;
/// Upper limit on the windows per subproblem of dms, which has no tiles.
const MOST_DIRECT_WINDOWS: u64 = 64;

const AUTO: &[&str] = &["auto"];

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// ours: write-combining on CPUs; fused on GPUs, except rb-sort for `range` with more than 4 buckets and no
        /// values, and for `range` or `hash` with more than 256 buckets
        Best = "best",
        /// CPUs: every thread counts its keys, then stores each where it belongs
        Direct = "direct",
        /// CPUs: as direct, but the keys of a bucket are collected in cache and leave it as whole lines, by streaming
        /// stores
        WriteCombining = "write-combining",
        /// GPUs: a stable two-way split by each bit of the bucket numbers, with a scan of flags (ashkiani2017 §3.2)
        ScanSplit = "scan-split",
        /// GPUs: a radix sort of the bucket numbers, which carry the key, the pair or the pair's place (ashkiani2017
        /// §3.4)
        RbSort = "rb-sort",
        /// GPUs: every tile is counted, then one pass reorders the tiles and stores their runs, for few keys in the same
        /// launch; above 256 buckets, delta-buckets and identity take two rounds, each by a digit of the bucket number
        /// (ashkiani2017 §6.3)
        Fused = "fused" main "launches" {
            /// launches of a split: three, or one that keeps the tiles on chip between their count and their placement, for up
            /// to 1048576 keys by delta-buckets, identity or hash; unset: one for these
            launches: Option<Launches> = unset,
        },
        /// GPUs, up to 256 buckets: warps count their windows by voting, the counts are scanned, and the warps store
        /// (ashkiani2017 Algorithm 1)
        Dms = "dms" {
            /// warps per block, a power of two; auto: 8, as in the paper, or 4 for key-only bms with at most 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys in a warp's subproblem; auto: 1, as the times of the paper's scans imply (Table 4)
            windows: Option<u64> [count_or(1, MOST_DIRECT_WINDOWS, AUTO)] = "auto",
        },
        /// GPUs: as dms, but a warp orders the keys of a tile by bucket before it stores them (§5.6.1)
        Wms = "wms" {
            /// warps per block, a power of two; auto: 8, as in the paper, or 4 for key-only bms with at most 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys in a warp's share of a tile; auto: 4, as in the paper, or 7 for key-only bms with at
            /// most 32 buckets
            windows: Option<u64> [count_or(1, MOST_WINDOWS, AUTO)] = "auto",
            /// tiles in the subproblem of a warp (wms) or block (bms), processed one after another
            tiles: u64 [count(1, MOST_TILES)] = "1",
        },
        /// GPUs: as wms, but a subproblem and its tiles belong to a block (§5.6.2)
        Bms = "bms" {
            /// warps per block, a power of two; auto: 8, as in the paper, or 4 for key-only bms with at most 32 buckets
            warps: Option<u64> [count_or(1, MOST_WARPS, AUTO)] = "auto",
            /// windows of 32 keys in a warp's share of a tile; auto: 4, as in the paper, or 7 for key-only bms with at
            /// most 32 buckets
            windows: Option<u64> [count_or(1, MOST_WINDOWS, AUTO)] = "auto",
            /// tiles in the subproblem of a warp (wms) or block (bms), processed one after another
            tiles: u64 [count(1, MOST_TILES)] = "1",
        },
    }
}

/// The method that `best` stands for. A reduced-bit sort evaluates the bucket function once per key, and fused twice. Among
/// splitters the second evaluation costs more than labels of keys without values do (on an H200 from 8 buckets on). In
/// its rounds, fused needs the digits of the bucket's number, which only some functions provide.
pub fn best(spec: &Spec) -> Method {
    match spec.by {
        _ if !spec.backend.is_cuda() => Method::WriteCombining,
        By::Range if spec.value == 0 && spec.buckets > 4 => Method::RbSort,
        By::Range | By::Hash if spec.buckets > MOST_BUCKETS => Method::RbSort,
        _ => Method::Fused { launches: None },
    }
}

/// Refuses what a method does not have.
///
/// # Errors
/// Those refusals.
pub fn check(spec: &Spec) -> Result<(), Refusal> {
    let not_applicable = |reason: String| Err(Refusal::NotApplicable(reason));
    let of_paper = matches!(spec.method, Method::Dms { .. } | Method::Wms { .. } | Method::Bms { .. });
    let of_cpus = matches!(spec.method, Method::Direct | Method::WriteCombining);
    match spec.method {
        Method::Dms { warps: Some(warps), .. }
        | Method::Wms { warps: Some(warps), .. }
        | Method::Bms { warps: Some(warps), .. }
            if !warps.is_power_of_two() =>
        {
            let key = format!("method.{}.warps", spec.method.name());
            Err(Refusal::invalid(key, format!("{warps} is not a power of two")))
        }
        _ if of_cpus && spec.backend.is_cuda() => not_applicable(OF_CPUS.to_owned()),
        _ if !of_cpus && spec.backend.is_cpu() => not_applicable(OF_GPUS.to_owned()),
        _ if spec.divides() && !of_paper => {
            not_applicable("only dms, wms and bms find delta-buckets by division".to_owned())
        }
        _ if of_paper && spec.buckets > MOST_BUCKETS => not_applicable(format!(
            "warps keep the counts of at most {MOST_BUCKETS} buckets; fused and rb-sort take more"
        )),
        Method::Fused { launches: Some(Launches::One) } if spec.keys > MOST_KEPT => {
            not_applicable(format!("one launch keeps at most {MOST_KEPT} keys on chip; three take more"))
        }
        Method::Fused { launches: Some(Launches::One) } if !keeps(spec.by) => not_applicable(
            "one launch takes delta-buckets, identity and hash; three take any function".to_owned(),
        ),
        Method::Fused { .. } if !fused::has_digits(spec) => {
            let digits = "above 256 buckets, fused splits by digits of the bucket number, which this bucket function \
                          cannot compute separately; use rb-sort, which keeps the whole number";
            not_applicable(digits.to_owned())
        }
        _ => Ok(()),
    }
}

/// The parameters that methods choose, with their full keys.
pub fn sizes(spec: &Spec) -> Vec<(String, u64)> {
    match spec.method {
        Method::Fused { .. } => fused::sizes(spec),
        Method::Dms { .. } | Method::Wms { .. } | Method::Bms { .. } => localised::sizes(spec),
        _ => Vec::new(),
    }
}

/// The word that a method chooses, with its full key.
pub fn chosen(spec: &Spec) -> Option<(String, Value)> {
    let word = || Value::Text(launches(spec).name().to_owned());
    (spec.method == Method::Fused { launches: None }).then(|| ("method.fused.launches".to_owned(), word()))
}

/// True if a processor's stores are combined.
pub fn combines(spec: &Spec) -> bool {
    spec.method == Method::WriteCombining
}

/// The methods of CPUs: every thread counts its keys of each bucket, then stores each where it belongs. By `direct` it
/// does so at once; by `write-combining` keys of a bucket gather in cache and leave it in whole lines by streaming stores.
fn counting(spec: &Spec) -> Costs<'_> {
    let partitions = spec.buckets;
    let order = match combines(spec) {
        true => Order::Staged { partitions, tile: LINE / KEY * partitions },
        false => Order::Partitions { partitions },
    };
    Costs::of(vec![Pass::once([read_keys(spec)]), moved(spec.keys, spec.value, ENDS, order)])
}

/// The costs of a case by its method.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match spec.method {
        Method::Direct | Method::Best | Method::WriteCombining => counting(spec),
        Method::ScanSplit => scan_split::costs(spec),
        Method::RbSort => rb_sort::costs(spec),
        Method::Fused { .. } => fused::costs(spec),
        Method::Dms { .. } | Method::Wms { .. } | Method::Bms { .. } => localised::costs(spec),
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, fused, localised, rb_sort, scan_split};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::multisplit::Spec;
    use crate::primitives::multisplit::cuda::Stages;
    use crate::primitives::of_cpus;

    /// The kernels that an execution launches, with bulk copies or without.
    ///
    /// # Errors
    /// A method of CPUs.
    pub fn kernels(spec: &Spec, bulk: bool) -> Result<KernelList, Failure> {
        match spec.method {
            Method::Direct | Method::Best | Method::WriteCombining => Err(of_cpus()),
            Method::ScanSplit => Ok(scan_split::cuda::kernels(spec)),
            Method::RbSort => Ok(rb_sort::cuda::kernels(spec, bulk)),
            Method::Fused { .. } => Ok(fused::cuda::kernels(spec, bulk)),
            Method::Dms { .. } | Method::Wms { .. } | Method::Bms { .. } => {
                Ok(localised::cuda::kernels(spec))
            }
        }
    }

    /// The method of a case.
    ///
    /// # Errors
    /// A method of CPUs, missing memory, a block that does not fit on a multiprocessor, and errors of the driver.
    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<Stages, Failure> {
        match spec.method {
            Method::Direct | Method::Best | Method::WriteCombining => Err(of_cpus()),
            Method::ScanSplit => scan_split::cuda::method(gpu, spec),
            Method::RbSort => rb_sort::cuda::method(gpu, spec),
            Method::Fused { .. } => fused::cuda::method(gpu, spec),
            Method::Dms { .. } | Method::Wms { .. } | Method::Bms { .. } => {
                localised::cuda::method(gpu, spec)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::multisplit::tests::spec;

    #[test]
    fn there_is_one_for_each_pass() {
        let one_digit = [
            "fused",
            "fused method.fused.launches=three",
            "rb-sort",
            "rb-sort values=4B",
            "rb-sort values=8B",
        ];
        let two_digits = ["rb-sort", "fused", "fused by=identity", "fused values=4B"];
        for (methods, sizes) in [(&one_digit[..], [2, 256]), (&two_digits[..], [300, 4096])] {
            for (method, buckets) in methods.iter().flat_map(|m| sizes.map(|buckets| (m, buckets))) {
                let spec = spec(&format!("keys=100000 buckets={buckets} method={method}"));
                let declared = costs(&spec).block_costs().expect("counted").len();
                assert_eq!(declared, spec.work().passes.len(), "{method} {buckets}");
            }
        }
    }

    #[test]
    fn functions_that_are_called_are_not_known() {
        let why = costs(&spec("keys=9 buckets=3 by=range method=fused")).block_costs().expect_err("a call");
        assert!(why.contains("bucket function"), "{why}");
        assert!(costs(&spec("keys=9 buckets=2 by=prime method=rb-sort")).block_costs().is_err());
    }
}

//! The methods of CPUs: every thread counts its keys of each bucket, then stores each where it belongs. By `direct` it
//! does so at once; by `write-combining` keys of a bucket gather in cache and leave it in whole lines by streaming stores.

use super::Method;
use crate::case::work::{Order, Pass};
use crate::primitives::Costs;
use crate::primitives::multisplit::work::{ENDS, LINE, moved, read_keys};
use crate::primitives::multisplit::{KEY, Spec};

/// True if stores are combined.
pub fn combines(spec: &Spec) -> bool {
    spec.method == Method::WriteCombining
}

/// A counting pass and a moving pass.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let partitions = spec.buckets;
    let order = match combines(spec) {
        true => Order::Staged { partitions, tile: LINE / KEY * partitions },
        false => Order::Partitions { partitions },
    };
    Costs::of(vec![Pass::once([read_keys(spec)]), moved(spec.keys, spec.value, ENDS, order)])
}

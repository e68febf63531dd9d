//! onesweep, the sorts by scans and the splits of searches by hash: every kernel, with bulk copies and without.

use crate::host::Host;
use crate::prove::{prove_all, prove_on};

/// Every size of a tile with every kind of key and value, each of which has kernels of its own; the keys are more than
/// a large tile's.
fn tiles(rest: &str) -> Vec<String> {
    let kinds = ["u32", "u64"].into_iter().flat_map(|key| ["none", "4B", "8B"].map(|values| (key, values)));
    let words = |(tile, (key, values)): (&str, (&str, &str))| {
        let method = format!("method=onesweep method.onesweep.tile={tile}");
        format!("key={key} values={values} {method} {rest}")
    };
    kinds.flat_map(|kind| ["small", "medium", "large"].map(|tile| (tile, kind))).map(words).collect()
}

#[test]
pub fn onesweep() {
    prove_all("sort", &tiles("keys=17001"));
}

/// Digits of a field: other kernels count them.
#[test]
pub fn onesweep_by_fields() {
    prove_all("sort", &tiles("keys=2050 begin=3 end=17"));
}

/// On a GPU without bulk copies, warps store the runs.
#[test]
pub fn onesweep_by_warps() {
    let Some(host) = Host::new() else { return };
    host.capability(8);
    prove_on(&host, "sort", &tiles("keys=17001"));
}

/// More tiles than a warp looks back over at once, and runs that rounds of a merge end between.
#[test]
pub fn sorts_by_scans() {
    let methods = [
        "method=split-radix method.split-radix.scope=global",
        "method=split-radix method.split-radix.scope=block",
        "method=quicksort",
        "method=quicksort method.quicksort.passes=1",
    ];
    let rest = ["values=4B end=5", "key=u64 values=8B begin=30 end=37", "distribution=reversed begin=27"];
    let words = |(method, rest)| format!("keys=150001 {method} {rest}");
    let all = methods.into_iter().flat_map(|method| rest.map(|rest| (method, rest)));
    prove_all("sort", &all.map(words).collect::<Vec<_>>());
}

#[test]
pub fn searches_by_warps() {
    let Some(host) = Host::new() else { return };
    host.capability(8);
    let orders = (1..=8).flat_map(|bits| ["restored", "free"].map(|order| (bits, order)));
    let words = |(bits, order)| {
        let method =
            format!("method=partitioned method.partitioned.bits={bits} method.partitioned.order={order}");
        format!("records=1000 keys=4100 {method}")
    };
    prove_on(&host, "hash-search", &orders.map(words).collect::<Vec<_>>());
}

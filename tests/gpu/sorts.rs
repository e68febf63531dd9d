//! onesweep and its ranking alone, the sorts by scans, he2007's sorts and the splits of searches by hash: every kernel, with bulk copies and
//! without.

use std::collections::BTreeSet;

use scatterlab::case::Verdict;
use scatterlab::device::cuda::Gpu;
use scatterlab::primitives::sort::Spec;
use scatterlab::primitives::sort::cuda::ranking::Ranking;
use scatterlab::primitives::sort::methods::onesweep::Shape;

use crate::host::{Host, entries, ptx};
use crate::prove::{case, prove_all, prove_on};

/// Every kind of key and value, each of which has kernels of its own.
fn kinds() -> impl Iterator<Item = String> {
    let kinds = ["u32", "u64"].into_iter().flat_map(|key| ["none", "4B", "8B"].map(|values| (key, values)));
    kinds.map(|(key, values)| format!("key={key} values={values}"))
}

/// Every size of a tile with every kind of key and value; the keys are more than a large tile's.
fn tiles(rest: &str) -> Vec<String> {
    let tile = |tile: &str| format!("method=onesweep method.onesweep.tile={tile} {rest}");
    let of = |kind: String| ["small", "medium", "large"].map(|size| format!("{kind} {}", tile(size)));
    kinds().flat_map(of).collect()
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

/// Every size of a block with every kind of key and value, full and not, by all digits and by some.
#[test]
pub fn block() {
    let sizes = [1, 31, 1024, 1025, 2048, 2050, 4096, 4097, 8191, 8192];
    let of = |kind: String| sizes.map(|keys| format!("keys={keys} {kind} method=block"));
    let fields = kinds().map(|kind| format!("keys=2050 begin=3 end=17 {kind} method=block"));
    prove_all("sort", &kinds().flat_map(of).chain(fields).collect::<Vec<_>>());
}

/// The names of the kernels that rank tiles again and again, which no case launches.
pub const RANKING: &str = "sort_ranking_";

/// Every kind of key and value, in one round of all digits and in two. What is not in order, was left out or comes from
/// another tile is found.
#[test]
fn ranking() {
    let Some(host) = Host::new() else { return };
    let (gpu, mut launched) = (Gpu::open().unwrap(), BTreeSet::new());
    for (at, words) in kinds().enumerate() {
        let case = case("sort", &format!("{words} keys=9"));
        let spec = Spec::from_params(&case.params, 5).unwrap();
        let digits = spec.key_bytes() as u32;
        host.compiled();
        let mut ranking = Ranking::new(&gpu, &spec, Some(2)).unwrap();
        let mut judged = |turns: u32| {
            ranking.clear(&gpu).unwrap();
            ranking.enqueue(&gpu, turns).unwrap();
            ranking.judge(&gpu).unwrap()
        };
        let checked = 2 * Shape::of(&large(&spec)).tile();
        assert_eq!(judged(digits * (1 + at as u32 % 2)), Verdict::Certified { checked }, "{words}");
        let wrong = |verdict| matches!(verdict, Verdict::Wrong { .. });
        assert!(wrong(judged(digits - 1)), "{words}: without the highest digit");
        ranking.clear(&gpu).unwrap();
        assert!(wrong(ranking.judge(&gpu).unwrap()), "{words}: without a launch");
        launched.extend(host.compiled().into_iter().filter(|name| name.starts_with(RANKING)));
        drop(ranking);
        assert_eq!(host.strayed(), 0, "{words} writes outside of its arrays");
    }
    let committed = ptx("sort");
    let committed = entries(&committed).into_iter().filter(|name| name.starts_with(RANKING));
    assert_eq!(launched, committed.map(str::to_owned).collect(), "every kernel is launched");
}

/// A case of as many keys as a large tile takes.
fn large(spec: &Spec) -> Spec {
    Spec { keys: 1 << 22, ..*spec }
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

/// Digits by divisions, the highest of which has fewer bits.
#[test]
pub fn multisplits_that_divide() {
    let divide = "method=multisplit-lsd method.multisplit-lsd.found=division";
    let of = |rest| format!("keys=5001 {divide} {rest}");
    prove_all("sort", &["", "values=4B begin=3", "values=8B method.multisplit-lsd.radix=8"].map(of));
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

/// As many keys as take one, two and three levels at a time beyond a tile.
#[test]
pub fn bitonic() {
    let words = |kind| format!("{kind} keys=20001 method=bitonic");
    prove_all("sort", &kinds().map(words).collect::<Vec<_>>());
}

#[test]
pub fn he2007() {
    let words = |kind| format!("{kind} keys=20001 method=he2007-msd");
    prove_all("sort", &kinds().map(words).collect::<Vec<_>>());
}

/// Parts that never fit, of keys of which some are equal, and parts that fit after different phases.
#[test]
pub fn he2007_of_skewed_keys() {
    let skewed = ["zipf", "sorted", "equal", "few", "few distribution.few.distinct=3"];
    let bits = [1, 3, 5, 7, 8].map(|bits| format!("method.he2007-msd.bits={bits}"));
    let words = |(distribution, bits): (&str, &String)| {
        let passes = "method.he2007-msd.passes=2";
        format!("keys=9001 values=4B distribution={distribution} method=he2007-msd {bits} {passes}")
    };
    let all = skewed.into_iter().flat_map(|distribution| bits.iter().map(move |bits| (distribution, bits)));
    prove_all("sort", &all.map(words).collect::<Vec<_>>());
}

#[test]
pub fn he2007_by_fields() {
    let fields = ["begin=3 end=4", "begin=5 end=13", "begin=0 end=31"];
    let words = |field| {
        kinds().flat_map(move |kind| {
            ["bitonic", "he2007-msd"].map(|method| format!("{kind} keys=5001 {field} method={method}"))
        })
    };
    prove_all("sort", &fields.into_iter().flat_map(words).collect::<Vec<_>>());
}

/// More parts that do not fit than a warp has lanes, which are searched for in two steps.
#[test]
pub fn he2007_of_many_parts() {
    let phases = "method=he2007-msd method.he2007-msd.bits=6 method.he2007-msd.passes=1";
    prove_all("sort", &[format!("keys=280001 values=4B begin=25 {phases}")]);
}

//! Selects the CUDA kernel of a case: the tunables for which kernels are built, and the choices for open ones.
//! Pure.

use super::{Locations, Method, Spec};
use crate::case::tuning::{DEFAULT_BLOCK as BLOCK, Grid, Hint, Offered, Tuning};
use crate::case::{Params, Refusal};

const GATHER: Offered = Offered {
    block: 1024,
    items: &[1, 2, 4, 8],
    grids: &[Grid::Tiles, Grid::Resident],
    hints: &[Hint::None, Hint::Streaming, Hint::NoL1],
    vectors: &[],
    fetch: &[32, 64, 128],
    persist: true,
};

/// A scatter loads only in order.
const SCATTER: Offered = Offered { hints: &[Hint::None, Hint::Streaming], ..GATHER };

/// The block size of a partitioned scatter is determined by the capacity of shared memory.
const PARTITIONED: Offered = Offered { fetch: &[32, 64, 128], ..Offered::NOTHING };

/// Refuses tunables for which a primitive's kernels are not built.
///
/// # Errors
/// `n/a`, with the tunables for which they are built.
pub fn offered(name: &str, params: &Params) -> Result<(), Refusal> {
    let (whose, offered) = match (name, params.text("method")) {
        ("scatter", Some("partitioned")) => ("partitioned", &PARTITIONED),
        ("scatter", _) => (name, &SCATTER),
        _ => (name, &GATHER),
    };
    let tuning = Tuning::of(params)?.within(whose, offered)?;
    match (tuning.hint, tuning.items) {
        (Some(hint), Some(items)) if hint != Hint::None && items > 1 => {
            let reason = format!("{name} takes hint {} only with items 1, not with {items}", hint.name());
            Err(Refusal::NotApplicable(reason))
        }
        _ => Ok(()),
    }
}

/// The tunables of a case, with no open value among those that its kernels offer. Open tunables get the values that measured
/// best on an H200. A hint is chosen only if the items are open, too, so that a sweep of the items changes nothing else;
/// kernels with a hint have one item.
pub fn tuning(spec: &Spec) -> Tuning {
    let asked = spec.tuning;
    let one = asked.hint.is_some_and(|hint| hint != Hint::None);
    let items = asked.items.unwrap_or(if one { 1 } else { items(spec) });
    let alone = at_random(spec) && asked.items.is_none();
    let hint = asked.hint.unwrap_or(if alone { Hint::Streaming } else { Hint::None });
    Tuning {
        block: asked.block.or(Some(BLOCK)),
        items: Some(items),
        grid: asked.grid.or(Some(Grid::Tiles)),
        hint: Some(hint),
        persist: asked.persist,
        ..Tuning::default()
    }
}

/// The timed kernel's name in the PTX.
pub fn kernel_name(spec: &Spec) -> String {
    let tuning = tuning(spec);
    let hint = match tuning.hint {
        Some(Hint::Streaming) => "_cs",
        Some(Hint::NoL1) => "_no_l1",
        _ => "",
    };
    let items = tuning.items.unwrap_or(1);
    format!("{}_t{}_i{}_n{items}{hint}", spec.kernel.name(), spec.tuple, spec.index)
}

/// The number of blocks of a direct move's launch if each tile of tuples has its own block.
pub fn blocks(spec: &Spec) -> Option<u64> {
    let tuning = tuning(spec);
    let direct = spec.method == Method::Direct && tuning.grid == Some(Grid::Tiles);
    let tile = u64::from(tuning.block?) * u64::from(tuning.items?);
    direct.then(|| spec.moves().div_ceil(tile))
}

/// Tuples that a thread has in flight. If each tuple is a separate miss, the threads of a multiprocessor wait
/// for as many misses as memory serves, and one tuple per thread is 1 % faster than eight (2^24 to 2^30 tuples
/// of 4, 8 and 16 bytes). Elsewhere, memory needs more tuples in flight to stay busy: four, or 64 bytes. With
/// eight, the machine code has more conditions than predicate registers, and waits for the first tuple before
/// it loads the others.
fn items(spec: &Spec) -> u32 {
    if at_random(spec) { 1 } else { (64 / spec.tuple).min(4) as u32 }
}

/// True if every location is a separate miss. A pass of several scans all of L in order and moves only part of
/// the tuples, and other distributions have nearby or hot locations. For separate misses, streaming hints on L
/// and on the sequential side are worth 2 to 5 % at 2^24 tuples and nothing at 2^28, and cost nothing if
/// everything fits in L2.
fn at_random(spec: &Spec) -> bool {
    spec.locations == Locations::Random && spec.method.segments_and_passes().1 <= 1
}

#[cfg(test)]
mod tests {
    use super::super::Kernel;
    use super::super::tests::spec;
    use super::*;

    fn of(words: &str) -> Spec {
        spec(Kernel::Gather, &format!("tuples=100 index=4 backend=cuda {words}"))
    }

    fn name(asked: &str) -> String {
        kernel_name(&of(asked))
    }

    #[test]
    fn random_locations_take_one_tuple_and_others_up_to_four() {
        let items = |tuple: u64, locations| items(&of(&format!("tuple={tuple} locations={locations}")));
        for tuple in [4, 8, 16, 32] {
            assert_eq!(items(tuple, "random"), 1);
        }
        assert_eq!([4, 8, 16, 32].map(|tuple| items(tuple, "sequential")), [4, 4, 4, 2]);
        assert_eq!(name("tuple=8 method=multipass method.multipass.passes=4"), "gather_t8_i4_n4");
    }

    #[test]
    fn a_sweep_of_items_changes_nothing_else() {
        assert_eq!(name("tuple=8"), "gather_t8_i4_n1_cs");
        let items = |n: u64| name(&format!("tuple=8 backend.cuda.items={n}"));
        assert_eq!([1, 8].map(items), ["gather_t8_i4_n1", "gather_t8_i4_n8"]);
        let hint = "tuple=8 backend.cuda.hint=no-l1";
        assert_eq!(name(hint), "gather_t8_i4_n1_no_l1");
        assert_eq!(name(&format!("{hint} locations=sequential")), "gather_t8_i4_n1_no_l1");
    }
}

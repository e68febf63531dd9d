//! Which of the kernels a case takes, and what its open tunables become. Pure.

use crate::case::tuning::{DEFAULT_BLOCK as BLOCK, Grid, Hint, Tuning};
use crate::primitives::gather_scatter::spec::{Locations, Method, Spec};

/// The tunables of a case, none of those that its kernels have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned(pub Tuning);

impl Tuned {
    /// What is open becomes what measured best on an H200. A hint is chosen only together
    /// with the items, so that a sweep of these changes nothing else; kernels with a hint
    /// have one item.
    pub fn new(spec: &Spec, asked: Tuning) -> Tuned {
        let one = asked.hint.is_some_and(|hint| hint != Hint::None);
        let items = asked.items.unwrap_or(if one { 1 } else { items(spec) });
        let alone = at_random(spec) && asked.items.is_none();
        let hint = asked.hint.unwrap_or(if alone { Hint::Streaming } else { Hint::None });
        Tuned(Tuning {
            block: asked.block.or(Some(BLOCK)),
            items: Some(items),
            grid: asked.grid.or(Some(Grid::Tiles)),
            hint: Some(hint),
            persist: asked.persist,
            ..Tuning::default()
        })
    }

    /// The timed kernel's name in the PTX.
    pub fn kernel_name(&self, spec: &Spec) -> String {
        let hint = match self.0.hint {
            Some(Hint::Streaming) => "_cs",
            Some(Hint::NoL1) => "_no_l1",
            _ => "",
        };
        let items = self.0.items.unwrap_or(1);
        format!("{}_t{}_i{}_n{items}{hint}", spec.kernel.name(), spec.tuple, spec.index)
    }
}

/// Blocks of a direct move's launch where each tile of tuples has its own.
pub fn blocks(spec: &Spec) -> Option<u64> {
    let tuning = Tuned::new(spec, spec.tuning).0;
    let direct = spec.method == Method::Direct && tuning.grid == Some(Grid::Tiles);
    let tile = u64::from(tuning.block?) * u64::from(tuning.items?);
    direct.then(|| spec.moves().div_ceil(tile))
}

/// Tuples that a thread has in flight. Where each is a miss of its own, the threads of a
/// multiprocessor wait for as many as memory serves, and one for each is best by 1 % over
/// eight (2^24 to 2^30 tuples of 4, 8 and 16 bytes). Elsewhere memory needs more of them to
/// be busy: four, or 64 bytes. With eight the machine code has more conditions than there
/// are predicates, and waits for the first tuple before it asks for the others.
fn items(spec: &Spec) -> u32 {
    if at_random(spec) { 1 } else { (64 / spec.tuple).min(4) as u32 }
}

/// Whether every location is a miss of its own. A pass of several scans all of L in order
/// and moves a part of the tuples, and other distributions have places that are near each
/// other or hot. There, telling the caches that L and the other side are not needed again
/// is worth 2 to 5 % at 2^24 tuples, nothing at 2^28, and costs nothing where all fits in L2.
fn at_random(spec: &Spec) -> bool {
    spec.locations == Locations::Random && spec.method.segments_and_passes().1 <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Backend;
    use crate::primitives::gather_scatter::spec::Kernel;

    fn spec(tuple: u64, locations: Locations, method: Method) -> Spec {
        Spec {
            kernel: Kernel::Gather,
            method,
            tuples: 100,
            tuple,
            index: 4,
            locations,
            seed: 1,
            backend: Backend::Cuda,
            tuning: Tuning::default(),
        }
    }

    #[test]
    fn random_locations_take_one_tuple_and_others_up_to_four() {
        let items = |tuple, locations| items(&spec(tuple, locations, Method::Direct));
        for tuple in [4, 8, 16, 32] {
            assert_eq!(items(tuple, Locations::Random), 1);
        }
        assert_eq!([4, 8, 16, 32].map(|tuple| items(tuple, Locations::Sequential)), [4, 4, 4, 2]);
        let passes = spec(8, Locations::Random, Method::Multipass { passes: 4 });
        assert_eq!(Tuned::new(&passes, Tuning::default()).kernel_name(&passes), "gather_t8_i4_n4");
    }

    #[test]
    fn a_sweep_of_items_changes_nothing_else() {
        let spec = spec(8, Locations::Random, Method::Direct);
        let name = |asked| Tuned::new(&spec, asked).kernel_name(&spec);
        assert_eq!(name(Tuning::default()), "gather_t8_i4_n1_cs");
        let items = |n| Tuning { items: Some(n), ..Tuning::default() };
        assert_eq!([1, 8].map(|n| name(items(n))), ["gather_t8_i4_n1", "gather_t8_i4_n8"]);
        let hint = Tuning { hint: Some(Hint::NoL1), ..Tuning::default() };
        assert_eq!(name(hint), "gather_t8_i4_n1_no_l1");
        let ordered = Spec { locations: Locations::Sequential, ..spec };
        assert_eq!(Tuned::new(&ordered, hint).kernel_name(&ordered), "gather_t8_i4_n1_no_l1");
    }
}

//! The subproblems into which ashkiani2017's methods divide the keys (§5.3, Table 1). Pure.

use super::spec::Spec;

/// Lanes per warp, and therefore keys per window.
pub const WINDOW: u64 = 32;
/// Upper limit on the number of buckets: with more, the words that each warp keeps for them do not fit (§6.3).
pub const MOST_BUCKETS: u64 = 256;

/// The unit that handles a subproblem, and the part of it that is reordered before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Localisation {
    /// Direct: a warp handles a subproblem; nothing is reordered.
    Direct,
    /// A warp handles a subproblem and reorders its tiles.
    Warp,
    /// A block handles a subproblem and reorders its tiles.
    Block,
}

/// The size of a subproblem, and the threads that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subproblems {
    pub localisation: Localisation,
    /// Warps per block (N_warp).
    pub warps: u64,
    /// Windows per warp: in a tile, or in a subproblem if there are no tiles (N_window).
    pub windows: u64,
    /// Tiles per subproblem (N_tile).
    pub tiles: u64,
}

impl Subproblems {
    /// The paper's sizes for values of `value` bytes and this number of buckets (§6, "Parameters").
    pub fn papers(localisation: Localisation, value: u64, buckets: u64) -> Subproblems {
        let few = localisation == Localisation::Block && value == 0 && buckets <= 32;
        let (warps, windows) = if few { (4, 7) } else { (8, 4) };
        Subproblems { localisation, warps, windows, tiles: 1 }
    }

    /// Keys per tile.
    pub fn tile(&self) -> u64 {
        let warps = if self.localisation == Localisation::Block { self.warps } else { 1 };
        warps * self.windows * WINDOW
    }

    /// Keys per subproblem (Table 1).
    pub fn size(&self) -> u64 {
        self.tiles * self.tile()
    }

    /// The number of subproblems (the paper's L).
    pub fn count(&self, keys: u64) -> u64 {
        keys.div_ceil(self.size())
    }

    /// The number of counts of all subproblems: the elements of H.
    pub fn counts(&self, spec: &Spec) -> u64 {
        spec.buckets * self.count(spec.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Method;
    use super::super::tests::params;
    use super::*;

    fn of(method: &str, words: &str, values: &str, buckets: u64) -> Result<Subproblems, String> {
        let words = format!("keys=4 buckets={buckets} values={values} method={method} {words}");
        let spec = Spec::from_params(&params(&words), 7).map_err(|e| e.to_string())?;
        let Method::Localised(shape) = spec.method else { panic!("{words}") };
        Ok(shape)
    }

    /// §6, "Parameters", and Table 1.
    #[test]
    fn open_parameters_are_the_papers() {
        let sizes = |method, values, buckets| {
            let all = of(method, "method.bms.warps=auto", values, buckets).expect("a case");
            (all.warps, all.windows, all.size())
        };
        assert_eq!(sizes("bms", "none", 32), (4, 7, 4 * 7 * 32));
        assert_eq!(sizes("bms", "none", 33), (8, 4, 1024));
        assert_eq!(sizes("bms", "4B", 2), (8, 4, 1024));
        assert_eq!(sizes("wms", "none", 2), (8, 4, 128));
        assert_eq!(sizes("dms", "none", 2), (8, 4, 128));
    }

    #[test]
    fn what_is_given_holds() {
        let words = "method.bms.warps=2 method.bms.windows=8 method.bms.tiles=3";
        let all = of("bms", words, "none", 8).expect("a case");
        assert_eq!((all.tile(), all.size(), all.count(1537), all.count(0)), (512, 1536, 2, 0));
        let direct = of("dms", "method.dms.windows=64", "none", 8).expect("a case");
        assert_eq!((direct.size(), direct.tiles), (2048, 1));
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        let refused = |words| of("wms", words, "none", 8).expect_err("refused");
        assert_eq!(refused("method.wms.warps=3"), "method.wms.warps: 3 is not a power of two");
        assert_eq!(refused("method.wms.windows=9"), "method.wms.windows: 9 is not from 1 to 8");
        assert_eq!(refused("method.wms.windows=0"), "method.wms.windows: must be at least 1");
        assert_eq!(refused("method.wms.tiles=65"), "method.wms.tiles: 65 is not from 1 to 64");
        assert_eq!(refused("method.wms.tiles=0"), "method.wms.tiles: must be at least 1");
        assert!(refused("method.wms.tiles=many").starts_with("method.wms.tiles: `many`"));
    }
}

//! The subproblems into which ashkiani2017's methods divide the keys (§5.3, Table 1). Pure.

use super::spec::Spec;
use crate::case::schema::{Default, Kind, Param};
use crate::case::{Params, Refusal, Value, reader};

/// Lanes of a warp, and so keys of a window.
pub const WINDOW: u64 = 32;
/// Most buckets: of more the words that each warp has of them leave no room (§6.3).
pub const MOST_BUCKETS: u64 = 256;

const MOST_WARPS: u64 = 8;
const MOST_TILES: u64 = 64;
/// Most windows of a warp in a tile: a thread keeps a key of each.
const MOST_WINDOWS: u64 = 8;
/// With dms, which has no tiles, in a subproblem.
const MOST_DIRECT_WINDOWS: u64 = 64;

const AUTO: &[&str] = &["auto"];

/// N_warp of Table 1.
pub const WARPS: Param = Param {
    name: "warps",
    kind: Kind::CountOr { min: 1, max: MOST_WARPS, words: AUTO, list: 0 },
    default: Default::Is("auto"),
    doc: "warps of a block, a power of two; auto: the paper's 8, or 4 for bms without values up to 32 buckets",
};

/// N_window of Table 1.
pub const WINDOWS: Param = Param {
    name: "windows",
    kind: Kind::CountOr { min: 1, max: MOST_WINDOWS, words: AUTO, list: 0 },
    default: Default::Is("auto"),
    doc: "windows of 32 keys that a warp has of a tile; auto: the paper's 4, or 7 for bms without values up to 32 buckets",
};

/// N_window of Table 1 for dms.
pub const DIRECT_WINDOWS: Param = Param {
    name: "windows",
    kind: Kind::CountOr { min: 1, max: MOST_DIRECT_WINDOWS, words: AUTO, list: 0 },
    default: Default::Is("auto"),
    doc: "windows of 32 keys of a warp, its subproblem; auto: the paper's 4",
};

/// N_tile of Table 1.
pub const TILES: Param = Param {
    name: "tiles",
    kind: Kind::Count { min: 1, max: MOST_TILES },
    default: Default::Is("1"),
    doc: "tiles of a subproblem, one after another: of a warp (wms) or of a block (bms)",
};

/// What has a subproblem, and what part of it is reordered before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Localisation {
    /// Direct: a warp, nothing.
    Direct,
    /// A warp, its tiles.
    Warp,
    /// A block, its tiles.
    Block,
}

/// How many keys a subproblem has, and who they are shared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subproblems {
    pub localisation: Localisation,
    /// Warps of a block.
    pub warps: u64,
    /// Windows of a warp: in a tile, or in a subproblem where there are no tiles.
    pub windows: u64,
    /// Tiles of a subproblem.
    pub tiles: u64,
}

impl Localisation {
    /// The method's name.
    pub fn name(self) -> &'static str {
        match self {
            Localisation::Direct => "dms",
            Localisation::Warp => "wms",
            Localisation::Block => "bms",
        }
    }

    fn most_windows(self) -> u64 {
        if self == Localisation::Direct { MOST_DIRECT_WINDOWS } else { MOST_WINDOWS }
    }
}

impl Subproblems {
    /// Those of a case's parameters, for values of so many bytes and so many buckets.
    pub fn of(
        params: &Params,
        localisation: Localisation,
        value: u64,
        buckets: u64,
    ) -> Result<Subproblems, Refusal> {
        let few = localisation == Localisation::Block && value == 0 && buckets <= 32;
        let (warps, windows) = if few { (4, 7) } else { (8, 4) };
        let key = |name: &str| format!("method.{}.{name}", localisation.name());
        let within = |name: &str, auto: u64, most: u64| match count(params, &key(name), auto)? {
            value if (1..=most).contains(&value) => Ok(value),
            value => Err(Refusal::invalid(key(name), format!("{value} is not from 1 to {most}"))),
        };
        let all = Subproblems {
            localisation,
            warps: within("warps", warps, MOST_WARPS)?,
            windows: within("windows", windows, localisation.most_windows())?,
            tiles: if localisation == Localisation::Direct { 1 } else { within("tiles", 1, MOST_TILES)? },
        };
        match all.warps.is_power_of_two() {
            true => Ok(all),
            false => Err(Refusal::invalid(key("warps"), format!("{} is no power of two", all.warps))),
        }
    }

    /// Keys of a tile.
    pub fn tile(&self) -> u64 {
        let warps = if self.localisation == Localisation::Block { self.warps } else { 1 };
        warps * self.windows * WINDOW
    }

    /// Keys of a subproblem (Table 1).
    pub fn size(&self) -> u64 {
        self.tiles * self.tile()
    }

    /// How many there are (the paper's L).
    pub fn count(&self, keys: u64) -> u64 {
        keys.div_ceil(self.size())
    }

    /// Counts of all of them: the elements of H.
    pub fn counts(&self, spec: &Spec) -> u64 {
        spec.buckets * self.count(spec.keys)
    }

    /// What the open parameters became.
    pub fn resolved(&self) -> Vec<(String, Value)> {
        let open = [("warps", self.warps), ("windows", self.windows)];
        let key = |name: &str| format!("method.{}.{name}", self.localisation.name());
        open.map(|(name, value)| (key(name), Value::Int(value))).into()
    }
}

/// The number under `key`; `auto` where it is open.
fn count(params: &Params, key: &str, auto: u64) -> Result<u64, Refusal> {
    match (params.get(key), params.text(key)) {
        (None, _) | (_, Some("auto")) => Ok(auto),
        _ => reader::int(params, key),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::*;

    fn of(localisation: Localisation, words: &str, value: u64, buckets: u64) -> Result<Subproblems, String> {
        Subproblems::of(&params(words), localisation, value, buckets).map_err(|e| e.to_string())
    }

    /// §6, "Parameters", and Table 1.
    #[test]
    fn open_parameters_are_the_papers() {
        let sizes = |localisation, value, buckets| {
            let all = of(localisation, "method.bms.warps=auto", value, buckets).expect("a case");
            (all.warps, all.windows, all.size())
        };
        assert_eq!(sizes(Localisation::Block, 0, 32), (4, 7, 4 * 7 * 32));
        assert_eq!(sizes(Localisation::Block, 0, 33), (8, 4, 1024));
        assert_eq!(sizes(Localisation::Block, 4, 2), (8, 4, 1024));
        assert_eq!(sizes(Localisation::Warp, 0, 2), (8, 4, 128));
        assert_eq!(sizes(Localisation::Direct, 0, 2), (8, 4, 128));
    }

    #[test]
    fn what_is_given_holds() {
        let words = "method.bms.warps=2 method.bms.windows=8 method.bms.tiles=3";
        let all = of(Localisation::Block, words, 0, 8).expect("a case");
        assert_eq!((all.tile(), all.size(), all.count(1537), all.count(0)), (512, 1536, 2, 0));
        let direct = of(Localisation::Direct, "method.dms.windows=64", 0, 8).expect("a case");
        assert_eq!((direct.size(), direct.tiles), (2048, 1));
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        let refused = |words| of(Localisation::Warp, words, 0, 8).expect_err("refused");
        assert_eq!(refused("method.wms.warps=3"), "method.wms.warps: 3 is no power of two");
        assert_eq!(refused("method.wms.windows=9"), "method.wms.windows: 9 is not from 1 to 8");
        assert_eq!(refused("method.wms.tiles=0"), "method.wms.tiles: 0 is not from 1 to 64");
        assert!(refused("method.wms.tiles=many").starts_with("method.wms.tiles: `many`"));
    }
}

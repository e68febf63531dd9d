//! The recipes that come with the program, embedded in it.

/// A recipe of the `experiments/` folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Path below `experiments/`: `quickstart.yaml`, `he2007/fig09-passes.yaml` …
    pub path: &'static str,
    /// The YAML.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        &[$(Shipped { path: $path, text: include_str!(concat!("../../experiments/", $path)) }),*]
    };
}

/// Every recipe, `quickstart.yaml` first, then by paper and figure; a paper's `gpu-` recipes go
/// beyond its figures.
pub fn shipped() -> &'static [Shipped] {
    shipped![
        "quickstart.yaml",
        "sanity.yaml",
        "ceilings.yaml",
        "scans.yaml",
        "several-gpus.yaml",
        "peers.yaml",
        "model/gpu-families.yaml",
        "model/cpu-families.yaml",
        "he2007/fig01.yaml",
        "he2007/fig06-sequential.yaml",
        "he2007/fig07-random.yaml",
        "he2007/fig08-partitions.yaml",
        "he2007/fig09-passes.yaml",
        "he2007/fig10-segments.yaml",
        "he2007/fig11-partitions.yaml",
        "he2007/fig12-tuple-size.yaml",
        "he2007/fig13-tuples.yaml",
        "he2007/auto.yaml",
        "he2007/gpu-random.yaml",
        "he2007/gpu-fetch.yaml",
        "he2007/gpu-hints.yaml",
        "he2007/gpu-passes.yaml",
        "he2007/gpu-partitioned.yaml",
        "sengupta2007/fig05.yaml",
        "sengupta2007/primitives.yaml",
        "sengupta2007/gpu-peers.yaml",
        "ashkiani2017/table03-references.yaml",
        "ashkiani2017/table04-stages.yaml",
        "ashkiani2017/multisplit.yaml",
        "ashkiani2017/table05-speedups.yaml",
        "ashkiani2017/fig06-times.yaml",
        "ashkiani2017/table06-distributions.yaml",
        "ashkiani2017/table07-identity.yaml",
        "ashkiani2017/fig08-distributions.yaml",
        "ashkiani2017/table11-histogram.yaml",
        "ashkiani2017/gpu-histogram.yaml",
        "ashkiani2017/gpu-multisplit.yaml",
        "ashkiani2017/gpu-radix.yaml",
        "ashkiani2017/gpu-many-buckets.yaml",
        "lavin2020/fig03-cpu-stride.yaml",
        "lavin2020/fig04-prefetch.yaml",
        "lavin2020/fig05-gpu-stride.yaml",
        "lavin2020/fig06-simd.yaml",
        "lavin2020/fig09-references.yaml",
        "lavin2020/app-patterns.yaml",
        "lavin2020/gpu-suites.yaml",
        "lavin2020/gpu-tuning.yaml",
    ]
}

/// The recipe of this path, with or without `experiments/` in front and `.yaml` behind.
pub fn find(path: &str) -> Option<&'static Shipped> {
    let path = path.strip_prefix("experiments/").unwrap_or(path);
    shipped().iter().find(|s| s.path == path || s.path.strip_suffix(".yaml") == Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        entries.flat_map(|p| if p.is_dir() { files_below(&p) } else { vec![p] }).collect()
    }

    #[test]
    fn no_recipe_of_the_folder_is_missing() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
        // The profiles are the models' affair.
        let recipe = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "yaml")
                && !path.starts_with(root.join("profiles"))
        };
        let mut found: Vec<String> = files_below(&root)
            .iter()
            .filter(|path| recipe(path))
            .map(|p| p.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        let mut embedded: Vec<&str> = shipped().iter().map(|s| s.path).collect();
        found.sort_unstable();
        embedded.sort_unstable();
        assert_eq!(found, embedded);
    }

    #[test]
    fn recipes_are_found_by_path() {
        assert_eq!(find("quickstart").map(|s| s.path), Some("quickstart.yaml"));
        assert_eq!(find("experiments/he2007/fig01.yaml").map(|s| s.path), Some("he2007/fig01.yaml"));
        assert_eq!(find("fig01"), None);
    }
}

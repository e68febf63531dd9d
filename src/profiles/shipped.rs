//! The profiles that come with the program, embedded in it.

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../experiments/profiles/", $name)))),*]
    };
}

/// File names below `experiments/profiles/`, and their texts.
pub(super) const ALL: &[(&str, &str)] = shipped![];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_profile_of_the_folder_is_missing_and_each_can_be_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/profiles");
        let names = super::super::files(&folder);
        let names: Vec<_> = names.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        let mut embedded: Vec<_> = ALL.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(names, embedded);
        assert_eq!(super::super::Shelf::of(None).broken, Vec::<String>::new());
    }
}

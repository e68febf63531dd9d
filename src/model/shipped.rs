//! The profiles that come with the program, embedded in it.

use super::Profile;

const TEXTS: &[(&str, &str)] = &[
    ("amd-epyc-2cpus", include_str!("../../experiments/profiles/amd-epyc-2cpus.yaml")),
    ("g80", include_str!("../../experiments/profiles/g80.yaml")),
    ("h200", include_str!("../../experiments/profiles/h200.yaml")),
];

/// Their names.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The text of the profile of this name, YAML.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The profile of this name.
pub fn shipped_profile(name: &str) -> Option<Profile> {
    shipped_text(name).and_then(|text| serde_yaml::from_str(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SCHEMA;

    #[test]
    fn each_is_read_and_bears_its_name() {
        for name in shipped() {
            let text = shipped_text(name).expect("a text");
            let profile: Profile = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((profile.name.as_str(), profile.schema), (name, SCHEMA));
            assert_eq!(shipped_profile(name), Some(profile));
        }
    }

    #[test]
    fn none_of_the_folder_is_missing() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/profiles");
        let files = std::fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path());
        let mut names: Vec<String> =
            files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        assert_eq!(names, shipped().collect::<Vec<_>>());
    }
}

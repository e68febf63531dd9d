//! The profiles embedded in the program.

use super::Profile;

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The name of each file, without `.yaml`, and its text.
fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let name = |path: &'static str| path.rsplit('/').next()?.strip_suffix(".yaml");
    FOUND.iter().filter_map(move |&(path, text)| Some((name(path)?, text)))
}

/// Names of the shipped profiles.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    texts().map(|(name, _)| name)
}

/// The YAML text of the profile of this name.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    texts().find(|(known, _)| *known == name).map(|(_, text)| text)
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
        assert!(shipped().any(|name| name == "g80"));
        for name in shipped() {
            let text = shipped_text(name).expect("a text");
            let profile: Profile = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((profile.name.as_str(), profile.schema), (name, SCHEMA));
            assert_eq!(shipped_profile(name), Some(profile));
        }
    }
}

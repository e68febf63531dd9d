//! Look-up of models by name.

use super::Model;
use super::he2007::He2007Model;
use super::sector::Sector;

/// Every model, in the order of the documentation.
pub fn all() -> &'static [&'static dyn Model] {
    &[&He2007Model::STANDARD, &Sector]
}

/// The model of this name.
pub fn find(name: &str) -> Option<&'static dyn Model> {
    all().iter().copied().find(|model| model.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::MODELS;

    #[test]
    fn names_are_unique_and_found() {
        for model in all() {
            assert!(std::ptr::addr_eq(find(model.name()).expect("its name"), *model), "{}", model.name());
        }
        assert!(find("none").is_none());
        assert!(all().iter().map(|model| model.name()).eq(MODELS), "recipes name others");
    }
}

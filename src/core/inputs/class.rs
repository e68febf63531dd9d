//! Classification of index patterns (lavin2020 §2) by explicit rules.
//!
//! The class is the first that applies, where the differences are those between neighbouring indices:
//!
//! 1. *single*: there is only one index, hence no difference.
//! 2. *stride-s*: all differences equal the same s ≥ 1.
//! 3. *broadcast*: no difference is negative, and at least half of them are 0.
//! 4. *mostly stride-1*: at least a third of the differences are 1.
//! 5. *complex*: everything else.
//!
//! The paper describes the classes in words ("some elements share the same index"); the thresholds are ours,
//! chosen such that every typed row of its Table 5 gets its type and no untyped row gets one.

use std::fmt;

/// A class of index patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A single index.
    Single,
    /// Each index is a fixed distance from the previous one.
    Stride(u64),
    /// Neighbouring entries share an index.
    Broadcast,
    /// Runs of consecutive indices with jumps between them.
    MostlyStride1,
    /// Many different strides.
    Complex,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Single => f.write_str("single"),
            Class::Stride(s) => write!(f, "stride-{s}"),
            Class::Broadcast => f.write_str("broadcast"),
            Class::MostlyStride1 => f.write_str("mostly stride-1"),
            Class::Complex => f.write_str("complex"),
        }
    }
}

/// The class of a pattern of any length.
pub fn classify(pattern: &[u64]) -> Class {
    let differences = || pattern.windows(2).map(|w| i128::from(w[1]) - i128::from(w[0]));
    let Some(first) = differences().next() else {
        return Class::Single;
    };
    let equal_to = |value| differences().filter(|&d| d == value).count();
    let count = pattern.len() - 1;
    if first >= 1 && equal_to(first) == count {
        return u64::try_from(first).map_or(Class::Complex, Class::Stride);
    }
    if differences().all(|d| d >= 0) && 2 * equal_to(0) >= count {
        return Class::Broadcast;
    }
    if 3 * equal_to(1) >= count { Class::MostlyStride1 } else { Class::Complex }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::applications::TABLE_5;
    use proptest::prelude::*;

    #[test]
    fn table_5_is_classified_as_it_is_typed() {
        for app in &TABLE_5 {
            let typed = app.kind.map_or("complex".to_owned(), str::to_lowercase);
            assert_eq!(classify(app.indices).to_string(), typed, "{}", app.name);
        }
    }

    #[test]
    fn edges() {
        assert_eq!(classify(&[]), Class::Single);
        assert_eq!(classify(&[7]), Class::Single);
        assert_eq!(classify(&[7, 7]), Class::Broadcast);
        assert_eq!(classify(&[8, 4, 0]), Class::Complex);
        assert_eq!(classify(&[0, 1, 2, 3, 23, 24, 25, 26]), Class::MostlyStride1);
        assert_eq!(classify(&[0, u64::MAX]), Class::Stride(u64::MAX));
    }

    proptest! {
        #[test]
        fn every_pattern_has_a_class(pattern: Vec<u64>) {
            prop_assert!(!classify(&pattern).to_string().is_empty());
        }
    }
}

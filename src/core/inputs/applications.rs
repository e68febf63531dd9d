//! The index patterns that lavin2020 extracted from mini-applications (Table 5), by name, and the classes into which the
//! paper sorts such patterns.

use std::fmt;

/// The direction in which an application uses a pattern: the letter in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Gather,
    Scatter,
}

/// One row of lavin2020's Table 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Application {
    /// `PENNANT-G0` …
    pub name: &'static str,
    /// The application gathers, or it scatters.
    pub kernel: Use,
    /// The 16 offsets of one gather or scatter, in elements.
    pub indices: &'static [u64],
    /// Elements between the bases of consecutive gathers or scatters.
    pub delta: u64,
    /// The "Type" in the table, if any: `Stride-4`, `Broadcast` …
    pub kind: Option<&'static str>,
}

impl Application {
    const fn gather(
        name: &'static str,
        indices: &'static [u64],
        delta: u64,
        kind: Option<&'static str>,
    ) -> Self {
        Application { name, kernel: Use::Gather, indices, delta, kind }
    }

    const fn scatter(
        name: &'static str,
        indices: &'static [u64],
        delta: u64,
        kind: Option<&'static str>,
    ) -> Self {
        Application { name, kernel: Use::Scatter, indices, delta, kind }
    }
}

/// The pattern with this name, in the table's spelling.
pub fn find(name: &str) -> Option<&'static Application> {
    TABLE_5.iter().find(|a| a.name == name)
}

const STRIDE_4: &[u64] = &[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60];
const ROTATED_BY_4: &[u64] = &[4, 8, 12, 0, 20, 24, 28, 16, 36, 40, 44, 32, 52, 56, 60, 48];
const FOUR_EACH: &[u64] = &[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
const CORNERS: &[u64] = &[482, 0, 2, 484, 484, 2, 4, 486, 486, 4, 6, 488, 488, 6, 8, 490];
const ROTATED_BY_2: &[u64] = &[6, 0, 2, 4, 14, 8, 10, 12, 22, 16, 18, 20, 30, 24, 26, 28];
const STRIDE_1: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const STRIDE_8: &[u64] = &[0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120];
const STRIDE_24: &[u64] = &[0, 24, 48, 72, 96, 120, 144, 168, 192, 216, 240, 264, 288, 312, 336, 360];
const STRIDE_6: &[u64] = &[0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90];

/// The rows of Table 5, in order. PENNANT-G4 is printed with 17 indices, five of which are 1; one of those is
/// omitted here.
pub const TABLE_5: [Application; 34] = [
    Application::gather(
        "PENNANT-G0",
        &[2, 484, 482, 0, 4, 486, 484, 2, 6, 488, 486, 4, 8, 490, 488, 6],
        2,
        None,
    ),
    Application::gather(
        "PENNANT-G1",
        &[0, 2, 484, 482, 2, 4, 486, 484, 4, 6, 488, 486, 6, 8, 490, 488],
        2,
        None,
    ),
    Application::gather("PENNANT-G2", STRIDE_4, 2, Some("Stride-4")),
    Application::gather("PENNANT-G3", ROTATED_BY_4, 2, None),
    Application::gather("PENNANT-G4", FOUR_EACH, 4, Some("Broadcast")),
    Application::gather("PENNANT-G5", ROTATED_BY_4, 4, None),
    Application::gather("PENNANT-G6", CORNERS, 480, None),
    Application::gather("PENNANT-G7", CORNERS, 482, None),
    Application::gather("PENNANT-G8", &[2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0], 129608, None),
    Application::gather("PENNANT-G9", FOUR_EACH, 388852, Some("Broadcast")),
    Application::gather("PENNANT-G10", FOUR_EACH, 388848, Some("Broadcast")),
    Application::gather("PENNANT-G11", FOUR_EACH, 388848, Some("Broadcast")),
    Application::gather("PENNANT-G12", ROTATED_BY_2, 518408, None),
    Application::gather("PENNANT-G13", ROTATED_BY_2, 518408, None),
    Application::gather("PENNANT-G14", ROTATED_BY_2, 1036816, None),
    Application::gather("PENNANT-G15", FOUR_EACH, 1882384, Some("Broadcast")),
    Application::gather("LULESH-G0", STRIDE_1, 1, Some("Stride-1")),
    Application::gather("LULESH-G1", STRIDE_1, 8, Some("Stride-1")),
    Application::gather("LULESH-G2", STRIDE_8, 1, Some("Stride-8")),
    Application::gather("LULESH-G3", STRIDE_24, 8, Some("Stride-24")),
    Application::gather("LULESH-G4", STRIDE_24, 4, Some("Stride-24")),
    Application::gather("LULESH-G5", STRIDE_24, 1, Some("Stride-24")),
    Application::gather("LULESH-G6", STRIDE_24, 8, Some("Stride-24")),
    Application::gather("LULESH-G7", STRIDE_1, 41, Some("Stride-1")),
    Application::gather("NEKBONE-G0", STRIDE_6, 3, Some("Stride-6")),
    Application::gather("NEKBONE-G1", STRIDE_6, 8, Some("Stride-6")),
    Application::gather("NEKBONE-G2", STRIDE_6, 8, Some("Stride-6")),
    Application::gather(
        "AMG-G0",
        &[1333, 0, 1, 36, 37, 72, 73, 1296, 1297, 1332, 1368, 1369, 2592, 2593, 2628, 2629],
        1,
        Some("Mostly Stride-1"),
    ),
    Application::gather(
        "AMG-G1",
        &[1333, 0, 1, 2, 36, 37, 38, 72, 73, 74, 1296, 1297, 1298, 1332, 1334, 1368],
        1,
        Some("Mostly Stride-1"),
    ),
    Application::scatter("PENNANT-S0", STRIDE_4, 1, Some("Stride-4")),
    Application::scatter("LULESH-S0", STRIDE_8, 1, Some("Stride-8")),
    Application::scatter("LULESH-S1", STRIDE_24, 8, Some("Stride-24")),
    Application::scatter("LULESH-S2", STRIDE_24, 1, Some("Stride-24")),
    Application::scatter("LULESH-S3", STRIDE_24, 0, Some("Stride-24")),
];

/// The names in Table 5, in order.
pub const NAMES: [&str; 34] = {
    let mut names = [""; 34];
    let mut at = 0;
    while at < names.len() {
        names[at] = TABLE_5[at].name;
        at += 1;
    }
    names
};

/// A class of index patterns (lavin2020 §2).
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

/// The class of a pattern of any length: the first that applies, where the differences are those between neighbouring indices:
///
/// 1. *single*: there is only one index, hence no difference.
/// 2. *stride-s*: all differences equal the same s ≥ 1.
/// 3. *broadcast*: no difference is negative, and at least half of them are 0.
/// 4. *mostly stride-1*: at least a third of the differences are 1.
/// 5. *complex*: everything else.
///
/// The paper describes the classes in words ("some elements share the same index"); the thresholds are ours, chosen such
/// that every typed row of its Table 5 gets its type and no untyped row gets one.
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
    use proptest::prelude::*;

    #[test]
    fn names_are_unique_and_say_what_they_do() {
        for (at, a) in TABLE_5.iter().enumerate() {
            assert_eq!(find(a.name), Some(a));
            assert_eq!(TABLE_5.iter().position(|b| b.name == a.name), Some(at));
            assert_eq!(a.name.contains("-S"), a.kernel == Use::Scatter, "{}", a.name);
            assert_eq!(a.indices.len(), 16, "{}", a.name);
        }
        assert_eq!(find("PENNANT-G16"), None);
    }

    #[test]
    fn each_application_has_as_many_as_the_table() {
        let count = |prefix: &str| TABLE_5.iter().filter(|a| a.name.starts_with(prefix)).count();
        let counts = ["PENNANT-G", "LULESH-G", "NEKBONE-G", "AMG-G", "PENNANT-S", "LULESH-S"].map(count);
        assert_eq!(counts, [16, 8, 3, 2, 1, 4]);
    }

    #[test]
    fn pennant_g4_lost_the_printers_fifth_one() {
        let g4 = find("PENNANT-G4").unwrap();
        assert_eq!((g4.indices, g4.delta), (&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3][..], 4));
    }

    /// The largest deltas, and the only pattern that does not move.
    #[test]
    fn deltas() {
        let delta = |name| find(name).unwrap().delta;
        assert_eq!(
            ["PENNANT-G5", "PENNANT-G6", "PENNANT-G15", "LULESH-S3"].map(delta),
            [4, 480, 1_882_384, 0]
        );
    }

    #[test]
    fn table_5_is_classified_as_it_is_typed() {
        for app in &TABLE_5 {
            let typed = app.kind.map_or("complex".to_owned(), str::to_lowercase);
            assert_eq!(classify(app.indices).to_string(), typed, "{}", app.name);
        }
    }

    #[test]
    fn short_and_falling_patterns_have_their_classes() {
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

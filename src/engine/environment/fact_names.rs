//! Facts of a machine: those that others look for by name, and those that say nothing about
//! another moment.

/// Whether the hardware prefetchers are on: `on`, `off`, which of them are off, or `n/a: reason`.
pub const PREFETCHERS: &str = "prefetchers";

/// Words in the names of facts that change from minute to minute: what they mean for a
/// case is in its rounds' conditions.
const FLEETING: [&str; 5] = ["available", "free", "load", "swap", "uptime"];

/// Whether a fact is about the moment and not about the machine: `load average`, `swap`.
pub fn is_fleeting(name: &str) -> bool {
    name.split_whitespace().any(|word| FLEETING.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_fleeting;

    #[test]
    fn whole_words_tell_what_is_of_the_moment() {
        for name in ["load average", "swap", "Free memory", "uptime"] {
            assert!(is_fleeting(name), "{name}");
        }
        assert!(!["boost", "overload policy", "freeze"].into_iter().any(is_fleeting));
    }
}

//! Names of machine facts that other modules look up, and of facts that hold only momentarily.

/// State of the hardware prefetchers: `on`, `off`, the list of those that are off, or `n/a: reason`.
pub const PREFETCHERS: &str = "prefetchers";

/// Words in the names of facts that change from minute to minute. Their effect on a case is recorded in the
/// conditions of its rounds.
const FLEETING: [&str; 5] = ["available", "free", "load", "swap", "uptime"];

/// Whether a fact describes the moment and not the machine, such as `load average` or `swap`.
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

//! The settings that peers chose where a case leaves them open, such as the type in which CUB counts elements.

use std::collections::BTreeMap;

use crate::case::Value;
use crate::case::peers::SETTING;
use crate::case::units::number_of;
use crate::run::Record;

/// One line for each peer that chose: `peer:cub-radix-sort: counts 64 (3 cases), counts 32 (1 case)`.
pub fn lines<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<String> {
    let mut peers: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for record in records {
        if let Some(words) = words(record) {
            *peers.entry(record.case.backend()).or_default().entry(words).or_default() += 1;
        }
    }
    peers.into_iter().map(|(peer, chosen)| format!("{peer}: {}", counted(chosen))).collect()
}

/// The settings of a peer's case, in its last round; `None` if it chose none.
fn words(record: &Record) -> Option<String> {
    record.case.peer()?;
    let own = |(key, value): &(String, Value)| Some(format!("{} {value}", key.strip_prefix(SETTING)?));
    let words: Vec<String> = record.rounds.last()?.resolved.iter().filter_map(own).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The most frequent first.
fn counted(chosen: BTreeMap<String, usize>) -> String {
    let mut chosen: Vec<(String, usize)> = chosen.into_iter().collect();
    chosen.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
    let word = |(words, cases): &(String, usize)| format!("{words} ({})", number_of(*cases, "case"));
    chosen.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::{Event, RoundResult};
    use crate::recipe::parse;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::run::Ledger;

    #[test]
    fn the_choices_of_a_peer_are_counted() {
        let text = "gather: {tuples: [1Ki, 2Ki, 4Ki]}\nbackend: cuda\npeers: plain\nchart: {x: tuples}\n";
        let plan = resolve(&parse("a.yaml", text).expect("a recipe"), &Overrides::default()).expect("a plan");
        let mut ledger = Ledger::new(plan.clone());
        for (at, case) in plan.cases.iter().enumerate() {
            let counts = if case.params.int("tuples") == Some(1024) { 32 } else { 64 };
            let other = ("backend.cuda.block".to_owned(), Value::Int(256));
            let result = RoundResult {
                case: case.id.clone(),
                samples: vec![1.0; 3],
                batch: 1,
                resolved: vec![("peer.counts".to_owned(), Value::Int(counts)), other],
                ..RoundResult::default()
            };
            ledger.apply(&Event::Round { seq: at as u64, result });
        }
        assert_eq!(lines(ledger.records().iter()), ["peer:plain: counts 64 (2 cases), counts 32 (1 case)"]);
    }
}

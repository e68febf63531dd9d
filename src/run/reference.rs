//! Messages about the plain copies that an engine measures during a run, and about the rates of ranking beside them.

use super::Ledger;
use crate::case::units::{fmt_rate, fmt_throughput};
use crate::engine::protocol::Ranked;

/// Relative change from the previous copy above which a message is due.
const NEWS: f64 = 0.1;

/// `cuda copies 4180 GB/s, ranks u32 at 190 G/s`: a message about the newest copy on a backend and what was ranked
/// beside it. `None` if the copy is close to the previous one, because a copy precedes every pass.
pub fn news(ledger: &Ledger, backend: &str, ranked: &[Ranked]) -> Option<String> {
    let kind = |ranked: &Ranked| format!("{} at {}", ranked.kind, fmt_throughput(ranked.rate));
    let kinds: Vec<String> = ranked.iter().map(kind).collect();
    let copies = said(backend, ledger.references().get(backend)?)?;
    Some(if kinds.is_empty() { copies } else { format!("{copies}, ranks {}", kinds.join(", ")) })
}

fn said(backend: &str, copies: &[f64]) -> Option<String> {
    let (newest, before) = copies.split_last()?;
    let rate = fmt_rate(*newest);
    let Some(last) = before.last() else { return Some(format!("{backend} copies {rate}")) };
    let change = newest / last - 1.0;
    let sign = if change < 0.0 { '−' } else { '+' };
    let percent = (change * 100.0).abs();
    (change.abs() > NEWS).then(|| format!("{backend} copies {rate} now ({sign}{percent:.0} %)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_is_news_after_the_first() {
        assert_eq!(said("cpu", &[34.31]).as_deref(), Some("cpu copies 34.3 GB/s"));
        assert_eq!(said("cpu", &[34.3, 33.0]), None);
        assert_eq!(said("cpu", &[34.3, 33.0, 26.4]).as_deref(), Some("cpu copies 26.4 GB/s now (−20 %)"));
        assert_eq!(said("cpu", &[]), None);
    }
}

//! Detected figures beside the vendor's stated ones.

use crate::case::{Direction, units};
use crate::model::{Curve, Profile, Rates};

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub figure: String,
    pub detected: String,
    /// Empty if nobody states the figure.
    pub stated: String,
}

fn row(figure: String, detected: String, stated: Option<String>) -> Row {
    Row { figure, detected, stated: stated.unwrap_or_default() }
}

/// The well-known figures of a profile. `bandwidth` is the peak bandwidth of the memory bus, bytes per
/// second.
pub fn rows(profile: &Profile, bandwidth: Option<f64>) -> Vec<Row> {
    let mut rows = Vec::new();
    for cache in &profile.caches {
        let stated = cache.stated.map(units::fmt_bytes);
        rows.push(row(format!("{}, capacity", cache.name), units::fmt_bytes(cache.capacity), stated));
        let parts = format!("{} / {}", units::fmt_bytes(cache.line), units::fmt_bytes(cache.sector));
        rows.push(row(format!("{}, line / sector", cache.name), parts, None));
    }
    for (backend, rates) in &profile.rates {
        rows.extend(of_backend(backend, rates, bandwidth));
    }
    for (backend, he2007) in &profile.he2007 {
        rows.push(row(format!("{backend}: B_seq (he2007)"), rate(he2007.b_seq), None));
    }
    rows
}

fn of_backend(backend: &str, rates: &Rates, bandwidth: Option<f64>) -> Vec<Row> {
    let named = |name: &str, value: String| row(format!("{backend}: {name}"), value, None);
    let end = |curve: &Curve| curve.points().last().map_or(f64::NAN, |(_, value)| *value);
    let stated = bandwidth.filter(|_| backend != "scalar").map(rate);
    let mut rows = vec![
        row(format!("{backend}: read from memory"), rate(end(&rates.read)), stated),
        named("write to memory", rate(end(&rates.write))),
        named("copy in memory", rate(end(&rates.copy))),
        named("bytes fetched at a miss", units::fmt_bytes(rates.fetch)),
        named("launch", units::fmt_seconds(rates.launch)),
    ];
    for random in rates.random.iter().filter(|random| random.element == super::rates::WORD) {
        let what = if random.direction == Direction::Read { "random reads" } else { "random writes" };
        let best = random.rate.points().iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let both = format!("{} … {}", units::fmt_throughput(best), units::fmt_throughput(end(&random.rate)));
        rows.push(named(&format!("{what} of 8 B, most … in memory"), both));
    }
    if let Some(latency) = &rates.latency {
        let first = latency.points().first().map_or(f64::NAN, |(_, value)| *value);
        let both = format!("{} … {}", units::fmt_seconds(first), units::fmt_seconds(end(latency)));
        rows.push(named("latency, first cache … memory", both));
    }
    rows.extend(rates.page.map(|page| named("page", units::fmt_bytes(page))));
    rows.extend(rates.tlb_reach.map(|reach| named("reach of the TLB", units::fmt_bytes(reach))));
    rows
}

fn rate(bytes_per_second: f64) -> String {
    units::fmt_rate(bytes_per_second / 1e9)
}

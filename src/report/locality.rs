//! The locality of index arrays, for people and for programs.

use serde::Serialize;

use super::table::{Column, NO_UNIT, Table};
use crate::case::units::{fmt_bytes, grouped, label_bytes, label_count, three_digits};
use crate::inputs::locality::{Bin, Locality, PAGE, SECTOR};

/// A range of strides is rare if it has fewer than one in this many strides; rare ranges share a line.
const RARE: u64 = 1000;

/// An index array with a name.
#[derive(Clone, Debug, Serialize)]
pub struct NamedLocality {
    /// A file's name, or a description of the array.
    pub array: String,
    /// [`crate::inputs::arrays::hash`] of its indices.
    pub hash: String,
    /// Note on omitted indices, if the array was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(flatten)]
    pub locality: Locality,
}

/// Maximal width of the text in columns.
const WIDTH: usize = 80;
/// Length in characters of a bar for 100 %.
const BAR: usize = 44;
/// Width in characters of the labels before the bars.
const LABEL: usize = 20;

/// Text with bars, at most 80 columns (but for the name).
pub fn text(arrays: &[NamedLocality]) -> String {
    let each: Vec<String> = arrays.iter().map(|named| one(named).join("\n")).collect();
    each.join("\n\n\n")
}

fn one(named: &NamedLocality) -> Vec<String> {
    let l = &named.locality;
    let mut lines = wrapped(&named.array);
    lines.push(format!("{} indices from {} to {}", grouped(l.count), grouped(l.min), grouped(l.max)));
    lines.push(format!(
        "class {}, elements of {}, lines of {}",
        l.class,
        size(l.layout.element),
        size(l.layout.line)
    ));
    lines.push(format!("hash {}…", named.hash.get(..12).unwrap_or(&named.hash)));
    lines.extend(named.note.clone());
    lines.push(String::new());
    lines.extend(touched(l));
    lines.push(String::new());
    lines.extend(strides(l));
    lines.push(String::new());
    lines.extend(reuse(l));
    lines.push(String::new());
    lines.push("Hits in a cache of whole lines, LRU, empty at the start, of all accesses".to_owned());
    lines.extend(l.reuse.caches.iter().map(|c| row(&size(c.bytes), c.hits, l.reuse.accesses)));
    lines
}

/// A name in lines of at most [`WIDTH`] columns, broken at spaces.
fn wrapped(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in name.split(' ') {
        let line = lines.pop().unwrap_or_default();
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if longer.chars().count() > WIDTH && !line.is_empty() {
            lines.extend([line, format!("  {word}")]);
        } else {
            lines.push(longer);
        }
    }
    lines
}

fn touched(l: &Locality) -> Vec<String> {
    let line = |name: String, distinct: u64| {
        let uses = three_digits(l.count as f64 / distinct.max(1) as f64);
        format!("  {name:<18} {:>20} {uses:>20}", grouped(distinct))
    };
    vec![
        format!("{:<20} {:>20} {:>20}", "Touched", "distinct", "indices for each"),
        line("elements".to_owned(), l.distinct_elements),
        line(format!("sectors of {}", size(SECTOR)), l.distinct_sectors),
        line(format!("lines of {}", size(l.layout.line)), l.distinct_lines),
        line(format!("pages of {}", size(PAGE)), l.distinct_pages),
    ]
}

fn strides(l: &Locality) -> Vec<String> {
    let s = &l.strides;
    let ones = if s.count == 0 { String::new() } else { format!("; {} are 1", percent(s.ones, s.count)) };
    let head = format!("Strides: from one index to the next, in elements{ones}");
    let label = |bin: &Bin<i64>| match bin.low {
        ..0 => format!("back {}", range(bin.high.unsigned_abs(), bin.low.unsigned_abs())),
        _ => range(bin.low.unsigned_abs(), bin.high.unsigned_abs()),
    };
    let (rare, common): (Vec<_>, Vec<_>) = s.bins.iter().partition(|bin| bin.count * RARE < s.count);
    // A single rare range takes no more room than a summary line.
    let shown = if rare.len() > 1 { common } else { s.bins.iter().collect() };
    let others = rare.iter().map(|bin| bin.count).sum();
    let others = (rare.len() > 1).then(|| row(&format!("{} rarer ranges", rare.len()), others, s.count));
    let rows = shown.iter().map(|bin| row(&label(bin), bin.count, s.count));
    std::iter::once(head).chain(rows).chain(others).collect()
}

fn reuse(l: &Locality) -> Vec<String> {
    let r = &l.reuse;
    let again = percent(r.accesses - r.cold, r.accesses);
    let lines = percent(r.lines_reused, l.distinct_lines);
    let mut all = vec![
        format!("Reuse: {again} of {} accesses are to a line touched before;", grouped(r.accesses)),
        format!("{lines} of the lines are touched again. Other lines touched in between:"),
    ];
    all.extend(r.bins.iter().map(|bin| row(&range(bin.low, bin.high), bin.count, r.accesses)));
    all.push(row("first touch", r.cold, r.accesses));
    all
}

fn size(bytes: u64) -> String {
    // A size that is not a power of two stays exact.
    if bytes.is_power_of_two() { fmt_size(bytes) } else { label_bytes(bytes).replace('B', " B") }
}

/// `64 B`, `4 KiB`: no decimals, for powers of two.
fn fmt_size(bytes: u64) -> String {
    fmt_bytes(bytes).replace(".00", "").replace(".0 ", " ")
}

/// A bin: `1`, `512 to 1023`, `4Ki to <8Ki`.
fn range(low: u64, high: u64) -> String {
    match low {
        _ if low == high => low.to_string(),
        0..1024 => format!("{low} to {high}"),
        _ => format!("{} to <{}", label_count(low), label_count(high + 1)),
    }
}

/// A label, a bar and the share.
fn row(label: &str, count: u64, of: u64) -> String {
    let share = if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let full = (share * BAR as f64).round() as usize;
    // A nonzero share too small for a character is still visible.
    let bar = if full == 0 && count > 0 { ".".to_owned() } else { "#".repeat(full) };
    format!("  {label:<LABEL$} {bar:<BAR$} {:>7}", percent(count, of))
}

/// `12.3 %`; a nonzero share that rounds to zero is `<0.1 %`.
fn percent(count: u64, of: u64) -> String {
    let share = if of == 0 { 0.0 } else { 100.0 * count as f64 / of as f64 };
    match count {
        1.. if share < 0.05 => "<0.1 %".to_owned(),
        _ if count < of && share >= 99.95 => ">99.9 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

/// A table with one row for each number.
pub fn table(arrays: &[NamedLocality]) -> Table<'_, Row<'_>> {
    let columns = [
        Column::new("array", NO_UNIT, |row: &Row| {
            let note = row.named.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            row.named.array.clone() + &note
        }),
        Column::new("hash", NO_UNIT, |row: &Row| row.named.hash.clone()),
        Column::new("class", NO_UNIT, |row: &Row| row.named.locality.class.clone()),
        Column::new("quantity", NO_UNIT, |row: &Row| row.quantity),
        Column::new("low", "elements, lines", |row: &Row| row.low),
        Column::new("high", "elements, lines, B", |row: &Row| row.high),
        Column::new("count", NO_UNIT, |row: &Row| row.count),
        Column::new("share", "ratio", |row: &Row| {
            row.of.filter(|of| *of > 0).map(|of| row.count as f64 / of as f64)
        }),
    ];
    Table::new(columns, arrays.iter().flat_map(rows))
}

/// A number about an array.
pub struct Row<'a> {
    named: &'a NamedLocality,
    quantity: &'static str,
    low: Option<i64>,
    high: Option<i64>,
    count: u64,
    /// The total that the count is a share of.
    of: Option<u64>,
}

fn rows(named: &NamedLocality) -> Vec<Row<'_>> {
    let (l, r) = (&named.locality, &named.locality.reuse);
    let row = |quantity, low, high, count, of| Row { named, quantity, low, high, count, of };
    let plain = |quantity, count, of| row(quantity, None, None, count, of);
    let bins = |quantity, low, high, count, of| row(quantity, Some(low), Some(high), count, Some(of));
    let mut rows = vec![
        row("indices", Some(l.min as i64), Some(l.max as i64), l.count, None),
        plain("distinct-elements", l.distinct_elements, None),
        plain("distinct-sectors", l.distinct_sectors, None),
        plain("distinct-lines", l.distinct_lines, None),
        plain("distinct-pages", l.distinct_pages, None),
        plain("lines-reused", r.lines_reused, Some(l.distinct_lines)),
        plain("accesses", r.accesses, None),
        plain("first-touch", r.cold, Some(r.accesses)),
    ];
    rows.extend(l.strides.bins.iter().map(|b| bins("stride", b.low, b.high, b.count, l.strides.count)));
    let reuse = r.bins.iter();
    rows.extend(reuse.map(|b| bins("reuse-distance", b.low as i64, b.high as i64, b.count, r.accesses)));
    let caches = r.caches.iter();
    rows.extend(caches.map(|c| row("hits", None, Some(c.bytes as i64), c.hits, Some(r.accesses))));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::arrays;
    use crate::inputs::locality::Layout;
    use crate::report::table::tests::documented;

    fn named(indices: &[u64]) -> NamedLocality {
        let layout = Layout { element: 8, line: 64 };
        let locality = Locality::of(indices, layout).expect("statistics");
        NamedLocality { array: "x".into(), hash: arrays::hash(indices), note: None, locality }
    }

    fn random() -> Vec<u64> {
        let permutation = crate::inputs::Permutation::new(1 << 30, 1).expect("a permutation");
        (0..5000).map(|i| permutation.apply(i) * 1000).chain([0, 0, 1]).collect()
    }

    #[test]
    fn text_fits_80_columns_and_is_plain() {
        for indices in [vec![0], vec![3, 3], (0..99).collect(), random()] {
            let text = text(&[named(&indices)]);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(!text.contains('\x1b') && !text.contains("NaN"), "{text}");
        }
        let text = text(&[named(&[0, 1, 2, 3, 400])]);
        assert!(text.starts_with("x\n5 indices from 0 to 400\n"), "{text}");
        assert!(text.contains("75.0 % are 1") && text.contains("256 to 511"), "{text}");
    }

    #[test]
    fn rare_strides_share_a_line() {
        let steady = || (0..10_000u64).collect::<Vec<u64>>();
        let strides = |indices: &[u64]| {
            let lines = strides(&named(indices).locality);
            lines[1..]
                .iter()
                .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
                .collect()
        };
        let one: Vec<String> = strides(&[steady(), vec![20_000]].concat());
        assert!(one.len() == 2 && one[1].starts_with("8Ki to <16Ki"), "{one:?}");
        let two: Vec<String> = strides(&[steady(), vec![20_000, 120_000, 5]].concat());
        assert_eq!(two.len(), 2, "{two:?}");
        assert!(two[1].starts_with("3 rarer ranges") && two[1].ends_with("<0.1 %"), "{two:?}");
    }

    #[test]
    fn long_names_are_broken_between_words() {
        let name = ["word"; 40].join(" · ");
        let lines = wrapped(&name);
        assert!(lines.len() > 3 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        assert_eq!(wrapped(&"x".repeat(100)).len(), 1);
    }

    #[test]
    fn shares_do_not_round_to_none_or_all() {
        assert_eq!(percent(1, 1 << 20), "<0.1 %");
        assert_eq!(percent((1 << 20) - 1, 1 << 20), ">99.9 %");
        assert_eq!([percent(0, 7), percent(7, 7), percent(0, 0)], ["0.0 %", "100.0 %", "0.0 %"]);
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([32, 4096, 1 << 20, 12, 96].map(size), ["32 B", "4 KiB", "1 MiB", "12 B", "96 B"]);
    }

    #[test]
    fn every_column_of_the_csv_is_in_the_dictionary() {
        let arrays = [named(&random())];
        let table = table(&arrays);
        documented("The locality of an index array", &table.columns);
        let dictionary = include_str!("../../docs/data-dictionary.md");
        for row in table.rows {
            assert!(dictionary.contains(&format!("`{}`", row.quantity)), "{}", row.quantity);
        }
    }
}

//! Resolves the names in `chart:` to axes.

use std::collections::HashSet;
use std::sync::Arc;

use super::catalog::{Catalog, Entry};
use super::maps::Choices;
use super::value_text;
use super::{Ceiling, Chart, ChartScale, Published, Scale};
use crate::case::peers::{BACKEND, of_backend};
use crate::case::{BACKENDS, IndexFiles, Value};
use crate::primitives;
use crate::recipe::node::Content;
use crate::recipe::published::{self, Table, is_table};
use crate::recipe::{Draft, ErrorKind, Mistake, Name, Node, Place, Setting, listed, scalar};

/// The chart of an experiment, with full keys, and its choices that stand for parameters below them.
pub(super) fn chart(
    draft: &Draft,
    catalog: &Catalog,
    files: &dyn IndexFiles,
) -> Result<(Chart, Choices), Mistake> {
    let written = &draft.chart;
    let find = |name: &Name, at: &str| Ok(catalog.find(&name.text, name.place, at)?.slot.key.clone());
    let list = |names: &[Name], at: &str| names.iter().map(|n| find(n, at)).collect::<Result<Vec<_>, _>>();
    let x = find(&written.x, "chart.x")?;
    let (mut lines, panels) = (list(&written.lines, "chart.lines")?, list(&written.panels, "chart.panels")?);
    let best_of = list(&written.best_of, "chart.best-of")?;
    once([&x].into_iter().chain(&lines).chain(&panels).chain(&best_of), draft)?;
    let mut choices = Choices::default();
    for entry in catalog.entries.iter().filter(|e| e.varies() && !e.zipped) {
        let key = &entry.slot.key;
        let mut assigned = std::iter::once(&x).chain(&lines).chain(&panels).chain(&best_of);
        if assigned.clone().any(|name| name == key) || choices.take(entry, catalog, &mut assigned) {
            continue;
        }
        // The recipe's chart need not assign axes created by the command line or by peers.
        if !matches!(entry.place, Place::Override(_) | Place::Backends) && !by_peers(entry) {
            let axes = catalog.axes(|key| lines.iter().chain(&panels).any(|name| name == key), &choices);
            let short = axes.iter().find(|axis| axis.key == *key).map(|axis| axis.name.as_str());
            let (axis, values) = (entry.slot.name.clone(), entry.values.len());
            let lines = with_line(draft, short.unwrap_or(&axis));
            return Err(Mistake::new(entry.place, ErrorKind::Unassigned { axis, values, lines }));
        }
        lines.push(key.clone());
    }
    let relative_to =
        written.relative_to.as_ref().map(|(name, node)| baseline(draft, catalog, name, node)).transpose()?;
    let (ceiling, models) = (ceiling(draft)?, models(draft)?);
    let (bars, ratio) = (written.bars, written.ratio);
    let overlay =
        written.overlay.as_ref().map(|(file, node)| overlay(draft, (file, node), files)).transpose()?;
    counted(draft)?;
    let scale = scale(draft, catalog, &x)?;
    let mut chart = Chart {
        x,
        y: written.y,
        statistic: written.statistic,
        lines,
        panels,
        best_of,
        scale,
        relative_to,
        ratio,
        ceiling,
        models,
        bars,
        overlay,
    };
    choices.settle(&mut chart, catalog, &draft.settings);
    one_baseline(draft, &chart, &choices)?;
    groups_assigned(draft, catalog, &chart)?;
    Ok((chart, choices))
}

/// The word of a baseline must be that of one value.
fn one_baseline(draft: &Draft, chart: &Chart, choices: &Choices) -> Result<(), Mistake> {
    let Some((key, word)) = &chart.relative_to else { return Ok(()) };
    if !choices.of(key).is_some_and(|maps| maps.repeats(word)) {
        return Ok(());
    }
    let at = if chart.ratio { "chart.ratio-to" } else { "chart.relative-to" };
    let message = format!("several values of `{key}` are `{word}`; accepted: a word that only one value has");
    Err(Mistake::invalid(draft.chart.place, at, message))
}

/// The value of `lines` in the recipe, with another axis.
fn with_line(draft: &Draft, axis: &str) -> String {
    let names: Vec<&str> =
        draft.chart.lines.iter().map(|name| name.text.as_str()).chain(std::iter::once(axis)).collect();
    if let [one] = names[..] { one.to_owned() } else { format!("[{}]", names.join(", ")) }
}

/// Whether the parameter varies only because of peers.
fn by_peers(entry: &Entry) -> bool {
    let peer = |value: &&Value| matches!(value, Value::Text(name) if of_backend(name).is_some());
    entry.slot.key == BACKENDS.name && entry.values.iter().filter(peer).count() + 1 == entry.values.len()
}

/// Whether the chart assigns this key.
pub(super) fn assigns(chart: &Chart, key: &str) -> bool {
    chart.x == key
        || [&chart.lines, &chart.panels, &chart.best_of].iter().any(|keys| keys.iter().any(|k| k == key))
}

fn once<'k>(mut keys: impl Iterator<Item = &'k String>, draft: &Draft) -> Result<(), Mistake> {
    let mut seen = HashSet::new();
    match keys.find(|key| !seen.insert(*key)) {
        Some(key) => Err(Mistake::invalid(
            draft.chart.place,
            "chart",
            format!("`{key}` is in more than one of x, lines, panels and best-of"),
        )),
        None => Ok(()),
    }
}

fn baseline(draft: &Draft, catalog: &Catalog, name: &Name, node: &Node) -> Result<(String, Value), Mistake> {
    let at = if draft.chart.ratio { "chart.ratio-to" } else { "chart.relative-to" };
    let entry = catalog.find(&name.text, name.place, at)?;
    let at = format!("{at}.{}", name.text);
    let peer =
        draft.peers.iter().map(|(peer, _)| peer).find(|peer| node.content == Content::Text(peer.to_string()));
    let value = match peer.filter(|_| entry.slot.key == BACKENDS.name) {
        Some(peer) => Value::Text(format!("{BACKEND}{peer}")),
        None => scalar(&entry.slot.param.kind, node, &at)?,
    };
    if entry.values.contains(&value) {
        return Ok((entry.slot.key.clone(), value));
    }
    let names: Vec<String> = entry.values.iter().map(|v| entry.label(v)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (value, accepted) = (entry.label(&value), listed(&names));
    Err(Mistake::new(node.place, ErrorKind::NotAmong { at, value, accepted }))
}

/// The scales of the axes, if the values of x and the kind of y have them.
fn scale(draft: &Draft, catalog: &Catalog, x: &str) -> Result<ChartScale, Mistake> {
    let written = &draft.chart;
    if let (Some((place, scale)), Some(entry)) = (written.scale.x, catalog.by_key(x)) {
        let number = |value: &Value| match value {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Text(_) | Value::Indices(_) => None,
        };
        let has = |no_place: fn(Option<f64>) -> bool| entry.values.iter().find(|v| no_place(number(v)));
        let without = |why: String| Err(Mistake::invalid(place, "chart.scale.x", why));
        let name = entry.slot.name.as_str();
        if has(|number| number.is_none()).is_some() {
            return without(format!("{name} has named values, so it has no scale; accepted: without x"));
        }
        let zero = has(|number| number.is_some_and(|number| number <= 0.0));
        if let (Some(value), Scale::Log) = (zero, scale) {
            let value = entry.label(value);
            return without(format!(
                "{name} takes the value {value}, which has no logarithm; accepted: linear"
            ));
        }
    }
    let change = written.relative_to.is_some() && !written.ratio;
    match written.scale.y {
        Some((place, Scale::Log)) if change => Err(Mistake::invalid(
            place,
            "chart.scale.y",
            "a change may be 0 or less, which has no logarithm; accepted: linear, or ratio-to instead of relative-to"
                .to_owned(),
        )),
        y => Ok(ChartScale { x: written.scale.x.map(|(_, x)| x), y: y.map(|(_, y)| y) }),
    }
}

/// The table beside the recipe, or else the one that ships with the program, and its machine.
fn overlay(
    draft: &Draft,
    (file, node): (&Name, &Node),
    files: &dyn IndexFiles,
) -> Result<Published, Mistake> {
    const AT: &str = "chart.overlay";
    let Some(paper) = &draft.paper else {
        let message = "a table belongs to a paper; accepted: with paper: {key: …}";
        return Err(Mistake::invalid(file.place, AT, message.to_owned()));
    };
    let path = format!("{}/{}", paper.key, file.text);
    if !is_table(&file.text) {
        let message = format!("`{}` is no table of a paper; accepted: published/NAME.csv", file.text);
        return Err(Mistake::invalid(file.place, AT, message));
    }
    let own = files.table(&paper.key, &file.text).map_err(|why| Mistake::invalid(file.place, AT, why))?;
    let Some(table) = own.as_ref().or_else(|| published::find(&path)) else {
        let own = |table: &'static Table| table.path.strip_prefix(&paper.key)?.strip_prefix('/');
        let known: Vec<&str> = published::tables().iter().filter_map(own).collect();
        if known.is_empty() {
            let message = format!("there is no {} in the recipe's folder", file.text);
            return Err(Mistake::invalid(file.place, AT, message));
        }
        return Err(Mistake::unknown_word(file.place, AT, &file.text, &known));
    };
    let at = format!("{AT}.{}", file.text);
    let Content::Text(platform) = &node.content else {
        return Err(Mistake::wrong_type(node.place, &at, "a machine in the table", node.describe()));
    };
    if !table.platforms().contains(&platform.as_str()) {
        return Err(Mistake::unknown_word(node.place, &at, platform, &table.platforms()));
    }
    Ok(Published { file: path, platform: platform.clone(), table: own.map(Arc::new) })
}

/// The ceiling, if it suits the quantity.
fn ceiling(draft: &Draft) -> Result<Option<Ceiling>, Mistake> {
    let written = &draft.chart;
    let Some((place, ceiling)) = written.ceiling else { return Ok(None) };
    let invalid = |message: &str| Err(Mistake::invalid(place, "chart.ceiling", message));
    let light = ceiling == Ceiling::SpeedOfLight;
    if light && draft.primitive.speed_of_light().is_none() {
        return invalid(&format!("{} has no speed of light; accepted: copy", draft.primitive.name()));
    }
    match (ceiling.suits(written.y) && written.relative_to.is_none(), light) {
        (true, _) => Ok(Some(ceiling)),
        (false, false) => invalid(
            "a copy's rate is in GB/s; accepted: with y: bandwidth or y: system-bandwidth, and without relative-to",
        ),
        (false, true) => invalid(
            "the speed of light is a rate; accepted: with y: throughput, bandwidth or system-bandwidth, and without \
             relative-to",
        ),
    }
}

/// Refuses operations of a primitive that counts none.
fn counted(draft: &Draft) -> Result<(), Mistake> {
    if !draft.chart.y.counts_flops() || draft.primitive.flops_per_element().is_some() {
        return Ok(());
    }
    let all = primitives::registry().iter().filter(|primitive| primitive.flops_per_element().is_some());
    let names: Vec<&str> = all.map(|primitive| primitive.name()).collect();
    let message = format!(
        "{} counts no floating-point operations; y: {} is for {}",
        draft.primitive.name(),
        draft.chart.word_of_y(),
        names.join(", ")
    );
    Err(Mistake::invalid(draft.chart.place, "chart.y", message))
}

/// The models to be drawn. No model predicts transfers, which must be measured.
fn models(draft: &Draft) -> Result<Option<Vec<String>>, Mistake> {
    let written = &draft.chart;
    let invalid = |at: &str, message: &str| Err(Mistake::invalid(written.place, at, message.to_owned()));
    let models = written.models.as_ref();
    let y = written.word_of_y();
    match written.y.with_transfer() {
        true if draft.measure.transfer.is_none() => {
            invalid("chart.y", &format!("{y} needs measure.transfer: pinned or pageable"))
        }
        true if models.is_some_and(|models| !models.is_empty()) => {
            invalid("chart.model", &format!("models predict no transfers; accepted with y: {y}: none"))
        }
        true => Ok(Some(Vec::new())),
        false => Ok(written.models.clone()),
    }
}

/// The items of `cases` must be distinguishable by the parameters that the chart assigns.
fn groups_assigned(draft: &Draft, catalog: &Catalog, chart: &Chart) -> Result<(), Mistake> {
    for group in draft.settings.iter().filter(|s| s.group) {
        let (mut all, mut told) = (HashSet::new(), HashSet::new());
        for item in &group.alternatives {
            let mut values = Vec::new();
            flatten(&item.inner, &mut values);
            told.insert(values.iter().filter(|(k, _)| assigns(chart, k)).cloned().collect::<Vec<_>>());
            all.insert(values);
        }
        if told.len() < all.len() {
            let zipped = catalog.entries.iter().filter(|e| e.zipped && e.varies());
            let names: Vec<&str> =
                zipped.map(|e| e.slot.name.rsplit('.').next().unwrap_or_default()).collect();
            let axis = format!("cases ({})", listed(&names));
            let lines = with_line(draft, names.first().copied().unwrap_or_default());
            let values = all.len();
            return Err(Mistake::new(group.place, ErrorKind::Unassigned { axis, values, lines }));
        }
    }
    Ok(())
}

fn flatten(settings: &[Setting], out: &mut Vec<(String, String)>) {
    for setting in settings {
        for alternative in &setting.alternatives {
            out.extend(alternative.value.iter().map(|v| (setting.slot.key.clone(), value_text(v))));
            flatten(&alternative.inner, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::recipe::shipped;

    #[test]
    fn the_line_of_a_chart_reads_back_as_the_same_chart() {
        let plan = |text: &str| {
            let recipe = recipe::parse("a.yaml", text).expect("a recipe");
            resolve(&recipe, &Overrides::default()).expect("a plan")
        };
        let mut read_back = 0;
        for shipped in shipped::shipped() {
            let own = |line: &str| line.trim_start().starts_with("chart: {") && line.ends_with('}');
            let before = plan(shipped.text).experiments;
            if shipped.text.lines().filter(|line| own(line)).count() != before.len() {
                continue;
            }
            let mut lines = before.iter().map(recipe::chart_line);
            let written = |line: &str| match line.len() - line.trim_start().len() {
                indent if own(line) => " ".repeat(indent) + &lines.next().unwrap_or_default(),
                _ => line.to_owned(),
            };
            let text: Vec<String> = shipped.text.lines().map(written).collect();
            for (experiment, again) in before.iter().zip(plan(&text.join("\n")).experiments) {
                assert_eq!(again.chart, experiment.chart, "{}", shipped.path);
                read_back += 1;
            }
        }
        assert!(read_back > 20, "{read_back}");
    }

    #[test]
    fn operations_are_drawn_of_primitives_that_count_them() {
        let plan = |primitive: &str| {
            let text = format!("{primitive}\nbackend: cpu\nchart: {{x: method, y: flops}}\n");
            let recipe = recipe::parse("a.yaml", &text).expect("a recipe");
            resolve(&recipe, &Overrides::default()).map_err(|error| error.to_string())
        };
        let plan_of_spmv = plan("spmv: {matrix: {laplace5: 9}, method: [row, balanced]}").expect("a plan");
        let line = recipe::chart_line(&plan_of_spmv.experiments[0]);
        assert!(line.contains("y: flops"), "{line}");
        let refusal = plan("sort: {keys: 1Ki, method: [msd, lsd]}").expect_err("sorting counts none");
        assert!(refusal.contains("sort counts no floating-point operations; y: flops is for "), "{refusal}");
        assert!(refusal.contains("spmv, cg"), "{refusal}");
    }

    #[test]
    fn time_with_transfer_is_drawn_of_what_is_measured_and_not_predicted() {
        let plan = |more: &str| {
            let text =
                format!("stream: {{kernel: copy, elements: [1Ki, 2Ki]}}\nbackend: [cpu, cuda]\n{more}\n");
            let recipe = recipe::parse("a.yaml", &text).expect("a recipe");
            resolve(&recipe, &Overrides::default()).map_err(|error| error.to_string())
        };
        let chart =
            |more: &str| format!("chart: {{x: elements, lines: backend, y: time-with-transfer{more}}}");
        let measured = plan(&format!("{}\nmeasure: {{transfer: pageable}}", chart(""))).expect("a plan");
        assert_eq!(measured.experiments[0].chart.models, Some(Vec::new()));
        let refusal = plan(&chart("")).expect_err("transfers are not measured");
        assert!(refusal.contains("measure.transfer"), "{refusal}");
        let counted = "cg: {class: [S, W]}\nbackend: cuda\nchart: {x: class, y: flops-with-transfer}\n";
        let of = |text: &str| {
            let recipe = recipe::parse("a.yaml", text).expect("a recipe");
            resolve(&recipe, &Overrides::default()).map_err(|error| error.to_string())
        };
        let refusal = of(counted).expect_err("transfers are not measured");
        assert!(refusal.contains("flops-with-transfer needs measure.transfer"), "{refusal}");
        assert!(of(&format!("{counted}measure: {{transfer: pinned}}\n")).is_ok());
        let predicted = format!("{}\nmeasure: {{transfer: pinned}}", chart(", model: sector"));
        let refusal = plan(&predicted).expect_err("no model predicts them");
        assert!(refusal.contains("models predict no transfers"), "{refusal}");
    }
}

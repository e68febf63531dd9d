//! A run as one page of HTML that needs nothing else: charts, tables, claim, machine, and how to run it again.

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::bests::{self, Best};
use super::files::caption;
use super::names;
use super::origin::Origin;
use super::series::charted;
use super::svg::{Caption, printed, render, words};
use super::table::Table;
use crate::case::units::{escaped, fmt_bytes};
use crate::case::{Availability, Device};
use crate::recipe::plan::Experiment;
use crate::run::Record;
use crate::run::layout::Manifest;
use crate::run::repeat::{in_folder, line};
use crate::run::stored::Stored;
use crate::run::verdict::of_results;

/// The table of an experiment, with a row for each case with a result, and remarks.
pub struct Measured<'a> {
    pub table: Table<'a, &'a Record>,
    pub remarks: Vec<String>,
}

const STYLE: &str = include_str!("html/page.css");
const SORT: &str = include_str!("html/sort.js");

/// Tables with more rows than this are long: they have a summary, scroll in their own box, and sort.
const LONG: usize = 12;

/// The width of a chart for phones, in units of which its tick labels take [`PRINTED`](super::svg::PRINTED).
const NARROW: f64 = 360.0;

fn is_long(measured: &Measured) -> bool {
    measured.table.rows.len() > LONG
}

/// The page. `outcome` is the state of the cases in words, `measured` what was measured in each experiment of the plan.
/// Every text is escaped. The same run gives the same page.
///
/// # Errors
/// A chart that cannot be drawn.
pub fn page(run: &Stored, outcome: &str, measured: &[Measured]) -> Result<String> {
    let (manifest, plan) = (&run.manifest, &run.manifest.plan);
    let charts = (0..plan.experiments.len()).map(|number| chart(run, number)).collect::<Result<Vec<_>>>()?;
    let experiments = plan.experiments.iter().zip(charts).zip(measured);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "scatterlab " (env!("CARGO_PKG_VERSION")) };
                title { (plan.title) }
                style { (PreEscaped(STYLE)) }
                // A module runs once the page is read. A page without long tables runs nothing.
                @if measured.iter().any(is_long) { script type="module" { (PreEscaped(SORT)) } }
            }
            body {
                h1 { (plan.title) }
                @if let Some(verdict) = of_results(plan, run.ledger.records()) { p { strong { (verdict) } } }
                p { (outcome) " · measured " (manifest.started) " UTC on " (manifest.environment.host) }
                @for warning in &run.warnings { p { strong { "Warning: " (warning) } } }
                @if !plan.overrides.is_empty() { p { "Changed by " code { (escaped(&plan.overrides.join(" "))) } } }
                @for (number, ((experiment, chart), measured)) in experiments.enumerate() {
                    (section(experiment, &chart, measured, &bests::of(experiment, number, run.ledger.records())))
                }
                (machine(manifest))
                (again(run))
            }
        }
    };
    // A title may be another machine's: nothing in it acts on a terminal or turns the direction of text.
    Ok(page.into_string().split('\n').map(escaped).collect::<Vec<_>>().join("\n"))
}

/// A chart for screens and one for phones, without what the page says above them.
struct Chart {
    broad: String,
    narrow: String,
    /// What stands around the chart for phones, which the other contains.
    words: String,
}

fn chart(run: &Stored, experiment: usize) -> Result<Chart> {
    let (origin, records) = (&Origin::from(&run.manifest), run.ledger.records());
    let mut data = charted(origin.plan, experiment, records, Some(run.ledger.references()));
    data.title.clear();
    let caption = caption(origin, experiment, records, run.ledger.references());
    let caption = Caption { recipe: None, paper: None, changes: None, verdict: None, ..caption };
    let broad = render(&data, &caption)?;
    Ok(Chart { broad, narrow: printed(&data, NARROW)?, words: words(&data, &caption) })
}

/// An experiment: whose claim it is about, its chart, which is text that `report::svg` has escaped, and its cases.
fn section(experiment: &Experiment, chart: &Chart, measured: &Measured, bests: &[Best]) -> Markup {
    html! {
        section {
            h2 { (experiment.title) }
            @if let Some(paper) = &experiment.paper {
                p class="claim" { (names::claimed(paper)) }
            }
            figure {
                @for (class, chart) in [("broad", &chart.broad), ("narrow", &chart.narrow)] {
                    div class=(class) role="img" aria-label=(experiment.title) { (PreEscaped(chart)) }
                }
                figcaption class="narrow" { @for line in chart.words.lines().filter(|line| !line.is_empty()) { (line) br; } }
            }
            @if is_long(measured) && !bests.is_empty() {
                h3 { "The best of each" }
                (table(&bests::table(experiment, bests)))
                h3 { "All cases" }
            }
            @if !measured.table.rows.is_empty() { (table(&measured.table)) }
            @for remark in &measured.remarks { p class="quiet" { (remark) } }
        }
    }
}

fn table<R>(table: &Table<R>) -> Markup {
    let class = |at: usize| table.columns[at].is_right_aligned().then_some("number");
    let long = table.rows.len() > LONG;
    html! {
        // A box that scrolls takes the focus, so that keys scroll it, too.
        div class=(if long { "wide long" } else { "wide" }) tabindex="0" {
            table class=[long.then_some("sorted")] {
                thead { tr { @for (at, column) in table.columns.iter().enumerate() { th scope="col" class=[class(at)] { (column.head()) } } } }
                tbody {
                    @for row in table.shown() {
                        tr { @for (at, cell) in row.iter().enumerate() { td class=[class(at)] { (cell) } } }
                    }
                }
            }
        }
    }
}

fn machine(manifest: &Manifest) -> Markup {
    let machine = &manifest.environment;
    let about = [
        ("host", machine.host.clone()),
        ("system", format!("{}, {}", machine.os, machine.kernel)),
        ("processor", format!("{}, {} of its CPUs usable", machine.cpu, machine.affinity.len())),
        ("memory", fmt_bytes(machine.memory)),
        ("huge pages", machine.transparent_huge_pages.clone().unwrap_or_default()),
    ];
    let facts = machine.facts.iter().map(|(name, fact)| (name.as_str(), fact.clone()));
    html! {
        section {
            h2 { "Where it was measured" }
            (list(about.into_iter().chain(facts)))
            @for device in &manifest.devices { (one(device)) }
        }
    }
}

fn one(device: &Device) -> Markup {
    let facts = device.facts.iter().map(|(name, fact)| (name.as_str(), fact.clone()));
    html! {
        h3 { (device.backend) ": " (device.name) @if let Availability::Unavailable { reason } = &device.availability { "n/a: " (reason) } }
        (list(facts))
    }
}

/// What has no value is left out.
fn list<'a>(facts: impl Iterator<Item = (&'a str, String)>) -> Markup {
    html! { dl { @for (name, fact) in facts.filter(|(_, fact)| !fact.is_empty()) { dt { (name) } dd { (fact) } } } }
}

/// How to measure it again: in the run's folder, wherever it is, or with the recipe alone where it names no files.
fn again(run: &Stored) -> Markup {
    let plan = &run.manifest.plan;
    let (replay, alone) = in_folder(plan);
    html! {
        section {
            h2 { "How to run it again" }
            p { "In the run's folder: measure it on your machine, and judge the difference case by case." }
            pre { (line(&replay)) }
            @if let Some(words) = alone {
                p {
                    @if plan.indices.is_empty() { "With the recipe below, saved as " code { "recipe.yaml" } ":" }
                    @else { "In that folder, with the recipe, whose arrays are there:" }
                }
                pre { (line(&words)) }
            }
            p {
                "It was measured by scatterlab " (run.manifest.version) ", revision " (run.manifest.revision)
                ", recipe " (plan.short_hash()) "."
            }
            @if !run.recipe.is_empty() { details { summary { "recipe.yaml" } pre { (run.recipe) } } }
        }
    }
}

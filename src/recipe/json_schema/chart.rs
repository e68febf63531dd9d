//! Schema of the chart, with the names of an experiment's parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::Schemas;
use super::value::described;
use crate::case::schema::Kind;
use crate::case::{BACKENDS, MODELS};
use crate::primitives::Primitive;
use crate::recipe::ParamSlot;
use crate::recipe::chart::{CEILINGS, MAX_NAMES, NO_MODEL, QUANTITIES, SCALES, STATISTICS};
use crate::recipe::plan::{Bars, Ceiling, Quantity, Statistic};

/// Schema of the chart for experiments of these primitives, stored as `name` in the definitions.
pub(super) fn chart(name: &str, primitives: &[&'static Primitive], schemas: &mut Schemas) -> Json {
    let names = Names::of(primitives);
    let axis = schemas.shared(&format!("axis.{name}"), names.axis());
    let baseline = schemas.shared(&format!("baseline.{name}"), names.baseline());
    let axes = json!({ "anyOf": [axis, { "type": "array", "items": axis, "maxItems": MAX_NAMES }] });
    let quantities =
        QUANTITIES.map(|(word, quantity)| described(json!({ "const": word }), meaning(quantity)));
    let light = primitives.iter().any(|primitive| primitive.speed_of_light().is_some());
    let ceilings = CEILINGS.iter().filter(|(_, ceiling)| light || *ceiling != Ceiling::SpeedOfLight);
    let ceilings = ceilings.map(|(word, ceiling)| described(json!({ "const": word }), limit(*ceiling)));
    let ceilings: Vec<Json> = ceilings.chain([json!({ "type": "null" })]).collect();
    let chart = json!({
        "type": "object",
        "description": "how the result is drawn",
        "properties": {
            "x": described(axis, "the parameter on the x axis"),
            "y": described(json!({ "anyOf": quantities, "default": QUANTITIES[0].0 }), "what is drawn"),
            "statistic": described(statistic(), "the time of each case from which y follows"),
            "lines": described(axes.clone(), "parameters whose values distinguish the lines"),
            "panels": described(axes.clone(), "parameters whose values distinguish the panels"),
            "best-of": described(axes,
                "parameters over which each point is the best case: the one with the shortest time or the highest rate"),
            "scale": described(scale(),
                "how the axes are spaced; by default x is logarithmic if its range is wide, and y if its values differ \
                 widely"),
            "relative-to": described(baseline.clone(),
                "one parameter and one of its values: y becomes the change in per cent from the cases with that value"),
            "ratio-to": described(baseline,
                "one parameter and one of its values, or backend and a peer: y becomes the ratio to the cases with \
                 that value"),
            "ceiling": described(json!({ "anyOf": ceilings }),
                "a line across the chart for each backend; y must be a rate"),
            "model": described(models(),
                "the models whose predictions are drawn; by default the usual one, if there is a profile"),
            "bars": described(bars(),
                "the bars through the points; by default percentiles for 20 samples or more, the range for fewer"),
            "overlay": described(overlay(),
                "a table of the paper's printed results for the same cases, and a machine in it; drawn as hollow \
                 points"),
        },
        "required": ["x"],
        "additionalProperties": false,
    });
    schemas.shared(&format!("chart.{name}"), chart)
}

/// One model, a list of models, `none`, or `null`.
fn models() -> Json {
    let known = json!({ "enum": MODELS });
    let list = json!({ "type": "array", "items": known, "uniqueItems": true });
    json!({ "anyOf": [{ "const": NO_MODEL }, known, list, { "type": "null" }] })
}

/// The scale of either axis, of both, or `null`.
fn scale() -> Json {
    let axis = json!({ "enum": SCALES.map(|(word, _)| word) });
    json!({
        "type": ["object", "null"],
        "properties": { "x": axis, "y": axis },
        "additionalProperties": false,
    })
}

fn statistic() -> Json {
    let meaning = |statistic: Statistic| match statistic {
        Statistic::Median => "the median of the rounds' medians",
        Statistic::Fastest => "the fastest sample of all rounds",
    };
    let known = STATISTICS.map(|(word, statistic)| described(json!({ "const": word }), meaning(statistic)));
    json!({ "anyOf": known, "default": STATISTICS[0].0 })
}

fn bars() -> Json {
    let meaning = |bars: Bars| match bars {
        Bars::Percentiles => "from the 5th to the 95th percentile of the samples",
        Bars::Range => "from the smallest to the largest sample",
        Bars::Nothing => "no bars",
    };
    let known = Bars::WORDS.map(|(word, bars)| described(json!({ "const": word }), meaning(bars)));
    json!({ "anyOf": known.into_iter().chain([json!({ "type": "null" })]).collect::<Vec<Json>>() })
}

/// A table of the recipe's folder and its machine, or `null`.
fn overlay() -> Json {
    json!({
        "type": ["object", "null"],
        "patternProperties": { r"^published/[^./\\][^/\\]*\.csv$": { "type": "string" } },
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    })
}

fn meaning(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Bandwidth => "effective bandwidth, GB/s: the data tuples that are accessed at random",
        Quantity::SystemBandwidth => "system bandwidth, GB/s: the data tuples both ways and the locations",
        Quantity::Time => "time of one execution",
        Quantity::TimeWithTransfer => {
            "time of one execution and of moving its inputs to the device and its results back; needs measure.transfer"
        }
        Quantity::Throughput => "elements per second",
        Quantity::Flops => "floating-point operations per second, of primitives that count them",
        Quantity::FlopsWithTransfer => {
            "floating-point operations over the time of one execution and of its transfers; needs measure.transfer"
        }
    }
}

fn limit(ceiling: Ceiling) -> &'static str {
    match ceiling {
        Ceiling::Copy => {
            "the rate of a plain copy on the backend between the passes of the run, counting reads and writes; y must \
             be in GB/s"
        }
        Ceiling::SpeedOfLight => {
            "the bytes that the primitive's parallel model moves, at the rate of plain copies between the passes of \
             the run; for sorts by onesweep, also the rate at which the run ranked keys on chip"
        }
    }
}

/// Names by which parameters may be called.
struct Names {
    primitives: Vec<&'static str>,
    /// The shortest names, with their descriptions.
    short: BTreeMap<String, &'static str>,
    /// Every name: the key and the axis name, in full or from any dot on.
    all: BTreeSet<String>,
}

impl Names {
    fn of(primitives: &[&'static Primitive]) -> Names {
        let mut names = Names {
            primitives: primitives.iter().map(|p| p.name()).collect(),
            short: BTreeMap::new(),
            all: BTreeSet::new(),
        };
        for primitive in primitives {
            primitive.params().iter().for_each(|p| names.add(&ParamSlot::top(p, primitive.name())));
        }
        names.add(&ParamSlot::top(&BACKENDS, ""));
        names
    }

    fn add(&mut self, slot: &ParamSlot) {
        let last = slot.name.rsplit('.').next().unwrap_or(&slot.name);
        self.short.entry(last.to_owned()).or_insert(slot.param.doc);
        self.all.extend(tails(&slot.key).chain(tails(&slot.name)).map(str::to_owned));
        if let Kind::Choice(variants) | Kind::Inline(variants) = slot.param.kind {
            for variant in variants {
                variant.params.iter().for_each(|param| self.add(&slot.below(variant, param)));
            }
        }
    }

    /// Schema of a parameter name; editors offer the short ones.
    fn axis(&self) -> Json {
        let offered = self.short.iter().map(|(name, doc)| described(json!({ "const": name }), doc));
        let mut alternatives: Vec<Json> = offered.collect();
        alternatives.push(json!({ "type": "string", "pattern": self.pattern() }));
        json!({ "anyOf": alternatives })
    }

    /// Schema of one name with a value.
    fn baseline(&self) -> Json {
        let value = json!({ "type": ["string", "number"] });
        let offered = self.short.iter().map(|(name, doc)| (name.clone(), described(value.clone(), doc)));
        let offered: serde_json::Map<String, Json> = offered.collect();
        json!({
            "type": ["object", "null"],
            "properties": offered,
            "patternProperties": { self.pattern(): value },
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1,
        })
    }

    fn pattern(&self) -> String {
        let escaped: Vec<String> = self.all.iter().map(|name| name.replace('.', "\\.")).collect();
        format!("^(({})\\.)?({})$", self.primitives.join("|"), escaped.join("|"))
    }
}

/// A dotted path and its tails after each dot.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once(path).chain(path.match_indices('.').map(move |(dot, _)| &path[dot + 1..]))
}

//! Step two, the chart: names of axes as the recipe writes them.

use super::error::{Mistake, Place};
use super::node::{Content, Node, only};
use crate::case::chart::{
    Bars, Ceiling, Chart, ChartScale, Experiment, Published, Quantity, Scale, Statistic,
};
use crate::case::{MODELS, Value, peers};

/// Name of a parameter in the chart.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub place: Place,
}

/// The chart as written; its names are resolved to parameters together with the axes.
#[derive(Clone, Debug)]
pub(crate) struct ChartDraft {
    pub place: Place,
    pub x: Name,
    pub y: Quantity,
    pub statistic: Statistic,
    pub lines: Vec<Name>,
    pub panels: Vec<Name>,
    pub best_of: Vec<Name>,
    pub scale: ScaleDraft,
    pub relative_to: Option<(Name, Node)>,
    /// True if y is the ratio to the baseline, not the change against it.
    pub ratio: bool,
    pub ceiling: Option<(Place, Ceiling)>,
    /// Names of models; `None` if the recipe does not mention models.
    pub models: Option<Vec<String>>,
    /// The bars; `None` if the recipe does not mention them.
    pub bars: Option<Bars>,
    /// A published table beside the recipe, and its machine.
    pub overlay: Option<(Name, Node)>,
}

/// The scales of x and y as written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScaleDraft {
    pub x: Option<(Place, Scale)>,
    pub y: Option<(Place, Scale)>,
}

/// Most names in one list.
pub(super) const MAX_NAMES: usize = 64;
const KEYS: [&str; 13] = [
    "x",
    "y",
    "statistic",
    "lines",
    "panels",
    "best-of",
    "scale",
    "relative-to",
    "ratio-to",
    "ceiling",
    "model",
    "bars",
    "overlay",
];
/// The word for no model.
pub(super) const NO_MODEL: &str = "none";
/// Quantities of the y axis.
pub(super) const QUANTITIES: [(&str, Quantity); 7] = [
    ("bandwidth", Quantity::Bandwidth),
    ("system-bandwidth", Quantity::SystemBandwidth),
    ("time", Quantity::Time),
    ("time-with-transfer", Quantity::TimeWithTransfer),
    ("throughput", Quantity::Throughput),
    ("flops", Quantity::Flops),
    ("flops-with-transfer", Quantity::FlopsWithTransfer),
];
/// The times that points may stand for.
pub(super) const STATISTICS: [(&str, Statistic); 2] =
    [("median", Statistic::Median), ("fastest", Statistic::Fastest)];
/// Scales of an axis of numbers.
pub(super) const SCALES: [(&str, Scale); 2] = [("log", Scale::Log), ("linear", Scale::Linear)];
/// Ceilings that may be drawn over the points.
pub(super) const CEILINGS: [(&str, Ceiling); 2] =
    [("copy", Ceiling::Copy), ("speed-of-light", Ceiling::SpeedOfLight)];

impl ChartDraft {
    /// Reads the value of `chart:`.
    pub fn read(node: &Node) -> Result<ChartDraft, Mistake> {
        let entries = node.map("chart", &format!("a map of {}", KEYS.join(", ")))?;
        only(entries, "chart", &KEYS)?;
        let of = |key: &str| entries.iter().find(|(k, _)| k.text == key);
        let Some((_, x)) = of("x") else {
            return Err(Mistake::missing_key(node.place, "chart", "x"));
        };
        if let (Some(_), Some((ratio, _))) = (of("relative-to"), of("ratio-to")) {
            let message = "y is the change or the ratio; accepted: either relative-to or ratio-to";
            return Err(Mistake::invalid(ratio.place, "chart.ratio-to", message.to_owned()));
        }
        let mut chart = ChartDraft {
            place: node.place,
            x: name(x, "chart.x")?,
            y: Quantity::Bandwidth,
            statistic: Statistic::default(),
            lines: Vec::new(),
            panels: Vec::new(),
            best_of: Vec::new(),
            scale: ScaleDraft::default(),
            relative_to: None,
            ratio: false,
            ceiling: None,
            models: None,
            bars: None,
            overlay: None,
        };
        for (key, node) in entries {
            chart.set(&key.text, node)?;
        }
        Ok(chart)
    }

    /// Sets one of the keys of a chart.
    pub fn set(&mut self, key: &str, node: &Node) -> Result<(), Mistake> {
        match key {
            "x" => self.x = name(node, "chart.x")?,
            "y" => self.y = quantity(node)?,
            "statistic" => self.statistic = one_of(node, "chart.statistic", STATISTICS)?,
            "lines" => self.lines = names(node, "chart.lines")?,
            "panels" => self.panels = names(node, "chart.panels")?,
            "best-of" => self.best_of = names(node, "chart.best-of")?,
            "scale" => self.scale = scale(node)?,
            "relative-to" | "ratio-to" => {
                self.ratio = key == "ratio-to";
                self.relative_to =
                    pair(node, &format!("chart.{key}"), "a map of one parameter and its value")?;
            }
            "overlay" => {
                self.overlay = pair(node, "chart.overlay", "a map of one table and a machine in it")?
            }
            "ceiling" => self.ceiling = ceiling(node)?,
            "bars" => self.bars = bars(node)?,
            _ => self.models = models(node)?,
        }
        Ok(())
    }

    /// The word for y.
    pub fn word_of_y(&self) -> String {
        word_of(&QUANTITIES, self.y)
    }

    /// The keys of a chart.
    pub fn keys() -> [&'static str; KEYS.len()] {
        KEYS
    }
}

/// The chart of an experiment as a line of a recipe, with the short names of the axes.
pub fn chart_line(experiment: &Experiment) -> String {
    let Chart {
        x,
        y,
        statistic,
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
    } = &experiment.chart;
    let axis = |key: &String| experiment.axes.iter().find(|axis| axis.key == *key);
    let short = |key: &String| axis(key).map_or(key.as_str(), |axis| axis.name.as_str()).to_owned();
    let list = |names: Vec<String>| {
        if let [one] = &names[..] { one.clone() } else { format!("[{}]", names.join(", ")) }
    };
    let some = |names: &Vec<String>| (!names.is_empty()).then(|| list(names.clone()));
    let keys = |keys: &Vec<String>| some(&keys.iter().map(short).collect());
    let baseline = |(key, value): &(String, Value)| match value {
        Value::Text(word) => format!("{{{}: {}}}", short(key), peers::name(word)),
        _ => format!("{{{}: {value}}}", short(key)),
    };
    let beside = |Published { file, platform, .. }: &Published| {
        format!("{{{}: {platform:?}}}", file.split_once('/').map_or(file.as_str(), |(_, file)| file))
    };
    let model = |names: &Vec<String>| some(names).unwrap_or_else(|| NO_MODEL.to_owned());
    let values = [
        Some(short(x)),
        Some(word_of(&QUANTITIES, *y)),
        Some(*statistic).filter(|statistic| !statistic.is_default()).map(|one| word_of(&STATISTICS, one)),
        keys(lines),
        keys(panels),
        keys(best_of),
        scale_words(*scale),
        relative_to.as_ref().filter(|_| !ratio).map(baseline),
        relative_to.as_ref().filter(|_| *ratio).map(baseline),
        ceiling.map(|ceiling| word_of(&CEILINGS, ceiling)),
        // Of transfers none are predicted: that need not be said.
        models.as_ref().filter(|_| !y.with_transfer()).map(model),
        bars.map(|bars| word_of(&Bars::WORDS, bars)),
        overlay.as_ref().map(beside),
    ];
    let entries = KEYS.iter().zip(values).filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    format!("chart: {{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// `{x: log, y: linear}`; `None` where neither is fixed.
fn scale_words(ChartScale { x, y }: ChartScale) -> Option<String> {
    let axes = [("x", x), ("y", y)].into_iter();
    let axes = axes.filter_map(|(axis, scale)| Some(format!("{axis}: {}", word_of(&SCALES, scale?))));
    let axes: Vec<String> = axes.collect();
    (!axes.is_empty()).then(|| format!("{{{}}}", axes.join(", ")))
}

/// The word of a value.
fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: T) -> String {
    words.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word).to_owned()
}

/// The accepted values of a chart's key, its default and its meaning.
pub(crate) fn accepts(key: &str) -> (String, &'static str, &'static str) {
    let names = "a parameter's name, or a list of them".to_owned();
    match key {
        "x" => ("a parameter's name".to_owned(), "", "the parameter on the x axis"),
        "y" => (QUANTITIES.map(|(word, _)| word).join(", "), QUANTITIES[0].0, "what is drawn"),
        "statistic" => (
            STATISTICS.map(|(word, _)| word).join(", "),
            STATISTICS[0].0,
            "the time of each case from which y follows: the median of the rounds' medians, or the fastest sample",
        ),
        "lines" => (names, "", "parameters whose values distinguish the lines"),
        "panels" => (names, "", "parameters whose values distinguish the panels"),
        "best-of" => (
            names,
            "",
            "parameters over which each point is the best case: the one with the shortest time or the highest rate",
        ),
        "scale" => (
            "{x: log}, {y: linear} or both, each log or linear".to_owned(),
            "",
            "how the axes are spaced; by default x is logarithmic if its range is wide, and y if its values differ \
             widely",
        ),
        "relative-to" => (
            "one parameter and its value, such as {isa: scalar}".to_owned(),
            "",
            "the baseline of the change that y shows",
        ),
        "ratio-to" => (
            "one parameter and its value, or {backend: PEER}, such as {backend: cub-sort}".to_owned(),
            "",
            "the baseline of the ratio that y shows",
        ),
        "overlay" => (
            "a table below the paper's folder and a machine in it, such as {published/table05.csv: GTX 1080}"
                .to_owned(),
            "",
            "the paper's printed results for the same cases, as hollow points",
        ),
        "model" => (
            format!("{NO_MODEL}, a model ({}), or a list of them", MODELS.join(", ")),
            "",
            "the models whose predictions are drawn; by default the usual one, if there is a profile",
        ),
        "bars" => (
            Bars::WORDS.map(|(word, _)| word).join(", "),
            "",
            "the bars through the points: from the 5th to the 95th percentile of the samples, their whole range, or \
             none; by default percentiles for 20 samples or more, the range for fewer",
        ),
        _ => (
            CEILINGS.map(|(word, _)| word).join(", "),
            "",
            "a line for each backend at the rate of a plain copy there, counting reads and writes (y in GB/s), or at \
             what the primitive's parallel model would reach at that rate (multisplit)",
        ),
    }
}

fn name(node: &Node, at: &str) -> Result<Name, Mistake> {
    match &node.content {
        Content::Text(text) => Ok(Name { text: text.clone(), place: node.place }),
        _ => Err(Mistake::wrong_type(node.place, at, "the name of a parameter", node.describe())),
    }
}

fn names(node: &Node, at: &str) -> Result<Vec<Name>, Mistake> {
    match &node.content {
        Content::List(items) if items.len() > MAX_NAMES => {
            Err(Mistake::invalid(node.place, at, format!("more than {MAX_NAMES} names")))
        }
        Content::List(items) => items.iter().map(|item| name(item, at)).collect(),
        _ => Ok(vec![name(node, at)?]),
    }
}

/// `{x: log, y: linear}`, or one of them; nothing for `null` (an override that removes the key).
fn scale(node: &Node) -> Result<ScaleDraft, Mistake> {
    const AT: &str = "chart.scale";
    let mut scale = ScaleDraft::default();
    if node.content == Content::Null {
        return Ok(scale);
    }
    let axes = node.map(AT, "a map of x, y, such as {x: log}")?;
    only(axes, AT, &["x", "y"])?;
    for (axis, node) in axes {
        let found = Some((node.place, one_of(node, &format!("{AT}.{}", axis.text), SCALES)?));
        if axis.text == "x" { scale.x = found } else { scale.y = found }
    }
    Ok(scale)
}

fn quantity(node: &Node) -> Result<Quantity, Mistake> {
    one_of(node, "chart.y", QUANTITIES)
}

/// `None` for `null` (an override that removes the ceiling).
fn ceiling(node: &Node) -> Result<Option<(Place, Ceiling)>, Mistake> {
    match node.content {
        Content::Null => Ok(None),
        _ => Ok(Some((node.place, one_of(node, "chart.ceiling", CEILINGS)?))),
    }
}

/// `None` for `null` (an override that removes the key).
fn bars(node: &Node) -> Result<Option<Bars>, Mistake> {
    match node.content {
        Content::Null => Ok(None),
        _ => Ok(Some(one_of(node, "chart.bars", Bars::WORDS)?)),
    }
}

/// `sector`, a list of models, or `none`; `None` for `null` (an override that removes the key).
fn models(node: &Node) -> Result<Option<Vec<String>>, Mistake> {
    match &node.content {
        Content::Null => Ok(None),
        Content::Text(word) if word == NO_MODEL => Ok(Some(Vec::new())),
        Content::List(items) => {
            let mut models: Vec<String> = Vec::new();
            for item in items {
                let name = model(item, &MODELS)?;
                if models.contains(&name) {
                    let message = format!("`{name}` is named twice");
                    return Err(Mistake::invalid(item.place, MODEL, message));
                }
                models.push(name);
            }
            Ok(Some(models))
        }
        _ => {
            let accepted: Vec<&str> = std::iter::once(NO_MODEL).chain(MODELS).collect();
            Ok(Some(vec![model(node, &accepted)?]))
        }
    }
}

const MODEL: &str = "chart.model";

fn model(node: &Node, accepted: &[&str]) -> Result<String, Mistake> {
    let Content::Text(name) = &node.content else {
        let expected = "the name of a model, or a list of them";
        return Err(Mistake::wrong_type(node.place, MODEL, expected, node.describe()));
    };
    match MODELS.contains(&name.as_str()) {
        true => Ok(name.clone()),
        false => Err(Mistake::unknown_word(node.place, MODEL, name, accepted)),
    }
}

fn one_of<T: Copy, const N: usize>(node: &Node, at: &str, known: [(&str, T); N]) -> Result<T, Mistake> {
    let words = known.map(|(word, _)| word);
    let Content::Text(text) = &node.content else {
        let expected = format!("one of {}", words.join(", "));
        return Err(Mistake::wrong_type(node.place, at, &expected, node.describe()));
    };
    let found = known.iter().find(|(word, _)| word == text).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| Mistake::unknown_word(node.place, at, text, &words))
}

/// `{isa: scalar}`; `None` for `null` (an override that removes the key).
fn pair(node: &Node, at: &str, expected: &str) -> Result<Option<(Name, Node)>, Mistake> {
    if node.content == Content::Null {
        return Ok(None);
    }
    match node.map(at, expected)? {
        [(key, value)] => Ok(Some((Name { text: key.text.clone(), place: key.place }, value.clone()))),
        entries => {
            let found = format!("a map of {} keys", entries.len());
            Err(Mistake::wrong_type(node.place, at, expected, found))
        }
    }
}

//! The best case at each place of a chart that is the best of some parameters. A place is an x of a line of a panel. The
//! model and the paper have their own best case at each place.

use std::collections::{BTreeMap, HashSet};

use super::note::{self, NoteKind};
use super::{ChartData, published};
use crate::case::Case;
use crate::recipe::plan::{Chart, Quantity, Scale};
use crate::run::Record;

/// What is drawn of the cases, by their positions in the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestOf {
    /// Cases that are not drawn, each with the case that is drawn in its place.
    outdone: BTreeMap<usize, usize>,
    /// `passes 4`: what the chart is the best of, in the measured cases that are drawn.
    chosen: BTreeMap<usize, String>,
    /// Ranks of models, and the cases of which they predict the best.
    foreseen: HashSet<(usize, usize)>,
    /// The cases of which the paper prints the best.
    printed: HashSet<usize>,
}

impl BestOf {
    /// Chooses among the cases at one place, of which there is at least one. Without any result it is the place of a case
    /// that may still be measured, else of one that failed.
    pub(super) fn choose(
        &mut self,
        place: &[(usize, &Record)],
        chart: &Chart,
        models: &[&str],
        words: impl Fn(&Case) -> String,
    ) {
        let best = |of: &dyn Fn(&Record) -> Option<f64>| {
            better(place.iter().filter_map(|(at, record)| Some((*at, of(record)?))), chart.y)
        };
        let measured = best(&|record| record.drawn(chart).filter(|_| note::own(record).is_none()));
        let of_kind = |kind: NoteKind| {
            let has = |record: &Record| note::own(record).is_some_and(|(own, _)| own == kind);
            place.iter().find(|(_, record)| has(record)).map(|(at, _)| *at)
        };
        let without = || of_kind(NoteKind::Pending).or_else(|| of_kind(NoteKind::Failed));
        let drawn = measured.or_else(without).unwrap_or(place[0].0);
        let others = place.iter().map(|(at, _)| *at).filter(|at| *at != drawn);
        self.outdone.extend(others.map(|at| (at, drawn)));
        let chosen = place.iter().filter(|(at, _)| measured == Some(*at));
        self.chosen.extend(chosen.map(|(at, record)| (*at, words(&record.case))));
        for (rank, model) in models.iter().enumerate() {
            let predicted = |record: &Record| record.quantity_at(chart.y, record.prediction(model)?.seconds);
            self.foreseen.extend(best(&predicted).map(|at| (rank, at)));
        }
        let printed = |record: &Record| record.quantity_at(chart.y, published::seconds(chart, record)?);
        self.printed.extend(best(&printed));
    }

    /// Whether this case is drawn.
    pub(super) fn draws(&self, case: usize) -> bool {
        !self.outdone.contains_key(&case)
    }

    /// Whether the model with this rank predicts of this case the best at its place.
    pub(super) fn foresees(&self, rank: usize, case: usize) -> bool {
        self.foreseen.contains(&(rank, case))
    }

    /// Whether the paper prints of this case the best at its place.
    pub(super) fn prints(&self, case: usize) -> bool {
        self.printed.contains(&case)
    }
}

/// The case with the best of these values.
fn better(values: impl Iterator<Item = (usize, f64)>, y: Quantity) -> Option<usize> {
    let rank = |value: f64| if y.is_time() { value } else { -value };
    let finite = values.filter(|(_, value)| value.is_finite());
    finite.min_by(|(_, a), (_, b)| rank(*a).total_cmp(&rank(*b))).map(|(at, _)| at)
}

impl ChartData {
    /// The case that is drawn in the place of this one: the case itself, unless the chart is the best of some parameters
    /// and another case is better.
    pub fn drawn(&self, case: usize) -> usize {
        self.best.as_ref().and_then(|best| best.outdone.get(&case).copied()).unwrap_or(case)
    }

    /// `passes 4`: what the chart is the best of, in a measured case that is drawn.
    pub fn chosen(&self, case: usize) -> Option<&str> {
        self.best.as_ref()?.chosen.get(&case).map(String::as_str)
    }

    /// `best of passes: cpu: passes 1 at 64Ki to 1Mi, passes 4 at 8Mi; cuda: passes 2 at 64Ki to 8Mi`.
    pub fn choices(&self) -> Option<String> {
        let best_of = format!("best of {}", self.y.best_of.as_ref()?);
        let mut lines = Vec::new();
        for panel in &self.panels {
            let name = |label: &str| {
                // A line that nothing else tells from others is called like the whole chart.
                let words = [&*panel.title, label].into_iter();
                let words = words.filter(|word| !word.is_empty() && *word != best_of);
                words.collect::<Vec<_>>().join(", ")
            };
            for line in &panel.lines {
                let same =
                    line.points.chunk_by(|a, b| self.chosen(a.value.case) == self.chosen(b.value.case));
                let words = same.filter_map(|points| {
                    let chosen = self.chosen(points.first()?.value.case)?;
                    let labels: Vec<&str> = points.iter().map(|point| point.label.as_str()).collect();
                    Some(match &labels[..] {
                        [""] => chosen.to_owned(),
                        [first, .., last] if self.x.scale != Scale::Category => {
                            format!("{chosen} at {first} to {last}")
                        }
                        labels => format!("{chosen} at {}", labels.join(", ")),
                    })
                });
                lines.push((name(&self.labels[line.style]), words.collect::<Vec<_>>().join(", ")));
            }
            let references = panel.references.iter();
            lines.extend(references.filter_map(|reference| {
                Some((name(&reference.label), self.chosen(reference.value.case)?.to_owned()))
            }));
        }
        let lines = lines.iter().filter(|(_, chosen)| !chosen.is_empty());
        let words = |(line, chosen): &(String, String)| match line.as_str() {
            "" => chosen.clone(),
            line => format!("{line}: {chosen}"),
        };
        let lines: Vec<String> = lines.map(words).collect();
        (!lines.is_empty()).then(|| format!("{best_of}: {}", lines.join("; ")))
    }
}

#[cfg(test)]
mod tests;

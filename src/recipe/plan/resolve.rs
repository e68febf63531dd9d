//! Expands the sweeps of a recipe to cases.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::case_filter::keep;
use super::case_id;
use super::catalog::Catalog;
use super::chart::{assigns, chart};
use super::indices::Brought;
use super::maps::Choices;
use super::overrides::{Overrides, apply};
use super::peers;
use super::repeats::repeats;
use super::title;
use super::{Chart, Experiment, Plan};
use crate::case::{Cache, Case, IndexFiles, NoFiles, PaperFolder, Params, Refusal, Value, distinct};
use crate::recipe::paper::{self, Known};
use crate::recipe::published::PAPERS;
use crate::recipe::{
    Draft, ErrorKind, MAX_CASES, Mistake, Name, Place, Recipe, RecipeError, Setting, cases, hash,
    locate_place, too_many,
};

/// The plan of a recipe with these overrides.
///
/// A case that belongs to several experiments is a case of each: the first one has the plain identity, later ones the
/// identity followed by `-` and the experiment's number, counted from 1. If the experiments sample alike, only the
/// first one is measured ([`Plan::repeats`]). Repetitions within one experiment are dropped.
///
/// # Errors
/// The first mistake, with its place in the recipe or the override that caused it.
pub fn resolve(recipe: &Recipe, overrides: &Overrides) -> Result<Plan, RecipeError> {
    resolve_with(recipe, overrides, &NoFiles)
}

/// [`resolve`] for recipes that may name index files.
///
/// # Errors
/// As for [`resolve`]; also files that `files` cannot read, at the key that names them.
pub fn resolve_with(
    recipe: &Recipe,
    overrides: &Overrides,
    files: &dyn IndexFiles,
) -> Result<Plan, RecipeError> {
    resolve_until(recipe, overrides, files, &|| true)
}

/// [`resolve_with`], as long as `wanted` holds.
///
/// # Errors
/// As for [`resolve_with`]; also if `wanted` ceases to hold.
pub fn resolve_until(
    recipe: &Recipe,
    overrides: &Overrides,
    files: &dyn IndexFiles,
    wanted: &dyn Fn() -> bool,
) -> Result<Plan, RecipeError> {
    let mut drafts = recipe.drafts.clone();
    let located = |mistake: Mistake| RecipeError {
        origin: overrides.origin(mistake.place).unwrap_or_else(|| recipe.file().to_owned()),
        place: locate_place(recipe.text(), mistake.place),
        problem: Box::new(mistake.problem),
    };
    apply(&mut drafts, overrides).map_err(located)?;
    drafts.iter().try_for_each(|draft| of_a_paper(draft, files)).map_err(located)?;
    let programs = peers::add(&mut drafts, files).map_err(located)?;
    let mut plan = plan(recipe, &drafts, files, wanted).map_err(located)?;
    plan.programs = programs;
    if *overrides != Overrides::default() && drafts.iter().any(title::is_computed) {
        // An experiment is called by what the recipe alone would measure, so that files and figures find it.
        let own = resolve_until(recipe, &Overrides::default(), files, wanted)
            .map_or_else(|_| Vec::new(), |own| own.experiments);
        plan.experiments.iter_mut().zip(own).for_each(|(experiment, own)| experiment.slug = own.slug);
    }
    let slugs: Vec<String> = plan.experiments.iter().map(|experiment| experiment.slug.clone()).collect();
    keep(&mut plan, &overrides.only).map_err(located)?;
    title::retitle(&mut plan, &drafts, &slugs).map_err(located)?;
    plan.repeats = repeats(&plan);
    Ok(Plan { overrides: overrides.words(), ..plan })
}

/// A recipe is of a paper that ships with the program, or of the one in whose folder it lies.
fn of_a_paper(draft: &Draft, files: &dyn IndexFiles) -> Result<(), Mistake> {
    let Some(paper) = draft.paper.as_ref().filter(|paper| !PAPERS.contains(&paper.key.as_str())) else {
        return Ok(());
    };
    let shipped = PAPERS.join(", ");
    let (folder, accepted) = match files.paper() {
        PaperFolder::Any => return Ok(()),
        PaperFolder::Of(name) if name == paper.key => return Ok(()),
        PaperFolder::Of(name) => (format!("that of the folder, {name}"), format!("{shipped}, {name}")),
        PaperFolder::Without(name) if name == paper.key => {
            let message = format!(
                "the folder {name} has no {}, which makes it a paper; accepted: {shipped}",
                paper::FILE
            );
            return Err(Mistake::invalid(draft.key, "paper.key", message));
        }
        PaperFolder::Without(_) => {
            ("the name of a folder with a paper.yaml beside the recipe".to_owned(), shipped)
        }
    };
    let message = format!(
        "`{}` is neither a paper that ships with the program nor {folder}; accepted: {accepted}",
        paper.key
    );
    Err(Mistake::invalid(draft.key, "paper.key", message))
}

fn plan(
    recipe: &Recipe,
    drafts: &[Draft],
    files: &dyn IndexFiles,
    wanted: &dyn Fn() -> bool,
) -> Result<Plan, Mistake> {
    let total = drafts.iter().fold(0usize, |sum, d| sum.saturating_add(cases(&d.settings)));
    if total > MAX_CASES {
        return Err(too_many(drafts.first().map(|d| d.place).unwrap_or_default(), "the recipe"));
    }
    let mut plan = Plan {
        title: recipe.title().to_owned(),
        recipe_hash: hash(recipe.text()),
        paper: own_paper(drafts, files)?.map(Arc::new),
        ..Plan::default()
    };
    plan.recipe = plan.paper.as_ref().map(|_| recipe.stem().to_owned());
    let keys = distinct(drafts.iter().filter_map(|draft| Some(draft.paper.as_ref()?.key.as_str())));
    let known = |key: &str| Some((key.to_owned(), Known::Each(plan.paper(key)?.hashes())));
    plan.claims = keys.into_iter().filter_map(known).collect();
    let mut brought = Brought::new(files);
    let (mut slugs, mut ids) = (HashSet::new(), HashMap::new());
    let mut titles = Vec::new();
    for draft in drafts {
        let catalog = Catalog::of(&draft.settings, draft.primitive.name());
        let (chart, choices) = chart(draft, &catalog, files)?;
        let first = plan.cases.len();
        add_cases(draft, &catalog, &mut brought, &mut plan, &mut ids, wanted)?;
        let title = title::filled(&draft.title, &catalog, plan.cases[first..].iter())?;
        let whole = Name { text: recipe.title().to_owned(), place: draft.title.place };
        titles.push(title::filled(&whole, &catalog, plan.cases[first..].iter())?);
        plan.experiments.push(experiment(draft, &catalog, (title, chart, choices), &mut slugs));
    }
    plan.title = title::listed(distinct(titles));
    plan.indices = brought.order;
    Ok(plan)
}

fn experiment(
    draft: &Draft,
    catalog: &Catalog,
    (title, chart, choices): (String, Chart, Choices),
    slugs: &mut HashSet<String>,
) -> Experiment {
    Experiment {
        slug: unique(&slug(&title), |s| slugs.insert(s.to_owned()), 2),
        title,
        primitive: draft.primitive.name().to_owned(),
        paper: draft.paper.clone(),
        axes: catalog.axes(|key| assigns(&chart, key), &choices),
        chart,
        measure: draft.measure,
    }
}

/// The paper of the recipe's folder, if the experiments name it and it does not ship with the program.
///
/// # Errors
/// A mistake in its file, at the key that names it.
fn own_paper(drafts: &[Draft], files: &dyn IndexFiles) -> Result<Option<paper::Paper>, Mistake> {
    let is_own = |draft: &&Draft| draft.paper.as_ref().is_some_and(|of| paper::find(&of.key).is_none());
    let Some(draft) = drafts.iter().find(is_own) else { return Ok(None) };
    let (Some(of), Some(text)) = (&draft.paper, files.paper_text()) else { return Ok(None) };
    let wrong = |error: RecipeError| Mistake::invalid(draft.key, "paper.key", error.to_string());
    paper::parse(&of.key, paper::FILE, &text).map(Some).map_err(wrong)
}

/// A title as a file name: lower-case words joined by hyphens.
pub fn slug(title: &str) -> String {
    const LONGEST: usize = 60;
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        if !slug.is_empty() && slug.len() + 1 + word.len() > LONGEST {
            break;
        }
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug.truncate(LONGEST);
    if slug.is_empty() { "experiment".to_owned() } else { slug }
}

/// The name, or the first of `name-n`, `name-(n+1)` … for which `free` holds.
fn unique(name: &str, mut free: impl FnMut(&str) -> bool, first: usize) -> String {
    if free(name) {
        return name.to_owned();
    }
    let mut number = first;
    loop {
        let candidate = format!("{name}-{number}");
        if free(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

fn add_cases(
    draft: &Draft,
    catalog: &Catalog,
    brought: &mut Brought,
    plan: &mut Plan,
    ids: &mut HashMap<String, usize>,
    wanted: &dyn Fn() -> bool,
) -> Result<(), Mistake> {
    let (experiment, primitive) = (plan.experiments.len(), draft.primitive.name());
    let settings: Vec<&Setting> = draft.settings.iter().collect();
    let mut combinations = Vec::new();
    expand(&settings, fixed(draft), &mut combinations);
    for params in combinations {
        if !wanted() {
            return Err(Mistake::new(draft.place, ErrorKind::Cancelled));
        }
        let wrong =
            |(key, why): (String, String), params: &Params| refused(draft, catalog, params, &key, why);
        let params = brought.add(draft.primitive, params.clone()).map_err(|why| wrong(why, &params))?;
        let params = peers::without_ours(draft.primitive.completed(params));
        let id = case_id(primitive, &params, draft.seed);
        let earlier = ids.get(&id).map(|at| &plan.cases[*at]);
        if earlier.is_some_and(|c| c.experiment == experiment && c.params == params)
            || repeated(ids, &plan.cases, &id, experiment, &params)
        {
            continue;
        }
        let not_applicable = match draft.primitive.case(&params, draft.seed) {
            Ok(_) => None,
            Err(Refusal::NotApplicable(reason)) => Some(reason),
            Err(Refusal::Missing { key }) => {
                return Err(Mistake::missing_key(draft.place, primitive, &key));
            }
            Err(Refusal::Invalid { key, message }) => {
                return Err(refused(draft, catalog, &params, &key, message));
            }
        };
        let id = unique(&id, |id| !ids.contains_key(id), experiment + 1);
        ids.insert(id.clone(), plan.cases.len());
        plan.cases.push(Case {
            id,
            experiment,
            primitive: primitive.to_owned(),
            params,
            seed: draft.seed,
            not_applicable,
        });
    }
    Ok(())
}

/// Parameters that the sampling adds to every case.
fn fixed(draft: &Draft) -> Params {
    match draft.measure.cache {
        Cache::Hot => Params::default(),
        Cache::Cold => Params::default().with(Cache::KEY, Value::Text("cold".to_owned())),
    }
}

/// Whether this experiment already holds the case under a numbered identity.
fn repeated(
    ids: &HashMap<String, usize>,
    cases: &[Case],
    id: &str,
    experiment: usize,
    params: &Params,
) -> bool {
    let numbered = ids.get(&format!("{id}-{}", experiment + 1)).map(|at| &cases[*at]);
    numbered.is_some_and(|c| c.experiment == experiment && c.params == *params)
}

/// Every combination of values; the first setting varies slowest.
pub(super) fn expand(settings: &[&Setting], params: Params, out: &mut Vec<Params>) {
    let Some((setting, rest)) = settings.split_first() else { return out.push(params) };
    for alternative in &setting.alternatives {
        let mut params = params.clone();
        if let Some(value) = &alternative.value {
            params.0.insert(setting.slot.key.clone(), value.clone());
        }
        let below: Vec<&Setting> = alternative.inner.iter().chain(rest.iter().copied()).collect();
        expand(&below, params, out);
    }
}

/// The primitive's error, at the place where the parameter was set.
fn refused(draft: &Draft, catalog: &Catalog, params: &Params, key: &str, message: String) -> Mistake {
    let place = params.get(key).and_then(|value| place_of(&draft.settings, key, value)).unwrap_or_default();
    let place = if place == Place::Nowhere { draft.place } else { place };
    let path = catalog.by_key(key).map(|e| e.slot.path.clone());
    Mistake::invalid(place, &path.unwrap_or_else(|| format!("{}.{key}", draft.primitive.name())), message)
}

fn place_of(settings: &[Setting], key: &str, value: &Value) -> Option<Place> {
    settings.iter().find_map(|setting| {
        setting.alternatives.iter().find_map(|a| {
            let here = setting.slot.key == key && a.value.as_ref() == Some(value);
            if here { Some(a.place) } else { place_of(&a.inner, key, value) }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_file_names() {
        assert_eq!(slug("Multi-pass scatter, by number of passes"), "multi-pass-scatter-by-number-of-passes");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("привет"), "experiment");
        assert_eq!(slug(&"long ".repeat(100)), ["long"; 12].join("-"));
        assert_eq!(slug(&"x".repeat(100)).len(), 60);
    }
}

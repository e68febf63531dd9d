//! Changes to a recipe on the command line: `--backend LIST` and `--set KEY=VALUE`.

use super::catalog::{Catalog, ambiguous};
use crate::case::peers::PEERS;
use crate::case::schema::{Kind, Param, ParamDefault as Unmentioned};
use crate::case::{BACKENDS, Value};
use crate::recipe::{
    ChartDraft, Content, Draft, Key, Mistake, Node, ParamSlot, Place, Setting, accepted, alternative, count,
    entry, measure_keys, peers, read, set_measure,
};

/// Changes to a recipe, in the order of the command line; the backends come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Keys and values. A key is a parameter by its full or short name, `seed`, `peers`, a key of the
    /// sampling such as `measure.rounds`, or one of the chart such as `chart.lines`; the value is in recipe
    /// syntax. The override applies to every experiment that has the key.
    pub set: Vec<(String, String)>,
    /// Backends that replace the recipe's; each keeps the parameters that the recipe gives it. Empty: the
    /// recipe's backends.
    pub backends: Vec<String>,
    /// Labels or identities (or beginnings of these) of the cases to keep. Empty: all cases.
    pub only: Vec<String>,
}

impl Overrides {
    /// The overrides as written on the command line.
    pub fn words(&self) -> Vec<String> {
        let backends = (!self.backends.is_empty()).then(|| format!("--backend {}", self.backends.join(",")));
        let set = self.set.iter().map(|(key, value)| format!("--set {key}={value}"));
        let only = (!self.only.is_empty()).then(|| format!("--only {}", self.only.join(",")));
        backends.into_iter().chain(set).chain(only).collect()
    }

    /// The overrides that [`words`](Self::words) wrote, joined by blanks.
    pub fn of_words(text: &str) -> Overrides {
        let mut overrides = Overrides::default();
        let starts = |at: &usize| OPTIONS.iter().any(|option| text[*at..].starts_with(option));
        let begins = |at: &usize| *at == 0 || text[..*at].ends_with(' ');
        let mut places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).filter(|at| begins(at) && starts(at)).collect();
        places.push(text.len());
        for place in places.windows(2) {
            let Some((option, value)) = text[place[0]..place[1]].trim().split_once(' ') else { continue };
            let list = || value.split(',').map(str::to_owned).collect();
            match (option, value.split_once('=')) {
                ("--backend", _) => overrides.backends = list(),
                ("--only", _) => overrides.only = list(),
                (_, Some((key, value))) => overrides.set.push((key.to_owned(), value.to_owned())),
                _ => {}
            }
        }
        overrides
    }

    /// The name of the override at this place in messages.
    pub(super) fn origin(&self, place: Place) -> Option<String> {
        match place {
            Place::Override(at) => self.set.get(at).map(|(key, value)| format!("--set {key}={value}")),
            Place::Only(at) => self.only.get(at).map(|word| format!("--only {word}")),
            Place::Backends => Some(format!("--backend {}", self.backends.join(","))),
            _ => None,
        }
    }
}

/// How each override begins in [`Overrides::words`].
const OPTIONS: [&str; 3] = ["--backend ", "--set ", "--only "];

/// Keys other than parameters.
fn other_keys() -> Vec<String> {
    let measure = measure_keys().map(|key| format!("measure.{key}"));
    let chart = ChartDraft::keys().map(|key| format!("chart.{key}"));
    ["seed", PEERS.name].map(str::to_owned).into_iter().chain(measure).chain(chart).collect()
}

/// Applies the overrides to every experiment.
pub(super) fn apply(drafts: &mut [Draft], overrides: &Overrides) -> Result<(), Mistake> {
    if !overrides.backends.is_empty() {
        drafts.iter_mut().try_for_each(|draft| replace_backends(draft, &overrides.backends))?;
    }
    for (at, (key, text)) in overrides.set.iter().enumerate() {
        let place = Place::Override(at);
        let node = read("", text).map_err(|error| Mistake::new(place, *error.problem))?.placed(place);
        let mut applied = false;
        let mut reason = None;
        for draft in drafts.iter_mut() {
            match set(draft, (key, text), &node)? {
                None => applied = true,
                Some(mistake) => reason = reason.or(Some(mistake)),
            }
        }
        if let (false, Some(mistake)) = (applied, reason) {
            return Err(mistake);
        }
    }
    Ok(())
}

fn replace_backends(draft: &mut Draft, names: &[String]) -> Result<(), Mistake> {
    let Kind::Choice(variants) = BACKENDS.kind else { return Ok(()) };
    let Some(setting) = draft.settings.iter_mut().find(|s| s.slot.key == BACKENDS.name) else {
        return Ok(());
    };
    let known = |name: &String| {
        setting.alternatives.iter().any(|a| a.value.as_ref().is_some_and(|v| v.to_string() == *name))
    };
    if !names.iter().all(known) {
        draft.changes.push((BACKENDS.name.to_owned(), names.join(", ")));
    }
    let mut alternatives = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            continue;
        }
        let Some(variant) = variants.iter().find(|v| v.name == name) else {
            let known: Vec<&str> = variants.iter().map(|v| v.name).collect();
            return Err(Mistake::unknown_word(Place::Backends, "backend", name, &known));
        };
        let is_it = |v: &Value| matches!(v, Value::Text(t) if t == name);
        let before = alternatives.len();
        alternatives
            .extend(setting.alternatives.iter().filter(|a| a.value.as_ref().is_some_and(is_it)).cloned());
        if alternatives.len() == before {
            alternatives.push(alternative(&setting.slot, variant, Place::Backends, None)?);
        }
    }
    setting.alternatives = alternatives;
    setting.place = Place::Backends;
    Ok(())
}

/// Sets a key in one experiment; returns a mistake if the experiment does not have the key.
fn set(draft: &mut Draft, (key, text): (&str, &str), node: &Node) -> Result<Option<Mistake>, Mistake> {
    match key.split_once('.') {
        None if key == "seed" => draft.seed = count(node, "seed")?,
        None if key == PEERS.name => draft.peers = peers(node)?,
        None if matches!(key, "measure" | "chart") => {
            let of_it = |name: &String| name.split('.').next() == Some(key);
            let names = other_keys().into_iter().filter(of_it).collect::<Vec<_>>().join(", ");
            return Err(Mistake::invalid(node.place, key, format!("set one of its keys: {names}")));
        }
        Some(("measure", part)) if measure_keys().contains(&part) => {
            set_measure(&mut draft.measure, part, node)?
        }
        Some(("chart", part)) if ChartDraft::keys().contains(&part) => draft.chart.set(part, node)?,
        _ => {
            let missing = set_parameter(draft, key, node)?;
            draft.changes.extend(missing.is_none().then(|| (key.to_owned(), text.to_owned())));
            return Ok(missing);
        }
    }
    Ok(None)
}

fn set_parameter(draft: &mut Draft, key: &str, node: &Node) -> Result<Option<Mistake>, Mistake> {
    let primitive = draft.primitive;
    let catalog = Catalog::of(&draft.settings, primitive.name());
    let found = match catalog.candidates(key).as_slice() {
        [] => None,
        [one] => Some(one.slot.key.clone()),
        many => return Err(ambiguous(key, node.place, "--set", many)),
    };
    if let Some(full) = found {
        replace(&mut draft.settings, &full, node, false)?;
        return Ok(None);
    }
    let name = key.strip_prefix(primitive.name()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key);
    if accepted(primitive.params()).contains(&name) {
        add(draft, name, node)?;
        return Ok(None);
    }
    if let Some(slot) = unchosen(primitive.params(), primitive.name(), key) {
        let message =
            "the recipe does not select the variant to which this parameter belongs; set that first";
        return Ok(Some(Mistake::invalid(node.place, &slot.path, message)));
    }
    let other = other_keys();
    let also: Vec<&str> = other.iter().map(String::as_str).collect();
    Ok(Some(Mistake::new(node.place, catalog.unknown(key, "--set", &also))))
}

/// Replaces a setting wherever the tree holds it; `null` removes an optional one.
fn replace(settings: &mut Vec<Setting>, key: &str, node: &Node, zipped: bool) -> Result<(), Mistake> {
    let optional = |s: &Setting| matches!(s.slot.param.default, Unmentioned::Unset);
    if node.content == Content::Null {
        settings.retain(|s| !(s.slot.key == key && optional(s)));
    }
    for setting in settings.iter_mut() {
        if setting.slot.key == key {
            *setting = Setting::read(setting.slot.clone(), node)?;
            if zipped && setting.cases() != 1 {
                let message = "is set by the items of cases; give one value";
                return Err(Mistake::invalid(node.place, &setting.slot.path, message));
            }
            continue;
        }
        let zipped = zipped || setting.group;
        for alternative in &mut setting.alternatives {
            replace(&mut alternative.inner, key, node, zipped)?;
        }
    }
    Ok(())
}

/// Adds a parameter that the recipe leaves unset, or replaces an inline choice.
fn add(draft: &mut Draft, name: &str, node: &Node) -> Result<(), Mistake> {
    let primitive = draft.primitive;
    let slot = |param: &Param| ParamSlot::top(param, primitive.name());
    let key = Key { place: node.place, text: name.to_owned() };
    let Some(setting) = entry(primitive.params(), &key, node, &slot, primitive.name(), &[])? else {
        return Ok(());
    };
    let in_group =
        |s: &Setting| s.alternatives.iter().any(|a| a.inner.iter().any(|i| i.slot.key == setting.slot.key));
    if draft.settings.iter().any(|s| s.group && in_group(s)) {
        return Err(Mistake::invalid(node.place, &setting.slot.path, "is set by the items of cases"));
    }
    match draft.settings.iter_mut().find(|s| s.slot.key == setting.slot.key) {
        Some(old) => *old = setting,
        None => draft.settings.push(setting),
    }
    Ok(())
}

/// The slot of an existing parameter, below a variant that the recipe does not choose.
fn unchosen(params: &[Param], owner: &str, name: &str) -> Option<ParamSlot> {
    let top = params.iter().map(|p| ParamSlot::top(p, owner)).chain([ParamSlot::top(&BACKENDS, "")]);
    let mut slots: Vec<ParamSlot> = top.collect();
    while let Some(slot) = slots.pop() {
        if slot.answers_to(name).is_some() {
            return Some(slot);
        }
        if let Kind::Choice(variants) | Kind::Inline(variants) = slot.param.kind {
            slots.extend(
                variants.iter().flat_map(|v| v.params.iter().map(|p| slot.below(v, p)).collect::<Vec<_>>()),
            );
        }
    }
    None
}

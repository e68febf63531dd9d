//! Step two, parameters: reads a recipe's map as settings, whose values multiply.

use super::error::example;
use super::error::{ErrorKind, Mistake, Nearest, Place};
use super::flow::flow;
use super::node::{Content, Key, Node};
use super::value::{self, Once};
use crate::case::Value;
use crate::case::chart::Scale;
use crate::case::schema::{Kind, Param, ParamDefault, Variant};

/// A parameter with its values, or a group of zipped parameters.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub slot: ParamSlot,
    /// Place of the value; `Nowhere` for a default.
    pub place: Place,
    pub alternatives: Vec<Alternative>,
    /// The scale, if a single range gave all values.
    pub scale: Option<Scale>,
    /// Whether this is `cases:`, whose alternatives have no value of their own.
    pub group: bool,
}

/// One value of a setting, with the parameters that exist only together with it.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    pub value: Option<Value>,
    pub place: Place,
    pub inner: Vec<Setting>,
}

impl Alternative {
    /// A canonical text of the value and its parameters, independent of notation.
    pub fn says(&self) -> String {
        let of = |setting: &Setting| {
            let values: Vec<String> = setting.alternatives.iter().map(Alternative::says).collect();
            format!("{}={values:?}", setting.slot.key)
        };
        // Sorted, because maps are unordered.
        let mut inner: Vec<String> = self.inner.iter().map(of).collect();
        inner.sort_unstable();
        format!("{:?} {inner:?}", self.value)
    }
}

/// A parameter's declaration and its names.
#[derive(Clone, Debug)]
pub(crate) struct ParamSlot {
    pub param: Param,
    /// Full dotted key, as in [`Params`](crate::case::Params): `locations.partitions.count`.
    pub key: String,
    /// Name of an axis: the key, except that a variant's main parameter has the name of the variant:
    /// `locations.partitions`.
    pub name: String,
    /// The path in the recipe, for messages: `scatter.locations.partitions`.
    pub path: String,
}

impl ParamSlot {
    /// The slot of a parameter directly below a primitive (or of `backend`, with an empty `owner`).
    pub fn top(param: &Param, owner: &str) -> ParamSlot {
        let path = join(owner, param.name);
        ParamSlot { param: *param, key: param.name.to_owned(), name: param.name.to_owned(), path }
    }

    /// The slot of a variant's parameter below this choice.
    pub fn below(&self, variant: &Variant, param: &Param) -> ParamSlot {
        let path = self.variant_path(variant);
        let key = format!("{}.{}.{}", self.key, variant.name, param.name);
        let main = variant.main == Some(param.name);
        let name = format!("{}.{}", self.name, variant.name);
        let name = if main { name } else { join(&name, param.name) };
        ParamSlot { param: *param, key, name, path: join(&path, param.name) }
    }

    /// The path of a variant's map in the recipe: an inline variant is a sibling of the other parameters.
    fn variant_path(&self, variant: &Variant) -> String {
        match self.param.kind {
            Kind::Inline(_) => {
                let owner = self.path.rsplit_once('.').map_or("", |(owner, _)| owner);
                join(owner, variant.name)
            }
            _ => join(&self.path, variant.name),
        }
    }

    /// How well `name` matches this parameter: 0 for its full key or axis name, 1 for the last words of
    /// either (at least two of the key), 2 for the key's last word alone (`count` for
    /// `locations.partitions.count`, if no other parameter ends with `count`).
    pub fn answers_to(&self, name: &str) -> Option<u8> {
        let tail = |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        match () {
            () if self.key == name || self.name == name => Some(0),
            () if tail(&self.name) || (tail(&self.key) && name.contains('.')) => Some(1),
            () => tail(&self.key).then_some(2),
        }
    }
}

fn join(owner: &str, name: &str) -> String {
    if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") }
}

impl Setting {
    /// Reads the value of a parameter.
    pub fn read(slot: ParamSlot, node: &Node) -> Result<Setting, Mistake> {
        let (alternatives, scale) = match slot.param.kind {
            Kind::Choice(variants) | Kind::Inline(variants) => (choices(&slot, variants, node)?, None),
            kind => {
                let (values, scale) = value::sweep(&kind, node, &slot.path)?;
                let plain = |(value, place)| Alternative { value: Some(value), place, inner: Vec::new() };
                (values.into_iter().map(plain).collect(), scale)
            }
        };
        let setting = Setting { slot, place: node.place, alternatives, scale, group: false };
        setting.limited()
    }

    /// The setting, unless it alone makes too many cases.
    fn limited(self) -> Result<Setting, Mistake> {
        if self.cases() > super::MAX_CASES {
            return Err(super::too_many(self.place, &self.slot.path));
        }
        Ok(self)
    }

    /// An inline choice: `uniform: {…}` among the parameters of the primitive.
    fn inline(slot: ParamSlot, variant: &Variant, key: &Key, node: &Node) -> Result<Setting, Mistake> {
        let alternative = alternative(&slot, variant, key.place, Some(node))?;
        Setting { slot, place: key.place, alternatives: vec![alternative], scale: None, group: false }
            .limited()
    }

    /// The number of cases that this setting makes alone.
    pub fn cases(&self) -> usize {
        self.alternatives.iter().fold(0, |sum: usize, a| sum.saturating_add(cases(&a.inner)))
    }
}

/// The number of cases that these settings make together.
pub(crate) fn cases(settings: &[Setting]) -> usize {
    settings.iter().fold(1, |product: usize, s| product.saturating_mul(s.cases()))
}

fn choices(slot: &ParamSlot, variants: &[Variant], node: &Node) -> Result<Vec<Alternative>, Mistake> {
    let items = match &node.content {
        Content::List(items) if !items.is_empty() => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut total = 0usize;
    let mut alternatives = Vec::new();
    let mut once = Once::default();
    for item in items {
        let chosen = choice(slot, variants, item)?;
        once.take(chosen.says(), item.place, &item.describe(), &slot.path)?;
        total = total.saturating_add(cases(&chosen.inner));
        if total > super::MAX_CASES {
            return Err(super::too_many(item.place, &slot.path));
        }
        alternatives.push(chosen);
    }
    Ok(alternatives)
}

/// A bare word, or a one-key map.
fn choice(slot: &ParamSlot, variants: &[Variant], node: &Node) -> Result<Alternative, Mistake> {
    let names: Vec<&str> = variants.iter().map(|v| v.name).collect();
    let find = |name: &str| variants.iter().find(|v| v.name == name);
    match &node.content {
        Content::Text(word) => match find(word) {
            Some(variant) => alternative(slot, variant, node.place, None),
            None => {
                let mut mistake = Mistake::unknown_word(node.place, &slot.path, word, &names);
                if let ErrorKind::UnknownWord { nearest, .. } = &mut mistake.problem
                    && may_be_file(variants, node)
                {
                    *nearest = Nearest(Some(format!("{{file: {}}}", flow(node))));
                }
                Err(mistake)
            }
        },
        Content::Map(entries) => match entries.as_slice() {
            [(key, value)] => match find(&key.text) {
                Some(variant) => alternative(slot, variant, key.place, Some(value)),
                None => Err(Mistake::unknown_key(key.place, &slot.path, &key.text, &names)),
            },
            _ => {
                let found = format!("a map of {} keys", entries.len());
                Err(Mistake::wrong_type(node.place, &slot.path, "a word or a map of one key", found))
            }
        },
        _ => {
            let expected = format!("one of {}", names.join(", "));
            Err(Mistake::wrong_type(node.place, &slot.path, &expected, node.describe()))
        }
    }
}

/// A variant with its parameters: a map of them, or the bare value of the main one.
pub(crate) fn alternative(
    slot: &ParamSlot,
    variant: &Variant,
    place: Place,
    node: Option<&Node>,
) -> Result<Alternative, Mistake> {
    let path = slot.variant_path(variant);
    let inner = parameters(slot, variant, place, node, &path).map_err(|mut mistake| {
        if let ErrorKind::MissingKey { at, example: shown, .. } = &mut mistake.problem
            && *at == path
        {
            *shown = Some(example(variant));
        }
        mistake
    })?;
    Ok(Alternative { value: Some(Value::Text(variant.name.to_owned())), place, inner })
}

/// The settings of a variant's parameters.
fn parameters(
    slot: &ParamSlot,
    variant: &Variant,
    place: Place,
    node: Option<&Node>,
    path: &str,
) -> Result<Vec<Setting>, Mistake> {
    let main = variant.main.and_then(|name| variant.params.iter().find(|p| p.name == name));
    let make = |param: &Param| slot.below(variant, param);
    if let (Kind::Choice(variants) | Kind::Inline(variants), Some(param)) = (slot.param.kind, main)
        && matches!(param.kind, Kind::Indices { .. })
        && let Some(file) = node.and_then(|node| main_value(node, param)).filter(|n| may_be_file(variants, n))
    {
        let name = flow(file);
        let message = format!(
            "{name} is not a list of indices such as `[0, 8, 16]`; for the indices in a file, write `file: {name}` \
             instead of `{}`",
            variant.name
        );
        return Err(Mistake::invalid(file.place, path, message));
    }
    match (node.map(|n| (n, &n.content)), main) {
        (None | Some((_, Content::Null)), _) => complete(variant.params, Vec::new(), &make, path, place),
        (Some((_, Content::Map(entries))), _) => {
            let given = keyed(variant.params, entries, &make, path)?;
            complete(variant.params, given, &make, path, place)
        }
        (Some((node, _)), Some(param)) => {
            let mut slot = make(param);
            path.clone_into(&mut slot.path);
            complete(variant.params, vec![Setting::read(slot, node)?], &make, path, place)
        }
        (Some((node, _)), None) => Err(not_a_map(variant, node, path)),
    }
}

/// The value of a variant's main parameter, bare or in a map.
fn main_value<'n>(node: &'n Node, main: &Param) -> Option<&'n Node> {
    match &node.content {
        Content::Map(entries) => entries.iter().find(|(key, _)| key.text == main.name).map(|(_, node)| node),
        _ => Some(node),
    }
}

fn not_a_map(variant: &Variant, node: &Node, path: &str) -> Mistake {
    let names: Vec<&str> = variant.params.iter().map(|p| p.name).collect();
    let expected = match names.as_slice() {
        [] => "nothing (it takes no parameters)".to_owned(),
        _ => format!("a map of {}", names.join(", ")),
    };
    Mistake::wrong_type(node.place, path, &expected, node.describe())
}

/// The settings of a map in its order; plain keys only.
fn keyed(
    params: &[Param],
    entries: &[(Key, Node)],
    slot: &dyn Fn(&Param) -> ParamSlot,
    path: &str,
) -> Result<Vec<Setting>, Mistake> {
    let mut given: Vec<Setting> = Vec::new();
    for (key, node) in entries {
        let Some(setting) = entry(params, key, node, slot, path, &[])? else { continue };
        if given.iter().any(|s| s.slot.key == setting.slot.key) {
            return Err(second_variant(&given, &setting, key, path));
        }
        given.push(setting);
    }
    Ok(given)
}

/// The setting of one entry of a map; `None` for an optional parameter set to `null`. `also` are further keys
/// that this map accepts.
pub(crate) fn entry(
    params: &[Param],
    key: &Key,
    node: &Node,
    slot: &dyn Fn(&Param) -> ParamSlot,
    path: &str,
    also: &[&str],
) -> Result<Option<Setting>, Mistake> {
    for param in params {
        match param.kind {
            Kind::Inline(variants) => {
                if let Some(variant) = variants.iter().find(|v| v.name == key.text) {
                    return Setting::inline(slot(param), variant, key, node).map(Some);
                }
            }
            _ if param.name == key.text => {
                let unset = matches!(param.default, ParamDefault::Unset) && node.content == Content::Null;
                return if unset { Ok(None) } else { Setting::read(slot(param), node).map(Some) };
            }
            _ => {}
        }
    }
    let mut names = accepted(params);
    names.extend(also);
    let mut mistake = Mistake::unknown_key(key.place, path, &key.text, &names);
    if let ErrorKind::UnknownKey { nearest, .. } = &mut mistake.problem {
        let deeper = deeper(params, &key.text, node);
        *nearest = deeper.map_or_else(|| nearest.clone(), |deeper| Nearest(Some(deeper)));
    }
    Err(mistake)
}

/// Most places of a key that a message names.
const MOST_DEEPER: usize = 3;

/// How the recipe writes a key that belongs to a choice instead of to this map: `locations: {partitions: 64}`.
/// `None` if no choice has the key, or many have it.
fn deeper(params: &[Param], key: &str, node: &Node) -> Option<String> {
    let value = match &node.content {
        Content::Int(_) | Content::Float(_) | Content::Text(_) => flow(node),
        _ => "…".to_owned(),
    };
    let mut found = Vec::new();
    for param in params {
        let (variants, inline) = match param.kind {
            Kind::Choice(variants) => (variants, false),
            Kind::Inline(variants) => (variants, true),
            _ => continue,
        };
        let within = |map: String| if inline { map } else { format!("{}: {{{map}}}", param.name) };
        for variant in variants {
            let has = |wanted: &str| variant.params.iter().any(|param| param.name == wanted);
            if variant.name == key {
                let bare = variant.params.is_empty() || node.content == Content::Null;
                let bare = bare.then(|| format!("{}: {key}", param.name));
                found.push(bare.unwrap_or_else(|| within(format!("{key}: {value}"))));
            } else if has(key) && variant.main == Some(key) && may_be_file(variants, node) {
                found.push(within(format!("file: {value}")));
            } else if has(key) {
                found.push(within(format!("{}: {{{key}: {value}}}", variant.name)));
            }
        }
    }
    (1..=MOST_DEEPER).contains(&found.len()).then(|| found.join("` or `"))
}

/// Whether the value looks like the name of a file, where a choice accepts files.
fn may_be_file(variants: &[Variant], node: &Node) -> bool {
    let Content::Text(text) = &node.content else { return false };
    let ends = |(stem, ending): (&str, &str)| {
        !stem.is_empty() && ending.len() <= 4 && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    variants.iter().any(|variant| variant.name == "file") && text.rsplit_once('.').is_some_and(ends)
}

/// The keys accepted in a map of these parameters.
pub(crate) fn accepted(params: &[Param]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for param in params {
        match param.kind {
            Kind::Inline(variants) => names.extend(variants.iter().map(|v| v.name)),
            _ => names.push(param.name),
        }
    }
    names
}

/// The mistake of two inline variants for one parameter (repeated keys are rejected earlier).
pub(crate) fn second_variant(given: &[Setting], setting: &Setting, key: &Key, path: &str) -> Mistake {
    let first = given.iter().find(|s| s.slot.key == setting.slot.key).and_then(|s| s.alternatives.first());
    let first = first.and_then(|a| a.value.as_ref()).map(Value::to_string).unwrap_or_default();
    let message = format!("`{first}` and `{}` exclude each other", key.text);
    Mistake::invalid(key.place, path, message)
}

/// Adds the defaults of missing parameters, in the order of declaration.
pub(crate) fn complete(
    params: &[Param],
    mut given: Vec<Setting>,
    slot: &dyn Fn(&Param) -> ParamSlot,
    path: &str,
    place: Place,
) -> Result<Vec<Setting>, Mistake> {
    for param in params {
        let slot = slot(param);
        if mentions(&given, &slot.key) {
            continue;
        }
        match param.default {
            ParamDefault::Unset => {}
            ParamDefault::RequiredUnless { key, variants } if takes_only(&given, key, variants) => {}
            ParamDefault::Is(text) => given.push(default(slot, text)?),
            ParamDefault::Required | ParamDefault::RequiredUnless { .. } => {
                let key = match param.kind {
                    Kind::Inline(variants) => {
                        let names: Vec<&str> = variants.iter().map(|v| v.name).collect();
                        names.join("`, `")
                    }
                    _ => param.name.to_owned(),
                };
                return Err(Mistake::missing_key(place, path, &key));
            }
        }
    }
    Ok(given)
}

/// Whether settings, or the items of a group among them, set a key.
fn mentions(settings: &[Setting], key: &str) -> bool {
    settings.iter().any(|s| {
        s.slot.key == key || (s.group && s.alternatives.first().is_some_and(|a| mentions(&a.inner, key)))
    })
}

/// Whether settings give a choice with these variants and no others.
fn takes_only(settings: &[Setting], key: &str, variants: &[&str]) -> bool {
    fn taken<'s>(settings: &'s [Setting], key: &str, out: &mut Vec<&'s Alternative>) {
        for setting in settings {
            match setting.group {
                true => setting.alternatives.iter().for_each(|item| taken(&item.inner, key, out)),
                false if setting.slot.key == key => out.extend(&setting.alternatives),
                false => {}
            }
        }
    }
    let mut alternatives = Vec::new();
    taken(settings, key, &mut alternatives);
    let known = |a: &&Alternative| matches!(&a.value, Some(Value::Text(v)) if variants.contains(&v.as_str()));
    !alternatives.is_empty() && alternatives.iter().all(known)
}

fn default(slot: ParamSlot, text: &str) -> Result<Setting, Mistake> {
    let node = super::node::read("default", text)
        .map_err(|e| Mistake::new(Place::Nowhere, ErrorKind::Unsupported(e.to_string())))?;
    Setting::read(slot, &node.placed(Place::Nowhere))
}

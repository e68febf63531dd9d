//! Options that select the profile and the model for predictions.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use crate::case::MODELS;
use crate::model::profiles::{self, ProfileStore};
use crate::model::{self, Profile, Profiles};
use crate::run::writes::write_durably;

/// Of what predicts.
#[derive(Clone, Debug, Default, Args)]
pub struct ProfileArguments {
    /// Predict from this profile, a name or a file, instead of the engine's
    #[arg(long, value_name = "NAME|FILE", value_delimiter = ',')]
    pub profile: Vec<String>,
}

impl ProfileArguments {
    /// The requested profiles; `None` if none was requested.
    ///
    /// # Errors
    /// A name or a file does not denote a profile.
    pub fn load(&self) -> anyhow::Result<Option<Profiles>> {
        let profiles = self.profiles()?;
        Ok((!profiles.is_empty()).then(|| Profiles::given(profiles)))
    }

    /// The requested profiles as a list, possibly empty.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn profiles(&self) -> anyhow::Result<Vec<Profile>> {
        if self.profile.is_empty() {
            return Ok(Vec::new());
        }
        let profiles = ProfileStore::open();
        self.profile.iter().map(|name| Ok(profiles.wanted(name).context("--profile")?.profile)).collect()
    }
}

/// Every named profile once; a user's profile hides a shipped one of the same name.
pub fn known() -> Vec<Profile> {
    let profiles = ProfileStore::open();
    let names = profiles.names();
    names.into_iter().filter_map(|name| Some(profiles.named(name)?.profile.clone())).collect()
}

/// Writes a profile into the user's folder, replacing one of the same name.
///
/// # Errors
/// The reason why it cannot be written.
pub fn keep(profile: &Profile) -> Result<PathBuf, String> {
    let folder = profiles::folder(|key| std::env::var_os(key));
    let folder = folder.ok_or("there is no home: neither XDG_DATA_HOME nor HOME is set")?;
    let path = folder.join(format!("{}.yaml", profile.name));
    profiles::save(profile, &path, write_durably).map_err(|error| format!("{error:#}"))?;
    Ok(path)
}

/// Of what predicts by a model of one's choice.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelArguments {
    /// Predict by these models (default: all)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub model: Vec<String>,
}

impl ModelArguments {
    /// Names of the requested models, or of all.
    ///
    /// # Errors
    /// A name does not denote a model.
    pub fn names(&self) -> anyhow::Result<Vec<&'static str>> {
        let known = MODELS.to_vec();
        if self.model.is_empty() {
            return Ok(known);
        }
        let named = |name: &String| match model::find(name) {
            Some(model) => Ok(model.name()),
            None => bail!("--model {name}: no such model; accepted: {}", known.join(", ")),
        };
        self.model.iter().map(named).collect()
    }
}

//! Whether an engine starts, and which machine it runs on.

use crate::doctor::{About, Check, Finding};
use crate::run::client::Hello;

pub const CHECK: Check = Check {
    name: "engine",
    about: "whether an engine starts, and the machine that it is on; warns where it does not",
    of: About::Engine,
    examine: |scene| judge(&scene.engine, scene.remote),
};

fn judge(engine: &Result<Hello, String>, remote: bool) -> Finding {
    let hello = match engine {
        Ok(hello) => hello,
        Err(reason) => {
            return Finding::warning(reason.clone()).advice("scatterlab devices shows what it says");
        }
    };
    let environment = &hello.environment;
    let text = format!("{} ({}) on {}, {}", hello.version, hello.revision, environment.host, environment.cpu);
    match remote {
        false => Finding::ok(text),
        true => Finding::note(text).advice("run scatterlab doctor there: this one sees only its devices"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn no_engine_is_a_warning_and_one_elsewhere_a_note() {
        let hello = Hello {
            version: "1".into(),
            revision: "abc".into(),
            devices: Vec::new(),
            environment: Default::default(),
            profiles: Vec::new(),
        };
        assert_eq!(judge(&Err("no such file".into()), false).level, Level::Warning);
        assert_eq!(judge(&Ok(hello.clone()), false).level, Level::Ok);
        assert_eq!(judge(&Ok(hello), true).level, Level::Note);
    }
}

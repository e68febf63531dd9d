//! Peer programs that run alongside the cases of an experiment.

use crate::case::backends::THREADS_KEY;
use crate::case::gpus::{COUNT_KEY, DEVICE_KEY};
use crate::case::peers::{ALL, BACKEND, PEERS, Program, named, of_backend};
use crate::case::{BACKENDS, IndexFiles, Params, Value};
use crate::recipe::{Alternative, Draft, Mistake, Place, Setting};

/// Parameters of the host backend that a peer shares: where it runs, and with how many threads.
const SHARED: [&str; 2] = [DEVICE_KEY, THREADS_KEY];

/// Adds every peer of the drafts as a further backend, on the devices of its host backend, and returns those that the
/// recipe's folder names.
///
/// # Errors
/// An unknown name, or a peer whose host backend has no cases on a single device. If the command line replaces the
/// backends, peers of omitted backends are omitted, too.
pub(super) fn add(drafts: &mut [Draft], files: &dyn IndexFiles) -> Result<Vec<Program>, Mistake> {
    let mut own = Vec::new();
    let foreign = drafts.iter().flat_map(|draft| &draft.peers).find(|(name, _)| named(name).is_none());
    if let Some((_, place)) = foreign {
        own = files.programs().map_err(|why| Mistake::invalid(*place, PEERS.name, why))?;
    }
    for draft in drafts.iter_mut() {
        add_to(draft, &own)?;
    }
    own.retain(|program| {
        drafts.iter().any(|draft| draft.peers.iter().any(|(name, _)| *name == program.name))
    });
    Ok(own)
}

fn add_to(draft: &mut Draft, programs: &[Program]) -> Result<(), Mistake> {
    let Some(setting) = draft.settings.iter_mut().find(|s| s.slot.key == BACKENDS.name) else {
        return Ok(());
    };
    let own = setting.alternatives.clone();
    for (name, place) in &draft.peers {
        let program = || programs.iter().find(|program| program.name == *name);
        let beside = named(name).map(|peer| peer.beside).or_else(|| Some(program()?.beside.as_str()));
        let Some(beside) = beside else {
            let known = ALL.iter().map(|peer| peer.name).chain(programs.iter().map(|p| p.name.as_str()));
            return Err(Mistake::unknown_word(*place, PEERS.name, name, &known.collect::<Vec<_>>()));
        };
        let hosts = own.iter().filter(|host| is(host, beside) && on_one_device(host));
        let added = hosts.map(|host| alternative(name, *place, host));
        let before = setting.alternatives.len();
        for one in added {
            // Hosts may differ in parameters that the peer does not have.
            let known = setting.alternatives[before..].iter().any(|known| known.says() == one.says());
            setting.alternatives.extend((!known).then_some(one));
        }
        if setting.alternatives.len() == before && matches!(setting.place, Place::Recipe(_)) {
            let message = format!("{name} runs beside cases on one device of {beside}, but there are none");
            return Err(Mistake::invalid(*place, PEERS.name, message));
        }
    }
    Ok(())
}

fn is(alternative: &Alternative, backend: &str) -> bool {
    matches!(&alternative.value, Some(Value::Text(name)) if name == backend)
}

/// A peer runs on one device only: compared with several devices it would do a part of the work.
fn on_one_device(host: &Alternative) -> bool {
    host.inner.iter().all(|setting| setting.slot.key != COUNT_KEY)
}

fn alternative(peer: &str, place: Place, host: &Alternative) -> Alternative {
    let shared = |setting: &&Setting| SHARED.contains(&setting.slot.key.as_str());
    let inner: Vec<Setting> = host.inner.iter().filter(shared).cloned().collect();
    Alternative { value: Some(Value::Text(format!("{BACKEND}{peer}"))), place, inner }
}

/// A case's parameters; for a peer, without the choice of our methods.
pub(super) fn without_ours(mut params: Params) -> Params {
    if params.text(BACKENDS.name).and_then(of_backend).is_some() {
        params.0.retain(|key, _| key != "method" && !key.starts_with("method."));
    }
    params
}

#[cfg(test)]
mod tests {
    use crate::case::backends::THREADS_KEY;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, Plan, resolve};

    const RECIPE: &str = "\
gather: {method: [direct, {multipass: {passes: [2, 4]}}], tuples: [1Ki, 2Ki]}
backend: cuda
peers: plain
chart: {x: tuples, lines: [method, passes]}
";

    fn plan(text: &str, overrides: &Overrides) -> Result<Plan, String> {
        let recipe = recipe::parse("a.yaml", text).map_err(|error| error.to_string())?;
        resolve(&recipe, overrides).map_err(|error| error.to_string())
    }

    fn set(key: &str, value: &str) -> Overrides {
        Overrides { set: vec![(key.to_owned(), value.to_owned())], ..Overrides::default() }
    }

    /// Backend, device and tuples of each peer's case.
    fn peers(plan: &Plan) -> Vec<(&str, u64, u64)> {
        let peers = plan.cases.iter().filter(|case| case.peer().is_some());
        peers.map(|case| (case.backend(), case.device(), case.params.int("tuples").unwrap_or(0))).collect()
    }

    #[test]
    fn a_peer_has_a_case_where_ours_differ_in_how_they_compute() {
        let plan = plan(RECIPE, &Overrides::default()).expect("a plan");
        assert_eq!(
            (plan.cases.len(), peers(&plan)),
            (8, vec![("peer:plain", 0, 1024), ("peer:plain", 0, 2048)])
        );
        let peer = plan.cases.iter().find(|case| case.peer().is_some()).expect("a peer's case");
        assert!(peer.params.0.keys().all(|key| !key.starts_with("method")), "{:?}", peer.params);
        assert_eq!(peer.place(), ("cuda", 0), "it runs where its neighbours do");
        assert_eq!(plan.experiments[0].chart.lines, ["method", "method.multipass.passes", "backend"]);
        let label = plan.experiments[0].label(peer);
        assert_eq!(label, "tuples 1Ki · peer:plain");
    }

    #[test]
    fn our_cases_stay_what_they_are_without_peers() {
        let with = plan(RECIPE, &Overrides::default()).expect("a plan");
        let without = plan(&RECIPE.replace("peers: plain\n", ""), &Overrides::default()).expect("a plan");
        let ours: Vec<_> = with.cases.iter().filter(|case| case.peer().is_none()).cloned().collect();
        assert_eq!(ours, without.cases);
        assert!(without.experiments[0].axes.iter().all(|axis| axis.key != "backend"));
    }

    #[test]
    fn each_device_has_its_own() {
        let text = RECIPE.replace("backend: cuda", "backend: [cpu, {cuda: {device: [0, 1]}}]");
        let text = text
            .replace("[method, passes]", "[method, passes, backend, device]")
            .replace("[1Ki, 2Ki]", "1Ki");
        let plan = plan(&text, &Overrides::default()).expect("a plan");
        assert_eq!(peers(&plan), [("peer:plain", 0, 1024), ("peer:plain", 1, 1024)]);
    }

    #[test]
    fn beside_processors_it_has_their_threads_and_nothing_else_of_theirs() {
        let text = RECIPE
            .replace("peers: plain", "peers: rdst")
            .replace("[method, passes]", "[method, passes, threads, isa]");
        let beside = |cpu: &str| {
            let plan = plan(&text.replace("backend: cuda", cpu), &Overrides::default()).expect("a plan");
            let peers = plan.cases.iter().filter(|case| case.peer().is_some());
            let own = peers.map(|case| (case.place().0, case.params.get(THREADS_KEY).map(|v| v.to_string())));
            assert!(
                plan.cases
                    .iter()
                    .all(|case| case.peer().is_none() || case.params.get("backend.cpu.isa").is_none())
            );
            let mut told: Vec<String> =
                own.map(|(place, threads)| format!("{place} {}", threads.unwrap_or_default())).collect();
            told.sort();
            told
        };
        let twice = beside("backend: {cpu: {threads: [1, 2], isa: [scalar, avx2]}}");
        assert_eq!(
            twice,
            ["cpu 1", "cpu 1", "cpu 2", "cpu 2"],
            "one for each number of threads and of tuples"
        );
        let once = beside("backend: [{cpu: {isa: scalar, threads: 2}}, {cpu: {isa: avx2, threads: 2}}]");
        assert_eq!(once, ["cpu 2", "cpu 2"]);
    }

    #[test]
    fn the_command_line_takes_them_away_with_their_neighbours_and_adds_them() {
        let cpu = Overrides { backends: vec!["cpu".to_owned()], ..Overrides::default() };
        assert_eq!(peers(&plan(RECIPE, &cpu).expect("a plan")), []);
        let none = plan(RECIPE, &set("peers", "null")).expect("a plan");
        assert_eq!((none.cases.len(), peers(&none)), (6, Vec::new()));
        let stream = "stream: {kernel: copy, elements: [1Ki, 2Ki]}\nbackend: cuda\nchart: {x: elements}\n";
        let two = plan(stream, &set("peers", "[plain, cudamemcpy]")).expect("a plan");
        assert_eq!(two.cases.len(), 6);
        assert_eq!(two.experiments[0].chart.lines, ["backend"]);
    }

    #[test]
    fn a_peer_stands_beside_one_device_only() {
        let beside = |backend: &str| plan(&RECIPE.replace("backend: cuda", backend), &Overrides::default());
        let both = beside("backend: [cuda, {cuda: {gpus: 2}}]").map(|plan| peers(&plan).len());
        assert_eq!(both, Ok(2), "one for each number of tuples");
        let refused = beside("backend: {cuda: {gpus: 2}}").expect_err("nothing to stand beside");
        assert!(refused.contains("beside cases on one device of cuda"), "{refused}");
    }
}

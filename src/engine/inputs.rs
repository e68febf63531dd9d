//! The inputs in host memory that the cases of a plan share: which one a case needs, how many of them there are, and when the
//! last case that needs one is done.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::case::Case;
use crate::inputs::indices::Store;
use crate::primitives;
use crate::recipe::plan::Plan;

/// Times the bytes that a case declares that its peer may need: those of `sssp` hold the lab's graph, a list of its edges
/// and their own graph in both directions, up to five times the arrays of the lab.
const PEER_TIMES: u64 = 8;

/// The shared inputs of a running plan.
#[derive(Debug)]
pub(super) struct PlanInputs {
    store: Arc<Store>,
    /// Of each case the number of its input, if it has one.
    of_cases: Vec<Option<usize>>,
    /// The names of the inputs, each once, in the order of the cases.
    names: Vec<String>,
}

impl PlanInputs {
    /// Those of a plan, which a store keeps.
    pub fn of(plan: &Plan, store: &Arc<Store>) -> PlanInputs {
        let mut names: Vec<String> = Vec::new();
        let mut number = |name: String| {
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        // A peer makes its inputs itself.
        let ours = |case: &&Case| case.peer().is_none() && case.not_applicable.is_none();
        let input = |case| Some(case).filter(ours).and_then(primitives::shared_input).map(&mut number);
        let of_cases = plan.cases.iter().map(input).collect();
        PlanInputs { store: store.clone(), of_cases, names }
    }

    /// Whether a case has such an input.
    pub fn has(&self, case: usize) -> bool {
        self.of_cases[case].is_some()
    }

    /// What is made before a case can be measured, such as `the matrix … (input 2 of 3)`; `None` if it is kept, or if the
    /// case has no such input.
    pub fn missing(&self, case: usize) -> Option<String> {
        let number = self.of_cases[case]?;
        let name = self.names.get(number)?;
        let text = || format!("{name} (input {} of {})", number + 1, self.names.len());
        (!self.store.shared().holds(name)).then(text)
    }

    /// Makes room for the case of a peer, whose program does not know what is kept here.
    pub fn make_room_beside(&self, case: &Case) {
        let declared = primitives::work(case, &[]).map(|work| work.footprint.saturating_add(work.scratch));
        let needs = declared.map_or(u64::MAX, |bytes| bytes.saturating_mul(PEER_TIMES));
        self.store.shared().make_room(needs);
    }

    /// Lets go of the inputs that none of these cases needs.
    pub fn keep_for(&self, cases: &BTreeSet<usize>) {
        let needed: BTreeSet<usize> = cases.iter().filter_map(|case| self.of_cases[*case]).collect();
        let done = (0..self.names.len()).filter(|number| !needed.contains(number));
        done.for_each(|number| self.store.shared().let_go(&self.names[number]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    /// Methods and types share a matrix; it goes with the last case that needs it.
    #[test]
    fn an_input_is_kept_until_no_case_needs_it() {
        let text = "spmv: {matrix: [{laplace5: 8}, {laplace7: 4}], type: [f32, f64], method: [row, balanced]}\n\
            backend: cpu\npeers: faer\nchart: {x: matrix, y: time, lines: method, panels: type}\n";
        let plan = recipe::parse("a.yaml", text).expect("a recipe");
        let plan = resolve(&plan, &Overrides::default()).expect("a plan");
        let store = Arc::new(Store::default());
        let inputs = PlanInputs::of(&plan, &store);
        assert_eq!(inputs.names.len(), 2);
        let (first, other): (Vec<usize>, Vec<usize>) =
            (0..plan.cases.len()).partition(|case| inputs.of_cases[*case] == Some(0));
        assert!(first.len() == 4 && other.iter().any(|case| plan.cases[*case].peer().is_some()));
        let told = inputs.missing(first[0]).expect("not made");
        assert!(told.starts_with("the matrix laplace5 {side: 8} of seed "), "{told}");
        assert!(told.ends_with(" (input 1 of 2)"), "{told}");
        let made = || Ok::<_, std::convert::Infallible>(vec![1u8]);
        for name in &inputs.names {
            store.shared().get(name, "rows", 0, made).expect("made");
        }
        assert_eq!(inputs.missing(first[0]), None);
        let peer = other.iter().map(|case| &plan.cases[*case]).find(|case| case.peer().is_some());
        let peer = peer.expect("a peer's case");
        inputs.make_room_beside(peer);
        assert!(inputs.names.iter().all(|name| store.shared().holds(name)), "a small case needs no room");
        inputs.keep_for(&first[3..].iter().chain(&other).copied().collect());
        assert!(inputs.names.iter().all(|name| store.shared().holds(name)));
        inputs.keep_for(&first[..1].iter().copied().collect());
        assert_eq!((inputs.missing(first[0]), store.shared().bytes()), (None, 1));
        inputs.keep_for(&BTreeSet::new());
        assert_eq!(store.shared().bytes(), 0);
        store.shared().get("a", "rows", 0, made).expect("made");
        inputs.make_room_beside(&Case { primitive: "unknown".to_owned(), ..peer.clone() });
        assert_eq!(store.shared().bytes(), 0, "nobody knows what it needs");
    }
}

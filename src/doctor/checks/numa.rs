//! NUMA nodes.

use crate::case::units::ranges;
use crate::device::cpu::affinity::parse_list;
use crate::doctor::scene::{Scene, text};
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "numa",
    about: "memory nodes that our CPUs belong to; notes more than one",
    of: About::Measuring,
    examine: |scene| judge(&nodes(scene)),
};

/// The nodes that hold a CPU of the mask.
fn nodes(scene: &Scene) -> Vec<usize> {
    let online = text("/sys/devices/system/node/online").and_then(|list| parse_list(&list));
    let ours = |node: &usize| {
        let has = |cpu: &usize| {
            std::path::Path::new(&format!("/sys/devices/system/node/node{node}/cpu{cpu}")).exists()
        };
        scene.mask.iter().any(has)
    };
    online.unwrap_or_default().into_iter().filter(ours).collect()
}

fn judge(nodes: &[usize]) -> Finding {
    match nodes.len() {
        0 => Finding::note("unknown"),
        1 => Finding::ok(format!("one node ({})", nodes[0])),
        count => Finding::note(format!("our CPUs belong to {count} nodes ({})", ranges(nodes)))
            .advice("numactl --cpunodebind=0 --membind=0 scatterlab … for figures of one node"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn several_nodes_are_noted() {
        assert_eq!(
            [judge(&[]).level, judge(&[1]).level, judge(&[0, 1]).level],
            [Level::Note, Level::Ok, Level::Note]
        );
    }
}

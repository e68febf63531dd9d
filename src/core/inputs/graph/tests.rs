use super::*;
use crate::inputs::sparse::{Density, on_one_processor};
use Topology::{Geometric, Grid, Line, Random, Rmat};
use proptest::prelude::*;

const ALL: [Topology; 7] = [
    Grid { keep: 7 },
    Grid { keep: 4 },
    Grid { keep: 8 },
    Geometric,
    Line,
    Random { edges: 3 },
    Rmat { edges: 4 },
];

fn of(topology: Topology, vertices: u64, seed: u64) -> Generated {
    Generated { topology, vertices, heaviest: 1000, seed }
}

proptest! {
    #[test]
    fn the_size_is_known_in_advance(seed: u64, n in 0u64..300) {
        for topology in ALL {
            let made = of(topology, n, seed).make().expect("a graph");
            prop_assert_eq!(made.arcs.len() as u64, of(topology, n, seed).arcs().expect("a size"), "{:?} {}", topology, n);
            prop_assert_eq!(made.vertices() as u64, n);
            prop_assert!(made.arcs.iter().all(|arc| u64::from(arc.target) < n && arc.weight <= 3000));
        }
    }

    #[test]
    fn every_arc_has_its_opposite(seed: u64, n in 1u64..80) {
        for topology in ALL {
            let made = of(topology, n, seed).make().expect("a graph");
            let mut all: Vec<[u32; 3]> = (0..n as u32)
                .flat_map(|v| made.leaving(v as usize).iter().map(move |arc| [v, arc.target, arc.weight]))
                .collect();
            let mut opposite: Vec<[u32; 3]> = all.iter().map(|&[v, u, w]| [u, v, w]).collect();
            all.sort_unstable();
            opposite.sort_unstable();
            prop_assert_eq!(all, opposite);
        }
    }

    #[test]
    fn adjacency_matrices_are_those_of_the_graphs(seed: u64, n in 0u64..200) {
        for topology in ALL {
            let generated = of(topology, n, seed);
            let made = generated.make().expect("a graph").positions().expect("small");
            let looked_at = generated.positions().expect("small");
            prop_assert_eq!(made.shape, looked_at.shape);
            prop_assert_eq!(Density::of(&made), Density::of(&looked_at));
        }
    }

    #[test]
    fn no_numbers_make_them_panic(n: u64, edges: u64) {
        for topology in [Grid { keep: edges }, Geometric, Line, Random { edges }, Rmat { edges }] {
            let _ = of(topology, n, 1).arcs();
        }
    }
}

#[test]
fn weights_go_from_zero_to_the_heaviest() {
    let made = of(Line, 100_000, 3).make().expect("a graph");
    let weights = || made.arcs.iter().map(|arc| arc.weight);
    assert_eq!((weights().min(), weights().max()), (Some(0), Some(1000)));
}

#[test]
fn listed_graphs_have_the_weights_of_the_file_or_of_the_seed() {
    let words = [0, 2, 7, 2, 2, OPEN_WEIGHT, 3].map(|word| word);
    let words: Vec<u64> =
        (0..).zip(words).map(|(i, word)| if i % 3 == 2 { word } else { word + listed::OFFSET }).collect();
    assert_eq!(listed::shape(7, words[6], Directions::Given).expect("a graph"), (4, 2));
    let made = listed::graph(&words, Directions::Both, 0, 1).expect("a graph");
    assert_eq!(made.starts, [0, 1, 1, 4, 4]);
    assert_eq!(made.leaving(2)[0], WeightedArc { target: 0, weight: 7 });
    assert_eq!(made.leaving(2)[1], WeightedArc { target: 2, weight: 0 });
    assert!(listed::graph(&[5, 6, 7], Directions::Both, 0, 1).is_err());
    assert_eq!((made.hub(), made.bytes()), (2, 5 * 4 + 4 * 8));
}

#[test]
fn the_edges_of_an_undirected_graph_are_arcs_in_both_directions() {
    let [directed, undirected] = [&[3][..], &[0, 3]].map(|end| {
        let ends = end.iter().map(|word| word + listed::OFFSET);
        [listed::OFFSET, listed::OFFSET + 2, 7].into_iter().chain(ends).collect::<Vec<u64>>()
    });
    let made = |words: &[u64], directions| {
        let (_, arcs) = listed::shape(words.len() as u64, *words.last()?, directions).ok()?;
        let graph = listed::graph(words, directions, 0, 1).ok()?;
        (graph.arcs.len() as u64 == arcs).then_some(graph.starts)
    };
    assert_eq!(made(&directed, Directions::Given), Some(vec![0, 1, 1, 1, 1]));
    for directions in [Directions::Given, Directions::Both] {
        assert_eq!(made(&undirected, directions), Some(vec![0, 1, 1, 2, 2]));
    }
}

const OPEN_WEIGHT: u64 = listed::OPEN;

/// Any number of threads makes the same bits, for arcs of both directions and of one.
#[test]
fn one_processor_makes_what_all_make() {
    for topology in ALL {
        let make = || of(topology, 100_003, 42).make();
        assert_eq!(make(), on_one_processor(make), "{topology:?}");
    }
    let words: Vec<u64> = (0..90_000u64)
        .flat_map(|i| {
            [i * 7919 % 40_000, i % 40_000].map(|v| v + listed::OFFSET).into_iter().chain([OPEN_WEIGHT])
        })
        .chain([listed::OFFSET + 39_999])
        .collect();
    let make = || listed::graph(&words, Directions::Given, 9, 1);
    let made = make().expect("a graph");
    assert_eq!((make(), made.arcs.len()), (on_one_processor(make), 90_000));
    let leaving =
        |v: u64| (0..90_000u64).filter(move |i| i * 7919 % 40_000 == v).map(|i| (i % 40_000) as u32);
    for v in [0, 17, 39_999] {
        assert!(made.leaving(v as usize).iter().map(|arc| arc.target).eq(leaving(v)), "{v}");
    }
}

/// The same numbers on every machine.
#[test]
fn golden() {
    let sums = ALL.map(|topology| {
        let made = of(topology, 1000, 42).make().expect("a graph");
        made.arcs.iter().fold(0u64, |sum, arc| {
            crate::inputs::mix::mix64(sum ^ u64::from(arc.target) << 32 ^ u64::from(arc.weight))
        })
    });
    assert_eq!(sums, GOLDEN);
}

const GOLDEN: [u64; 7] = [
    0x08D7_1CBF_2BCD_AE36,
    0x4B14_1976_0ABB_773F,
    0x3BAF_FF82_302C_AE38,
    0x266C_9AFD_C056_C06D,
    0x7F15_B7D1_555F_F016,
    0xA122_9CF5_FBFB_6877,
    0xFF6A_3B36_4D20_BB54,
];

//! Each peer sorts, finds and computes what it should; the checks find what is wrong.

use scatterlab_cpu_peers::case::Case;
use scatterlab_cpu_peers::keys::SortKeys;
use scatterlab_cpu_peers::mix::word64;
use scatterlab_cpu_peers::work::{Chosen, best, median};
use scatterlab_cpu_peers::{PEERS, Server, hash, prepare, sort, spmv, sssp};

fn case(words: &str) -> Case {
    Case::new(words.split_whitespace()).expect("words")
}

/// Prepares a case, executes each way of it, and returns how many elements are wrong afterwards.
fn wrong(peer: &str, words: &str) -> u64 {
    let mut case = case(words);
    let mut prepared = prepare(peer, &mut case, &mut Chosen::new()).expect("prepared");
    let mut wrong = 0;
    for way in 0..prepared.work.ways().len() {
        assert!(prepared.work.execute(way) >= 0.0);
        wrong += prepared.work.wrong();
    }
    wrong
}

#[test]
fn every_sort_sorts() {
    for peer in &PEERS[..4] {
        for key in ["u32", "u64"] {
            for values in ["none", "4B", "8B"] {
                for keys in ["1", "2", "1000", "40001"] {
                    let words = format!("primitive=sort seed=7 keys={keys} key={key} values={values}");
                    assert_eq!(wrong(peer, &words), 0, "{peer} {words}");
                }
            }
        }
        for distribution in ["zipf", "sorted", "reversed", "equal", "few"] {
            let words = format!("primitive=sort keys=30000 values=4B distribution={distribution}");
            assert_eq!(wrong(peer, &words), 0, "{peer} {words}");
            assert_eq!(wrong(peer, &format!("{words} backend.cpu.threads=1")), 0, "{peer} {words}");
        }
    }
}

/// More than a million elements make `voracious` use its own threads.
#[test]
fn large_sorts_sort() {
    for peer in &PEERS[..3] {
        assert_eq!(wrong(peer, "primitive=sort keys=1100000 values=4B"), 0, "{peer}");
    }
}

#[test]
fn searches_find_and_tables_hold_every_record() {
    for records in ["1", "100", "20000"] {
        for more in ["", " hits=0.5", " distribution=zipf"] {
            let words = format!("primitive=hash-search records={records} keys=5000{more}");
            assert_eq!(wrong("hashbrown", &words), 0, "{words}");
        }
        assert_eq!(wrong("hashbrown", &format!("primitive=hash-build records={records} load=0.9")), 0);
    }
}

#[test]
fn products_are_those_of_the_definition() {
    for peer in ["sprs", "faer"] {
        for matrix in [
            "laplace5 matrix.laplace5.side=1",
            "laplace5 matrix.laplace5.side=37",
            "laplace7 matrix.laplace7.side=9",
            "random matrix.random.rows=1000",
            "banded matrix.banded.rows=500 matrix.banded.half=3",
            "rmat matrix.rmat.scale=9",
            "empty-rows matrix.empty-rows.rows=103",
            "dense-row matrix.dense-row.rows=301",
            "random matrix.random.rows=5 matrix.random.entries=0",
        ] {
            for more in ["type=f32 beta=0", "type=f32 beta=1", "type=f64 beta=0", "type=f64 beta=1"] {
                for threads in ["auto", "1"] {
                    let words =
                        format!("primitive=spmv seed=3 matrix={matrix} {more} backend.cpu.threads={threads}");
                    assert_eq!(wrong(peer, &words), 0, "{peer} {words}");
                }
            }
        }
    }
}

/// The lab's oracle says what is right.
#[test]
fn distances_are_those_of_the_shortest_paths() {
    for peer in ["graph", "petgraph"] {
        for graph in [
            "grid vertices=2000",
            "grid graph.grid.keep=3 vertices=2000 source=7",
            "geometric vertices=1999",
            "line vertices=300 source=0",
            "random graph.random.edges=2 vertices=700",
            "rmat vertices=1500 heaviest=0",
            "rmat vertices=1500 heaviest=1",
            "rmat vertices=3000 delta=50",
        ] {
            for threads in ["auto", "1"] {
                let words = format!("primitive=sssp seed=5 graph={graph} backend.cpu.threads={threads}");
                assert_eq!(wrong(peer, &words), 0, "{peer} {words}");
            }
        }
    }
}

/// Sums of weights from 2^24 on are rounded in `graph`, and not in `petgraph`.
#[test]
fn long_paths_are_rounded() {
    for peer in ["graph", "petgraph"] {
        let words = "primitive=sssp graph=line vertices=3000 heaviest=1000000 source=0";
        assert_eq!(wrong(peer, words), 0, "{peer}");
    }
}

#[test]
fn what_is_not_executed_is_wrong() {
    for (peer, words) in [
        ("rdst", "primitive=sort keys=1000"),
        ("std-sort", "primitive=sort keys=1000 values=8B"),
        ("hashbrown", "primitive=hash-search records=100 keys=1000"),
        ("hashbrown", "primitive=hash-build records=100"),
        ("sprs", "primitive=spmv matrix=laplace5 matrix.laplace5.side=9"),
        ("faer", "primitive=spmv type=f64 matrix=laplace5 matrix.laplace5.side=9"),
        ("graph", "primitive=sssp graph=grid vertices=100"),
        ("petgraph", "primitive=sssp graph=grid vertices=100"),
    ] {
        let mut case = case(words);
        let work = match peer {
            "hashbrown" => hash::prepare(&mut case),
            "sprs" | "faer" => spmv::prepare(peer, &mut case),
            "graph" | "petgraph" => sssp::prepare(peer, &mut case),
            _ => sort::prepare(peer, &mut case),
        };
        assert!(work.expect("prepared").wrong() > 0, "{peer} {words}");
    }
}

#[test]
fn orders_are_answered() {
    let mut server = Server::new("std-sort");
    let ready = server.answer(
        "prepare primitive=sort seed=1 keys=1024 method=radix begin=0 end=auto backend.cpu.threads=1",
    );
    let ready = ready.expect("an answer");
    assert!(ready.starts_with("ready 8192 order=") && ready.ends_with("stable threads=1"), "{ready}");
    let seconds = server.answer("sample 3").expect("an answer");
    assert!(seconds.strip_prefix("seconds ").is_some_and(|s| s.parse::<f64>().is_ok_and(|s| s > 0.0)));
    assert_eq!(server.answer("release"), Ok("released".to_owned()));
    assert_eq!(server.answer("sample 1"), Err("failed nothing is prepared".to_owned()));
    let mut refusal = |words: &str| server.answer(&format!("prepare {words}")).expect("an answer");
    for (words, reason) in [
        ("primitive=sort keys=8 begin=4", "n/a it sorts by whole keys"),
        ("primitive=sort keys=8 odd=1", "n/a odd=1 is unknown to this peer"),
        ("primitive=gather tuples=8", "n/a primitive=gather is not what this peer does; it does sort"),
        ("primitive=sort keys=8 backend.cpu.threads=4000", "n/a needs 4000 CPUs, the affinity mask has "),
    ] {
        assert!(refusal(words).starts_with(reason), "{}", refusal(words));
    }
    assert_eq!(server.answer("dance"), Err("failed no such order: dance".to_owned()));
}

#[test]
fn what_a_peer_does_not_do_is_not_applicable() {
    for (peer, words, reason) in [
        ("sprs", "primitive=spmv matrix=file", "matrix=file is not what this peer does"),
        ("faer", "primitive=spmv matrix=rmat matrix.rmat.scale=31", "34359738368 entries; accepted"),
        ("graph", "primitive=sssp graph=grid vertices=1", "there is no such search"),
        ("graph", "primitive=sssp graph=grid vertices=8 source=8", "there is no such search"),
        ("petgraph", "primitive=sssp graph=grid vertices=8 source=x", "source=x is not a number here"),
        ("petgraph", "primitive=sssp graph=grid vertices=8 odd=1", "odd=1 is unknown to this peer"),
    ] {
        let refused = prepare(peer, &mut case(words), &mut Chosen::new()).err().expect("refused");
        assert!(refused.0.starts_with(reason), "{peer} {words}: {}", refused.0);
    }
}

/// The inputs are those of the peers on GPUs, and stay what they are.
#[test]
fn golden() {
    let keys = |words: &str| {
        let keys = SortKeys::of(&mut case(words)).expect("keys");
        [0, 1, 2, 999].map(|i| keys.key(i))
    };
    let sorted = keys("primitive=sort seed=7 keys=1000 distribution=sorted");
    assert_eq!(sorted, [0, 4_294_967, 8_589_934, 4_290_672_033]);
    assert_eq!(keys("primitive=sort seed=7 keys=1000 distribution=reversed")[3], 0);
    let uniform = keys("primitive=sort seed=7 keys=1000 key=u64");
    assert_eq!(uniform, [0, 1, 2, 999].map(|i| word64(7, i)));
    let few = keys("primitive=sort seed=7 keys=1000 distribution=few distribution.few.distinct=1");
    assert_eq!(few, [uniform[0] >> 32; 4]);
}

#[test]
fn a_tie_keeps_the_usual_way() {
    assert_eq!((best(&[1.0]), best(&[1.0, 0.995]), best(&[1.0, 0.9, 0.8])), (0, 0, 2));
    assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0])), (2.0, 2.5));
}

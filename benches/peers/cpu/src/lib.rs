//! The peers of the backend `cpu`, called by their names: `rdst`, `voracious`, `rayon-sort`, `std-sort` (primitive
//! sort), `hashbrown` (hash-search, hash-build), `sprs`, `faer` (spmv), `graph` and `petgraph` (sssp). The protocol is that of src/engine/executors/peer/program.rs. See
//! benches/peers/README.md.

pub mod case;
pub mod hash;
mod inputs;
pub mod item;
pub mod keys;
#[path = "../../../../src/core/memory.rs"]
#[allow(dead_code)]
mod memory;
pub mod products;
pub mod sort;
pub mod spmv;
pub mod sssp;
pub mod threads;
pub mod work;

pub use inputs::mix;

use case::{Case, NotApplicable};
use work::{Chosen, Prepared};

/// The peers.
pub const PEERS: [&str; 9] =
    ["rdst", "voracious", "rayon-sort", "std-sort", "hashbrown", "sprs", "faer", "graph", "petgraph"];

/// Prepares a case of a peer, and settles the way in which it is executed.
///
/// # Errors
/// A case that the peer cannot run.
pub fn prepare(peer: &str, case: &mut Case, chosen: &mut Chosen) -> Result<Prepared, NotApplicable> {
    let work = match peer {
        "hashbrown" => hash::prepare(case)?,
        "sprs" | "faer" => spmv::prepare(peer, case)?,
        "graph" | "petgraph" => sssp::prepare(peer, case)?,
        _ => sort::prepare(peer, case)?,
    };
    Ok(Prepared::new(work, case, chosen))
}

/// Answers orders until the input ends, or until an order that is none.
#[derive(Default)]
pub struct Server<'a> {
    peer: &'a str,
    prepared: Option<Prepared>,
    chosen: Chosen,
}

impl Server<'_> {
    /// A server that is this peer.
    pub fn new(peer: &str) -> Server<'_> {
        Server { peer, ..Server::default() }
    }

    /// The answer to a line.
    ///
    /// # Errors
    /// The answer after which the program ends.
    pub fn answer(&mut self, line: &str) -> Result<String, String> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (verb, self.prepared.as_mut()) {
            ("prepare", _) => {
                Ok(self.prepare(rest).unwrap_or_else(|NotApplicable(why)| format!("n/a {why}")))
            }
            ("release", _) => {
                self.prepared = None;
                Ok("released".to_owned())
            }
            ("sample", Some(prepared)) => match rest.parse() {
                Ok(batch) if batch > 0 => Ok(format!("seconds {:e}", prepared.sample(batch))),
                _ => Err(format!("failed no such order: {line}")),
            },
            ("sample", None) => Err("failed nothing is prepared".to_owned()),
            _ => Err(format!("failed no such order: {line}")),
        }
    }

    fn prepare(&mut self, words: &str) -> Result<String, NotApplicable> {
        self.prepared = None;
        let mut case = Case::new(words.split_whitespace())?;
        let prepared = prepare(self.peer, &mut case, &mut self.chosen)?;
        let settings: String = prepared.settings.iter().map(|(key, word)| format!(" {key}={word}")).collect();
        let ready = format!("ready {}{settings}", prepared.work.memory());
        self.prepared = Some(prepared);
        Ok(ready)
    }
}

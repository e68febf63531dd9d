//! Called by the name of a peer: answers orders on standard input, or with `--csv` measures a case by hand.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use scatterlab_cpu_peers::case::{Case, NotApplicable, refused};
use scatterlab_cpu_peers::work::{Chosen, median};
use scatterlab_cpu_peers::{PEERS, Server, prepare};

fn serve(peer: &str) -> io::Result<ExitCode> {
    let mut server = Server::new(peer);
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let answer = server.answer(&line?);
        let ends = answer.is_err();
        writeln!(out, "{}", answer.unwrap_or_else(|why| why))?;
        out.flush()?;
        if ends {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures a case: ten untimed executions, then ten samples of at least 100 µs.
fn by_hand(peer: &str, words: &[String]) -> Result<(), NotApplicable> {
    let mut case = Case::new(words.iter().map(String::as_str))?;
    let mut prepared = prepare(peer, &mut case, &mut Chosen::new())?;
    let one = prepared.sample(10) / 10.0;
    let batch = if one < 100e-6 { (125e-6 / one.max(1e-7)) as u64 + 1 } else { 1 };
    let mut samples: Vec<f64> = (0..10).map(|_| prepared.sample(batch) / batch as f64).collect();
    let (median, bytes) = (median(&mut samples), prepared.work.effective_bytes());
    let rate = bytes as f64 / median / 1e9;
    let mut row = case.given.clone();
    row.extend(prepared.settings.iter().map(|(key, word)| (format!("resolved.{key}"), word.clone())));
    let tail = [
        ("backend", format!("peer:{peer}")),
        ("samples", samples.len().to_string()),
        ("min_s", format!("{:.9}", samples[0])),
        ("median_s", format!("{median:.9}")),
        ("effective_bytes", bytes.to_string()),
        ("effective_gb_s", format!("{rate:.3}")),
        ("verification", "not certified: peer".to_owned()),
        ("memory_bytes", prepared.work.memory().to_string()),
    ];
    row.extend(tail.map(|(key, word)| (key.to_owned(), word)));
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let name = |key: &str| if key.starts_with("resolved.") { key.to_owned() } else { last(key) };
    println!("{}", row.iter().map(|(key, _)| name(key)).collect::<Vec<_>>().join(","));
    println!("{}", row.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(","));
    match prepared.work.wrong() {
        0 => Ok(()),
        wrong => refused(format!("{wrong} elements are wrong")),
    }
}

fn main() -> ExitCode {
    let all: Vec<String> = std::env::args().collect();
    let own = all.first().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    // Called by another name, the peer is the first argument.
    let (peer, rest) = match all.get(1) {
        Some(name) if !PEERS.contains(&own) && PEERS.contains(&name.as_str()) => (name.as_str(), &all[2..]),
        _ => (own, all.get(1..).unwrap_or_default()),
    };
    let outcome = match rest {
        [flag] if flag == "--list" && !PEERS.contains(&peer) => {
            println!("{}", PEERS.join("\n"));
            Ok(())
        }
        _ if !PEERS.contains(&peer) => Err(format!("usage: {own} {} …", PEERS.join("|"))),
        [] => return serve(peer).unwrap_or(ExitCode::FAILURE),
        [flag, words @ ..] if flag == "--csv" => {
            by_hand(peer, words).map_err(|NotApplicable(why)| format!("{peer}: {why}"))
        }
        _ => Err(format!("usage: {peer} --csv KEY=VALUE…, or orders on standard input")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

//! Records the program in a pseudo-terminal and writes its output as an animated SVG, for the README:
//!
//! ```text
//! cargo build --release
//! cargo run -p scatterlab-tests -- docs/recording.keys docs/recording.svg target/release/scatterlab
//! ```
//!
//! The keys come from a text with one step per line ([`script`]). The program runs in an empty folder, so that
//! nothing of this machine shows.

mod film;
mod script;
mod stage;
mod svg;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [keys, out, program] = arguments.as_slice() else {
        return Err("usage: record KEYS OUT.svg PROGRAM".into());
    };
    let steps = script::parse(&fs::read_to_string(keys)?)?;
    let film = stage::play(&steps, &fs::canonicalize(program)?)?;
    write(&film, out)
}

fn write(film: &film::Film, out: &Path) -> Result<(), Box<dyn Error>> {
    let text = svg::render(film);
    println!("{}: {} frames, {} KiB", out.display(), film.frames.len(), text.len() / 1024);
    Ok(fs::write(out, text)?)
}

//! Index files, matrices and graphs as they are opened: plain or compressed, damaged before or after compression, and now
//! and then repeated until a few kilobytes unpack to what fills the memory. What is read is made a matrix or a graph.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use scatterlab::case::{WHOLE_GRAPH, WHOLE_MATRIX};
use scatterlab::inputs::graph::{Directions, listed};
use scatterlab::inputs::indices;
use scatterlab::inputs::locality::{Layout, Locality};
use scatterlab::inputs::sparse::Csr;

use super::mutate::Random;
use super::{Outcome, Target};

/// One in this many inputs is repeated.
const REPEATED: usize = 60;
/// Up to this many bytes.
const LONG: usize = 24 << 20;

const MATRIX: &str = "%%MatrixMarket matrix coordinate";

fn packed(bytes: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("compressed").repeat(times)
}

/// The whole as its primitive uses it.
fn used(words: Vec<u64>, column: Option<&str>) -> Option<String> {
    match column {
        Some(WHOLE_MATRIX) => Csr::from_words(&words).err().map(|error| error.to_string()),
        Some(WHOLE_GRAPH) => {
            listed::graph(&words, Directions::Both, 1000, 1).err().map(|error| error.to_string())
        }
        _ => Locality::of(&words, Layout { element: 8, line: 64 }).err(),
    }
}

fn parse(input: &[u8], random: &mut Random) -> Outcome {
    let name = *random.pick(&["a.mtx", "a.gr", "a.el", "a.wel", "a.csv", "a.npy", "a.u64", "a"]);
    let column = *random.pick(&[None, None, Some(WHOLE_MATRIX), Some(WHOLE_GRAPH), Some("to")]);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (compressed, bytes) = match random.below(REPEATED) {
        0 => {
            // A piece of some size is a member, and the file is that member again and again.
            let piece = input.repeat((1 << 20) / input.len().max(1) + 1);
            (true, packed(&piece, random.below(LONG / piece.len().max(1)) + 1))
        }
        at if at % 2 == 0 => (true, packed(input, 1)),
        at if at % 7 == 0 => {
            let mut bytes = packed(input, 1);
            let damaged = random.below(bytes.len());
            bytes[damaged] ^= 1 << random.below(8);
            (true, bytes)
        }
        _ => (false, input.to_vec()),
    };
    let path = folder.path().join(if compressed { format!("{name}.gz") } else { name.to_owned() });
    fs::write(&path, bytes).map_err(|error| error.to_string())?;
    match indices::read(&path, column) {
        Ok(words) => Ok(used(words, column)),
        Err(error) => Ok(Some(format!("{error:#}").replace(&folder.path().display().to_string(), ""))),
    }
}

#[test]
fn files() {
    let npy = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/neighbours.npy"));
    let texts = [
        format!("{MATRIX} real general\n3 3 4\n1 1 1.5\n2 1 -2\n3 3 0\n3 3 1e-3\n"),
        format!("{MATRIX} pattern symmetric\n4000000 4000000 2\n1 1\n4000000 2\n"),
        "p sp 4000000 3\na 1 2 10\na 2 3 0\na 4000000 1 1000\n".to_owned(),
        "# from to\n0 1\n1 2\n2000000 0\n0 7 3\n".to_owned(),
        "from,to\n0,8\n16,24\n".to_owned(),
        "0\n".to_owned(),
    ];
    let corpus =
        texts.into_iter().map(String::into_bytes).chain([npy.expect("a file"), vec![0; 64]]).collect();
    let tokens =
        &["\n", " ", ",", "\0", "9", "99999999", "8388608", "4294967295", "-1", "%", "a", "p sp", "1.5"];
    Target { name: "files", corpus, tokens, parse }.fuzz();
}

//! The figures of one backend, from the times of its cases.

use super::Measured;
use crate::case::Direction;
use crate::model::{Curve, Moves, Random, Rates, Start, Strided};
use crate::{primitives, stats};

/// Bytes of a word: the element of patterns.
pub const WORD: u64 = 8;

/// Threads of a warp on every NVIDIA GPU so far.
const WARP: u64 = 32;

/// Accesses that a block of the CUDA kernels handles at a time: 256 threads of 8 items.
const TILE: u64 = 2048;

/// The rates of one backend.
///
/// # Errors
/// Names a required figure that was not measured.
pub fn rates(all: &[Measured], backend: &str) -> Result<Rates, String> {
    let ours: Vec<&Measured> = all.iter().filter(|m| m.backend == backend).collect();
    let ours = ours.as_slice();
    let gpu = backend == "cuda";
    let strided = strided(ours);
    let memory = strided.iter().filter(|s| s.direction == Direction::Read).max_by_key(|s| s.footprint);
    let fetch = memory.and_then(|s| super::levels::granule(s.rate.points()));
    let launch =
        launch(ours).ok_or_else(|| format!("{backend}: the smallest executions were not measured"))?;
    let moves = moves(ours, launch);
    Ok(Rates {
        threads: ours.iter().find_map(|m| m.threads).or((backend == "scalar").then_some(1)),
        launch,
        pattern: smallest_pattern(ours),
        pass: pass(ours),
        group: if gpu { WARP } else { 1 },
        tile: gpu.then_some(TILE),
        blocks: blocks(ours, &strided),
        answer_lines: if gpu { answer_lines(ours) } else { None },
        fetch: fetch.or(line(ours)).ok_or_else(|| format!("{backend}: no stride is slower than another"))?,
        read: stream(ours, "read").ok_or_else(|| missing(backend, "read"))?,
        write: stream(ours, "write").ok_or_else(|| missing(backend, "write"))?,
        copy: stream(ours, "copy").ok_or_else(|| missing(backend, "copy"))?,
        scan: scan(ours),
        random: random(ours).into_iter().map(|random| without_places(random, &moves)).collect(),
        moves,
        strided,
        interleaved: interleaved(ours),
        latency: latency(ours),
        page: None,
        tlb_reach: None,
    })
}

fn missing(backend: &str, kernel: &str) -> String {
    format!("{backend}: no stream of kernel {kernel} was measured")
}

/// Rounds to five significant digits: no measurement is more precise.
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// The curve through points in any order; `None` without points.
fn curve(points: impl Iterator<Item = (f64, f64)>) -> Option<Curve> {
    let mut points: Vec<(f64, f64)> = points.map(|(x, y)| (x, rounded(y))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    Curve::new(points).ok()
}

/// Bytes per second by total bytes of all arrays. The smallest executions measure the launch and are left
/// out.
fn stream(ours: &[&Measured], kernel: &str) -> Option<Curve> {
    let streams =
        ours.iter().filter(|m| m.is("stream", "direct") && m.word("kernel") == kernel && !smallest(m));
    curve(streams.map(|m| (m.work.footprint as f64, m.work.effective_bytes as f64 / m.seconds())))
}

fn smallest(m: &Measured) -> bool {
    m.primitive == "stream" && m.params.int("elements") == Some(1)
}

/// The launch time: the median over the rounds of all smallest executions together. Launches vary by a fifth
/// from round to round, though not within a round, and occasionally a stretch of rounds is slower by a
/// quarter; only the median of many rounds is reproducible.
fn launch(ours: &[&Measured]) -> Option<f64> {
    let rounds: Vec<f64> =
        ours.iter().filter(|m| smallest(m)).flat_map(|m| m.rounds.iter().copied()).collect();
    stats::median(&rounds).map(rounded)
}

/// Whether a pattern is used once.
fn is_one_use(m: &Measured) -> bool {
    m.primitive == "pattern" && m.params.int("count") == Some(1)
}

fn smallest_pattern(ours: &[&Measured]) -> Option<f64> {
    ours.iter().find(|m| is_one_use(m)).map(|m| rounded(m.seconds()))
}

const PASSES: &str = "method.multipass.passes";

/// Multi-pass gathers of these locations, as (tuples, passes, seconds).
fn multipass<'m>(ours: &'m [&Measured], locations: &'m str) -> impl Iterator<Item = (u64, u64, f64)> + 'm {
    let gathers =
        ours.iter().filter(move |m| m.is("gather", "multipass") && m.word("locations") == locations);
    gathers.filter_map(|m| {
        Some((m.params.int("tuples")?, m.params.int(PASSES)?, Some(m.seconds()).filter(|t| t.is_finite())?))
    })
}

/// Seconds of each pass after the first one, by number of tuples.
fn further(ours: &[&Measured], locations: &str) -> Vec<(u64, f64)> {
    let mut further = Vec::new();
    for (tuples, passes, time) in multipass(ours, locations).filter(|(_, passes, _)| *passes > 1) {
        let one = multipass(ours, locations).find(|(n, one, _)| *n == tuples && *one == 1);
        let each = one.map(|(_, _, first)| (time - first) / (passes - 1) as f64);
        further.extend(each.filter(|each| *each > 0.0).map(|each| (tuples, each)));
    }
    further
}

fn pass(ours: &[&Measured]) -> Option<f64> {
    further(ours, "random").first().map(|(_, each)| rounded(*each))
}

fn scan(ours: &[&Measured]) -> Option<Curve> {
    let passes = further(ours, "sequential");
    curve(passes.into_iter().map(|(tuples, each)| (4.0 * tuples as f64, tuples as f64 / each)))
}

fn direction(m: &Measured) -> Direction {
    match (m.word("kernel"), m.primitive.as_str()) {
        ("write" | "scatter", _) | (_, "scatter") => Direction::Write,
        _ => Direction::Read,
    }
}

/// Accesses per second.
fn rate(m: &Measured) -> f64 {
    m.work.elements as f64 / m.seconds()
}

fn random(ours: &[&Measured]) -> Vec<Random> {
    let direct = || ours.iter().filter(|m| m.is("random-access", "direct"));
    let mut kinds: Vec<(bool, u64)> =
        direct().filter_map(|m| Some((direction(m) == Direction::Write, m.params.int("element")?))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let one = |(write, element): (bool, u64)| {
        let direction_of = if write { Direction::Write } else { Direction::Read };
        let same =
            direct().filter(|m| direction(m) == direction_of && m.params.int("element") == Some(element));
        let rate = curve(same.filter_map(|m| Some((m.params.int("footprint")? as f64, rate(m)))))?;
        Some(Random { direction: direction_of, element, rate })
    };
    kinds.into_iter().filter_map(one).collect()
}

/// Elements per second that processors move within their first caches. The launch is subtracted because these
/// executions are so short.
fn moves(ours: &[&Measured], launch: f64) -> Vec<Moves> {
    let one = |m: &&&Measured| {
        let rate = rounded(m.work.elements as f64 / (m.seconds() - launch));
        let element = m.params.int("tuple")?;
        (rate > 0.0).then_some(Moves { direction: direction(m), element, rate })
    };
    ours.iter().filter(|m| moved(m) && m.word("locations") == "sequential").filter_map(|m| one(&m)).collect()
}

/// Whether the case gathers or scatters tuples in one pass.
fn moved(m: &Measured) -> bool {
    m.is("gather", "direct") || m.is("scatter", "direct")
}

/// Subtracts from random reads of processors the time to compute their places: the kernel computes a block of
/// places before it reads any of them. That time is the difference between random reads that hit the first
/// cache and moves, whose places come from memory. Stores are not corrected: they still drain to the caches
/// while the next places are computed.
fn without_places(random: Random, moves: &[Moves]) -> Random {
    let same = |moves: &&Moves| moves.direction == random.direction && moves.element == random.element;
    let Some(near) = moves.iter().filter(|m| m.direction == Direction::Read).find(same) else {
        return random;
    };
    let best = random.rate.points().iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let places = (1.0 / best - 1.0 / near.rate).max(0.0);
    let points = random.rate.points().iter().map(|(x, rate)| (*x, 1.0 / (1.0 / rate - places)));
    Random { rate: curve(points).unwrap_or_else(|| random.rate.clone()), ..random }
}

/// Seconds of one access of a thread.
fn latency(ours: &[&Measured]) -> Option<Curve> {
    let chains = ours.iter().filter(|m| m.is("random-access", "chained"));
    let one = |m: &&Measured| {
        let each = m.seconds() * m.threads.unwrap_or(1) as f64 / m.work.elements as f64;
        Some((m.params.int("footprint")? as f64, each))
    };
    curve(chains.filter_map(one))
}

const LENGTH: &str = "source.uniform.length";
const STRIDE: &str = "source.uniform.stride";

/// Strided words: over far more memory than the caches hold, and repeatedly over a cached footprint.
fn strided(ours: &[&Measured]) -> Vec<Strided> {
    let patterns =
        || ours.iter().filter(|m| m.primitive == "pattern" && !in_blocks(m) && !is_one_use(m)).copied();
    let mut all = Vec::new();
    for direction_of in [Direction::Read, Direction::Write] {
        let same = || patterns().filter(move |m| direction(m) == direction_of && !stores(m));
        let scans: Vec<&Measured> = same().filter(moves_on).collect();
        all.extend(over(direction_of, scans.as_slice(), memory_stride, |m| m.params.int("footprint")));
        let again = |m: &&Measured| m.params.int("delta") == Some(0) && m.params.int(STRIDE) != Some(APART);
        let cached: Vec<&Measured> = same().filter(again).collect();
        all.extend(over(direction_of, &cached, cached_stride, cached_bytes));
    }
    all.extend(own_words(ours));
    all
}

/// Whether no word is visited twice: a pattern of one word advances by the stride, a longer one by its
/// length.
fn moves_on(m: &&Measured) -> bool {
    m.params.int("footprint").is_some()
}

fn memory_stride(m: &Measured) -> Option<u64> {
    m.params.int(STRIDE).or(m.params.int("delta"))
}

fn cached_stride(m: &Measured) -> Option<u64> {
    m.params.int(STRIDE)
}

fn cached_bytes(m: &Measured) -> Option<u64> {
    Some(m.params.int(LENGTH)? * m.params.int(STRIDE)? * WORD)
}

/// Whether the case is a gather that stores the words it reads.
fn stores(m: &Measured) -> bool {
    m.word("kernel") == "gather" && m.word("method") == "direct"
}

fn over(
    direction: Direction,
    cases: &[&Measured],
    stride: fn(&Measured) -> Option<u64>,
    bytes: fn(&Measured) -> Option<u64>,
) -> Option<Strided> {
    let footprint = cases.iter().filter_map(|m| bytes(m)).max()?;
    let points = cases.iter().filter_map(|m| Some(((stride(m)? * WORD) as f64, rate(m))));
    Some(Strided { direction, element: WORD, footprint, rate: curve(points)? })
}

/// The cost of also storing each word read, if the destination lies in the nearest cache.
fn own_words(ours: &[&Measured]) -> Option<Strided> {
    let again = |m: &&&Measured| m.primitive == "pattern" && m.params.int("delta") == Some(0);
    let with = ours.iter().find(|m| again(m) && stores(m))?;
    let same = |m: &&&Measured| {
        m.is("pattern", "read-only")
            && [LENGTH, STRIDE].iter().all(|key| m.params.int(key) == with.params.int(key))
    };
    let without = ours.iter().find(same)?;
    let more = with.seconds() - without.seconds();
    let rate = (more > 0.0).then(|| with.work.elements as f64 / more)?;
    let footprint = cached_bytes(with)?;
    let direction = Direction::Write;
    Some(Strided { direction, element: WORD, footprint, rate: curve([(WORD as f64, rate)].into_iter())? })
}

/// Whether each thread of the pattern handles one word, with one block of threads per tile.
fn in_blocks(m: &Measured) -> bool {
    m.params.int("backend.cuda.items").is_some()
}

/// Seconds per additional block: the time of blocks with one word per thread, less the time in which the
/// nearest cache reads and writes the words.
fn blocks(ours: &[&Measured], strided: &[Strided]) -> Vec<Start> {
    let nearest = |direction: Direction| {
        let same = strided.iter().filter(|s| s.direction == direction);
        same.min_by_key(|s| s.footprint).map_or(0.0, |s| 1.0 / s.rate.at(WORD as f64))
    };
    let moved = nearest(Direction::Read) + nearest(Direction::Write);
    let one = |m: &&&Measured| {
        let blocks = primitives::find(&m.primitive)?.case(&m.params, 0).ok()?.blocks()?;
        let seconds = (m.seconds() - m.work.elements as f64 * moved) / blocks as f64;
        (seconds > 0.0).then(|| Start { direction: direction(m), seconds: rounded(seconds) })
    };
    ours.iter().filter(|m| in_blocks(m)).filter_map(|m| one(&m)).collect()
}

/// Streams side by side: words per second by number of streams, for each footprint.
fn interleaved(ours: &[&Measured]) -> Vec<Strided> {
    let streams: Vec<&Measured> = ours.iter().filter(|m| side_by_side(m)).copied().collect();
    let bytes = |m: &Measured| m.work.elements * WORD;
    let mut kinds: Vec<(bool, u64)> =
        streams.iter().map(|m| (direction(m) == Direction::Write, bytes(m))).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let one = |(write, footprint): (bool, u64)| {
        let direction_of = if write { Direction::Write } else { Direction::Read };
        let same = streams.iter().filter(|m| direction(m) == direction_of && bytes(m) == footprint);
        let rate = curve(same.filter_map(|m| Some((number_of_streams(m)? as f64, rate(m)))))?;
        Some(Strided { direction: direction_of, element: WORD, footprint, rate })
    };
    kinds.into_iter().filter_map(one).collect()
}

const PARTITIONS: &str = "locations.partitions.count";

/// The number of streams: of words visited in turn, or the number of random partitions.
fn number_of_streams(m: &Measured) -> Option<u64> {
    m.params.int(PARTITIONS).or_else(|| Some(m.work.elements / m.params.int("count")?))
}

/// Whether streams lie side by side: patterns that advance by one word through all their streams, or
/// partitions.
fn side_by_side(m: &Measured) -> bool {
    let words = m.primitive == "pattern" && m.params.int("delta") == Some(1) && !moves_on(&m);
    words || moved(m) && m.params.int(PARTITIONS).is_some()
}

/// A stride of lines plus a word: every word lies in another line and another bank.
const APART: u64 = 17;

/// The number of lines that one answer of the first cache can combine. A warp of contiguous words (256 bytes)
/// takes two answers. Words in lines of their own take one answer per `answer_lines` lines, so the ratio of
/// the two rates gives it: answer_lines = WARP / (2 · rate(1) / rate([`APART`])).
fn answer_lines(ours: &[&Measured]) -> Option<u64> {
    let read = |stride: u64| {
        let same = |m: &&&Measured| {
            m.is("pattern", "read-only") && m.params.int(STRIDE) == Some(stride) && !side_by_side(m)
        };
        ours.iter().find(same).map(|m| rate(m))
    };
    let lines = (WARP as f64 / (2.0 * read(1)? / read(APART)?)).round();
    Some((lines as u64).max(1))
}

/// Bytes of a sector: the least that a store moves from one cache to the next.
pub fn sector(rates: &Rates) -> Option<u64> {
    let memory = rates.strided.iter().map(|s| s.footprint).max()?;
    let cached =
        |s: &&Strided| s.direction == Direction::Write && s.footprint < memory && s.rate.points().len() > 1;
    super::levels::granule(rates.strided.iter().find(cached)?.rate.points())
}

/// Bytes of a line of the first cache.
pub fn first_line(rates: &Rates) -> Option<u64> {
    let reads = rates.strided.iter().filter(|s| s.direction == Direction::Read);
    super::levels::granule(reads.min_by_key(|s| s.footprint)?.rate.points())
}

fn line(ours: &[&Measured]) -> Option<u64> {
    let writes: Vec<Strided> =
        strided(ours).into_iter().filter(|s| s.direction == Direction::Write).collect();
    writes.iter().find_map(|s| super::levels::granule(s.rate.points()))
}

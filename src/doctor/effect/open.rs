//! Opens a screen and an engine and measures the effect of the former on the latter.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::bench::{self, Bench};
use super::{Effect, Extent, Screen, Session, cost};
use crate::case::{Device, Measure};
use crate::device::cpu::caches::{self, Cache};
use crate::recipe::plan::{self, Overrides, Plan};
use crate::recipe::{self, shipped};
use crate::run::client::{Client, Hello};
use crate::stats as samples;
use crate::tui::RecipeEntry;
use crate::tui::rehearsal::{Rehearsal, Surface};

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Exact number of pairs at each number of threads.
    pub pairs: Option<usize>,
    /// Whether to measure only a few pairs.
    pub quick: bool,
    /// Whether a live picture is drawn instead of a run's panels.
    pub picture: bool,
    pub surface: Surface,
}

/// Fewest and most pairs, unless a number is requested.
const PAIRS: (usize, usize) = (24, 60);
const QUICK: usize = 4;
/// Times after which no further round begins, at one thread and at all threads: about two minutes in total.
const DEADLINES: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(95)];
/// The copy's arrays together have at least `FOOTPRINT` bytes and at least `CACHES` times the bytes of the
/// last-level caches.
const FOOTPRINT: u64 = 256 << 20;
const CACHES: u64 = 4;
/// Rounds of the rehearsed run: enough that it never ends.
const ROUNDS: u32 = 60;
/// Bytes of the two arrays per element, which is what STREAM counts as moved by a copy.
const ELEMENT: u64 = 16;

/// The result of the measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub effects: Vec<Effect>,
    /// Why effects or pairs are missing; `None` also if the user stopped the measurement.
    pub trouble: Option<String>,
}

/// The memory that the copy's arrays cover together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Footprint {
    pub bytes: u64,
    /// Bytes of the last-level caches of the copying CPUs together; 0 if unknown.
    pub caches_bytes: u64,
    /// Whether the arrays are as large as intended relative to the caches; false where memory is short.
    pub beyond_caches: bool,
}

/// Measures at one thread and, if there are several CPUs, at all threads. Returns fewer effects, or none, if
/// the user stops it, the engine dies or no pair is whole.
///
/// # Errors
/// There is no screen to draw on.
pub fn measure(client: Client, hello: &Hello, aim: Aim) -> anyhow::Result<Outcome> {
    let mut screen = OnScreen { rehearsal: rehearsal(hello, aim)? };
    let mut bench = Bench::new(client)?;
    let mask = hello.environment.affinity.as_slice();
    let (cpus, free, began) = (mask.len(), free(&hello.devices), Instant::now());
    let settings = [("1", 1), ("auto", cpus)];
    let (mut effects, mut trouble) = (Vec::new(), None);
    for ((threads, count), deadline) in settings.into_iter().zip(DEADLINES).take(cpus.clamp(1, 2)) {
        let extent = extent(aim, began + deadline);
        // Threads are pinned to the first CPUs of the mask.
        let copy = footprint(&caches::of(mask.get(..count).unwrap_or(mask)), free);
        bench.copy(copy.bytes / ELEMENT);
        let mut session = Session::new(&mut screen, &mut bench);
        trouble = session.run(threads, &label(count), extent).err().map(|error| format!("{error:#}"));
        effects.extend(summary(&session, count, cpus, copy));
        if trouble.is_some() || screen.stopped() {
            break;
        }
    }
    Ok(Outcome { effects, trouble })
}

fn extent(aim: Aim, until: Instant) -> Extent {
    let (least, most) = match (aim.pairs, aim.quick) {
        (Some(pairs), _) => (pairs, pairs),
        (None, true) => (QUICK, QUICK),
        (None, false) => PAIRS,
    };
    Extent { least, most, until }
}

fn label(threads: usize) -> String {
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    format!("scatterlab doctor: a copy on {threads} is timed while these invented results are drawn or not")
}

fn summary(session: &Session, threads: usize, cpus: usize, copy: Footprint) -> Option<Effect> {
    let without: Vec<f64> = session.pairs.iter().map(|pair| pair.without).collect();
    let [resting, drawing] = session.sums;
    Some(Effect {
        threads,
        every_cpu: threads == cpus,
        cost: cost(&session.pairs)?,
        of_mean: cost(&session.means)?,
        frames: drawing.frames as f64 / drawing.seconds,
        cpu_drawing: drawing.cpu / drawing.seconds,
        cpu_resting: resting.cpu / resting.seconds,
        bandwidth: copy.bytes as f64 / samples::median(&without)?,
        copy,
    })
}

/// Memory that a CPU case may use, if the engine reports it.
fn free(devices: &[Device]) -> Option<u64> {
    devices.iter().find(|device| device.backend == "cpu").and_then(|device| device.memory)
}

/// Sizes the arrays beyond the combined last-level caches, but within a quarter of the free memory.
fn footprint(caches: &[Cache], free: Option<u64>) -> Footprint {
    let last = caches.iter().map(|cache| cache.level).max();
    let caches_bytes = caches.iter().filter(|cache| Some(cache.level) == last).map(|cache| cache.bytes).sum();
    let wanted = FOOTPRINT.max(CACHES * caches_bytes);
    let bytes = free.map_or(wanted, |free| wanted.min(free / 4));
    Footprint { bytes, caches_bytes, beyond_caches: bytes == wanted }
}

/// A rehearsal with the first recipe that users see.
fn rehearsal(hello: &Hello, aim: Aim) -> anyhow::Result<Rehearsal> {
    let shipped = shipped::find("quickstart");
    let (path, text) = shipped.map_or(("", ""), |recipe| (recipe.path, recipe.text));
    let entry = RecipeEntry {
        group: String::new(),
        path: path.trim_end_matches(".yaml").to_owned(),
        title: String::new(),
        text: text.to_owned(),
        problem: None,
    };
    let opened = Rehearsal::open(entry, rehearsed(path, text)?, hello.environment.clone(), aim.surface)?;
    Ok(if aim.picture { opened.with_pictures() } else { opened })
}

fn rehearsed(path: &str, text: &str) -> anyhow::Result<Plan> {
    let backends = ["scalar", "cpu"].map(str::to_owned).to_vec();
    let overrides = Overrides { backends, ..Overrides::default() };
    let mut plan = plan::resolve(&recipe::parse(path, text)?, &overrides)?;
    for experiment in &mut plan.experiments {
        experiment.measure = Measure::fixed(ROUNDS, 5);
    }
    Ok(plan)
}

struct OnScreen {
    rehearsal: Rehearsal,
}

impl Screen for OnScreen {
    fn draw_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.rehearsal.draw_for(time)
    }

    fn rest_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.rehearsal.rest_for(time)
    }

    fn notify(&mut self, text: &str) {
        self.rehearsal.notify(text);
    }

    fn stopped(&self) -> bool {
        self.rehearsal.stopped()
    }

    fn frames(&mut self) -> usize {
        self.rehearsal.frames()
    }

    fn now(&self) -> f64 {
        bench::now()
    }

    fn cpu(&self) -> f64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes only the timespec passed to it.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u32, mib: u64, cpus: &[usize]) -> Cache {
        Cache { level, data_only: false, bytes: mib << 20, cpus: cpus.to_vec() }
    }

    #[test]
    fn the_copy_is_beyond_the_last_caches_of_all_cpus() {
        let of = |caches: &[Cache]| footprint(caches, Some(1 << 40));
        let (second, small, large) = (cache(2, 128, &[0]), cache(3, 32, &[0, 1]), cache(3, 256, &[2, 3]));
        assert_eq!(of(std::slice::from_ref(&small)).bytes, 256 << 20);
        let both = of(&[second, small, large]);
        assert_eq!((both.bytes, both.caches_bytes, both.beyond_caches), (1152 << 20, 288 << 20, true));
        assert_eq!(
            footprint(&[], None),
            Footprint { bytes: FOOTPRINT, caches_bytes: 0, beyond_caches: true }
        );
    }

    #[test]
    fn where_memory_is_short_the_copy_is_not_called_beyond() {
        let short = footprint(&[cache(3, 256, &[0])], Some(1 << 30));
        assert_eq!((short.bytes, short.beyond_caches), (256 << 20, false));
    }

    #[test]
    fn the_rehearsed_recipe_resolves_without_a_gpu() {
        let shipped = shipped::find("quickstart").expect("shipped");
        let plan = rehearsed(shipped.path, shipped.text).expect("a plan");
        assert!(plan.cases.len() > 10 && plan.cases.iter().all(|case| case.not_applicable.is_none()));
    }
}

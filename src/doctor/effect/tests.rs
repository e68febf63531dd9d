//! Tests of the interleaving, with a screen and an engine that share a simulated clock.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;

/// The state that both sides share.
#[derive(Default)]
struct World {
    now: f64,
    /// Stretches of time in which the screen was drawn.
    drawn: Vec<(f64, f64)>,
    /// Threads, start time and number of samples of the current round.
    round: Option<(String, f64, u32)>,
    rounds: usize,
    stop_after: Option<f64>,
    /// Slowdown of the samples in each of the first rounds, including the trial.
    slow: Vec<f64>,
    notices: Vec<String>,
}

/// Seconds of a sample, without and with drawing.
const SAMPLE: f64 = 0.01;
const DISTURBED: f64 = 0.0125;

struct Mock(Rc<RefCell<World>>);

impl Measured for Mock {
    fn begin(&mut self, threads: &str, samples: u32) -> anyhow::Result<()> {
        let mut world = self.0.borrow_mut();
        world.rounds += 1;
        world.round = Some((threads.to_owned(), world.now, samples));
        Ok(())
    }

    fn heard(&mut self) -> anyhow::Result<Option<Heard>> {
        let mut world = self.0.borrow_mut();
        let Some((_, started, count)) = world.round.clone() else { anyhow::bail!("no round") };
        let slow = world.slow.get(world.rounds - 1).copied().unwrap_or(1.0);
        let (mut at, mut samples) = (started, Vec::new());
        for _ in 0..count {
            let disturbed = world.drawn.iter().any(|(from, to)| *from <= at && at < *to);
            let sample = slow * if disturbed { DISTURBED } else { SAMPLE };
            samples.push(sample);
            at += sample;
        }
        if at > world.now {
            return Ok(Some(Heard::Timing));
        }
        world.round = None;
        Ok(Some(Heard::Timed(Timed { started, ended: at, samples, batch: 1 })))
    }
}

impl Screen for Mock {
    fn draw_for(&mut self, time: Duration) -> anyhow::Result<()> {
        let mut world = self.0.borrow_mut();
        let from = world.now;
        world.now += time.as_secs_f64();
        let to = world.now;
        world.drawn.push((from, to));
        Ok(())
    }

    fn rest_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.0.borrow_mut().now += time.as_secs_f64();
        Ok(())
    }

    fn notify(&mut self, text: &str) {
        self.0.borrow_mut().notices.push(text.to_owned());
    }

    fn stopped(&self) -> bool {
        let world = self.0.borrow();
        world.stop_after.is_some_and(|after| world.now > after)
    }

    fn frames(&mut self) -> usize {
        self.0.borrow().drawn.len() * 3
    }

    fn now(&self) -> f64 {
        self.0.borrow().now
    }

    fn cpu(&self) -> f64 {
        let world = self.0.borrow();
        0.1 * world.drawn.iter().map(|(from, to)| to - from).sum::<f64>()
    }
}

fn measured(world: &Rc<RefCell<World>>, least: usize, most: usize) -> (Vec<Pair>, [Sums; 2]) {
    let (mut screen, mut bench) = (Mock(world.clone()), Mock(world.clone()));
    let mut session = Session::new(&mut screen, &mut bench);
    let until = Instant::now() + Duration::from_secs(600);
    session.run("1", "copy", Extent { least, most, until }).expect("no error");
    (session.pairs, session.sums)
}

#[test]
fn halves_with_and_without_drawing_follow_each_other_in_pairs() {
    let world = Rc::<RefCell<World>>::default();
    let (pairs, sums) = measured(&world, 20, 60);
    assert!((20..26).contains(&pairs.len()), "{} pairs: steady, so no more than asked for", pairs.len());
    for pair in &pairs {
        // Samples across a boundary are left out; those within a half are exact.
        assert!((pair.with / pair.without - 1.25).abs() < 0.02, "{pair:?}");
    }
    let found = cost(&pairs).expect("pairs");
    assert!((found.mean - 0.2).abs() < 0.01 && found.half_width() < NARROW, "{found:?}");
    let world = world.borrow();
    assert!(world.rounds >= 4, "memory is allocated afresh now and then");
    assert!(world.notices[0].contains("pair 1 of 20"), "{:?}", world.notices);
    let [resting, drawing] = sums;
    assert!((resting.seconds / drawing.seconds - 1.0).abs() < 0.1, "as much without as with");
    assert!((drawing.cpu / drawing.seconds - 0.1).abs() < 1e-9 && resting.cpu == 0.0);
}

#[test]
fn a_person_can_stop_it() {
    let world = Rc::new(RefCell::new(World { stop_after: Some(5.0), ..World::default() }));
    let (pairs, _) = measured(&world, 20, 60);
    assert!(pairs.len() < 10, "{} pairs", pairs.len());
    assert!(world.borrow().now < 7.0);
}

/// The trial's samples are slower than all later ones, so that the first round ends too soon.
#[test]
fn a_trial_that_was_slow_costs_one_round() {
    let world = Rc::new(RefCell::new(World { slow: vec![12.0], ..World::default() }));
    let (pairs, _) = measured(&world, 20, 60);
    assert!(pairs.len() >= 20, "{} pairs", pairs.len());
    let usual = Rc::<RefCell<World>>::default();
    measured(&usual, 20, 60);
    assert_eq!(world.borrow().rounds, usual.borrow().rounds + 1);
}

#[test]
fn two_rounds_without_a_whole_pair_end_it_and_keep_what_there_is() {
    let slow = [vec![1.0; 2], vec![40.0; 9]].concat();
    let world = Rc::new(RefCell::new(World { slow, ..World::default() }));
    let (mut screen, mut bench) = (Mock(world.clone()), Mock(world.clone()));
    let mut session = Session::new(&mut screen, &mut bench);
    let until = Instant::now() + Duration::from_secs(600);
    let error = session.run("1", "copy", Extent { least: 20, most: 60, until }).expect_err("no pairs");
    assert!(error.to_string().ends_with("too long for stretches of 750 ms"), "{error}");
    assert_eq!(session.pairs.len(), ROUND);
    assert_eq!(world.borrow().rounds, 4, "the trial, one that is whole, and two that are not");
    assert!(no_pairs(0.01).starts_with("no two stretches"), "{}", no_pairs(0.01));
}
